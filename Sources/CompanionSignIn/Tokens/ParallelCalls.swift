import CompanionCore
import SessionStore
import Synchronization

/// The API calls that each session has under way. An API may take its time with each and answer with a megabyte, so that
/// without a bound one person could fill the server's memory.
final class ParallelCalls: Sendable {
    /// Calls of one session. A page has two at most.
    static let most = 32

    private let counts = Mutex<[SessionKey: Int]>([:])

    /// Counts one more until `end`.
    ///
    /// - Throws: ``Problem`` `throttled` when there are ``most`` already; then nothing is counted.
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
