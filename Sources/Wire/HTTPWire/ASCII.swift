/// Byte classes of RFC 9110 §5.6.2 and comparisons that ignore ASCII case and nothing else.
enum ASCII {
    static let tab = UInt8(ascii: "\t")
    static let lineFeed = UInt8(ascii: "\n")
    static let carriageReturn = UInt8(ascii: "\r")
    static let space = UInt8(ascii: " ")
    static let colon = UInt8(ascii: ":")
    static let comma = UInt8(ascii: ",")
    static let semicolon = UInt8(ascii: ";")
    static let slash = UInt8(ascii: "/")

    /// `tchar`: ``!#$%&'*+-.^_`|~``, digits and letters, as two words of bits (a table in memory would be a
    /// lazily initialised global on the hot path).
    @inline(__always)
    static func isToken(_ byte: UInt8) -> Bool {
        let low: UInt64 = 0x03FF_6CFA_0000_0000
        let high: UInt64 = 0x57FF_FFFF_C7FF_FFFE
        let word = byte < 64 ? low : high
        return byte < 128 && (word &>> UInt64(byte & 63)) & 1 == 1
    }

    @inline(__always)
    static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

    @inline(__always)
    static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- 0x61 < 26 }

    @inline(__always)
    static func isBlank(_ byte: UInt8) -> Bool { byte == space || byte == tab }

    @inline(__always)
    static func lowercased(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }

    /// Returns the bytes as text; each byte beyond ASCII becomes U+FFFD.
    static func text(_ bytes: ArraySlice<UInt8>) -> String {
        if bytes.allSatisfy({ $0 < 0x80 }) { return String(decoding: bytes, as: UTF8.self) }
        var text = String.UnicodeScalarView()
        for byte in bytes { text.append(byte < 0x80 ? Unicode.Scalar(byte) : "\u{FFFD}") }
        return String(text)
    }

    /// Whether `bytes[range]` is `lowercase` in any case.
    @inline(__always)
    static func matches(_ bytes: Span<UInt8>, _ range: Range<Int>, _ lowercase: StaticString) -> Bool {
        guard range.count == lowercase.utf8CodeUnitCount else { return false }
        return lowercase.withUTF8Buffer { wanted in
            for index in wanted.indices where lowercased(bytes[range.lowerBound + index]) != wanted[index] {
                return false
            }
            return true
        }
    }

    /// Returns `range` without the blanks at both ends (`OWS`).
    @inline(__always)
    static func trimmed(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Range<Int> {
        var start = range.lowerBound
        var end = range.upperBound
        while start < end, isBlank(bytes[start]) { start += 1 }
        while start < end, isBlank(bytes[end - 1]) { end -= 1 }
        return start..<end
    }

    /// Calls `member` with each non-empty member of a comma-separated list (RFC 9110 §5.6.1), blanks trimmed.
    @inline(__always)
    static func forEachListMember(_ bytes: Span<UInt8>, _ range: Range<Int>, _ member: (Range<Int>) -> Void) {
        var start = range.lowerBound
        while start < range.upperBound {
            var end = start
            while end < range.upperBound, bytes[end] != comma { end += 1 }
            let trimmed = trimmed(bytes, start..<end)
            if !trimmed.isEmpty { member(trimmed) }
            start = end + 1
        }
    }
}

extension ASCII {
    /// Whether `bytes[range]` is `lowercase` in any case; both have the same count.
    @inline(__always)
    static func matches(_ bytes: Span<UInt8>, _ range: Range<Int>, _ lowercase: Span<UInt8>) -> Bool {
        for index in lowercase.indices where lowercased(bytes[range.lowerBound + index]) != lowercase[index] {
            return false
        }
        return true
    }
}
