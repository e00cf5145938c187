import CompanionCore
import Foundation
import OpenIDConnect
import SessionStore

/// One refresh of an account, of which there is one at a time in this server, up to the tokens that are stored. See
/// ``TokenAcquisition`` for its gates.
final class TokenRefresh: Sendable {
    /// One call for a token.
    struct Wish: Sendable {
        let asking: SignedIn
        /// Where it is renewed.
        let authority: Authority
        let target: TokenTarget
        let scopes: [String]
        let demand: TokenAcquisition.Demand
        /// When the caller goes. Then no exchange begins for it any more.
        let deadline: ContinuousClock.Instant
    }

    private let store: SessionStore
    private let providers: Providers
    private let timeline: Timeline
    private let metrics: Metrics
    private let publicURL: PublicURL
    private let now: @Sendable () -> Date
    private let times: RefreshTimes
    private let forced: ForcedRefreshLimit
    private let refused: RefusedRefreshes
    private let unsaved: UnsavedRefreshes

    init(
        publicURL: PublicURL, store: SessionStore, providers: Providers, unsaved: UnsavedRefreshes,
        reportingTo reports: (timeline: Timeline, metrics: Metrics)
    ) {
        self.publicURL = publicURL
        self.store = store
        self.providers = providers
        (timeline, metrics) = reports
        now = providers.clocks.wall
        times = providers.exchange.times
        forced = ForcedRefreshLimit(now: providers.clocks.steady)
        refused = RefusedRefreshes(now: providers.clocks.steady)
        self.unsaved = unsaved
    }

    /// Looks at the store again first: another may have ended between the caller's look and now.
    func run(_ wish: Wish) async throws -> AcquiredToken {
        let account = wish.target.account
        let start = ContinuousClock.now
        let stored = try await storedToken(wish.target)
        if let stored, stored.isGood(for: wish.demand, now: now()) {
            return AcquiredToken(source: .cache, token: stored)
        }
        do {
            guard let refreshToken = try await store.refreshToken(of: account) else { throw noRefreshToken(wish) }
            if let refusal = refused.refusal(of: refreshToken, for: wish.target) { throw problem(refusal, wish) }
            // Whatever can be had without the turn is had before it: others wait for its end.
            let participants = try await participants(wish)
            let token = try await inTurn(wish) { turn in
                try await redeem(turn, wish, participants, granted: stored?.grantedScopes.scopes)
            }
            if token.source == .refreshed {
                timeline.record(
                    TimelineStep(
                        "token", outcome: "refreshed", at: participants.metadata.tokenEndpoint.description, since: start
                    ), of: account.session, app: account.app)
            }
            return token
        } catch {
            let problem = Problem(any: error)
            timeline.record(
                TimelineStep(
                    "token", outcome: problem.code.rawValue, since: start, correlationID: problem.correlationID),
                of: account.session, app: account.app)
            // Nothing is known about the account: what is still valid is served.
            if problem.action == nil, let stored, stored.isStandIn(for: wish.demand, now: now()) {
                return AcquiredToken(source: .cache, token: stored)
            }
            throw problem
        }
    }

    private func storedToken(_ target: TokenTarget) async throws(StoreError) -> StoredAccessToken? {
        try await store.accessToken(of: target.account, tenant: target.tenant, scopes: target.scopes)
    }

    // MARK: The turn

    /// Runs an exchange when it is this server's turn to redeem the account's refresh token; takes what another server's
    /// turn brought where that will do.
    ///
    /// - Throws: what `exchange` throws, as the problem that it means; `provider_unavailable` when another server's turn does
    ///   not end.
    private func inTurn(_ wish: Wish, _ exchange: (RefreshTurn) async throws -> NewTokens) async throws
        -> AcquiredToken
    {
        let account = wish.target.account
        while true {
            try await unsaved.store(account)
            let answer = try await store.takeRefreshTurn(of: account)
            if let token = try await storedToken(wish.target), token.isGood(for: wish.demand, now: now()) {
                if case .mine(let turn) = answer { await store.giveBack(turn) }
                return AcquiredToken(source: .cache, token: token)
            }
            switch answer {
            case .mine(let turn):
                try await run(turn, wish, exchange)
                guard let token = try await storedToken(wish.target) else { throw StoreError.noSuchSession }
                return AcquiredToken(source: .refreshed, token: token)
            case .others(let turn):
                let hasEnded = try await store.wait(for: turn, until: wish.deadline)
                metrics.refreshWaited(hasEnded: hasEnded)
                guard hasEnded else { throw TokenRefresh.inUse() }
            case .changed: guard ContinuousClock.now < wish.deadline else { throw TokenRefresh.inUse() }
            // The provider has asked another server for it.
            case .tooEarly(let pause): throw Throttle.problem(retryAfter: Int(pause.components.seconds) + 1)
            case .refused(let reason, let claims):
                throw problem(OpenIDError(remembered: reason, claims: claims.flatMap(ClaimsRequest.init(json:))), wish)
            case .impossible: throw noRefreshToken(wish)
            }
        }
    }

