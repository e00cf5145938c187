/// Random UUIDs as text. Foundation's own UUID reads a device file each time, and cannot take a test's random bytes.
public enum RandomUUID {
    /// Returns a version 4 UUID (RFC 9562 section 5.4) in lower case.
    ///
    /// - Parameter bytes: 16 random bytes; missing ones count as 0.
    public static func text(_ bytes: [UInt8]) -> String {
        var digits: [UInt8] = []
        digits.reserveCapacity(36)
        for index in 0..<16 {
            var byte = index < bytes.count ? bytes[index] : 0
            if index == 6 { byte = byte & 0x0F | 0x40 }
            if index == 8 { byte = byte & 0x3F | 0x80 }
            if index == 4 || index == 6 || index == 8 || index == 10 { digits.append(UInt8(ascii: "-")) }
            digits.append(Hex.digit(byte >> 4))
            digits.append(Hex.digit(byte))
        }
        return String(decoding: digits, as: UTF8.self)
    }
}
