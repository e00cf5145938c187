import HTTPTypes
public import HTTPWire

/// One complete request.
public struct Request: Sendable {
    /// Method, target and fields.
    public var head: RequestHead
    /// The whole body, decoded from its framing; empty when there is none.
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

/// How a request is answered; decided from its head alone.
public enum Reply: Sendable {
    /// Answered at once, on the worker.
    case response(Response)
    /// The same, with what was prepared before.
    case prepared(PreparedResponse)
    /// A preloaded file. The server answers HEAD, conditional and range requests, and 405 for other methods.
    case asset(Asset)
    /// The body is collected first (413 when it is larger), then the handler runs as a task on the connection's
    /// worker. The task is cancelled when the client goes away or at the handler deadline.
    case handler(maxBodyBytes: Int, @Sendable (Request) async -> Response)
    /// No answer: the connection is closed at once, as by a server that fails. For failures on demand.
    case close
}

/// The application as the server sees it.
public protocol Responder: Sendable {
    /// Decides how to answer. Called on the worker for every request, before its body: must not block.
    ///
    /// - Parameter mark: What the request's `RequestSummary` will carry.
    func reply(to head: RequestHead, from peer: PeerAddress, mark: inout RequestMark) -> Reply
}

/// What an application attaches to a request, to find it again in the request's summary. The server looks at none of it.
public struct RequestMark: Sendable {
    /// A number that costs nothing, as that of the route; 0 until the application has seen the request.
    public var number = 0
    /// Whatever else the application knows of the request.
    public var note: (any AnyObject & Sendable)?

    /// No mark.
    public init() {}
}
