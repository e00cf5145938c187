public import HTTPTypes

/// Reads the response to one request, without doing I/O itself: bytes in, events out.
///
/// - The caller keeps its bytes. `next` reads from `offset` and moves it past the bytes that it has consumed. After
///   `needMoreBytes`, the bytes from `offset` must come first in the next call (followed by new ones). A head is
///   consumed as a whole, so the parser keeps no bytes between calls.
/// - Events come in this order: one `head`, any number of `body`, `end`. Interim responses are read and skipped. After
///   `end` nothing is consumed: remaining bytes do not belong to any request, and the connection must not be used
///   again. `failure` is final.
/// - The same bytes give the same events however they are divided (only `body` ranges may be divided differently).
/// - No byte is scanned for a line's end twice.
/// - Responses that could be read in two ways are refused, because the connection may carry another person's response
///   next.
public struct ResponseParser: Sendable {
    /// The event that the bytes gave.
    public enum Event: Sendable {
        /// Everything that can be consumed was consumed; call again with more bytes, or check `isCompleteAtClose`.
        case needMoreBytes
        /// The whole head of the final response.
        case head(ResponseHead)
        /// The next part of the body, as a range of the given bytes, without chunk framing.
        case body(Range<Int>)
        /// The response is complete; trailers, if any, were checked and dropped.
        case end
        /// The response cannot be read.
        case failure(WireError)
    }

    private enum State: Sendable, Hashable {
        case statusLine, fields, bodyStart(BodyFraming), body, ended
        case failed(WireError)
    }

    private let isForHEAD: Bool
    private let limits: WireLimits
    private let maxBodyBytes: Int
    private var state = State.statusLine
    /// The start of the current line and the end of its scanned part, relative to `offset`.
    private var lineStart = 0
    private var scanned = 0
    private var status = 0
    private var layout = HeadLayout()
    private var fields: [FieldSlices] = []
    /// The ends of lines that the next line continues.
    private var folds: [Int] = []
    /// The bytes of the interim responses so far.
    private var interimBytes = 0
    private var body = BodyParser()

    /// Creates a parser for the response to a request with this method. A body of more than `maxBodyBytes` is refused,
    /// however it is framed.
    public init(method: HTTPRequest.Method = .get, limits: WireLimits = .responses, maxBodyBytes: Int) {
        isForHEAD = method == .head
        self.limits = limits
        self.maxBodyBytes = maxBodyBytes
    }

    /// Whether the response is complete if the connection ends here: because it has ended, or because its body lasts
    /// until the end.
    public var isCompleteAtClose: Bool {
        switch state {
        case .ended: true
        case .bodyStart(.untilClose): true
        case .body: body.endsWithConnection
        case .statusLine, .fields, .bodyStart, .failed: false
        }
    }

    /// Returns the next event of the bytes from `offset`. `offset` must lie within `bytes`.
    public mutating func next(_ bytes: Span<UInt8>, at offset: inout Int) -> Event {
        do throws(WireError) {
            switch state {
            case .statusLine, .fields: return try nextHead(bytes, &offset)
            case .bodyStart(let framing):
                guard try body.begin(framing, limits, maxBytes: maxBodyBytes) else {
                    state = .ended
                    return .end
                }
                state = .body
                return try nextOfBody(bytes, &offset)
            case .body: return try nextOfBody(bytes, &offset)
            case .ended: return .needMoreBytes
            case .failed(let error): return .failure(error)
            }
        } catch {
            state = .failed(error)
            fields = []
            folds = []
            return .failure(error)
        }
    }

    private mutating func nextOfBody(_ bytes: Span<UInt8>, _ offset: inout Int) throws(WireError) -> Event {
        switch try body.next(bytes, &offset) {
        case .needMoreBytes: return .needMoreBytes
        case .data(let range): return .body(range)
        case .end:
            state = .ended
            return .end
        }
    }

    // MARK: The head

