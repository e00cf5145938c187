// The head: request line, fields, empty line. `window` begins at the head, and every offset counts from there.

extension RequestParser {
    mutating func nextHead(_ bytes: Span<UInt8>, _ offset: inout Int) throws(WireError) -> Event {
        var start = 0
        while true {
            let window = bytes.extracting(start..<min(bytes.count, start + limits.headWindow))
            switch LineScanner.lineEnd(window, from: scanned, limit: window.count) {
            case .invalid(let error): throw error
            case .incomplete(let scanned):
                guard window.count < limits.headWindow else {
                    throw state == .requestLine ? .targetTooLong : .headTooLarge
                }
                self.scanned = scanned
                return .needMoreBytes
            case .line(let end):
                if state == .requestLine, end == 0 {
                    guard !skippedEmptyLine else { throw .invalidRequestLine }
                    skippedEmptyLine = true
                    start += 2
                    offset += 2
                    scanned = 0
                    continue
                }
                if end == lineStart {
                    offset += end + 2
                    return try finishHead(window.extracting(0..<end))
                }
                if state == .requestLine {
                    try readRequestLine(window, end: end)
                    state = .fields
                } else {
                    try readField(window, lineStart..<end)
                }
                lineStart = end + 2
                scanned = end + 2
            }
        }
    }

    /// Reads `method SP request-target SP HTTP-version` (RFC 9112 §3).
    private mutating func readRequestLine(_ bytes: Span<UInt8>, end: Int) throws(WireError) {
        var index = 0
        while index < end, ASCII.isToken(bytes[index]) { index += 1 }
        guard index > 0 else { throw .invalidMethod }
        guard index < end else { throw .invalidRequestLine }
        guard bytes[index] == ASCII.space else { throw .invalidMethod }
        let method = 0..<index
        let targetStart = index + 1
        index = targetStart
        while index < end, bytes[index] > ASCII.space { index += 1 }
        let target = targetStart..<index
        guard index < end, bytes[index] == ASCII.space, !target.isEmpty else { throw .invalidRequestLine }
        layout = HeadLayout()
        if try HTTPVersion.isHTTP11(bytes, (index + 1)..<end) { layout.flags.insert(.http11) }
        layout.method = Slice16(method)
        try layout.readTarget(bytes, target)
    }

    /// Reads `field-name ":" OWS field-value OWS` (RFC 9112 §5). The scanner has already refused control characters.
    private mutating func readField(_ bytes: Span<UInt8>, _ line: Range<Int>) throws(WireError) {
        guard fields.count < limits.maxFields else { throw .tooManyFields }
        // Room for a browser's fields, so that the table is allocated once.
        if fields.isEmpty { fields.reserveCapacity(24) }
        let (name, value) = try FieldLine.append(to: &fields, bytes, line)
        try layout.noteField(bytes, name: name, value: value)
    }

    private mutating func finishHead(_ bytes: Span<UInt8>) throws(WireError) -> Event {
        try layout.checkRequest()
        let head = RequestHead(
            bytes: bytes.withUnsafeBufferPointer { Array($0) }, fields: fields, layout: layout)
        fields = []
        lineStart = 0
        scanned = 0
        state = .bodyStart
        return .head(head, head.framing)
    }
}

/// The rules that the heads of requests and responses and trailers have in common.
enum FieldLine {
    /// Records the positions of a line's name and of its value without blanks.
    @inline(__always)
    static func append(
        to fields: inout [FieldSlices], _ bytes: Span<UInt8>, _ line: Range<Int>
    ) throws(WireError) -> (name: Range<Int>, value: Range<Int>) {
        let name = try name(bytes, line)
        let value = ASCII.trimmed(bytes, (name.upperBound + 1)..<line.upperBound)
        fields.append(FieldSlices(name: Slice16(name), value: Slice16(value)))
        return (name, value)
    }

    /// Returns the name before the colon, which must follow it directly.
    @inline(__always)
    static func name(_ bytes: Span<UInt8>, _ line: Range<Int>) throws(WireError) -> Range<Int> {
        var index = line.lowerBound
        while index < line.upperBound, ASCII.isToken(bytes[index]) { index += 1 }
        if index < line.upperBound, bytes[index] == ASCII.colon, index > line.lowerBound {
            return line.lowerBound..<index
        }
        throw problem(bytes, line, at: index)
    }

    /// Returns the error of a line whose name ends at `index` without a colon.
    private static func problem(_ bytes: Span<UInt8>, _ line: Range<Int>, at index: Int) -> WireError {
        guard index < line.upperBound else { return .missingColon }
        guard ASCII.isBlank(bytes[index]) else { return .invalidFieldName }
        guard index > line.lowerBound else { return .foldedLine }
        var next = index
        while next < line.upperBound, ASCII.isBlank(bytes[next]) { next += 1 }
        guard next < line.upperBound else { return .missingColon }
        return bytes[next] == ASCII.colon ? .spaceBeforeColon : .invalidFieldName
    }
}
