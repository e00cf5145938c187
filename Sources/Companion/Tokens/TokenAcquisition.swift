import Foundation
import OpenIDConnect
import SessionStore

/// An access token and where it came from.
struct AcquiredToken: Sendable {
    enum Source: String, Sendable { case cache, refreshed }

    var source: Source
    var token: StoredAccessToken
}

/// What a token is for.
struct TokenTarget: Sendable, Hashable {
    let account: AccountKey
    /// In lower case, when it is another than the one in which the account signed in.
    var tenant: String?
    let scopes: ScopeSet
}

extension SignedIn {
    /// What a token for this account would be for.
    ///
    /// - Parameter scopes: nil for those of the application's registration.
    func target(scopes: [String]? = nil) -> TokenTarget {
        TokenTarget(
            account: key, tenant: tenant?.lowercased(), scopes: scopes.map { ScopeSet($0) } ?? application.scopes)
    }
}

/// MSAL's silent acquisition: the stored token while it is good, else a refresh, of which there is one at a time for a
/// session, account, tenant and scope set; everyone else waits for its result, also at other servers that share the store.
final class TokenAcquisition: Sendable {
    /// A token counts as expired this many seconds before it is, as in MSAL.
    static let expiryMargin: TimeInterval = 300
    /// How long a call waits for another server's refresh.
    private static let patience: Duration = .seconds(15)

    /// One call for a token.
    private struct Wish {
        let asking: SignedIn
        /// Where it is renewed.
        let authority: Authority
        let target: TokenTarget
        let scopes: [String]
        let demand: Demand
    }

    private struct Key: Hashable {
        var target: TokenTarget
        /// One that must be new does not join one that may be answered from the store.
        var isForced: Bool
    }

    private let store: SessionStore
    private let providers: Providers
    private let admission: Admission
    private let timeline: Timeline
    private let metrics: Metrics
    private let publicURL: PublicURL
    private let now: @Sendable () -> Date
    private let forced: ForcedRefreshLimit
    private let refreshes = SingleFlight<Key, AcquiredToken>()
    private let accounts = OneAtATime<AccountKey>()

    private let unsaved: UnsavedRefreshes

    init(
        publicURL: PublicURL, store: SessionStore, providers: Providers, admission: Admission,
        reportingTo reports: (timeline: Timeline, metrics: Metrics)
    ) {
        self.publicURL = publicURL
        self.store = store
        self.providers = providers
        self.admission = admission
        (timeline, metrics) = reports
        now = providers.clocks.wall
        forced = ForcedRefreshLimit(now: providers.clocks.steady)
        unsaved = UnsavedRefreshes(store: store, accounts: accounts, now: providers.clocks.wall)
    }

    /// What makes a stored token not good enough.
    enum Demand: Sendable {
        /// Nothing but its age.
        case fresh
        /// Any stored token: the caller wants a new one.
        case refreshed
        /// This very token, because the API refused it. A newer one will do; with claims, one that satisfies them.
        case insteadOf(StoredAccessToken, claims: ClaimsRequest? = nil)

        var isForced: Bool {
            if case .fresh = self { false } else { true }
        }

        var claims: ClaimsRequest? {
            if case .insteadOf(_, let claims) = self { claims } else { nil }
        }
    }

