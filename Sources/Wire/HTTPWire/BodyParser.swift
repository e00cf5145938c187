import WebFormats

/// Reads one body: Content-Length bytes, chunks and trailers (RFC 9112 §7.1), or everything until the connection ends.
/// It is part of a parser of messages, whose rules apply to it too. Lines are consumed one by one.
struct BodyParser: Sendable {
    enum Part {
        case needMoreBytes
        /// This range of the bytes that were given.
        case data(Range<Int>)
        /// The body is complete; trailers, if there were any, were checked and dropped.
        case end
    }

    private enum State: Sendable {
        case length, untilClose, chunkSize, chunkData, chunkEnd, trailers
    }

    private var state = State.length
    private var limits = WireLimits()
    private var maxBytes = 0
    /// The length of the part of the current line that was scanned, from the offset.
    private var scanned = 0
    /// The remaining bytes of the body or of the chunk; until the end of the connection, the bytes that may still come.
    private var remaining = 0
    /// The body bytes that the chunks have announced so far.
    private var chunkedBytes = 0
    /// The bytes of chunk extensions, then of trailers; and the number of trailer lines.
    private var overheadBytes = 0
    private var trailerCount = 0

    /// Begins a body of at most `maxBytes`. Returns false when there is no body.
    mutating func begin(_ framing: BodyFraming, _ limits: WireLimits, maxBytes: Int) throws(WireError) -> Bool {
        if framing == .none { return false }
        self = BodyParser()
        self.limits = limits
        self.maxBytes = maxBytes
        switch framing {
        case .none: break
        case .length(let length):
            guard length <= maxBytes else { throw .bodyTooLarge }
            remaining = length
        case .chunked: state = .chunkSize
        case .untilClose:
            remaining = maxBytes
            state = .untilClose
        }
        return true
    }

    /// Whether the body is complete if the connection ends now.
    var endsWithConnection: Bool { state == .untilClose }

    mutating func next(_ bytes: Span<UInt8>, _ offset: inout Int) throws(WireError) -> Part {
        while true {
            switch state {
            case .length:
                return remaining > 0 ? take(bytes.count, &offset) : .end
            case .untilClose:
                guard remaining > 0 || offset == bytes.count else { throw .bodyTooLarge }
                return take(bytes.count, &offset)
            case .chunkSize:
                guard let line = try nextLine(bytes, &offset, limit: limits.maxChunkLineBytes, .chunkLineTooLong) else {
                    return .needMoreBytes
                }
                try readChunkSize(bytes, line)
            case .chunkData:
                if remaining > 0 { return take(bytes.count, &offset) }
                state = .chunkEnd
            case .chunkEnd:
                guard try takeChunkEnd(bytes, &offset) else { return .needMoreBytes }
            case .trailers:
                let limit = limits.maxTrailerBytes - overheadBytes
                guard let line = try nextLine(bytes, &offset, limit: limit, .trailersTooLarge) else {
                    return .needMoreBytes
                }
                if line.isEmpty { return .end }
                try checkTrailer(bytes, line)
            }
        }
    }

    private mutating func take(_ available: Int, _ offset: inout Int) -> Part {
        let count = min(remaining, available - offset)
        guard count > 0 else { return .needMoreBytes }
        let range = offset..<(offset + count)
        remaining -= count
        offset += count
        return .data(range)
    }

    /// Consumes the next line and returns it without its end; nil when it is incomplete.
    private mutating func nextLine(
        _ bytes: Span<UInt8>, _ offset: inout Int, limit: Int, _ tooLong: WireError
    ) throws(WireError) -> Range<Int>? {
        let end = min(bytes.count, offset + max(0, limit))
        switch LineScanner.lineEnd(bytes, from: min(offset + scanned, end), limit: end) {
        case .invalid(let error): throw error
        case .incomplete(let scanned):
            guard end - offset < limit else { throw tooLong }
            self.scanned = scanned - offset
            return nil
        case .line(let lineEnd):
            let line = offset..<lineEnd
            offset = lineEnd + 2
            scanned = 0
            return line
        }
    }

    /// Reads `chunk-size [ chunk-ext ]`: hexadecimal digits, then nothing or `;` and extensions, which are ignored.
    private mutating func readChunkSize(_ bytes: Span<UInt8>, _ line: Range<Int>) throws(WireError) {
        var size = 0
        var index = line.lowerBound
        while index < line.upperBound, let digit = Hex.value(of: bytes[index]) {
            let (product, overflow) = size.multipliedReportingOverflow(by: 16)
            guard !overflow else { throw .invalidChunkSize }
            // A product that fits has its low four bits free.
            size = product | Int(digit)
            index += 1
        }
        guard index > line.lowerBound else { throw .invalidChunkSize }
        if index < line.upperBound {
            overheadBytes += line.upperBound - index
            guard overheadBytes <= limits.maxChunkExtensionBytes else { throw .chunkExtensionsTooLong }
            while index < line.upperBound, ASCII.isBlank(bytes[index]) { index += 1 }
            guard index < line.upperBound, bytes[index] == ASCII.semicolon else { throw .invalidChunkSize }
        }
        guard size <= maxBytes - chunkedBytes else { throw .bodyTooLarge }
        chunkedBytes += size
        remaining = size
        state = size == 0 ? .trailers : .chunkData
        if size == 0 { overheadBytes = 0 }
    }

    /// Consumes the CR LF after a chunk's data.
    private mutating func takeChunkEnd(_ bytes: Span<UInt8>, _ offset: inout Int) throws(WireError) -> Bool {
        guard offset < bytes.count else { return false }
        guard bytes[offset] == ASCII.carriageReturn else { throw .missingChunkEnd }
        guard offset + 1 < bytes.count else { return false }
        guard bytes[offset + 1] == ASCII.lineFeed else { throw .missingChunkEnd }
        offset += 2
        state = .chunkSize
        return true
    }

    /// Checks a trailer by the rules of fields, and drops it: nothing may be changed by fields that come after the body
    /// (RFC 9110 §6.5.1).
    private mutating func checkTrailer(_ bytes: Span<UInt8>, _ line: Range<Int>) throws(WireError) {
        _ = try FieldLine.name(bytes, line)
        overheadBytes += line.count + 2
        trailerCount += 1
        guard trailerCount <= limits.maxFields else { throw .tooManyFields }
    }
}
