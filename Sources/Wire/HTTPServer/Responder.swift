public import HTTPWire

/// One complete request.
public struct Request: Sendable {
    /// Method, target and fields.
    public var head: RequestHead
    /// The whole body, decoded from its framing; empty if there is none.
    public var body: [UInt8]
    /// The other end of the connection.
    public var peer: PeerAddress

    /// - Parameters:
    ///   - head: Method, target and fields.
    ///   - body: The whole body.
    ///   - peer: The other end of the connection.
    public init(head: RequestHead, body: [UInt8] = [], peer: PeerAddress) {
        self.head = head
        self.body = body
        self.peer = peer
    }
}

/// A way to respond to a request, which is decided from its head alone.
public enum Reply: Sendable {
    /// A response that is sent at once, on the worker.
    case response(Response)
    /// A prepared response that is sent at once.
    case prepared(PreparedResponse)
    /// A file in memory. The server handles HEAD, conditional and range requests, and sends 405 for other methods.
    case asset(Asset)
    /// A handler. The body is collected first (413 if it is larger), then the handler runs as a task on the
    /// connection's worker. The task is cancelled when the client disconnects or at the handler's deadline.
    case handler(maxBodyBytes: Int, @Sendable (Request) async -> Response)
}

/// The application that the server calls.
public protocol Responder: Sendable {
    /// Decides how to respond. Called on the worker for every request, before its body; it must not block.
    ///
    /// - Parameter mark: The mark that the request's `RequestSummary` will carry.
    func reply(to head: RequestHead, from peer: PeerAddress, mark: inout RequestMark) -> Reply
}

/// A mark that an application attaches to a request, to find it in the request's summary. The server does not read it.
public struct RequestMark: Sendable {
    /// A number that costs nothing to set, such as that of the route; 0 until the application has seen the request.
    public var number = 0
    /// Anything else that the application knows about the request.
    public var note: (any AnyObject & Sendable)?

    /// Creates an empty mark.
    public init() {}
}
