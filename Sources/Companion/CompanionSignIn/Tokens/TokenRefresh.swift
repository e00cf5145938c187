import CompanionCore
import Foundation
import OpenIDConnect
import SessionStore

/// Refreshes an account's tokens and stores the result. In one server only one refresh of an account runs at a time.
/// ``TokenAcquisition`` describes the gates on the way.
final class TokenRefresh: Sendable {
    /// One call for a token.
    struct Wish: Sendable {
        let asking: SignedIn
        /// The authority that renews the token.
        let authority: Authority
        let target: TokenTarget
        let scopes: [String]
        let demand: TokenAcquisition.Demand
        /// The time at which the caller stops waiting. After it, no exchange begins for this call.
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
    private let unchecked: UncheckedRefreshes
    let early: EarlyRenewals
    private let groups: GroupLookup

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
        unchecked = UncheckedRefreshes(now: providers.clocks.steady)
        early = EarlyRenewals(now: providers.clocks.steady)
        groups = GroupLookup(provider: providers.client)
    }

    /// Returns a token. It checks the store again first, because another refresh may have ended since the caller's
    /// check.
    func run(_ wish: Wish) async throws -> AcquiredToken {
        let account = wish.target.account
        let start = ContinuousClock.now
        var endpoint: String?
        let stored = try await storedToken(wish.target)
        if let stored, stored.isGood(for: wish.demand, now: now()) {
            return AcquiredToken(source: .cache, token: stored)
        }
        do {
            guard let refreshToken = try await store.refreshToken(of: account) else { throw noRefreshToken(wish) }
            if let refusal = refused.refusal(of: refreshToken, for: wish.target) { throw problem(refusal, wish) }
            // Everything that does not need the turn is done before taking it, because others wait for the turn's end.
            let participants = try await participants(wish)
            endpoint = participants.metadata.tokenEndpoint.description
            let token = try await inTurn(wish) { held in
                try await exchange(held, wish, participants, granted: stored?.grantedScopes.scopes)
            }
            if token.source == .refreshed {
                timeline.record(
                    TimelineStep("token", outcome: "refreshed", at: endpoint, since: start), of: account.session,
                    app: account.app)
            }
            return token
        } catch {
            let problem = Problem(any: error)
            timeline.record(
                TimelineStep("token", problem, at: endpoint, since: start), of: account.session, app: account.app)
            // The error says nothing about the account, so a token that is still valid is returned.
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

    /// Runs an exchange when it is this server's turn to redeem the account's refresh token. If another server's turn
    /// brings a suitable token, that one is returned instead.
    ///
    /// - Throws: the error of `exchange` as a problem; `provider_unavailable` if another server's turn does not end in
    ///   time.
    private func inTurn(_ wish: Wish, _ exchange: (HeldTurn) async throws -> UnsavedRefreshes.Exchanged) async throws
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
            // The provider has asked for this pause in a response to another server.
            case .tooEarly(let pause, let status):
                throw TokenThrottle.problem(
                    Throttle.problem(retryAfter: Int(pause.components.seconds) + 1), begunBy: status)
            case .refused(let reason, let claims):
                throw problem(OpenIDError(remembered: reason, claims: claims.flatMap(ClaimsRequest.init(json:))), wish)
            case .impossible: throw noRefreshToken(wish)
            }
        }
    }

    /// Runs an exchange, stores its result, and ends the turn.
    private func run(
        _ turn: RefreshTurn, _ wish: Wish, _ exchange: (HeldTurn) async throws -> UnsavedRefreshes.Exchanged
    )
        async throws
    {
        let held = HeldTurn(turn, in: store, every: times.prolonging)
        let owner = UnsavedRefreshes.Owner(
            account: wish.target.account, pseudonym: store.pseudonym(of: wish.asking.account))
        do {
            try await unsaved.run(owner, held.end) { try await exchange(held) }
        } catch {
            let isKept = unsaved.has(owner.account)
            let problem = try await failure(error, of: wish, turn.refreshToken)
            let isRefused = problem.action != nil && wish.target.isOwn(of: wish.asking.application)
            let pause = isRefused ? RefusedRefreshes.pause : .seconds(TokenThrottle.pause(after: error))
            // A result that could not be stored has spent the refresh token, so the turn is kept and no one else tries
            // the token meanwhile.
            let status = isRefused ? nil : TokenThrottle.status(after: error)
            if !isKept { await store.giveBack(await held.end(), pause: pause, status: status) }
            throw problem
        }
    }

    /// Another server's refresh takes too long, or several servers refreshed in succession.
    private static func inUse() -> Problem {
        Problem(
            .providerUnavailable, "Another server is renewing your access. Try again in a moment.", retryAfter: 6)
    }

    // MARK: The exchange

    /// The provider and the client of an exchange.
    private struct Participants {
        var metadata: ProviderMetadata
        /// The configured authority's metadata, which differs if `metadata` is a tenant's.
        var configured: ProviderMetadata
        var client: AuthenticatedClient
    }

    private func participants(_ wish: Wish) async throws -> Participants {
        let (application, directory) = (wish.asking.application, providers.directory)
        let metadata = try await directory.metadata(for: wish.authority)
        // The keys are for checking the ID token. If they are not available now, the check fetches them if it needs
        // them.
        _ = try? await directory.signingKeys(of: metadata)
        return Participants(
            metadata: metadata, configured: try await directory.metadata(for: application.authority),
            client: try providers.credentials.client(of: application))
    }

    /// Refreshes the tokens. The response's refresh token is stored before its ID token is checked. A check that fails
    /// only for now is repeated at the account's next refresh, instead of the request.
    private func exchange(_ held: HeldTurn, _ wish: Wish, _ participants: Participants, granted: [String]?)
        async throws -> UnsavedRefreshes.Exchanged
    {
        let spent = held.now.refreshToken
        let refresh: UncheckedRefresh
        var isStored = true
        if let known = unchecked.take(of: spent, for: wish) {
            refresh = known
        } else {
            let answer = try await redeem(spent, wish, participants, granted: granted)
            refresh = UncheckedRefresh(answer: answer, spent: spent)
            if answer.isUnchecked, let next = answer.refreshToken { isStored = try await keep(next, in: held) }
        }
        do {
            let refreshed = try await providers.exchange.check(refresh.answer)
            var tokens = NewTokens(refreshed, requestedScopes: wish.scopes, tenant: wish.target.tenant)
            tokens.annotation = await annotation(of: refreshed, wish)
            return UnsavedRefreshes.Exchanged(tokens: tokens)
        } catch let error as OpenIDError where error.isProvisional {
            unchecked.keep(refresh, for: wish)
            early.failed(wish.client)
            guard !isStored else { throw error }
            return UnsavedRefreshes.Exchanged(tokens: NewTokens(refreshToken: refresh.next), failure: error)
        } catch {
            // The response may be about another person, and then so may its refresh token.
            if isStored, refresh.answer.refreshToken != nil { _ = try await held.keep(refresh.spent) }
            throw error
        }
    }

    /// Stores the refresh token of a response that is not checked yet.
    ///
    /// - Returns: false if nothing can be stored now.
    private func keep(_ refreshToken: String, in held: HeldTurn) async throws(StoreError) -> Bool {
        do throws(StoreError) {
            _ = try await held.keep(refreshToken)
            return true
        } catch {
            guard error.isUnavailable else { throw error }
            return false
        }
    }

    /// Exchanges the refresh token at the token endpoint.
    private func redeem(_ refreshToken: String, _ wish: Wish, _ participants: Participants, granted: [String]?)
        async throws -> TokenAnswer<RefreshedTokens>
    {
        let (application, account) = (wish.asking.application, wish.asking.account)
        let (directory, metadata) = (providers.directory, participants.metadata)
        let request = try RefreshRequest(
            refreshToken: refreshToken,
            account: KnownIdentity(
                issuer: account.identity.issuer, subject: account.identity.subject,
                tenantID: account.identity.tenantID),
            scopes: wish.scopes, granted: granted, claims: wish.demand.claims, metadata: metadata,
            client: participants.client, configured: participants.configured,
            guestAccountID: wish.target.tenant == nil ? nil : account.id)
        let client = TokenThrottle.Client(
            tokenEndpoint: metadata.tokenEndpoint, id: participants.client.registration.clientID)
        do {
            let answer = try await providers.exchange.run(
                request.providerRequest, by: client,
                .refresh(accountID: account.id, session: wish.target.account.session),
                isRepeatable: wish.authority.kind != .oidc,
                admit: { () throws(Problem) in
                    // A call that a pause has refused is not counted.
                    guard wish.demand.isForced else { return }
                    try forced.take(ForcedRefreshLimit.Account(app: application.id, id: account.id))
                }
            ) { response throws(OpenIDError) in try request.answer(from: response, directory: directory) }
            early.answered(wish.client)
            return answer
        } catch let error as OpenIDError {
            if error.code == .providerUnavailable {
                early.failed(wish.client)
            } else if !error.isTransient {
                early.answered(wish.client)
            }
            throw error
        }
    }

    /// Returns Graph's answer about the groups of a renewed ID token. If Graph has none now, the stored answer stays,
    /// because a session does not end for that.
    private func annotation(of refreshed: RefreshedTokens, _ wish: Wish) async -> String? {
        let (application, account) = (wish.asking.application, wish.asking.account)
        // A token for another tenant or other scopes may be for another API, which must not see it.
        guard wish.target.isOwn(of: application), let claims = refreshed.idTokenClaims else {
            return account.annotation
        }
        do throws(Problem) {
            return try await groups.answer(for: claims, accessToken: refreshed.tokens.accessToken, application)?.text
        } catch {
            return account.annotation
        }
    }

    // MARK: Failures

    private func noRefreshToken(_ wish: Wish) -> Problem {
        Problem(
            .interactionRequired, "There is no refresh token for this account. Sign in again.",
            action: wish.target.signIn(wish.asking, at: publicURL, claims: wish.demand.claims))
    }

    /// Converts the error of a refresh to a problem. Only a response of the provider can require interaction for the
    /// account.
    private func failure(_ error: any Error, of wish: Wish, _ refreshToken: String) async throws -> Problem {
        guard let reported = error as? OpenIDError, let error = reported.asRefusedRefresh else {
            return Problem(any: error)
        }
        // An unusual word ends nothing while there is a token that works.
        if !reported.isInteractionNeeded, let stored = try await storedToken(wish.target),
            stored.stillWorks(for: wish.demand, now: now())
        {
            return Problem(reported)
        }
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
