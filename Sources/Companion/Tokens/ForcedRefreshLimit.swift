import Expiring
import Foundation
import Synchronization

/// How often a token that is still good may be replaced, no matter who asks: so many times a minute for an account of an
/// application, all of its sessions together.
final class ForcedRefreshLimit: Sendable {
    /// Of one application.
    struct Account: Hashable {
        let app: String
        let id: String
    }

    static let maxRefreshes = 6
    /// In seconds.
    static let window: TimeInterval = 60

    private let recent = Mutex(ExpiringMap<Account, [Date]>(maxCount: 10_000))
    private let now: @Sendable () -> Date

    init(now: @escaping @Sendable () -> Date) {
        self.now = now
    }

    /// Counts one refresh.
    ///
    /// - Throws: ``Problem`` `throttled` with the seconds until the next may go out; then nothing is counted.
    func take(_ account: Account) throws(Problem) {
        let now = now()
        let free = recent.withLock { recent -> Date? in
            let times = (recent.value(for: account, now: now) ?? []).filter {
                // What lies ahead was noted before the clock was set back.
                (0..<ForcedRefreshLimit.window).contains(now.timeIntervalSince($0))
            }
            if times.count >= ForcedRefreshLimit.maxRefreshes, let oldest = times.first {
                return oldest.addingTimeInterval(ForcedRefreshLimit.window)
            }
            recent.set(times + [now], for: account, until: now.addingTimeInterval(ForcedRefreshLimit.window), now: now)
            return nil
        }
        if let free { throw Throttle.problem(until: free, now: now) }
    }
}
