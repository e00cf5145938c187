import EventLoop
import Synchronization

/// One request on its way.
///
/// `@unchecked Sendable`: made by the caller, handed to a worker once, and from then on confined to it; only the
/// cancellation flag is touched by others, and it is atomic.
final class Transfer: @unchecked Sendable {
    typealias Completion = @Sendable (Result<HTTPClientResponse, HTTPClientError>) -> Void

    let request: PreparedRequest
    /// The request as it goes out.
    let bytes: [UInt8]
    let owner: RequestOwner?
    let timeout: Duration
    let maxBodyBytes: Int
    /// When it has to have ended.
    var deadline = MonotonicTime(nanoseconds: .max)
    /// The connection that it is on, or waits for.
    var connection: OutgoingConnection?
    /// Whether it needs a connection that has carried nothing yet.
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

    /// Ends the transfer for the caller who waits for it; the first end counts.
    func finish(_ result: Result<HTTPClientResponse, HTTPClientError>) {
        let waiting = completion
        completion = nil
        waiting?(result)
    }
}