    /// Runs an exchange, stores what it brings, and ends the turn.
    private func run(_ turn: RefreshTurn, _ wish: Wish, _ exchange: (RefreshTurn) async throws -> NewTokens)
        async throws
    {
        let held = HeldTurn(turn, in: store, every: times.prolonging)
        let owner = UnsavedRefreshes.Owner(
            account: wish.target.account, pseudonym: store.pseudonym(of: wish.asking.account))
        do {
            try await unsaved.run(owner, held.end) { try await exchange(turn) }
        } catch {
            let isKept = unsaved.has(owner.account)
            let problem = try await failure(error, of: wish, turn.refreshToken)
            let isRefused = problem.action != nil && wish.target.isOwn(of: wish.asking.application)
            let pause = isRefused ? RefusedRefreshes.pause : .seconds(TokenThrottle.pause(after: error))
            // An answer that could not be stored has cost the refresh token: nobody else may try it while the turn lasts.
            if !isKept { await store.giveBack(await held.end(), pause: pause) }
            throw problem
        }
    }

    /// Another server does not come to an end with its refresh, or several did one after the other.
    private static func inUse() -> Problem {
        Problem(
            .providerUnavailable, "Another server is renewing your access. Try again in a moment.", retryAfter: 6)
    }

    // MARK: The exchange

    /// The parties of an exchange.
    private struct Participants {
        var metadata: ProviderMetadata
        /// The configured authority's, where the other is a tenant's.
        var configured: ProviderMetadata
        var client: AuthenticatedClient
    }

    private func participants(_ wish: Wish) async throws -> Participants {
        let (application, directory) = (wish.asking.application, providers.directory)
        let metadata = try await directory.metadata(for: wish.authority)
        // For the check of the ID token. Where they cannot be had now, the check fetches them, or there is none.
        _ = try? await directory.signingKeys(of: metadata)
        return Participants(
            metadata: metadata, configured: try await directory.metadata(for: application.authority),
            client: try providers.credentials.client(of: application))
    }

    /// The exchange with the token endpoint.
    private func redeem(_ turn: RefreshTurn, _ wish: Wish, _ participants: Participants, granted: [String]?)
        async throws -> NewTokens
    {
        let (application, account) = (wish.asking.application, wish.asking.account)
        let (directory, metadata) = (providers.directory, participants.metadata)
        let request = try RefreshRequest(
            refreshToken: turn.refreshToken,
            account: KnownIdentity(
                issuer: account.identity.issuer, subject: account.identity.subject,
                tenantID: account.identity.tenantID),
            scopes: wish.scopes, granted: granted, claims: wish.demand.claims, metadata: metadata,
            client: participants.client, configured: participants.configured,
            guestAccountID: wish.target.tenant == nil ? nil : account.id)
        let client = TokenThrottle.Client(
            tokenEndpoint: metadata.tokenEndpoint, id: participants.client.registration.clientID)
        let refreshed = try await providers.exchange.run(
            request.providerRequest, by: client,
            .refresh(accountID: account.id, session: wish.target.account.session),
            admit: { () throws(Problem) in
                // A call that a pause has refused does not count.
                guard wish.demand.isForced else { return }
                try forced.take(ForcedRefreshLimit.Account(app: application.id, id: account.id))
            }
        ) { try await request.tokens(from: $0, directory: directory) }
        return NewTokens(refreshed, requestedScopes: wish.scopes, tenant: wish.target.tenant)
    }

    // MARK: Failures

    private func noRefreshToken(_ wish: Wish) -> Problem {
        Problem(
            .interactionRequired, "There is no refresh token for this account. Sign in again.",
            action: wish.target.signIn(wish.asking, at: publicURL, claims: wish.demand.claims))
    }

    /// The meaning of a failed refresh. Only the provider's word makes an account need its person.
    private func failure(_ error: any Error, of wish: Wish, _ refreshToken: String) async throws -> Problem {
        guard let error = error as? OpenIDError, error.isInteractionNeeded else { return Problem(any: error) }
        let isOfAccount = wish.target.isOwn(of: wish.asking.application)
        refused.note(error, of: refreshToken, for: wish.target, isOfAccount: isOfAccount)
        if isOfAccount {
            try await store.markNeedsInteraction(
                wish.target.account, reason: error.code.rawValue,
                claims: (error.claims ?? wish.demand.claims)?.json, refreshToken: refreshToken)
        }
        return problem(error, wish)
    }

    private func problem(_ error: OpenIDError, _ wish: Wish) -> Problem {
        Problem(
            error,
            action: wish.target.signIn(wish.asking, at: publicURL, claims: error.claims ?? wish.demand.claims))
    }
}
