import Expiring
import Foundation
import OpenIDConnect
package import SessionStore
import Synchronization

/// How it is known that somebody proved a moment ago who they are.
package enum RecentSignIn: String, Sendable {
    /// The ID token's `auth_time` says so.
    case told = "recent"
    /// The provider does not say when (Entra ID does only where that optional claim is configured): the sign-in that asked
    /// for the password began a moment ago.
    case begun = "absent"

    /// So long ago it may be, in seconds.
    package static let maxAge = 300
}

/// The sign-ins of the last minutes that asked for the password. In memory: after a restart an operator signs in once more.
package final class RecentSignIns: Sendable {
    private struct Key: Hashable, Sendable {
        var session: SessionKey
        var app: String
        var account: String
    }

    private static let maxCount = 10_000
    private let begun = Mutex(ExpiringMap<Key, Void>(maxCount: maxCount))
    private let clocks: Clocks

    package init(clocks: Clocks) {
        self.clocks = clocks
    }

    /// Notes a sign-in that is stored. One that the provider was free to answer without a question proves nothing.
    package func note(_ attempt: SignInAttempt, account: String) {
        guard attempt.prompt == Prompt.login.rawValue else { return }
        let key = Key(session: attempt.session, app: attempt.app, account: account)
        let left = TimeInterval(RecentSignIn.maxAge) - max(0, clocks.wall().timeIntervalSince(attempt.begunAt))
        let now = clocks.steady()
        _ = begun.withLock { $0.set((), for: key, until: now.addingTimeInterval(left), now: now) }
    }

    /// How it is known that an account signed in within the last minutes; nil when it did not.
    package func evidence(of account: Account, in session: SessionKey) -> RecentSignIn? {
        if let time = AuthenticationTime(ofValidated: account.idTokenClaims) {
            let now = clocks.wall()
            return time.isWithin(now.addingTimeInterval(-TimeInterval(RecentSignIn.maxAge))...now) ? .told : nil
        }
        let key = Key(session: session, app: account.app, account: account.id)
        let now = clocks.steady()
        return begun.withLock { $0.value(for: key, now: now) } == nil ? nil : .begun
    }
}