    /// An access token for scopes, without the person.
    ///
    /// - Parameter scopes: nil for those of the application's registration.
    /// - Throws: ``Problem``: `interaction_required` (or `consent_required` …) with the sign-in's URL only when the
    ///   provider said so; `provider_unavailable`, `throttled` and `provider_rejected_client` change nothing.
    func acquire(for asking: SignedIn, scopes: [String]? = nil, demand: Demand = .fresh) async throws -> AcquiredToken {
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
            case .mustWait: try await storedToken(target)
            }
        if let known, isGood(known, for: demand) { return AcquiredToken(source: .cache, token: known) }
        let wish = Wish(
            asking: asking, authority: guestAuthority ?? asking.application.authority(for: asking.account),
            target: target, scopes: scopes ?? asking.application.registration.scopes, demand: demand)
        return try await refreshes.run(Key(target: target, isForced: demand.isForced)) {
            // A refresh token may be good for one use: two scope sets must not use it at once.
            try await self.accounts.run(wish.target.account) { try await self.refresh(wish) }
        }
    }

    private func isGood(_ token: StoredAccessToken, for demand: Demand) -> Bool {
        let now = now()
        guard token.expiresOn.timeIntervalSince(now) > TokenAcquisition.expiryMargin else { return false }
        switch demand {
        case .fresh: return token.refreshOn.map { $0 > now } ?? true
        case .refreshed: return false
        case .insteadOf(let refused, _): return token.secret != refused.secret
        }
    }

    /// One refresh. Looks at the store again first: another may have ended between the caller's look and now.
    private func refresh(_ wish: Wish) async throws -> AcquiredToken {
        let (target, account) = (wish.target, wish.target.account)
        let start = ContinuousClock.now
        let stored = try await storedToken(target)
        if let stored, isGood(stored, for: wish.demand) { return AcquiredToken(source: .cache, token: stored) }
        do {
            guard try await store.refreshToken(of: account) != nil else { throw noRefreshToken(wish) }
            // Whatever can be had without the turn is had before it: others wait for its end.
            let participants = try await participants(wish)
            let token = try await inTurn(wish) { turn in
                let tokens = try await redeem(turn, wish, participants, granted: stored?.grantedScopes.scopes)
                try await unsaved.save(tokens, account, turn)
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
            if !wish.demand.isForced, problem.action == nil, let stored, stored.expiresOn.timeIntervalSince(now()) > 5 {
                return AcquiredToken(source: .cache, token: stored)
            }
            throw problem
        }
    }

    /// Runs a refresh when it is this server's turn to redeem the account's refresh token; takes what another server's
    /// turn brought where that will do.
    ///
    /// - Throws: what `work` throws, as the problem that it means; `provider_unavailable` when another server's turn does
    ///   not end.
    private func inTurn(_ wish: Wish, _ work: (RefreshTurn) async throws -> Void) async throws -> AcquiredToken {
        let account = wish.target.account
        let deadline = ContinuousClock.now + TokenAcquisition.patience
        while true {
            try await unsaved.store(account)
            let answer = try await store.takeRefreshTurn(of: account)
            if let token = try await storedToken(wish.target), isGood(token, for: wish.demand) {
                if case .mine(let turn) = answer { await store.giveBack(turn) }
                return AcquiredToken(source: .cache, token: token)
            }
            switch answer {
            case .mine(let turn):
                do {
                    try await work(turn)
                } catch {
                    throw try await failed(turn, wish, error)
                }
                guard let token = try await storedToken(wish.target) else { throw StoreError.noSuchSession }
                return AcquiredToken(source: .refreshed, token: token)
            case .others(let turn):
                let hasEnded = try await store.wait(for: turn, until: deadline)
                metrics.refreshWaited(hasEnded: hasEnded)
                guard hasEnded else { throw TokenAcquisition.inUse() }
            case .changed: guard ContinuousClock.now < deadline else { throw TokenAcquisition.inUse() }
            // The provider has asked another server for it.
            case .tooEarly(let pause): throw Throttle.problem(retryAfter: Int(pause.components.seconds) + 1)
            case .impossible: throw noRefreshToken(wish)
            }
        }
    }

    /// Ends a turn that has failed.
    ///
    /// - Returns: what its error means.
    private func failed(_ turn: RefreshTurn, _ wish: Wish, _ error: any Error) async throws -> Problem {
        let isKept = unsaved.has(wish.target.account)
        let problem = try await failure(error, of: wish, turn.refreshToken)
        // What could not be stored has cost the refresh token: nobody else may try it while the turn lasts.
        if !isKept { await store.giveBack(turn, pause: .seconds(TokenThrottle.pause(after: error))) }
        return problem
    }

    private func noRefreshToken(_ wish: Wish) -> Problem {
        Problem(
            .interactionRequired, "There is no refresh token for this account. Sign in again.",
            action: signIn(wish.asking, wish.target, claims: wish.demand.claims))
    }

    /// Another server does not come to an end with its refresh, or several did one after the other.
    private static func inUse() -> Problem {
        Problem(
            .providerUnavailable, "Another server is renewing your access. Try again in a moment.", retryAfter: 6)
    }

    private func storedToken(_ target: TokenTarget) async throws(StoreError) -> StoredAccessToken? {
        try await store.accessToken(of: target.account, tenant: target.tenant, scopes: target.scopes)
    }

    /// Who takes part in an exchange.
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
            account: KnownIdentity(issuer: account.issuer, subject: account.subject, tenantID: account.tenantID),
            scopes: wish.scopes, granted: granted, claims: wish.demand.claims, metadata: metadata,
            client: participants.client, configured: participants.configured,
            guestAccountID: wish.target.tenant == nil ? nil : account.id)
        let client = TokenThrottle.Client(
            tokenEndpoint: metadata.tokenEndpoint, id: participants.client.registration.clientID)
        let refreshed = try await providers.exchange.run(
            request.providerRequest, by: client, .refresh(accountID: account.id),
            admit: { () throws(Problem) in
                // What a pause has refused does not count.
                guard wish.demand.isForced else { return }
                try forced.take(ForcedRefreshLimit.Account(app: application.id, id: account.id))
            }
        ) { try await request.tokens(from: $0, directory: directory) }
        return NewTokens(refreshed, requestedScopes: wish.scopes, tenant: wish.target.tenant)
    }

    /// What a failed refresh means. Only the provider's word makes an account need its person.
    private func failure(_ error: any Error, of wish: Wish, _ refreshToken: String?) async throws -> Problem {
        guard let error = error as? OpenIDError, error.isInteractionNeeded else { return Problem(any: error) }
        let claims = error.claims ?? wish.demand.claims
        let account = wish.target.account
        // What another tenant, or more scopes, ask for says nothing about the account itself.
        if wish.target.tenant == nil, wish.target.scopes == wish.asking.application.scopes {
            try await store.markNeedsInteraction(
                account, reason: error.code.rawValue, claims: claims?.json, refreshToken: refreshToken)
        }
        return Problem(error, action: signIn(wish.asking, wish.target, claims: claims))
    }

    /// Remembers what an API asks for beyond what a silent renewal can give: the next sign-in carries it, no matter who begins it.
    func learn(_ claims: ClaimsRequest, reason: Problem.Code, for target: TokenTarget) async throws(StoreError) {
        guard target.tenant == nil else { return }
        let account = target.account
        try await store.markNeedsInteraction(account, reason: reason.rawValue, claims: claims.json)
    }

    /// Where the same account signs in again: with its hint, so that nobody has to choose.
    func signIn(_ asking: SignedIn, _ target: TokenTarget, claims: ClaimsRequest?) -> Problem.Action {
        let application = asking.application
        var fields: [(String, String)] = []
        // What stands for the name of somebody without one means nothing to the provider's page.
        if asking.account.username != asking.account.subject {
            fields.append(("login_hint", asking.account.username))
        }
        fields.append(("return_to", publicURL.pagePath(of: application)))
        let more = target.scopes.scopes.filter { !application.scopes.scopes.contains($0) }
        if !more.isEmpty { fields.append(("scope", more.joined(separator: " "))) }
        if let tenant = target.tenant { fields.append(("tenant", tenant)) }
        if let claims { fields.append(("claims", claims.json)) }
        return .signIn(publicURL.signInPath(of: application, fields))
    }
}
