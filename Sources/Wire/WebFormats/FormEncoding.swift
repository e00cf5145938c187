/// Writes `application/x-www-form-urlencoded`, for bodies and queries. ``FormFields`` reads it.
public enum FormEncoding {
    /// Encodes fields. All characters except RFC 3986's unreserved ones are percent-encoded, so that the text is valid
    /// in a body, in a query and in a header.
    public static func encode(_ fields: [(name: String, value: String)]) -> String {
        fields.map { escaped($0.name) + "=" + escaped($0.value) }.joined(separator: "&")
    }

    /// Encodes one name or value.
    ///
    /// - Parameter hasSmallDigits: Whether the digits are `a` to `f`, although others are recommended (RFC 3986 section 2.1).
    public static func escaped(_ text: String, hasSmallDigits: Bool = false) -> String {
        let digits = Array((hasSmallDigits ? "0123456789abcdef" : "0123456789ABCDEF").utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                bytes.append(byte)
            default:
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
