/// Reads the requests of one connection, without doing I/O itself: bytes in, events out.
///
/// - The caller keeps its bytes. `next` reads from `offset` and moves it past the bytes that it has consumed. After
///   `needMoreBytes`, the bytes from `offset` must come first in the next call (followed by new ones). A head is
///   consumed as a whole, so the parser keeps no bytes between calls.
/// - Events come in this order: `head`, any number of `body`, `end`, and then again from `head`. `failure` is final.
/// - The same bytes give the same events however they are divided (only `body` ranges may be divided differently).
/// - No byte is scanned for a line's end twice.
public struct RequestParser: Sendable {
    /// The event that the bytes gave.
    public enum Event: Sendable {
        /// Everything that can be consumed was consumed; call again with more bytes.
        case needMoreBytes
        /// One whole head. Set `maxBodyBytes` now, before the next call, if this resource accepts another size.
        case head(RequestHead, BodyFraming)
        /// The next part of the body, as a range of the given bytes, without chunk framing.
        case body(Range<Int>)
        /// The request is complete; trailers, if any, were checked and dropped.
        case end
        /// Respond with the error's status and close.
        case failure(WireError)
    }

    enum State: Sendable, Hashable {
        case requestLine, fields, bodyStart, body
        case failed(WireError)
    }

    /// The limits on heads, chunk lines and trailers.
    public let limits: WireLimits
    /// The size of the largest body that the current request may have, in bytes, however it is framed.
    public var maxBodyBytes: Int

    var state = State.requestLine
    /// Whether an empty line before the request line was skipped; one is allowed (RFC 9112 §2.2).
    var skippedEmptyLine = false
    /// The start of the current line and the end of its scanned part, relative to `offset`.
    var lineStart = 0
    var scanned = 0
    var layout = HeadLayout()
    var fields: [FieldSlices] = []
    /// The parser of the current body.
    private var body = BodyParser()

    /// Creates a parser for a new connection.
    public init(limits: WireLimits = WireLimits(), maxBodyBytes: Int = 64 * 1024) {
        self.limits = limits
        self.maxBodyBytes = maxBodyBytes
    }

    /// Whether a request has begun and `end` was not reported. (Part of a request line that the caller still keeps
    /// counts.)
    public var isMidRequest: Bool {
        switch state {
        case .requestLine: scanned > 0
        case .failed: false
        default: true
        }
    }

    /// Returns the next event of the bytes from `offset`. `offset` must lie within `bytes`.
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

    /// Prepares for the next request on the connection.
    private mutating func finishRequest() -> Event {
        state = .requestLine
        skippedEmptyLine = false
        scanned = 0
        return .end
    }
}
