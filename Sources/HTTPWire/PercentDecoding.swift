/// Percent-decoding, strict: every `%` is followed by two hexadecimal digits, and the result is UTF-8.
public enum PercentDecoding {
    /// Why a text cannot be decoded.
    public enum Problem: Error, Sendable, Hashable {
        /// A `%` without two hexadecimal digits.
        case invalidEscape
        /// The decoded bytes are not UTF-8.
        case invalidUTF8
    }

    /// The decoded text; with `plusIsSpace`, as forms have it, `+` is a space.
    public static func decode(
        _ bytes: some Collection<UInt8>, plusIsSpace: Bool = false
    ) throws(Problem) -> String {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var iterator = bytes.makeIterator()
        while let byte = iterator.next() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = iterator.next().flatMap(ASCII.hexValue),
                    let low = iterator.next().flatMap(ASCII.hexValue)
                else { throw .invalidEscape }
                decoded.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace: decoded.append(ASCII.space)
            default: decoded.append(byte)
            }
        }
        guard let text = String(validating: decoded, as: UTF8.self) else { throw .invalidUTF8 }
        return text
    }
}
