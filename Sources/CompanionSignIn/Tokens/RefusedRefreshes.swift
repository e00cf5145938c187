import Expiring
import Foundation
import OpenIDConnect
import SessionStore
import Synchronization

/// Which refresh tokens the provider has refused lately because it wants the person. They are not sent again for a while, as
/// MSAL does not: the answer would be the same, and a provider takes many such requests for an attack. What a new sign-in
/// brought is another token.
final class RefusedRefreshes: Sendable {
    static let pause: Duration = .seconds(120)

    private enum Key: Hashable {
        /// The account itself.
        case account(AccountKey)
        /// More scopes, or another tenant, which say nothing about the account.
        case target(TokenTarget)
    }

    private struct Refusal {
        let error: OpenIDError
        /// Of the refresh token.
        let hash: Int
    }

    private let refusals = Mutex(ExpiringMap<Key, Refusal>(maxCount: 10_000))
    private let now: @Sendable () -> Date

    /// - Parameter now: a clock that nobody sets.
    init(now: @escaping @Sendable () -> Date) {
        self.now = now
    }

    /// Remembers a refusal.
    ///
    /// - Parameter isOfAccount: whether all refreshes of the account would be refused.
    func note(_ error: OpenIDError, of refreshToken: String, for target: TokenTarget, isOfAccount: Bool) {
        let now = now()
        let refusal = Refusal(error: error, hash: refreshToken.hashValue)
        refusals.withLock {
            _ = $0.set(
                refusal, for: isOfAccount ? .account(target.account) : .target(target),
                until: now.addingTimeInterval(Self.pause / .seconds(1)), now: now)
        }
    }

    /// The provider's answer when this refresh token was last sent; nil when it may be sent.
    func refusal(of refreshToken: String, for target: TokenTarget) -> OpenIDError? {
        let now = now()
        return refusals.withLock { refusals -> OpenIDError? in
            for key in [Key.account(target.account), .target(target)] {
                if let known = refusals.value(for: key, now: now), known.hash == refreshToken.hashValue {
                    return known.error
                }
            }
            return nil
        }
    }
}
