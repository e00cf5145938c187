import Foundation
import SessionStore
import Synchronization

/// The last failed sign-in of each session and application, in memory for an hour: the page that it came back to knows
/// only its code, and asks here for what helps.
final class SignInFailures: Sendable {
    private struct Key: Hashable {
        var session: SessionKey
        var app: String
    }
    private struct Kept {
        var problem: Problem
        var until: Date
    }

    private static let lifetime: TimeInterval = 3600
    private static let maxKept = 10_000
    private let kept = Mutex<[Key: Kept]>([:])
    private let now: @Sendable () -> Date

    init(now: @escaping @Sendable () -> Date) {
        self.now = now
    }

    func record(_ problem: Problem, session: SessionKey, app: String) {
        let now = now()
        kept.withLock { kept in
            if kept.count >= SignInFailures.maxKept { kept = kept.filter { $0.value.until > now } }
            if kept.count >= SignInFailures.maxKept { kept.removeAll() }
            kept[Key(session: session, app: app)] = Kept(
                problem: problem, until: now.addingTimeInterval(SignInFailures.lifetime))
        }
    }

    func last(session: SessionKey, app: String) -> Problem? {
        let now = now()
        return kept.withLock { kept in
            kept[Key(session: session, app: app)].flatMap { $0.until > now ? $0.problem : nil }
        }
    }
}