    private mutating func nextHead(_ bytes: Span<UInt8>, _ offset: inout Int) throws(WireError) -> Event {
        while true {
            let room = limits.headWindow - interimBytes
            let window = bytes.extracting(offset..<min(bytes.count, offset + room))
            // A response that is not HTTP is noticed at once, even if it contains no line end.
            guard state == .fields || HTTPVersion.begins(window) else { throw .invalidStatusLine }
            switch LineScanner.lineEnd(window, from: scanned, limit: window.count) {
            case .invalid(let error): throw error
            case .incomplete(let scanned):
                guard window.count < room else { throw .headTooLarge }
                self.scanned = scanned
                return .needMoreBytes
            case .line(let end):
                if state == .statusLine {
                    try readStatusLine(window, end: end)
                    state = .fields
                } else if end > lineStart {
                    try readField(window, lineStart..<end)
                } else {
                    offset += end + 2
                    if let head = try finishHead(window.extracting(0..<end)) { return .head(head) }
                    interimBytes += end + 2
                    continue
                }
                lineStart = end + 2
                scanned = end + 2
            }
        }
    }

    /// Reads `HTTP-version SP status-code SP [ reason-phrase ]` (RFC 9112 §4). Many servers omit the last space
    /// together with the phrase, which has no meaning.
    private mutating func readStatusLine(_ bytes: Span<UInt8>, end: Int) throws(WireError) {
        var space = 0
        while space < end, bytes[space] != ASCII.space { space += 1 }
        layout = HeadLayout()
        if try HTTPVersion.isHTTP11(bytes, 0..<space) { layout.flags.insert(.http11) }
        let digits = (space + 1)..<(space + 4)
        guard digits.upperBound <= end, digits.upperBound == end || bytes[digits.upperBound] == ASCII.space else {
            throw .invalidStatusLine
        }
        status = 0
        for index in digits {
            guard ASCII.isDigit(bytes[index]) else { throw .invalidStatusLine }
            status = status * 10 + Int(bytes[index] &- 0x30)
        }
        guard status >= 100 else { throw .invalidStatusLine }
        // We never request an upgrade (RFC 9110 §7.8).
        guard status != 101 else { throw .unexpectedUpgrade }
    }

    /// Reads `field-name ":" OWS field-value OWS` (RFC 9112 §5). The scanner has already refused control characters.
    private mutating func readField(_ bytes: Span<UInt8>, _ line: Range<Int>) throws(WireError) {
        guard fields.count + folds.count < limits.maxFields else { throw .tooManyFields }
        if ASCII.isBlank(bytes[line.lowerBound]), let last = fields.popLast() {
            return fields.append(try continued(last, bytes, line))
        }
        // Room for an API's fields, so that the table is allocated once.
        if fields.isEmpty { fields.reserveCapacity(32) }
        let (name, value) = try FieldLine.append(to: &fields, bytes, line)
        try layout.noteFramingField(bytes, name: name, value: value)
    }

    /// Returns a field whose value continues in `line` (RFC 9112 §5.2): folding is obsolete, but some servers still use
    /// it. Framing fields must be on one line.
    private mutating func continued(
        _ field: FieldSlices, _ bytes: Span<UInt8>, _ line: Range<Int>
    ) throws(WireError) -> FieldSlices {
        for name in ["connection", "content-length", "transfer-encoding"] as [StaticString] {
            guard !ASCII.matches(bytes, field.name.range, name) else { throw .foldedLine }
        }
        folds.append(line.lowerBound - 2)
        let more = ASCII.trimmed(bytes, line)
        var field = field
        if field.value.isEmpty {
            field.value = Slice16(more)
        } else if !more.isEmpty {
            field.value.end = UInt16(truncatingIfNeeded: more.upperBound)
        }
        return field
    }

    /// Returns the head of a final response; nil after an interim one.
    private mutating func finishHead(_ bytes: Span<UInt8>) throws(WireError) -> ResponseHead? {
        try layout.checkFraming()
        lineStart = 0
        scanned = 0
        guard status >= 200 else {
            fields.removeAll(keepingCapacity: true)
            folds = []
            state = .statusLine
            return nil
        }
        // This follows the order of RFC 9112 §6.3.
        let hasNoBody = isForHEAD || status == 204 || status == 304
        let framing = hasNoBody ? .none : layout.framing(else: .untilClose)
        var own = bytes.withUnsafeBufferPointer { Array($0) }
        for fold in folds {
            own[fold] = ASCII.space
            own[fold + 1] = ASCII.space
        }
        let section = FieldSection(bytes: own, fields: fields)
        fields = []
        folds = []
        state = .bodyStart(framing)
        return ResponseHead(status: status, section: section, framing: framing, layout: layout)
    }
}
