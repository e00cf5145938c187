package import CompanionCore
import Expiring
package import Foundation
package import SessionStore
import Synchronization

/// API calls that are paused by Retry-After (with a 429 or 503), and the end of each pause. Calling earlier would only
/// prolong it.
package final class Throttle: Sendable {
    /// The longest pause that is observed, in seconds.
    static let longestPause = TimeInterval(SignInRules.longestPause) / 1000

    /// One account's calls of one address of its application's API.
    package struct Key: Hashable {
        package let app: String
        package let account: String
        /// The path below the API's URL.
        package let path: String
        /// The session, if each session has its own pauses.
        package let session: SessionKey?
    }

    /// The end of a pause, and the status with which the API asked for it.
    private struct Pause {
        let end: Date
        let status: Int
    }

    private let pauses = Mutex(ExpiringMap<Key, Pause>(maxCount: 10_000))
    private let now: @Sendable () -> Date

    /// Whether each session has its own pauses. In the demo, people share accounts and each of them tries out failures.
    package let isOfSession: Bool

    /// - Parameter now: a monotonic clock.
    package init(isOfSession: Bool, now: @escaping @Sendable () -> Date) {
        self.isOfSession = isOfSession
        self.now = now
    }

    /// Refuses a call during a pause.
    ///
    /// - Throws: ``Problem`` `throttled` with the remaining seconds and the status that began the pause.
    package func check(_ key: Key) throws(Problem) {
        let now = now()
        guard let pause = pauses.withLock({ $0.value(for: key, now: now) }) else { return }
        var problem = Throttle.problem(until: pause.end, now: now)
        problem.apiStatus = pause.status
        throw problem
    }

    /// Records a pause; nil means that the API asked for none.
    package func note(_ key: Key, status: Int, retryAfter: Duration?) {
        guard let seconds = retryAfter?.components.seconds, seconds > 0 else { return }
        let now = now()
        let end = now.addingTimeInterval(min(TimeInterval(seconds), Throttle.longestPause))
        pauses.withLock { _ = $0.set(Pause(end: end, status: status), for: key, until: end, now: now) }
    }

    package static func problem(until end: Date, now: Date) -> Problem {
        problem(retryAfter: max(1, Int(end.timeIntervalSince(now).rounded(.up))))
    }

    package static func problem(retryAfter seconds: Int) -> Problem {
        Problem(.throttled, "There were too many requests. Try again in \(seconds) s.", retryAfter: seconds)
    }
}
