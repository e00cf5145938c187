/// Hexadecimal digits.
public enum Hex {
    /// Returns the value of a digit in upper or lower case, 0 to 15; nil for any other byte.
    @inlinable
    @inline(__always)
    public static func value(of digit: UInt8) -> UInt8? {
        let number = digit &- 0x30
        if number < 10 { return number }
        let letter = (digit | 0x20) &- 0x61
        return letter < 6 ? letter &+ 10 : nil
    }

    /// Returns the lower-case digit for the low four bits.
    @inlinable
    public static func digit(_ value: UInt8) -> UInt8 {
        let value = value & 15
        return value < 10 ? 0x30 &+ value : 0x57 &+ value
    }

    /// Returns two lower-case digits for each byte.
    public static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var digits: [UInt8] = []
        digits.reserveCapacity(bytes.underestimatedCount * 2)
        for byte in bytes {
            digits.append(digit(byte >> 4))
            digits.append(digit(byte))
        }
        return String(decoding: digits, as: UTF8.self)
    }

    /// Returns the bytes of pairs of digits; nil if there is another character, or one digit too many.
    public static func decode(_ text: String) -> [UInt8]? {
        let digits = text.utf8.compactMap(value)
        guard digits.count == text.utf8.count, digits.count % 2 == 0 else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
