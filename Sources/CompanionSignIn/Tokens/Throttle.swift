package import CompanionCore
import Expiring
package import Foundation
package import SessionStore
import Synchronization

/// Which calls an API has asked to be left alone with (429 or 503 with `Retry-After`), and until when: asking again before
/// then would only prolong it.
package final class Throttle: Sendable {
    /// The longest pause that is obeyed, in seconds.
    static let longestPause: TimeInterval = 3600

    /// One account's calls of one address of its application's API.
    package struct Key: Hashable {
        package let app: String
        package let account: String
        /// Below the API's URL.
        package let path: String
        /// Where pauses are each session's own.
        package let session: SessionKey?
    }

    private let pauses = Mutex(ExpiringMap<Key, Date>(maxCount: 10_000))
    private let now: @Sendable () -> Date

    /// Whether a pause is its session's alone. In the demo people share the accounts, and each tries what happens.
    package let isOfSession: Bool

    /// - Parameter now: a clock that nobody sets.
    package init(isOfSession: Bool, now: @escaping @Sendable () -> Date) {
        self.isOfSession = isOfSession
        self.now = now
    }

    /// Refuses what would come too early.
    ///
    /// - Throws: ``Problem`` `throttled` with the seconds that are left.
    package func check(_ key: Key) throws(Problem) {
        let now = now()
        if let end = pauses.withLock({ $0.value(for: key, now: now) }) { throw Throttle.problem(until: end, now: now) }
    }

    /// Remembers a pause; nil asks for none.
    package func note(_ key: Key, retryAfter: Duration?) {
        guard let seconds = retryAfter?.components.seconds, seconds > 0 else { return }
        let now = now()
        let end = now.addingTimeInterval(min(TimeInterval(seconds), Throttle.longestPause))
        pauses.withLock { _ = $0.set(end, for: key, until: end, now: now) }
    }

    package static func problem(until end: Date, now: Date) -> Problem {
        problem(retryAfter: max(1, Int(end.timeIntervalSince(now).rounded(.up))))
    }

    package static func problem(retryAfter seconds: Int) -> Problem {
        Problem(.throttled, "There were too many requests. Try again in \(seconds) s.", retryAfter: seconds)
    }
}
