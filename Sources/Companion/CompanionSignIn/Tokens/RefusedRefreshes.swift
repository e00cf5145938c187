import Expiring
import Foundation
import OpenIDConnect
import SessionStore
import Synchronization

/// Remembers refresh tokens that the provider has recently refused because it requires interaction. Like MSAL, the
/// server does not send them again for a while: the response would be the same, and a provider takes many such requests
/// for an attack. A new sign-in brings another refresh token, which is sent.
final class RefusedRefreshes: Sendable {
    static let pause: Duration = .seconds(120)

    private enum Key: Hashable {
        /// The account itself.
        case account(AccountKey)
        /// Additional scopes or another tenant. Their refusal says nothing about the account itself.
        case target(TokenTarget)
    }

    private struct Refusal {
        let error: OpenIDError
        /// The hash of the refresh token.
        let hash: Int
    }

    private let refusals = Mutex(ExpiringMap<Key, Refusal>(maxCount: 10_000))
    private let now: @Sendable () -> Date

    /// - Parameter now: a monotonic clock.
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

    /// Returns the provider's earlier refusal of this refresh token; nil if the token may be sent.
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
