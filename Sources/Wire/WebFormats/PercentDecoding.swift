/// Strict percent-decoding (RFC 3986 section 2.1): every `%` must be followed by two hexadecimal digits.
public enum PercentDecoding {
    /// The reason why a text cannot be decoded.
    public enum Problem: Error, Sendable, Hashable {
        /// A `%` is not followed by two hexadecimal digits.
        case invalidEscape
        /// The decoded bytes are not UTF-8.
        case invalidUTF8
    }

    /// Returns the decoded bytes, which need not be UTF-8. With `plusIsSpace`, `+` means a space, as in forms.
    ///
    /// - Returns: nil if a `%` is not followed by two hexadecimal digits.
    @inlinable
    public static func bytes(_ text: some Collection<UInt8>, plusIsSpace: Bool = false) -> [UInt8]? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(text.count)
        var iterator = text.makeIterator()
        while let byte = iterator.next() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = iterator.next().flatMap(Hex.value), let low = iterator.next().flatMap(Hex.value) else {
                    return nil
                }
                decoded.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace: decoded.append(UInt8(ascii: " "))
            default: decoded.append(byte)
            }
        }
        return decoded
    }

    /// Returns the decoded text. With `plusIsSpace`, `+` means a space, as in forms.
    ///
    /// - Throws: ``Problem`` if an escape is invalid, or if the decoded bytes are not UTF-8.
    @inlinable
    public static func decode(
        _ text: some Collection<UInt8>, plusIsSpace: Bool = false
    ) throws(Problem) -> String {
        guard let decoded = bytes(text, plusIsSpace: plusIsSpace) else { throw .invalidEscape }
        guard let text = String(validating: decoded, as: UTF8.self) else { throw .invalidUTF8 }
        return text
    }
}
