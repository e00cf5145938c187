import EventLoop
public import HTTPTypes
import Synchronization

/// An HTTP client on the event loop's workers, made of libcurl: connections are kept alive and reused, HTTP/2 is used
/// over TLS where the peer has it, certificates are verified, redirects are handed back instead of followed, proxies
/// come from the environment (`https_proxy`, `http_proxy`, `no_proxy`). Every transfer has a deadline and a size limit.
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
        /// How long a connection of frequent requests is kept without one. Less than what servers wait: nginx and Apache's
        /// proxies 60 s and more, Microsoft's 120 s.
        var keptFor = Duration.seconds(50)
        /// After this such a connection is made anew, so that another certificate, address or server is noticed.
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
    private let multis: [Multi]

    /// A client on `workers`; it connects to nobody yet.
    public init(workers: WorkerGroup, configuration: Configuration = .init()) {
        self.workers = workers
        self.configuration = configuration
        multis = workers.workers.map { Multi(worker: $0, configuration: configuration) }
    }

    deinit {
        for multi in multis { multi.worker.submit { multi.close() } }
    }

    /// Sends `request` with `body` and returns the whole response, whatever its status. It runs on the caller's
    /// worker, or on the next one when the caller is on none; cancelling the task ends the transfer.
    ///
    /// The request needs a scheme (http or https), an authority without user information, and a path. Content-Length
    /// is ours; a Content-Type must come with the request if there is to be one.
    ///
    /// `timeout` and `maxResponseBytes` replace the configuration's total deadline and body limit. The head of the
    /// response may have 64 KiB.
    public func send(
        _ request: HTTPRequest, body: [UInt8] = [], timeout: Duration? = nil, maxResponseBytes: Int? = nil
    ) async throws(HTTPClientError) -> HTTPClientResponse {
        let transfer = Transfer(
            request: try OutgoingRequest(request, body: body),
            timeout: timeout ?? configuration.totalTimeout,
            maxBodyBytes: maxResponseBytes ?? configuration.maxResponseBytes)
        return try await run(transfer)
    }

    /// Prepares a GET or HEAD that is sent again and again with nothing changed but some fields: it is checked and
    /// written once. Such requests have connections of their own, on which this client speaks HTTP/1.1 itself, for about a
    /// third of what a transfer of libcurl's costs. libcurl makes these connections; it verifies certificates as ever.
    ///
    /// It goes libcurl's way all the same where a proxy is configured, when there are too many such connections, and to an
    /// origin whose responses are coded in spite of `Accept-Encoding: identity`, or folded.
    public func frequent(_ request: HTTPRequest) throws(HTTPClientError) -> FrequentRequest {
        try FrequentRequest(request, userAgent: configuration.userAgent)
    }

    /// Sends `request` with `fields` added, which must not repeat any of its own. All else is as with other requests; an
    /// error is the same error. A kept connection that has ended before a byte of the response is replaced once.
    public func send(
        _ request: FrequentRequest, adding fields: HTTPFields = [:], timeout: Duration? = nil,
        maxResponseBytes: Int? = nil
    ) async throws(HTTPClientError) -> HTTPClientResponse {
        try await run(
            Transfer(
                request: request.outgoing, direct: try DirectRequest(request, adding: fields),
                timeout: timeout ?? configuration.totalTimeout,
                maxBodyBytes: maxResponseBytes ?? configuration.maxResponseBytes))
    }

    private func run(_ transfer: Transfer) async throws(HTTPClientError) -> HTTPClientResponse {
        let multi = multiForCaller()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                transfer.completion = { continuation.resume(returning: $0) }
                if multi.worker.isCurrent {
                    multi.start(transfer)
                } else {
                    multi.worker.submit { multi.start(transfer) }
                }
            }
        } onCancel: {
            // In this order: a transfer that has not started sees the flag, one that has is found by the submission.
            transfer.cancel()
            multi.worker.submit { multi.cancel(transfer) }
        }
        return try result.get()
    }

    /// Ends all transfers as cancelled and closes all connections. Later requests fail.
    public func shutdown() async {
        for multi in multis { await multi.worker.perform { _ in multi.close() } }
    }

    private func multiForCaller() -> Multi {
        if let worker = Worker.current, worker.index < multis.count, multis[worker.index].worker === worker {
            return multis[worker.index]
        }
        return multis[workers.next().index]
    }
}
