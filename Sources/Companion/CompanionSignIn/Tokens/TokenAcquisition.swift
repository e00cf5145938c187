package import CompanionCore
package import Foundation
package import Logging
package import OpenIDConnect
package import SessionStore

/// An access token with its source.
package struct AcquiredToken: Sendable {
    package var source: TokenSource
    package var token: StoredAccessToken
}

/// MSAL's silent acquisition: returns the stored token while it is good, and otherwise refreshes it. A call passes
/// these gates in this order. Each gate can end it with a token or with a ``Problem``:
///
///     the caller
///       RequestLimits       limits the new tokens that a session demands per minute (only if one is demanded)
///       the store           returns a stored token that is good and does not expire soon
///       SingleFlight        joins equal calls in one refresh; with a valid token a call waits 1 s, without one 12 s
///     the refresh, in a task of its own
///       OneAtATime          runs an account's refreshes one after another, and skips those that no caller waits for
///       the store           returns the token of a refresh that has ended meanwhile
///       RefusedRefreshes    does not send a refused refresh token again for two minutes
///     the turn, repeated as long as other servers have theirs
///       UnsavedRefreshes    stores earlier results that could not be stored
///       RefreshTurn         gives the turn to one server at a time, which extends it; passes on pauses and refusals
///       the store           returns a token that another server has stored
///     the exchange
///       UnsavedRefreshes    reserves memory for the result, and refuses it while the server stops
///       TokenThrottle       observes the pause that the provider has asked for
///       ForcedRefreshLimit  limits refreshes of an account's tokens that are still good
///       TokenExchange       waits up to 60 s for the provider; the result is stored, however late
///
/// A caller stops waiting after its time; the refresh continues (``RefreshTimes``).
package final class TokenAcquisition: Sendable {
    private struct Key: Hashable {
        var target: TokenTarget
        /// Whether the token must be new. Such a request does not join one that may return a stored token.
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
    let unsaved: UnsavedRefreshes

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

    /// The condition that a stored token must meet.
    package enum Demand: Sendable {
        /// A token that does not expire soon.
        case fresh
        /// A new token: no stored one is accepted.
        case refreshed
        /// A token other than this one, which the API refused. A newer one is accepted; with claims, it must satisfy
        /// them.
        case insteadOf(StoredAccessToken, claims: ClaimsRequest? = nil)

        package var isForced: Bool {
            if case .fresh = self { false } else { true }
        }

        package var claims: ClaimsRequest? {
            if case .insteadOf(_, let claims) = self { claims } else { nil }
        }
    }

    /// Returns an access token without interaction.
    ///
    /// - Parameter scopes: the scopes; nil stands for those of the application's registration.
    /// - Throws: ``Problem`` `interaction_required` (or `consent_required` and so on) with the sign-in's URL, only if
    ///   the provider has asked for interaction. `provider_unavailable`, `throttled` and `provider_rejected_client`
    ///   leave the account unchanged.
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
            try await admission.check(
                authority, asking.application, requester: "session \(asking.key.session)")
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

    /// Returns the token of a refresh that ends within the caller's time, or else the known token if it is still
    /// usable.
    private func renew(_ known: StoredAccessToken?, _ wish: TokenRefresh.Wish) async throws -> AcquiredToken {
        let standIn = known.flatMap { $0.isStandIn(for: wish.demand, now: now()) ? $0 : nil }
        if let standIn, !refresh.early.mayBegin(at: wish.client) {
            return AcquiredToken(source: .cache, token: standIn)
        }
        let run = await refreshes.join(Key(target: wish.target, isForced: wish.demand.isForced)) {
            [accounts, refresh] in
            // A refresh token may be valid for one use only, so two sets of scopes must not use it at the same time.
            try await accounts.run(wish.target.account) {
                // No caller waits for this refresh any more.
                guard ContinuousClock.now < wish.deadline else { throw ProviderClient.unreachable }
                return try await refresh.run(wish)
            }
        }
        let end = standIn == nil ? wish.deadline : min(wish.deadline, run.began + times.whileValid)
        if let outcome = await Patience.outcome(before: end, of: { try await run.task.value }) {
            return try outcome.get()
        }
        RequestContext.current?.note(cause: "the token's refresh takes long, and continues")
        guard let standIn else { throw ProviderClient.unreachable }
        return AcquiredToken(source: .cache, token: standIn)
    }

    // MARK: Shutdown

    /// Prevents new refreshes from now on.
    package func stop() { unsaved.stop() }

    /// Waits for refreshes under way and for storing their results. Losses after the deadline are logged.
    package func settle(until deadline: ContinuousClock.Instant) async {
        for account in await unsaved.settle(until: deadline) {
            logger.warning(
                """
                The server stops before a refreshed token is stored. If refresh tokens are valid for one use only, this \
                account has to sign in again.
                """, metadata: ["account": "\(account)"])
        }
    }

    // MARK: New sign-in

    /// Stores the claims that an API requires and a refresh cannot provide. The next sign-in of the account requests
    /// them.
    func learn(_ claims: ClaimsRequest, reason: Problem.Code, for target: TokenTarget) async throws(StoreError) {
        guard target.tenant == nil else { return }
        let account = target.account
        try await store.markNeedsInteraction(account, reason: reason.rawValue, claims: claims.json)
    }

    /// Returns a sign-in link for the same account, with a login hint so that the person need not choose.
    package func signIn(_ asking: SignedIn, _ target: TokenTarget, claims: ClaimsRequest?) -> Problem.Action {
        target.signIn(asking, at: publicURL, claims: claims)
    }
}

extension StoredAccessToken {
    /// A token counts as expired this many seconds early, as in MSAL.
    static let expiryMargin: TimeInterval = 300

    /// Whether the token meets a call's demand.
    package func isGood(for demand: TokenAcquisition.Demand, now: Date) -> Bool {
        guard expiresOn.timeIntervalSince(now) > Self.expiryMargin else { return false }
        switch demand {
        case .fresh: return refreshOn.map { $0 > now } ?? true
        case .refreshed: return false
        case .insteadOf(let refused, _): return secret != refused.secret
        }
    }

    /// Whether the token can be used while no newer one is available.
    func isStandIn(for demand: TokenAcquisition.Demand, now: Date) -> Bool {
        !demand.isForced && stillWorks(for: demand, now: now)
    }

    /// Whether the token has not run out, and the API has not refused it.
    func stillWorks(for demand: TokenAcquisition.Demand, now: Date) -> Bool {
        if case .insteadOf(let refused, _) = demand, secret == refused.secret { return false }
        return expiresOn.timeIntervalSince(now) > 5
    }
}
