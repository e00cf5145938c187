public import HTTPTypes
public import HTTPWire
public import TLS

/// Everything that can be set about an `HTTPServer`. Defaults suit a companion server on one machine.
public struct ServerConfiguration: Sendable {
    /// The name or numeric address to listen on. `localhost` listens on every loopback address the machine has.
    public var host: String
    /// The TCP port; 0 lets the kernel choose (`HTTPServer.start()` returns it).
    public var port: Int
    /// With it the server speaks https and nothing else; nil is plain http.
    public var certificate: ServerCertificate?
    /// Fields put on every response, errors of the wire included, unless the response sets the same name itself.
    public var responseFields: HTTPFields
    /// Fields put in addition on every response that a browser may show as a page: on all but style sheets, scripts,
    /// pictures, fonts, JSON and plain text. Of these, an SVG picture, which can contain scripts, gets the
    /// Content-Security-Policy alone.
    public var documentFields: HTTPFields = [:]
    /// The limits on the data that a client may send or hold.
    public var limits: Limits
    /// The time limit of each stage of a connection.
    public var deadlines: Deadlines
    /// The body and fields of answers which the server gives itself (400, 405, 408, 413, 416, 431, 503, 505 …),
    /// from the status and one plain sentence that says what was wrong; `nil`, also as its result, gives a short
    /// `application/problem+json` (RFC 9457). The status stays the server's.
    public var errorBody: (@Sendable (HTTPResponse.Status, _ detail: String) -> Response?)?
    /// The limit on the connections of one address; nil for no limit.
    public var addressLimit: AddressLimit?
    /// Called on the worker after each response was handed to the kernel: the access log. Must not block.
    public var onRequestEnd: (@Sendable (RequestSummary) -> Void)?
    /// Whether a client that ends its half of the connection while a handler works is taken for one that is gone, so that the
    /// handler's task is cancelled. TCP does not tell one from the other; by default it waits for its answer.
    public var cancelsAtHalfClose = false

    /// - Parameters:
    ///   - host: Name or numeric address.
    ///   - port: TCP port, 0 for any.
    ///   - responseFields: Fields of every response.
    public init(host: String = "127.0.0.1", port: Int = 0, responseFields: HTTPFields = [:]) {
        self.host = host
        self.port = port
        self.responseFields = responseFields
        self.limits = Limits()
        self.deadlines = Deadlines()
    }

    /// The limits on the data that a client may send or hold.
    public struct Limits: Sendable {
        /// Bounds on heads and chunk lines (→ 400, 431). A body's bound is its handler's.
        public var wire = WireLimits()
        /// Connections open at a time, on all workers together. `HTTPServer.start()` lowers it to what the
        /// process's descriptor limit allows. At the cap, one of the address with most connections is closed for the
        /// new one: of those that wait for their client, the one that has waited longest among the kind of which there
        /// are most. With none, new ones wait in the kernel's queue.
        public var maxConnections = 10_000
        /// A request body that no one reads is skipped up to this size, so that the connection stays usable.
        public var maxSkippedBodyBytes = 64 * 1024
        /// The most input that is read and discarded after an answer that closes the connection, before it is cut
        /// (RFC 9112 §9.6: otherwise a reset could destroy the answer on its way).
        public var maxLingerBytes = 256 * 1024

        /// The default limits.
        public init() {}
    }

    /// A bound on the connections of one address (of IPv6: of one /64). At the bound, one more takes the place of one that
    /// the same worker has of the address: of the one that has waited longest for its first whole request, else of the one
    /// that has waited longest for its next, else of the one whose client has not read its answer for longest
    /// (``Deadlines/unread``). Where there is none, the newcomer is closed as soon as it is accepted. A request that is
    /// worked on, or whose answer is being read, is never cut off for this.
    public struct AddressLimit: Sendable {
        /// Connections open at a time, on all workers together.
        public var maxConnections: Int
        /// Peers that are not counted, such as a proxy for many clients. Called on a worker; must not block.
        public var isExempt: @Sendable (PeerAddress) -> Bool
        /// Called on a worker for each connection that was closed for this, an older one or the newcomer, with the newcomer's
        /// address. Must not block.
        public var onRefusal: @Sendable (PeerAddress) -> Void

        /// - Parameters:
        ///   - maxConnections: Connections of one address.
        ///   - isExempt: Peers that are not counted.
        ///   - onRefusal: Called for each connection that was closed for this.
        public init(
            maxConnections: Int, isExempt: @escaping @Sendable (PeerAddress) -> Bool = { _ in false },
            onRefusal: @escaping @Sendable (PeerAddress) -> Void = { _ in }
        ) {
            self.maxConnections = maxConnections
            self.isExempt = isExempt
            self.onRefusal = onRefusal
        }
    }

    /// The time limits of the stages of a connection. One sweep per worker enforces them, at most a quarter of the
    /// shortest (and never more than a second) late.
    public struct Deadlines: Sendable {
        /// The time from the first byte of a request (or the start of the connection) to the end of its head → 408.
        public var head: Duration = .seconds(10)
        /// The time from the end of the head to the end of the body → 408.
        public var body: Duration = .seconds(30)
        /// The time for an asynchronous handler → 503, and its task is cancelled.
        public var handler: Duration = .seconds(60)
        /// The time between two steps of progress while a response waits for a client that does not read → cut.
        public var write: Duration = .seconds(30)
        /// The time in which a client has to take 16 KB of an answer, or the rest of it, so that its connection holds its
        /// place when another one needs it.
        public var unread: Duration = .seconds(2)
        /// The time between two requests → closed.
        public var idle: Duration = .seconds(75)
        /// The time for the client's close after an answer that ended the connection → cut.
        public var linger: Duration = .seconds(2)

        /// The default deadlines.
        public init() {}
    }
}

/// One answered request, for the access log. It contains no query, no field and no body.
public struct RequestSummary: Sendable {
    // Strings are made when they are requested: most requests are only counted.
    let head: RequestHead?
    /// The request's method, or nil when its head could not be read.
    public var method: HTTPRequest.Method? { head?.method }
    /// The path without its query, still percent-encoded, or nil when the head could not be read.
    public var path: String? { head?.path }
    /// The status that was sent.
    public var status: HTTPResponse.Status
    /// The time from the end of the request's head to the hand-over of the response to the kernel.
    public var duration: Duration
    /// The size of the response's content (without its head).
    public var bodyBytes: Int
    /// The client.
    public var peer: PeerAddress
    /// The mark that the responder attached to the request.
    public var mark: RequestMark
}
