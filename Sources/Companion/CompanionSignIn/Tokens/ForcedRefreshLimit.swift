import CompanionCore
import Expiring
import Foundation
import Synchronization

/// Limits the forced refreshes of valid tokens: a number per minute for one account and application, across all
/// sessions.
final class ForcedRefreshLimit: Sendable {
    /// An account of one application.
    package struct Account: Hashable {
        package let app: String
        package let id: String
    }

    static let maxRefreshes = 6
    /// The window of the limit, in seconds.
    static let window: TimeInterval = 60

    private let recent = Mutex(RecentTimes<Account>(most: maxRefreshes, within: window, maxKeys: 10_000))
    private let now: @Sendable () -> Date

    /// - Parameter now: a monotonic clock.
    init(now: @escaping @Sendable () -> Date) {
        self.now = now
    }

    /// Counts one refresh.
    ///
    /// - Throws: ``Problem`` `throttled` with the seconds until the next refresh is allowed; then nothing is counted.
    func take(_ account: Account) throws(Problem) {
        let now = now()
        if let wait = recent.withLock({ $0.add(account, now: now) }) {
            throw Throttle.problem(until: now.addingTimeInterval(wait), now: now)
        }
    }
}
