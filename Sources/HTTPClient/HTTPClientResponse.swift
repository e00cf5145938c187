public import HTTPTypes
import HTTPWire

/// A whole response.
public struct HTTPClientResponse: Sendable {
    /// Status and fields. The fields describe `body` as it is here: where libcurl has decoded it, Content-Encoding,
    /// Content-Length and Transfer-Encoding are left out. Trailers are dropped.
    /// It is made anew at each call for the response to a `FrequentRequest`, whose fields are found without it.
    public var head: HTTPResponse {
        get {
            switch storage {
            case .made(let head): return head
            case .wire(let wire):
                var fields = wire.headerFields
                fields[.transferEncoding] = nil
                return HTTPResponse(status: wire.status, headerFields: fields)
            }
        }
        set { storage = .made(newValue) }
    }
    private var storage: Storage
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
        storage = .made(head)
        self.body = body
        self.timings = timings
    }

    init(_ head: ResponseHead, body: [UInt8], timings: Timings) {
        storage = .wire(head)
        self.body = body
        self.timings = timings
    }

    private enum Storage: Sendable {
        case made(HTTPResponse)
        case wire(ResponseHead)
    }

    /// The status.
    public var status: HTTPResponse.Status {
        switch storage {
        case .made(let head): head.status
        case .wire(let head): head.status
        }
    }

    /// The value of the field, lines joined by `, `; nil when there is none.
    public subscript(name: HTTPField.Name) -> String? {
        switch storage {
        case .made(let head): head.headerFields[name]
        case .wire(let head): head[name]
        }
    }

    /// The value of each of the field's lines, in order.
    public func values(for name: HTTPField.Name) -> [String] {
        switch storage {
        case .made(let head): head.headerFields[values: name]
        case .wire(let head): head.values(for: name)
        }
    }
}
