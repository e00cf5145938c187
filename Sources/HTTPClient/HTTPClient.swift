public import EventLoop
public import HTTPTypes
import Synchronization

/// An HTTP/1.1 client on the event loop's workers. libcurl makes its connections: it resolves names, verifies certificates,
/// and asks the proxies of the environment (`https_proxy`, `http_proxy`, `no_proxy`) for a tunnel. Connections are kept for
/// GET and HEAD; any other request has one of its own, because an end that crosses it would leave open whether it was heard.
/// Redirects are handed back instead of followed. Every transfer has a deadline and a size limit.
///
/// Shut it down before its workers.
public final class HTTPClient: Sendable {
    /// What holds for every transfer of a client.
    public struct Configuration: Sendable {
        /// The longest that resolving the name, connecting and the TLS handshake may take together.
        public var connectTimeout: Duration
        /// The longest that a whole transfer may take, connecting included.
        public var totalTimeout: Duration
        /// The largest response body, in bytes after decoding its Content-Encoding.
        public var maxResponseBytes: Int
        /// The User-Agent field.
        public var userAgent: String
        /// A PEM file of the certificate authorities to trust instead of the system's.
        public var certificateAuthorityFile: String?
        /// The connections of one worker to one origin. Further requests wait until one is free.
        var maxConnections = 256
        /// How long a connection is kept without a request. Less than what servers wait: nginx and Apache's
        /// proxies 60 s and more, Microsoft's 120 s.
        var keptFor = Duration.seconds(50)
        /// After this a connection is replaced, so that another certificate, address or server is noticed.
        var maxAge = Duration.seconds(300)

        /// The defaults suit calls to an identity provider: short, small, JSON.
        public init(
            connectTimeout: Duration = .seconds(5), totalTimeout: Duration = .seconds(15),
            maxResponseBytes: Int = 1 << 20, userAgent: String = "companion",
            certificateAuthorityFile: String? = nil
        ) {
            self.connectTimeout = connectTimeout
            self.totalTimeout = totalTimeout
            self.maxResponseBytes = maxResponseBytes
            self.userAgent = userAgent
            self.certificateAuthorityFile = certificateAuthorityFile
        }
    }

    private let workers: WorkerGroup
    private let configuration: Configuration
    /// One for each worker, at the worker's index.
    private let pools: [ConnectionPool]

    /// A client on `workers`; it connects to nobody yet.
    public init(workers: WorkerGroup, configuration: Configuration = .init()) {
        self.workers = workers
        self.configuration = configuration
        pools = workers.workers.map { ConnectionPool(worker: $0, configuration: configuration) }
    }

    deinit {
        for pool in pools { pool.worker.submit { pool.close() } }
    }

    /// Sends `request` with `body` and returns the whole response, whatever its status. It runs on the caller's
    /// worker, or on the next one when the caller is on none; cancelling the task ends the transfer.
    ///
    /// The request needs a scheme (http or https), an authority without user information, and a path. The fields that
    /// frame it are ours; a Content-Type must come with the request if there is to be one.
    ///
    /// `timeout` and `maxResponseBytes` replace the configuration's total deadline and body limit. The head of the
    /// response may have 64 KiB.
    public func send(
        _ request: HTTPRequest, body: [UInt8] = [], timeout: Duration? = nil, maxResponseBytes: Int? = nil
    ) async throws(HTTPClientError) -> HTTPClientResponse {
        try await send(prepare(request), body: body, timeout: timeout, maxResponseBytes: maxResponseBytes)
    }

    /// Prepares a request that is sent again and again with nothing changed but some fields and the body: it is checked and
    /// written once.
    public func prepare(_ request: HTTPRequest) throws(HTTPClientError) -> PreparedRequest {
        try PreparedRequest(request, userAgent: configuration.userAgent)
    }

    /// Sends `request` with `fields` added, which must not repeat any of its own. A GET or HEAD whose kept connection has
    /// ended before a byte of the response is sent once more.
    ///
    /// - Parameter owner: for whom it is sent, where its response is meant for one person. It shares connections with
    ///   requests of others only where the server has shown that it returns identifiers.
    public func send(
        _ request: PreparedRequest, adding fields: HTTPFields = [:], body: [UInt8] = [], for owner: RequestOwner? = nil,
        timeout: Duration? = nil, maxResponseBytes: Int? = nil
    ) async throws(HTTPClientError) -> HTTPClientResponse {
        var fields = fields
        if let owner { fields.append(contentsOf: owner.fields) }
        let transfer = Transfer(
            request, bytes: try request.bytes(adding: fields, body: body), of: owner,
            timeout: timeout ?? configuration.totalTimeout,
            maxBodyBytes: maxResponseBytes ?? configuration.maxResponseBytes)
        let pool = poolForCaller()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                transfer.completion = { continuation.resume(returning: $0) }
                if pool.worker.isCurrent {
                    pool.start(transfer)
                } else {
                    pool.worker.submit { pool.start(transfer) }
                }
            }
        } onCancel: {
            // In this order: a transfer that has not started sees the flag, one that has is found by the submission.
            transfer.cancel()
            pool.worker.submit { pool.cancel(transfer) }
        }
        return try result.get()
    }

    /// Ends all transfers as cancelled and closes all connections. Later requests fail.
    public func shutdown() async {
        for pool in pools { await pool.worker.perform { _ in pool.close() } }
    }

    private func poolForCaller() -> ConnectionPool {
        if let worker = Worker.current, worker.index < pools.count, pools[worker.index].worker === worker {
            return pools[worker.index]
        }
        return pools[workers.next().index]
    }
}
