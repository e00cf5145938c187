/// base64url without padding (RFC 4648 section 5, RFC 7515 appendix C).
public enum Base64URL {
    /// Returns the text for bytes.
    public static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.underestimatedCount * 4 + 2) / 3)
        var buffer: UInt32 = 0
        var bits: UInt32 = 0
        for byte in bytes {
            buffer = (buffer << 8 | UInt32(byte)) & 0xFFFF
            bits += 8
            while bits >= 6 {
                bits -= 6
                text.append(character(buffer >> bits & 0x3F))
            }
        }
        if bits > 0 { text.append(character(buffer << (6 - bits) & 0x3F)) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the bytes of a text.
    ///
    /// - Returns: nil for padding, other characters, an impossible length, or leftover bits that are not zero. Each
    ///   value has exactly one valid text, so that nothing can be appended to a signed token unnoticed.
    public static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
        // The text is usually contiguous. The specialized overload then decodes it faster.
        if let bytes = text.withContiguousStorageIfAvailable({ decode($0.span) }) { return bytes }
        return decode(Array(text).span)
    }

    /// Returns the bytes of a contiguous text.
    public static func decode(_ text: Span<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3 + 2)
        var buffer: UInt32 = 0
        var bits: UInt32 = 0
        for index in text.indices {
            guard let value = value(of: text[index]) else { return nil }
            buffer = (buffer << 6 | value) & 0xFFFF
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(buffer >> bits & 0xFF))
            }
        }
        guard bits < 6, buffer & ((1 << bits) - 1) == 0 else { return nil }
        return bytes
    }

    /// Returns the character for six bits.
    private static func character(_ value: UInt32) -> UInt8 {
        let value = UInt8(truncatingIfNeeded: value)
        switch value {
        case 0..<26: return UInt8(ascii: "A") + value
        case 26..<52: return UInt8(ascii: "a") + (value - 26)
        case 52..<62: return UInt8(ascii: "0") + (value - 52)
        case 62: return UInt8(ascii: "-")
        default: return UInt8(ascii: "_")
        }
    }

    /// Returns the six bits of a character.
    private static func value(of character: UInt8) -> UInt32? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
