import Expiring
import Foundation
import OpenIDConnect
package import SessionStore
import Synchronization

/// The evidence that a person has authenticated recently.
package enum RecentSignIn: String, Sendable {
    /// The ID token's `auth_time` claim.
    case told = "recent"
    /// The start of a sign-in that asked for the password, used if the provider sends no `auth_time`. Entra ID sends it
    /// only if that optional claim is configured.
    case begun = "absent"

    /// Maximum age, in seconds.
    package static let maxAge = 300
}

/// Recent sign-ins that asked for the password. They are kept in memory only, so after a restart an operator has to
/// sign in again.
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

    /// Records a stored sign-in. It does not count if the provider could have completed it without asking the person.
    package func note(_ attempt: SignInAttempt, account: String) {
        guard attempt.prompt == Prompt.login.rawValue else { return }
        let key = Key(session: attempt.session, app: attempt.app, account: account)
        let left = TimeInterval(RecentSignIn.maxAge) - max(0, clocks.wall().timeIntervalSince(attempt.begunAt))
        let now = clocks.steady()
        _ = begun.withLock { $0.set((), for: key, until: now.addingTimeInterval(left), now: now) }
    }

    /// Returns the evidence that an account has signed in recently; nil if there is none.
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
