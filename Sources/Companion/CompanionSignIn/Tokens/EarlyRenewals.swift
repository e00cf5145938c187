import Expiring
import Foundation
import OpenIDConnect
import Synchronization

/// The renewals of access tokens that are still good, which can wait while the token endpoint fails.
///
/// After a failure that says nothing about an account, callers with a good token are served with it for 5, 10, 20, 40 and
/// then 60 seconds. After each pause one of them goes first, and the others follow when it has succeeded. Callers without
/// a good token are not delayed.
final class EarlyRenewals: Sendable {
    /// The client of an application at its authority.
    struct Client: Hashable {
        let authority: Authority
        let id: String
    }

    private struct Failing {
        var failures = 0
        var pausedUntil: Date
        var probeBegan: Date?
    }

    private static let firstPause: TimeInterval = 5
    private static let longestPause: TimeInterval = 60
    /// The time after which a probe without an outcome no longer counts, in seconds. No exchange takes this long.
    private static let probeLimit: TimeInterval = 120
    /// The time after which failures are forgotten, in seconds.
    private static let memory: TimeInterval = 600

    private let failing = Mutex(ExpiringMap<Client, Failing>(maxCount: 1000))
    private let now: @Sendable () -> Date

    /// - Parameter now: a monotonic clock.
    init(now: @escaping @Sendable () -> Date) {
        self.now = now
    }

    /// Whether a token that is still good may be renewed now.
    func mayBegin(at client: Client) -> Bool {
        let now = now()
        return failing.withLock { failing in
            guard var state = failing.value(for: client, now: now) else { return true }
            guard state.pausedUntil <= now else { return false }
            if let began = state.probeBegan, now.timeIntervalSince(began) < Self.probeLimit { return false }
            state.probeBegan = now
            failing.set(state, for: client, until: now.addingTimeInterval(Self.memory), now: now)
            return true
        }
    }

    /// Records that the endpoint has renewed a token, or has refused to renew one.
    func answered(_ client: Client) {
        failing.withLock { _ = $0.remove(client) }
    }

    /// Records that the endpoint has failed.
    func failed(_ client: Client) {
        let now = now()
        failing.withLock { failing in
            var state = failing.value(for: client, now: now) ?? Failing(pausedUntil: now)
            // Requests that were under way at the same time fail together.
            guard state.failures == 0 || state.pausedUntil <= now else { return }
            let pause = min(Self.firstPause * Double(1 << min(state.failures, 4)), Self.longestPause)
            state = Failing(failures: state.failures + 1, pausedUntil: now.addingTimeInterval(pause))
            failing.set(state, for: client, until: now.addingTimeInterval(Self.memory), now: now)
        }
    }
}

extension TokenRefresh.Wish {
    /// The client that renews the token.
    var client: EarlyRenewals.Client {
        EarlyRenewals.Client(authority: authority, id: asking.application.registration.clientID)
    }
}
