import CompanionCore
import SessionStore
import Synchronization

/// Counts the concurrent API calls of each session. An API may respond slowly and with a megabyte each time, so without
/// a limit one person could fill the server's memory.
final class ParallelCalls: Sendable {
    /// The maximum number of calls of one session. A page makes two at most.
    static let most = 32

    private let counts = Mutex<[SessionKey: Int]>([:])

    /// Counts one more call until `end`.
    ///
    /// - Throws: ``Problem`` `throttled` if there are ``most`` already; then nothing is counted.
    func begin(_ session: SessionKey) throws(Problem) {
        let isFree = counts.withLock { counts in
            let count = counts[session, default: 0]
            if count < ParallelCalls.most { counts[session] = count + 1 }
            return count < ParallelCalls.most
        }
        guard isFree else { throw Throttle.problem(retryAfter: 1) }
    }

    func end(_ session: SessionKey) {
        counts.withLock { counts in
            let left = counts[session, default: 1] - 1
            counts[session] = left > 0 ? left : nil
        }
    }
}
