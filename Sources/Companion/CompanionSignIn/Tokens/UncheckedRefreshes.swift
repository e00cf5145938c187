import Expiring
import Foundation
import OpenIDConnect
import Synchronization

/// A refresh response whose ID token is not checked yet.
struct UncheckedRefresh: Sendable {
    let answer: TokenAnswer<RefreshedTokens>
    /// The refresh token that was redeemed for it.
    let spent: String
    /// The time from which a new request is sent instead; nil before it is kept.
    fileprivate(set) var end: Date?
    /// The account's refresh token from now on.
    var next: String { answer.refreshToken ?? spent }
}

/// The refresh responses that could not be checked, because the provider's keys were not to be had or a clock was wrong.
/// The next refresh of the account checks its response again, instead of sending another request. Another server may
/// redeem the refresh token meanwhile, and then the response is not used.
final class UncheckedRefreshes: Sendable {
    /// The time after which a new request is sent, in seconds: the response itself may be wrong.
    private static let lifetime: TimeInterval = 300
    private static let maxCount = 1000
    private static let maxBytes = 8 << 20

    private let refreshes = Mutex(ExpiringMap<TokenTarget, UncheckedRefresh>(maxCount: maxCount, maxBytes: maxBytes))
    private let now: @Sendable () -> Date

    /// - Parameter now: a monotonic clock.
    init(now: @escaping @Sendable () -> Date) {
        self.now = now
    }

    /// Keeps a response, unless the call wanted more than an ordinary refresh brings.
    func keep(_ refresh: UncheckedRefresh, for wish: TokenRefresh.Wish) {
        guard !wish.demand.isForced else { return }
        let now = now()
        refreshes.withLock {
            // A response keeps its end, however often it is checked.
            let end = refresh.end ?? now.addingTimeInterval(Self.lifetime)
            var kept = refresh
            kept.end = end
            _ = $0.set(kept, for: wish.target, cost: refresh.answer.bytes, until: end, now: now)
        }
    }

    /// Takes the response that brought the account's refresh token; nil if there is none. It is used once, unless its check
    /// fails again only for now.
    func take(of refreshToken: String, for wish: TokenRefresh.Wish) -> UncheckedRefresh? {
        guard !wish.demand.isForced else { return nil }
        let now = now()
        return refreshes.withLock { refreshes in
            let known = refreshes.value(for: wish.target, now: now)
            refreshes.remove(wish.target)
            return known?.next == refreshToken ? known : nil
        }
    }
}
