public import EventLoop
public import HTTPTypes

/// An HTTP/1.1 client on the event loop's workers. libcurl opens its connections: it resolves names, verifies
/// certificates, and asks the proxies of the environment (`https_proxy`, `http_proxy`, `no_proxy`) for a tunnel.
/// Connections are kept for GET and HEAD. Any other request has a connection of its own: if the server closed a kept
/// connection at the same moment, it would be unknown whether the request had any effect. Redirects are returned and
/// not followed. Every transfer has a deadline and a size limit.
///
/// Shut it down before its workers.
public final class HTTPClient: Sendable {
    /// The settings for every transfer of a client.
    public struct Configuration: Sendable {
        /// The longest that resolving the name, connecting and the TLS handshake may take together.
        public var connectTimeout: Duration
        /// The longest that a whole transfer may take, connecting included.
        public var totalTimeout: Duration
        /// The largest response body, in bytes after decoding its Content-Encoding.
        public var maxResponseBytes: Int
        /// The User-Agent field.
        public var userAgent: String
        /// A PEM file of certificate authorities to trust beside those in the system's folder (on Debian
        /// `/etc/ssl/certs`); nil: those of the system alone.
        public var certificateAuthorityFile: String?
        /// The address and port that every connection goes to. Then a request's authority says only which name the server's
        /// certificate must have. nil connects to the authority.
        public var connectsTo: String?
        /// The connections of one worker to one origin. Further requests wait until one is free.
        var maxConnections = 256
        /// The time for which an unused connection is kept. It is shorter than that of servers: nginx and Apache's
        /// proxies wait 60 s and more, Microsoft's 120 s.
        var keptFor = Duration.seconds(50)
        /// The age at which a connection is replaced, so that a new certificate, address or server is noticed.
        var maxAge = Duration.seconds(300)

        /// Creates a configuration. The defaults suit calls to an identity provider: short, small, JSON.
        public init(
            connectTimeout: Duration = .seconds(5), totalTimeout: Duration = .seconds(15),
            maxResponseBytes: Int = 1 << 20, userAgent: String = "companion",
            certificateAuthorityFile: String? = nil, connectsTo: String? = nil
        ) {
            self.connectTimeout = connectTimeout
            self.totalTimeout = totalTimeout
            self.maxResponseBytes = maxResponseBytes
            self.userAgent = userAgent
            self.certificateAuthorityFile = certificateAuthorityFile
            self.connectsTo = connectsTo
        }
    }

    private let workers: WorkerGroup
    private let configuration: Configuration
    /// One pool for each worker, at the worker's index.
    private let pools: [ConnectionPool]

    /// Creates a client on `workers`. It does not connect yet.
    public init(workers: WorkerGroup, configuration: Configuration = .init()) {
        self.workers = workers
        self.configuration = configuration
        pools = workers.workers.map { ConnectionPool(worker: $0, configuration: configuration) }
    }

    deinit {
        for pool in pools { pool.worker.submit { pool.close() } }
    }

    /// Sends `request` with `body` and returns the whole response, whatever its status. It runs on the caller's worker,
    /// or on the next one if the caller is not on a worker. Cancelling the task ends the transfer.
    ///
    /// The request needs a scheme (http or https), an authority without user information, and a path. The client sets
    /// the framing fields; the caller sets a Content-Type if one is needed.
    ///
    /// `timeout` and `maxResponseBytes` replace the configuration's total deadline and body limit. The head of the
    /// response may have up to 64 KiB.
    public func send(
        _ request: HTTPRequest, body: [UInt8] = [], timeout: Duration? = nil, maxResponseBytes: Int? = nil
    ) async throws(HTTPClientError) -> HTTPClientResponse {
        try await send(prepare(request), body: body, timeout: timeout, maxResponseBytes: maxResponseBytes)
    }

    /// Prepares a request that is sent many times, changing only some fields and the body: it is checked and written
    /// once.
    public func prepare(_ request: HTTPRequest) throws(HTTPClientError) -> PreparedRequest {
        try PreparedRequest(request, userAgent: configuration.userAgent)
    }

    /// Sends `request` with `fields` added, which must not repeat any of its own. A GET or HEAD is sent once more if
    /// its kept connection ended before the first byte of the response.
    ///
    /// - Parameter owner: the person for whom it is sent, if its response is meant for one person. It shares
    ///   connections with other people's requests only if the server has shown that it returns identifiers.
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
            // The order matters: a transfer that has not started sees the flag, and one that has is found by the
            // submission.
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
