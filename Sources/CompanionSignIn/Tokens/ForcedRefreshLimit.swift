import CompanionCore
import Expiring
import Foundation
import Synchronization

/// How often a token that is still good may be replaced, no matter who asks: so many times a minute for an account of an
/// application, all of its sessions together.
final class ForcedRefreshLimit: Sendable {
    /// Of one application.
    package struct Account: Hashable {
        package let app: String
        package let id: String
    }

    static let maxRefreshes = 6
    /// In seconds.
    static let window: TimeInterval = 60

    private let recent = Mutex(RecentTimes<Account>(most: maxRefreshes, within: window, maxKeys: 10_000))
    private let now: @Sendable () -> Date

    /// - Parameter now: a clock that nobody sets.
    init(now: @escaping @Sendable () -> Date) {
        self.now = now
    }

    /// Counts one refresh.
    ///
    /// - Throws: ``Problem`` `throttled` with the seconds until the next may go out; then nothing is counted.
    func take(_ account: Account) throws(Problem) {
        let now = now()
        if let wait = recent.withLock({ $0.add(account, now: now) }) {
            throw Throttle.problem(until: now.addingTimeInterval(wait), now: now)
        }
    }
}
