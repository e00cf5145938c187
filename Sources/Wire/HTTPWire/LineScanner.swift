/// Finds the ends of lines. Head, chunk-size and trailer lines all pass through here, so that a control character, a
/// bare CR or a bare LF is found in one place, at its position, however the bytes were divided.
enum LineScanner {
    enum Result {
        /// The line's CR is at this offset, followed by its LF.
        case line(end: Int)
        /// The line has no end yet. Everything before the offset is scanned.
        case incomplete(scanned: Int)
        case invalid(WireError)
    }

    /// Returns the line's end in `bytes[from..<limit]`.
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

    /// Returns the offset of the first byte that is below 0x20 and not HTAB, or 0x7F; otherwise `limit`. Eight bytes
    /// per step.
    @inline(__always)
    static func firstControl(_ bytes: Span<UInt8>, from start: Int, limit: Int) -> Int {
        let raw = bytes.bytes
        var index = start
        while index + 8 <= limit {
            let word = UInt64(littleEndian: raw.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
            // The lowest byte whose high bit is set here is exact; borrows only affect the bytes above it.
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
