import Foundation
import Synchronization

/// Who asked to be left alone (429 or 503 with `Retry-After`), and until when: asking again before then would only
/// prolong it.
final class Throttle: Sendable {
    private static let maxKept = 10_000
    private let until = Mutex<[String: Date]>([:])
    private let now: @Sendable () -> Date

    init(now: @escaping @Sendable () -> Date) {
        self.now = now
    }

    /// Refuses what would come too early.
    ///
    /// - Throws: ``Problem`` `throttled` with the seconds that are left.
    func check(_ key: String) throws(Problem) {
        let left = until.withLock { $0[key] }?.timeIntervalSince(now()) ?? 0
        guard left > 0 else { return }
        throw Throttle.problem(retryAfter: Int(left.rounded(.up)))
    }

    /// Remembers a pause; nil asks for none.
    func note(_ key: String, retryAfter: Duration?) {
        guard let seconds = retryAfter?.components.seconds, seconds > 0 else { return }
        let now = now()
        until.withLock { until in
            if until.count >= Throttle.maxKept { until = until.filter { $0.value > now } }
            until[key] = now.addingTimeInterval(TimeInterval(seconds))
        }
    }

    static func problem(retryAfter seconds: Int) -> Problem {
        Problem(.throttled, "There were too many requests. Try again in \(seconds) s.", retryAfter: seconds)
    }
}
