import CompanionCore
import CompanionSignIn
import Expiring
import Foundation
import HTTPServer
import HTTPWire
import SessionStore
import Synchronization

/// Keeps one address from asking for more than its share of what costs something: writes, requests to a provider, memory.
///
/// A limit hits those who exceed it, and not their neighbours (security law 9). What a session does in which somebody is
/// signed in is counted as the session's, wherever it comes from; what a browser does in which somebody has signed in before,
/// as the browser's. All others share what their address has. Of that no single browser can use up the answers of providers,
/// because each one's are counted by its mark too: a new mark costs a sign-in begun, of which an address has no more.
final class RequestLimits: Sendable {
    private enum Asker: Hashable {
        case network(PeerAddress.Network)
        case session(SessionKey)
        /// By the bytes of its mark.
        case browser([UInt8])
    }

    /// The buckets of one limit. Networks have their own, so that no number of browsers pushes one of them out, and sites too.
    private struct Buckets {
        /// Sessions and browsers.
        let browsers: TokenBuckets<Asker>
        let networks: TokenBuckets<Asker>
        /// The networks of IPv6 that hold many others.
        let sites: TokenBuckets<Asker>

        /// - Parameter browserRate: what one session or browser may ask for a minute, where that is less.
        /// - Returns: nil where there is no limit.
        init?(perMinute rate: Int, burst: Int? = nil, perBrowser browserRate: Int? = nil) {
            let factor = RequestLimits.siteFactor
            guard let browsers = TokenBuckets<Asker>(perMinute: min(rate, browserRate ?? rate), burst: burst),
                let networks = TokenBuckets<Asker>(perMinute: rate, burst: burst),
                let sites = TokenBuckets<Asker>(perMinute: rate * factor, burst: burst.map { $0 * factor })
            else { return nil }
            (self.browsers, self.networks, self.sites) = (browsers, networks, sites)
        }
    }

    /// A customer of a network has up to 65,536 networks of IPv6 (a /48, RFC 6177): together they may ask for as much as this
    /// many addresses.
    private static let siteFactor = 10
    /// How many answers of providers one session or browser may bring a minute.
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
    ///   - marks: by which browsers are known again.
    ///   - now: a clock that nobody sets.
    ///   - onLimit: hears that a limit was reached, once a minute for each address or session: the limit, and the
    ///     application's name where it is known.
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
        ].compactMapValues { $0 }
        self.marks = marks
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
        func take(_ asker: Asker, _ buckets: TokenBuckets<Asker>) throws(Problem) {
            guard let seconds = buckets.take(asker, now: now()) else { return }
            note(limit, asker, call.application?.id)
            guard case .network = asker else { throw Throttle.problem(retryAfter: seconds) }
            var problem = Problem(
                .throttled, "Too many requests came from your network. Try again in \(seconds) s.", retryAfter: seconds)
            // Anyone who goes on has to connect anew each time, which leaves others more of the server than answering on a
            // kept connection does. A front's connections are those of all its clients.
            problem.endsConnection = address == call.request.peer
            throw problem
        }
        if let session { return try take(.session(session), buckets.browsers) }
        let mark = marks.mark(in: call.request.head)
        if let mark, marks.hasSignedIn(mark) { return try take(.browser(mark.bytes), buckets.browsers) }
        // The narrow ones first: what they refuse is not counted for the others.
        if let mark, limit == .callbacks { try take(.browser(mark.bytes), buckets.browsers) }
        try take(.network(address.network), buckets.networks)
        if let site = address.site { try take(.network(site), buckets.sites) }
    }

    /// Where a call comes from, as far as is known.
    func network(of call: Call) -> PeerAddress.Network {
        ClientAddress.of(call.request.head, from: call.request.peer, trusting: fronts).network
    }

    /// The server's bound on the connections of one address; nil without one. A front's connections are those of all its
    /// clients.
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
