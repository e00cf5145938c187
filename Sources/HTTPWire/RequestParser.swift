import HTTPTypes

/// Reads the requests of one connection, without doing I/O itself: bytes in, events out.
///
/// - The caller keeps its bytes. `next` reads from `offset` on and moves it over what it has consumed; what stands
///   behind `offset` after `needMoreBytes` must be at the front of what the next call is given (with more behind it).
///   A head is consumed as a whole, so that between two calls the parser keeps no byte.
/// - Events come in this order: `head`, any number of `body`, `end`, and again. `failure` is for ever.
/// - The same bytes give the same events however they are cut (only `body` ranges may be cut differently).
/// - No byte is scanned for a line's end twice.
public struct RequestParser: Sendable {
    /// What the bytes said.
    public enum Event: Sendable {
        /// Everything that can be consumed is; call again with more bytes.
        case needMoreBytes
        /// One whole head. Set `maxBodyBytes` now, before the next call, if this resource takes another size.
        case head(RequestHead, BodyFraming)
        /// The next part of the body: this range of the bytes that were given, chunk framing removed.
        case body(Range<Int>)
        /// The request is complete; trailers, if there were any, were checked and dropped.
        case end
        /// Answer with the error's status and close.
        case failure(WireError)
    }

    enum State: Sendable, Hashable {
        case requestLine, fields, bodyStart, body
        case failed(WireError)
    }

    /// The bounds on heads, chunk lines and trailers.
    public let limits: WireLimits
    /// The largest body that the present request may have, in bytes, whichever way it is framed.
    public var maxBodyBytes: Int

    var state = State.requestLine
    /// An empty line before the request line was skipped; there may be one (RFC 9112 §2.2).
    var skippedEmptyLine = false
    /// From `offset`: the start of the line that is being read, and how far it is scanned.
    var lineStart = 0
    var scanned = 0
    var layout = HeadLayout()
    var fields: [FieldSlices] = []
    /// What reads the present body.
    private var body = BodyParser()

    /// A parser for a new connection.
    public init(limits: WireLimits = WireLimits(), maxBodyBytes: Int = 64 * 1024) {
        self.limits = limits
        self.maxBodyBytes = maxBodyBytes
    }

    /// Whether a request has begun of which `end` was not reported. (A part of a request line that the caller still
    /// holds counts.)
    public var isMidRequest: Bool {
        switch state {
        case .requestLine: scanned > 0
        case .failed: false
        default: true
        }
    }

    /// The next event of the bytes from `offset` on. `offset` must lie within `bytes`.
    public mutating func next(_ bytes: Span<UInt8>, at offset: inout Int) -> Event {
        do throws(WireError) {
            switch state {
            case .requestLine, .fields: return try nextHead(bytes.extracting(offset..<bytes.count), &offset)
            case .failed(let error): return .failure(error)
            case .bodyStart:
                let framing = layout.framing(else: .none)
                guard try body.begin(framing, limits, maxBytes: maxBodyBytes) else { return finishRequest() }
                state = .body
                return try nextOfBody(bytes, &offset)
            case .body: return try nextOfBody(bytes, &offset)
            }
        } catch {
            state = .failed(error)
            fields = []
            return .failure(error)
        }
    }

    private mutating func nextOfBody(_ bytes: Span<UInt8>, _ offset: inout Int) throws(WireError) -> Event {
        switch try body.next(bytes, &offset) {
        case .needMoreBytes: .needMoreBytes
        case .data(let range): .body(range)
        case .end: finishRequest()
        }
    }

    /// Ready for the next request on the connection.
    private mutating func finishRequest() -> Event {
        state = .requestLine
        skippedEmptyLine = false
        scanned = 0
        return .end
    }
}
