package import CompanionCore
package import Foundation
package import Logging
package import OpenIDConnect
package import SessionStore

/// An access token and where it came from.
package struct AcquiredToken: Sendable {
    package var source: TokenSource
    package var token: StoredAccessToken
}

/// MSAL's silent acquisition: the stored token while it is good, else a refresh. A call goes through these gates, in this order;
/// each may end it with a token or with a ``Problem``:
///
///     the caller
///       RequestLimits       a session demands this many new tokens a minute (in the endpoint, only where one is demanded)
///       the store           a token that is good, and not too near to its end, is the answer
///       SingleFlight        callers that want the same wait for one refresh: 1 s with a token that is still valid, else 12 s
///     the refresh, in a task of its own
///       OneAtATime          an account's refreshes follow each other, and one that nobody waits for any more is not begun
///       the store           another refresh may have ended meanwhile
///       RefusedRefreshes    a refresh token that was refused is not sent again for two minutes
///     its turn, as often as another server's turn has to be waited for
///       UnsavedRefreshes    what came before and is not stored is stored first
///       RefreshTurn         the lease: one server at a time, which prolongs it; a pause or refusal that another one has met
///       the store           another server may have brought a token
///     its exchange
///       UnsavedRefreshes    there is room for what comes, and the server does not stop
///       TokenThrottle       the pause that the provider has asked for
///       ForcedRefreshLimit  tokens of an account that are still good are not replaced too often
///       TokenExchange       the provider has 60 s, and what it gives is stored, however late
///
/// A caller that has waited long enough goes; the refresh goes on (``RefreshTimes``).
package final class TokenAcquisition: Sendable {
    private struct Key: Hashable {
        var target: TokenTarget
        /// One that must be new does not join one that may be answered from the store.
        var isForced: Bool
    }

    private let store: SessionStore
    private let admission: Admission
    private let metrics: Metrics
    private let logger: Logger
    private let publicURL: PublicURL
    private let now: @Sendable () -> Date
    private let times: RefreshTimes
    private let refreshes = SingleFlight<Key, AcquiredToken>()
    private let accounts = OneAtATime<AccountKey>()
    private let refresh: TokenRefresh
    private let unsaved: UnsavedRefreshes

    package init(
        publicURL: PublicURL, store: SessionStore, providers: Providers, admission: Admission,
        reportingTo reports: (timeline: Timeline, metrics: Metrics, logger: Logger)
    ) {
        self.publicURL = publicURL
        self.store = store
        self.admission = admission
        (metrics, logger) = (reports.metrics, reports.logger)
        now = providers.clocks.wall
        times = providers.exchange.times
        unsaved = UnsavedRefreshes(store: store)
        refresh = TokenRefresh(
            publicURL: publicURL, store: store, providers: providers, unsaved: unsaved,
            reportingTo: (reports.timeline, reports.metrics))
    }

    /// What makes a stored token not good enough.
    package enum Demand: Sendable {
        /// Nothing but its age.
        case fresh
        /// Any stored token: the caller wants a new one.
        case refreshed
        /// This very token, because the API refused it. A newer one will do; with claims, one that satisfies them.
        case insteadOf(StoredAccessToken, claims: ClaimsRequest? = nil)

        package var isForced: Bool {
            if case .fresh = self { false } else { true }
        }

        package var claims: ClaimsRequest? {
            if case .insteadOf(_, let claims) = self { claims } else { nil }
        }
    }

    /// An access token for scopes, without the person.
    ///
    /// - Parameter scopes: nil for those of the application's registration.
    /// - Throws: ``Problem``: `interaction_required` (or `consent_required` …) with the sign-in's URL only when the
    ///   provider said so; `provider_unavailable`, `throttled` and `provider_rejected_client` change nothing.
    package func acquire(for asking: SignedIn, scopes: [String]? = nil, demand: Demand = .fresh) async throws
        -> AcquiredToken
    {
        do {
            let token = try await find(for: asking, scopes: scopes, demand: demand)
            metrics.token(asking.application.id, token.source)
            return token
        } catch {
            metrics.tokenFailed(asking.application.id, Problem(any: error).code)
            throw error
        }
    }

    private func find(for asking: SignedIn, scopes: [String]?, demand: Demand) async throws -> AcquiredToken {
        var target = asking.target(scopes: scopes)
        var guestAuthority: Authority?
        if let tenant = target.tenant {
            let authority = try asking.application.authority(ofTenant: tenant)
            try await admission.check(authority, asking.application)
            if authority == asking.application.authority(for: asking.account) {
                target.tenant = nil
            } else {
                guestAuthority = authority
            }
        }
        let known: StoredAccessToken? =
            switch store.accessTokenNow(of: target.account, tenant: target.tenant, scopes: target.scopes) {
            case .found(let stored): stored
            case .absent: nil
            case .mustWait:
                try await store.accessToken(of: target.account, tenant: target.tenant, scopes: target.scopes)
            }
        if let known, known.isGood(for: demand, now: now()) { return AcquiredToken(source: .cache, token: known) }
        return try await renew(
            known,
            TokenRefresh.Wish(
                asking: asking, authority: guestAuthority ?? asking.application.authority(for: asking.account),
                target: target, scopes: scopes ?? asking.application.registration.scopes, demand: demand,
                deadline: .now + times.caller))
    }

    /// The token of a refresh that ends within the caller's time, else the known one where that may still be used.
    private func renew(_ known: StoredAccessToken?, _ wish: TokenRefresh.Wish) async throws -> AcquiredToken {
        let run = await refreshes.join(Key(target: wish.target, isForced: wish.demand.isForced)) {
            [accounts, refresh] in
            // A refresh token may be good for one use: two scope sets must not use it at once.
            try await accounts.run(wish.target.account) {
                // Those who wanted it have waited long enough for others.
                guard ContinuousClock.now < wish.deadline else { throw ProviderClient.unreachable }
                return try await refresh.run(wish)
            }
        }
        let standIn = known.flatMap { $0.isStandIn(for: wish.demand, now: now()) ? $0 : nil }
        let end = standIn == nil ? wish.deadline : min(wish.deadline, run.began + times.whileValid)
        if let outcome = await Patience.outcome(before: end, of: { try await run.task.value }) {
            return try outcome.get()
        }
        RequestContext.current?.note(cause: "the token's renewal takes long, and goes on")
        guard let standIn else { throw ProviderClient.unreachable }
        return AcquiredToken(source: .cache, token: standIn)
    }

    // MARK: The end

    /// From now on no refresh begins.
    package func stop() { unsaved.stop() }

    /// Whether no refresh is under way, and all that they brought is stored.
    var isSettled: Bool { unsaved.open.isEmpty }

    /// Waits for refreshes that are under way, and for what they brought to be stored. What is lost then is logged.
    package func settle(until deadline: ContinuousClock.Instant) async {
        for account in await unsaved.settle(until: deadline) {
            logger.warning(
                """
                The server stops before a renewed token is stored. Where refresh tokens are good for one use, this account has \
                to sign in again.
                """, metadata: ["account": "\(account)"])
        }
    }

    // MARK: Signing in again

    /// Remembers what an API asks for beyond what a silent renewal can give: the next sign-in carries it, no matter who begins it.
    func learn(_ claims: ClaimsRequest, reason: Problem.Code, for target: TokenTarget) async throws(StoreError) {
        guard target.tenant == nil else { return }
        let account = target.account
        try await store.markNeedsInteraction(account, reason: reason.rawValue, claims: claims.json)
    }

    /// Where the same account signs in again: with its hint, so that nobody has to choose.
    package func signIn(_ asking: SignedIn, _ target: TokenTarget, claims: ClaimsRequest?) -> Problem.Action {
        target.signIn(asking, at: publicURL, claims: claims)
    }
}

extension StoredAccessToken {
    /// It counts as expired this many seconds before it is, as in MSAL.
    static let expiryMargin: TimeInterval = 300

    /// Whether it is what a call demands.
    package func isGood(for demand: TokenAcquisition.Demand, now: Date) -> Bool {
        guard expiresOn.timeIntervalSince(now) > Self.expiryMargin else { return false }
        switch demand {
        case .fresh: return refreshOn.map { $0 > now } ?? true
        case .refreshed: return false
        case .insteadOf(let refused, _): return secret != refused.secret
        }
    }

    /// Whether it does when no newer one is to be had now.
    func isStandIn(for demand: TokenAcquisition.Demand, now: Date) -> Bool {
        !demand.isForced && expiresOn.timeIntervalSince(now) > 5
    }
}
