import Expiring
import Foundation
import HTTPServer
import HTTPWire
import SessionStore
import Synchronization

/// What is limited by address, as `limits` of the configuration, metrics and log name it.
enum Limit: String, Sendable, CaseIterable {
    case signIns = "sign_ins"
    case callbacks
    case forcedRefreshes = "forced_refreshes"
    case operatorRequests = "operator_requests"
    case connections
}

/// Keeps one address from asking for more than its share of what costs something: writes, requests to a provider, memory.
/// What a signed-in session does is counted as the session's, wherever it comes from, so that a class behind one address is
/// not in its own way.
final class RequestLimits: Sendable {
    private enum Asker: Hashable {
        case address(PeerAddress.Network)
        case session(SessionKey)
    }

    private struct Reached: Hashable {
        var limit: Limit
        var asker: Asker
    }

    private static let quietSeconds: TimeInterval = 60

    private let fronts: [AddressRange]
    private let exempt: [AddressRange]
    private let buckets: [Limit: TokenBuckets<Asker>]
    private let reached = Mutex(ExpiringMap<Reached, Void>(maxCount: 10_000))
    private let metrics: Metrics
    private let now: @Sendable () -> Date
    private let onLimit: @Sendable (Limit, _ application: String?) -> Void

    /// - Parameters:
    ///   - now: a clock that nobody sets.
    ///   - onLimit: hears that a limit was reached, once a minute for each address or session: the limit, and the
    ///     application's name where it is known.
    init(
        configuration: CompanionConfiguration, metrics: Metrics, now: @escaping @Sendable () -> Date,
        onLimit: @escaping @Sendable (Limit, _ application: String?) -> Void
    ) {
        let limits = configuration.limits
        fronts = configuration.trustedProxies
        exempt = limits.exempt
        buckets = [
            .signIns: TokenBuckets(perMinute: limits.signInsPerMinute, burst: limits.signInBurst),
            .callbacks: TokenBuckets(perMinute: limits.callbacksPerMinute),
            .forcedRefreshes: TokenBuckets(perMinute: limits.forcedRefreshesPerMinute),
            .operatorRequests: TokenBuckets(perMinute: limits.operatorRequestsPerMinute),
        ].compactMapValues { $0 }
        self.metrics = metrics
        self.now = now
        self.onLimit = onLimit
    }

    /// Counts one request, before anything is done for it.
    ///
    /// - Parameter session: the session that it comes with, if somebody is signed in there.
    /// - Throws: ``Problem`` `throttled` with the seconds until there is room again.
    func take(_ limit: Limit, of session: SessionKey?, for call: Call) throws(Problem) {
        guard let buckets = buckets[limit] else { return }
        let address = ClientAddress.of(call.request.head, from: call.request.peer, trusting: fronts)
        guard !isExempt(address) else { return }
        let asker = session.map(Asker.session) ?? .address(address.network)
        guard let seconds = buckets.take(asker, now: now()) else { return }
        note(limit, asker, call.application?.id)
        guard session == nil else { throw Throttle.problem(retryAfter: seconds) }
        var problem = Problem(
            .throttled, "Too many requests came from your network. Try again in \(seconds) s.", retryAfter: seconds)
        // Anyone who goes on has to connect anew each time, which leaves others more of the server than answering on a kept
        // connection does. A front's connections are those of all its clients.
        problem.endsConnection = address == call.request.peer
        throw problem
    }

    /// The server's bound on the connections of one address; nil without one. A front's connections are those of all its
    /// clients.
    func connections(_ configuration: CompanionConfiguration) -> ServerConfiguration.AddressLimit? {
        guard configuration.limits.connections > 0 else { return nil }
        return ServerConfiguration.AddressLimit(maxConnections: configuration.limits.connections) { peer in
            self.isExempt(peer) || self.fronts.contains { $0.contains(peer) }
        } onRefusal: { peer in
            self.note(.connections, .address(peer.network), nil)
        }
    }

    private func isExempt(_ address: PeerAddress) -> Bool { exempt.contains { $0.contains(address) } }

    private func note(_ limit: Limit, _ asker: Asker, _ application: String?) {
        metrics.limited(limit)
        let now = now()
        let isNew = reached.withLock { reached in
            let key = Reached(limit: limit, asker: asker)
            guard reached.value(for: key, now: now) == nil else { return false }
            reached.set((), for: key, until: now.addingTimeInterval(RequestLimits.quietSeconds), now: now)
            return true
        }
        if isNew { onLimit(limit, application) }
    }
}
