import EventLoop
import Synchronization

/// A request in progress.
///
/// `@unchecked Sendable`: the caller creates it and hands it to a worker once, and from then on it is confined to that
/// worker. Others only use the cancellation flag, which is atomic.
final class Transfer: @unchecked Sendable {
    typealias Completion = @Sendable (Result<HTTPClientResponse, HTTPClientError>) -> Void

    let request: PreparedRequest
    /// The bytes of the request.
    let bytes: [UInt8]
    let owner: RequestOwner?
    let timeout: Duration
    let maxBodyBytes: Int
    /// The time by which it must have ended.
    var deadline = MonotonicTime(nanoseconds: .max)
    /// The connection that it uses or waits for.
    var connection: OutgoingConnection?
    /// Whether it needs a connection that has not carried any request.
    var needsNewConnection: Bool
    /// Called once, at the end.
    var completion: Completion?
    private let cancelled = Atomic<Bool>(false)

    init(_ request: PreparedRequest, bytes: [UInt8], of owner: RequestOwner?, timeout: Duration, maxBodyBytes: Int) {
        self.request = request
        self.bytes = bytes
        self.owner = owner
        self.timeout = timeout
        self.maxBodyBytes = maxBodyBytes
        needsNewConnection = !request.isRepeatable
    }

    var authority: String { request.authority }

    var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

    func cancel() { cancelled.store(true, ordering: .releasing) }

    /// Ends the transfer for the waiting caller; only the first call has an effect.
    func finish(_ result: Result<HTTPClientResponse, HTTPClientError>) {
        let waiting = completion
        completion = nil
        waiting?(result)
    }
}
