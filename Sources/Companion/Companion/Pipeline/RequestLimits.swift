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
/// use up that address's share of provider responses, because these also count against its sign-in and its mark: a new
/// one takes a new sign-in, and the address's sign-ins are limited too.
///
/// Proof comes before the count. A request that is refused for what it lacks (the cookie of an open sign-in, a state or a
/// handle of ours, a program's token) costs little, and counts against no one but, for tokens, those who send wrong ones.
final class RequestLimits: Sendable {
    private enum Asker: Hashable {
        case network(PeerAddress.Network)
        case session(SessionKey)
        /// The bytes of the browser's mark.
        case browser([UInt8])
        /// A sign-in, by a value that is its own.
        case signIn(String)
        /// The name of a program's token.
        case program(String)
    }

    /// The buckets of one limit. Networks and sites have their own, so that no number of browsers evicts them.
    private struct Buckets {
        /// Sessions, browsers and programs.
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
    /// The provider responses per minute to one sign-in. There is one, and a few more where a page is loaded again.
    private static let callbacksOfSignIn = 20

    /// The authorization requests per minute that are sent to a provider in advance for one address, session or browser.
    /// Each is a request of ours with the client's credential, and counts against the provider's limit for the client,
    /// that is against everyone. A class of sixty can begin at once.
    private static let pushesPerMinute = 120

    private struct Reached: Hashable {
        var limit: Limit
        var asker: Asker
    }

    private static let quietSeconds: TimeInterval = 60

    private let fronts: [AddressRange]
    private let exempt: [AddressRange]
    private let buckets: [Limit: Buckets]
    /// Responses that were posted, which come without a cookie: nobody can prove anything by then.
    private let posted: TokenBuckets<Asker>?
    /// Each sign-in's responses, and the sign-ins that have had one.
    private let signIns: TokenBuckets<Asker>?
    private let answered = Mutex(ExpiringMap<String, Void>(maxCount: 10_000))
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
            .pushedRequests: Buckets(perMinute: Self.pushesPerMinute),
        ].compactMapValues { $0 }
        posted = TokenBuckets(perMinute: limits.callbacksPerMinute)
        signIns = TokenBuckets(perMinute: min(limits.callbacksPerMinute, Self.callbacksOfSignIn))
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
            try self.take(limit, asker, buckets, address, for: call)
        }
        if let session { return try take(.session(session), buckets.browsers) }
        let mark = marks.mark(in: call.request.head)
        if let mark, marks.hasSignedIn(mark) { return try take(.browser(mark.bytes), buckets.browsers) }
        // The narrowest bucket comes first: a request that it refuses does not count against the others.
        if let mark, limit == .callbacks { try take(.browser(mark.bytes), buckets.browsers) }
        try take(.network(address.network), buckets.networks)
        if let site = address.site { try take(.network(site), buckets.sites) }
    }

    private func take(
        _ limit: Limit, _ asker: Asker, _ buckets: TokenBuckets<Asker>?, _ address: PeerAddress, for call: Call
    ) throws(Problem) {
        guard let seconds = buckets?.take(asker, now: now()) else { return }
        note(limit, asker, call.application?.id)
        guard case .network = asker else { throw Throttle.problem(retryAfter: seconds) }
        var problem = Problem(
            .throttled, "Too many requests came from your network. Try again in \(seconds) s.", retryAfter: seconds)
        // A client that continues must reconnect each time. That costs the server less than responses on a kept
        // connection would. A proxy's connection serves many clients, so it stays open.
        problem.endsConnection = address == call.request.peer
        throw problem
    }

    /// Counts a response to one sign-in, which costs a look-up each time. Only the first one counts against those who bring
    /// it, so that a few sign-ins, begun once and answered over and over, do not use up the share of their neighbours.
    ///
    /// - Parameters:
    ///   - signIn: a value that this server made for the sign-in.
    ///   - first: counts the first one.
    /// - Throws: ``Problem`` `throttled` with the number of seconds to wait.
    func takeCallback(of signIn: String, for call: Call, first: () async throws -> Void) async throws {
        let address = ClientAddress.of(call.request.head, from: call.request.peer, trusting: fronts)
        guard !isExempt(address) else { return }
        try take(.callbacks, .signIn(signIn), signIns, address, for: call)
        let now = now()
        guard answered.withLock({ $0.value(for: signIn, now: now) }) == nil else { return }
        try await first()
        let lifetime = SessionStore.Configuration.attemptLifetime / .seconds(1)
        _ = answered.withLock { $0.set((), for: signIn, until: now.addingTimeInterval(lifetime), now: now) }
    }

    /// Counts a response that was posted. It comes without a cookie, and so counts against its address alone, apart from
    /// the responses whose browser has proved its sign-in.
    ///
    /// - Throws: ``Problem`` `throttled` with the number of seconds to wait.
    func takePosted(_ call: Call) throws(Problem) {
        let address = ClientAddress.of(call.request.head, from: call.request.peer, trusting: fronts)
        guard !isExempt(address) else { return }
        try take(.callbacks, .network(address.network), posted, address, for: call)
    }

    /// Counts a program's request: with a right token for the token, otherwise for its address. A cookie must not give a
    /// guesser a share of its own.
    ///
    /// - Parameter name: the token's name; nil for a wrong one.
    /// - Throws: ``Problem`` `throttled` with the number of seconds to wait.
    func takeOfProgram(_ name: String?, _ head: RequestHead, from peer: PeerAddress) throws(Problem) {
        guard let buckets = buckets[.programRequests] else { return }
        let address = ClientAddress.of(head, from: peer, trusting: fronts)
        guard !isExempt(address) else { return }
        let asker = name.map(Asker.program) ?? .network(address.network)
        let own = name == nil ? buckets.networks : buckets.browsers
        guard let seconds = own.take(asker, now: now()) else { return }
        note(.programRequests, asker, nil)
        throw Throttle.problem(retryAfter: seconds)
    }

    /// Returns the network that a call comes from, as far as it is known.
    func network(of call: Call) -> PeerAddress.Network {
        ClientAddress.of(call.request.head, from: call.request.peer, trusting: fronts).network
    }

    /// Returns the site that a call comes from: of IPv6 a /48, whose owner has 65,536 networks, otherwise the network.
    func site(of call: Call) -> PeerAddress.Network {
        let address = ClientAddress.of(call.request.head, from: call.request.peer, trusting: fronts)
        return address.site ?? address.network
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
