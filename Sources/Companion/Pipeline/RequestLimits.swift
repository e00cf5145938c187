import CompanionCore
import CompanionSignIn
import Expiring
import Foundation
import HTTPServer
import HTTPWire
import SessionStore
import Synchronization

/// Limits how often one address, session or browser may use what is expensive: writes, requests to a provider, memory.
///
/// A limit affects those who exceed it, and not their neighbours (security law 9). Requests of a session with a
/// signed-in account count against the session, wherever they come from. Requests of a browser with an earlier
/// sign-in count against the browser. All others share the limit of their network address. A single browser cannot
/// use up that address's share of provider responses, because these also count against its mark: a new mark takes a
/// new sign-in, and the address's sign-ins are limited too.
final class RequestLimits: Sendable {
    private enum Asker: Hashable {
        case network(PeerAddress.Network)
        case session(SessionKey)
        /// The bytes of the browser's mark.
        case browser([UInt8])
    }

    /// The buckets of one limit. Networks and sites have their own, so that no number of browsers evicts them.
    private struct Buckets {
        /// Sessions and browsers.
        let browsers: TokenBuckets<Asker>
        let networks: TokenBuckets<Asker>
        /// The sites: larger IPv6 networks that contain many others.
        let sites: TokenBuckets<Asker>

        /// - Parameter browserRate: the requests per minute for one session or browser, if lower than `rate`.
        /// - Returns: nil if there is no limit.
        init?(perMinute rate: Int, burst: Int? = nil, perBrowser browserRate: Int? = nil) {
            let factor = RequestLimits.siteFactor
            guard let browsers = TokenBuckets<Asker>(perMinute: min(rate, browserRate ?? rate), burst: burst),
                let networks = TokenBuckets<Asker>(perMinute: rate, burst: burst),
                let sites = TokenBuckets<Asker>(perMinute: rate * factor, burst: burst.map { $0 * factor })
            else { return nil }
            (self.browsers, self.networks, self.sites) = (browsers, networks, sites)
        }
    }

    /// The share of a site, in multiples of one network's. A customer may have up to 65,536 IPv6 networks (a /48, RFC
    /// 6177).
    private static let siteFactor = 10
    /// The provider responses per minute that one session or browser may bring.
    private static let callbacksOfBrowser = 240

    private struct Reached: Hashable {
        var limit: Limit
        var asker: Asker
    }

    private static let quietSeconds: TimeInterval = 60

    private let fronts: [AddressRange]
    private let exempt: [AddressRange]
    private let buckets: [Limit: Buckets]
    private let marks: BrowserMarks
    private let reached = Mutex(ExpiringMap<Reached, Void>(maxCount: 10_000))
    private let metrics: Metrics
    private let now: @Sendable () -> Date
    private let onLimit: @Sendable (Limit, _ application: String?) -> Void

    /// - Parameters:
    ///   - marks: the marks that identify browsers.
    ///   - now: a monotonic clock.
    ///   - onLimit: called when a limit is reached, at most once a minute for each address or session, with the limit
    ///     and the application's name if it is known.
    init(
        configuration: CompanionConfiguration, marks: BrowserMarks, metrics: Metrics,
        now: @escaping @Sendable () -> Date,
        onLimit: @escaping @Sendable (Limit, _ application: String?) -> Void
    ) {
        let limits = configuration.limits
        fronts = configuration.trustedProxies
        exempt = limits.exempt
        buckets = [
            .signIns: Buckets(perMinute: limits.signInsPerMinute, burst: limits.signInBurst),
            .callbacks: Buckets(perMinute: limits.callbacksPerMinute, perBrowser: Self.callbacksOfBrowser),
            .forcedRefreshes: Buckets(perMinute: limits.forcedRefreshesPerMinute),
            .operatorRequests: Buckets(perMinute: limits.operatorRequestsPerMinute),
            .programRequests: Buckets(perMinute: limits.programRequestsPerMinute),
        ].compactMapValues { $0 }
        self.marks = marks
        self.metrics = metrics
        self.now = now
        self.onLimit = onLimit
    }

    /// Counts one request before it is processed.
    ///
    /// - Parameter session: the request's session, if an account is signed in there.
    /// - Throws: ``Problem`` `throttled` with the number of seconds to wait.
    func take(_ limit: Limit, of session: SessionKey?, for call: Call) throws(Problem) {
        guard let buckets = buckets[limit] else { return }
        let address = ClientAddress.of(call.request.head, from: call.request.peer, trusting: fronts)
        guard !isExempt(address) else { return }
        func take(_ asker: Asker, _ buckets: TokenBuckets<Asker>) throws(Problem) {
            guard let seconds = buckets.take(asker, now: now()) else { return }
            note(limit, asker, call.application?.id)
            guard case .network = asker else { throw Throttle.problem(retryAfter: seconds) }
            var problem = Problem(
                .throttled, "Too many requests came from your network. Try again in \(seconds) s.", retryAfter: seconds)
            // A client that continues must reconnect each time. That costs the server less than responses on a kept
            // connection would. A proxy's connection serves many clients, so it stays open.
            problem.endsConnection = address == call.request.peer
            throw problem
        }
        if let session { return try take(.session(session), buckets.browsers) }
        let mark = marks.mark(in: call.request.head)
        if let mark, marks.hasSignedIn(mark) { return try take(.browser(mark.bytes), buckets.browsers) }
        // The narrowest bucket comes first: a request that it refuses does not count against the others.
        if let mark, limit == .callbacks { try take(.browser(mark.bytes), buckets.browsers) }
        try take(.network(address.network), buckets.networks)
        if let site = address.site { try take(.network(site), buckets.sites) }
    }

    /// Counts a program's request, always for its address: a cookie must not give a guesser a share of its own.
    ///
    /// - Throws: ``Problem`` `throttled` with the number of seconds to wait.
    func takeOfProgram(_ head: RequestHead, from peer: PeerAddress) throws(Problem) {
        guard let buckets = buckets[.programRequests] else { return }
        let address = ClientAddress.of(head, from: peer, trusting: fronts)
        guard !isExempt(address), let seconds = buckets.networks.take(.network(address.network), now: now()) else {
            return
        }
        note(.programRequests, .network(address.network), nil)
        throw Throttle.problem(retryAfter: seconds)
    }

    /// Returns the network that a call comes from, as far as it is known.
    func network(of call: Call) -> PeerAddress.Network {
        ClientAddress.of(call.request.head, from: call.request.peer, trusting: fronts).network
    }

    /// Returns the server's limit on connections per address; nil if there is none. It does not apply to proxies,
    /// whose connections serve many clients.
    func connections(_ configuration: CompanionConfiguration) -> ServerConfiguration.AddressLimit? {
        guard configuration.limits.connections > 0 else { return nil }
        return ServerConfiguration.AddressLimit(maxConnections: configuration.limits.connections) { peer in
            self.isExempt(peer) || self.fronts.contains { $0.contains(peer) }
        } onRefusal: { peer in
            self.note(.connections, .network(peer.network), nil)
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
