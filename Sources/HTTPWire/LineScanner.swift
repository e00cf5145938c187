/// Finds where a line ends. Head, chunk-size and trailer lines all pass through here, so that a control character, a
/// bare CR or a bare LF is found in one place, at the byte where it stands, however the bytes were cut.
enum LineScanner {
    enum Result {
        /// The line's CR is at this offset, and its LF after it.
        case line(end: Int)
        /// No end yet. Everything before the offset is scanned.
        case incomplete(scanned: Int)
        case invalid(WireError)
    }

    /// The line's end in `bytes[from..<limit]`.
    @inline(__always)
    static func lineEnd(_ bytes: Span<UInt8>, from start: Int, limit: Int) -> Result {
        let end = firstControl(bytes, from: start, limit: limit)
        guard end < limit else { return .incomplete(scanned: end) }
        switch bytes[end] {
        case ASCII.carriageReturn:
            guard end + 1 < limit else { return .incomplete(scanned: end) }
            return bytes[end + 1] == ASCII.lineFeed ? .line(end: end) : .invalid(.bareCarriageReturn)
        case ASCII.lineFeed: return .invalid(.bareLineFeed)
        default: return .invalid(.controlCharacter)
        }
    }

    /// The offset of the first byte that is below 0x20 and not HTAB, or 0x7F; else `limit`. Eight bytes a step.
    @inline(__always)
    static func firstControl(_ bytes: Span<UInt8>, from start: Int, limit: Int) -> Int {
        let raw = bytes.bytes
        var index = start
        while index + 8 <= limit {
            let word = UInt64(littleEndian: raw.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
            // The lowest byte that sets its high bit here is exact; borrows only reach bytes above it.
            let belowSpace = word &- 0x2020_2020_2020_2020
            let delete = (word ^ 0x7F7F_7F7F_7F7F_7F7F) &- 0x0101_0101_0101_0101
            let hits = (belowSpace | delete) & ~word & 0x8080_8080_8080_8080
            if hits == 0 {
                index += 8
                continue
            }
            index += hits.trailingZeroBitCount >> 3
            if bytes[index] != ASCII.tab { return index }
            index += 1
        }
        while index < limit {
            let byte = bytes[index]
            if (byte < 0x20 && byte != ASCII.tab) || byte == 0x7F { return index }
            index += 1
        }
        return index
    }
}
