public import HTTPTypes

/// A whole response.
public struct HTTPClientResponse: Sendable {
    /// Status and fields. The fields describe `body` as it is here: where libcurl has decoded it, Content-Encoding,
    /// Content-Length and Transfer-Encoding are left out. Trailers are dropped.
    public var head: HTTPResponse
    /// The body, decoded.
    public var body: [UInt8]
    /// How long the transfer took.
    public var timings: Timings

    /// Moments of a transfer, each counted from its start. Zero where a step was not needed.
    public struct Timings: Sendable, Hashable {
        /// When the name was resolved.
        public var nameResolved: Duration
        /// When the connection stood.
        public var connected: Duration
        /// When the TLS handshake was over.
        public var secured: Duration
        /// When the first byte of the response came.
        public var firstByte: Duration
        /// When the response was complete.
        public var total: Duration
        /// Whether an idle connection was used again.
        public var connectionReused: Bool

        /// The timings of a transfer.
        public init(
            nameResolved: Duration = .zero, connected: Duration = .zero, secured: Duration = .zero,
            firstByte: Duration = .zero, total: Duration = .zero, connectionReused: Bool = false
        ) {
            self.nameResolved = nameResolved
            self.connected = connected
            self.secured = secured
            self.firstByte = firstByte
            self.total = total
            self.connectionReused = connectionReused
        }
    }

    /// A response, for instance for a test of what uses one.
    public init(head: HTTPResponse, body: [UInt8], timings: Timings = Timings()) {
        self.head = head
        self.body = body
        self.timings = timings
    }
}
