import Expiring
import Foundation
import OpenIDConnect
import SessionStore
import Synchronization

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
/// session, account, tenant and scope set; everyone else waits for its result.
final class TokenAcquisition: Sendable {
    /// A token counts as expired this many seconds before it is, as in MSAL.
    static let expiryMargin: TimeInterval = 300

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

    /// What a refresh brought when it could not be stored.
    private struct Unsaved {
        /// The refresh token that it cost, which the provider may not take again.
        var spent: String
        var tokens: NewTokens
    }

    private static let unsavedLifetime: TimeInterval = 12 * 3600
    private let unsaved = Mutex(ExpiringMap<AccountKey, Unsaved>(maxCount: 10_000, maxBytes: 8 << 20))

    init(
        publicURL: PublicURL, store: SessionStore, providers: Providers, admission: Admission,
        reportingTo reports: (timeline: Timeline, metrics: Metrics)
    ) {
        self.publicURL = publicURL
        self.store = store
        self.providers = providers
        self.admission = admission
        (timeline, metrics) = reports
        now = providers.now
        forced = ForcedRefreshLimit(now: providers.now)
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
        if case .found(let stored) = store.accessTokenNow(
            of: target.account, tenant: target.tenant, scopes: target.scopes), isGood(stored, for: demand)
        {
            return AcquiredToken(source: .cache, token: stored)
        }
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
        let (target, account, demand) = (wish.target, wish.target.account, wish.demand)
        let start = ContinuousClock.now
        let stored = try await storedToken(target)
        if let stored, isGood(stored, for: demand) { return AcquiredToken(source: .cache, token: stored) }
        var refreshToken = try await store.refreshToken(of: account)
        do {
            if let saved = try await storeUnsaved(account, spent: refreshToken) {
                if let token = try await storedToken(target), isGood(token, for: demand) {
                    return AcquiredToken(source: .cache, token: token)
                }
                refreshToken = saved.refreshToken ?? refreshToken
            }
            guard let refreshToken else {
                throw Problem(
                    .interactionRequired, "There is no refresh token for this account. Sign in again.",
                    action: signIn(wish.asking, target, claims: demand.claims))
            }
            // Its successor would be lost while nothing can be kept, and a refresh token may be good for one use.
            try await store.requireWritable()
            let tokens = try await redeem(refreshToken, wish, granted: stored?.grantedScopes.scopes)
            try await save(tokens, account, spent: refreshToken)
            guard let token = try await storedToken(target) else { throw StoreError.noSuchSession }
            timeline.record(
                TimelineStep(
                    "token", outcome: "refreshed",
                    at: try? await providers.directory.metadata(for: wish.authority).tokenEndpoint.description,
                    since: start), of: account.session, app: account.app)
            return AcquiredToken(source: .refreshed, token: token)
        } catch {
            let problem = try await failure(error, of: wish, refreshToken)
            timeline.record(
                TimelineStep(
                    "token", outcome: problem.code.rawValue, since: start, correlationID: problem.correlationID),
                of: account.session, app: account.app)
            // Nothing is known about the account: what is still valid is served.
            if !demand.isForced, problem.action == nil, let stored, stored.expiresOn.timeIntervalSince(now()) > 5 {
                return AcquiredToken(source: .cache, token: stored)
            }
            throw problem
        }
    }

    /// Stores a refresh's answer; keeps it when that is not possible now, since nothing else has the next refresh token.
    private func save(_ tokens: NewTokens, _ account: AccountKey, spent: String) async throws(StoreError) {
        do {
            try await store.storeRefreshed(account, tokens: tokens)
            _ = unsaved.withLock { $0.remove(account) }
        } catch {
            guard error.isUnavailable else { throw error }
            let now = now()
            let cost = spent.utf8.count + (tokens.refreshToken?.utf8.count ?? 0) + (tokens.accessToken?.utf8.count ?? 0)
            unsaved.withLock {
                _ = $0.set(
                    Unsaved(spent: spent, tokens: tokens), for: account, cost: cost,
                    until: now.addingTimeInterval(TokenAcquisition.unsavedLifetime), now: now)
            }
            throw error
        }
    }

    /// Stores what an earlier refresh brought, unless somebody has signed in anew since.
    ///
    /// - Returns: what it was; nil when there is nothing.
    private func storeUnsaved(_ account: AccountKey, spent: String?) async throws(StoreError) -> NewTokens? {
        let now = now()
        guard let kept = unsaved.withLock({ $0.value(for: account, now: now) }) else { return nil }
        guard kept.spent == spent else {
            _ = unsaved.withLock { $0.remove(account) }
            return nil
        }
        try await save(kept.tokens, account, spent: kept.spent)
        return kept.tokens
    }

    private func storedToken(_ target: TokenTarget) async throws(StoreError) -> StoredAccessToken? {
        try await store.accessToken(of: target.account, tenant: target.tenant, scopes: target.scopes)
    }

    /// The exchange with the token endpoint.
    private func redeem(_ refreshToken: String, _ wish: Wish, granted: [String]?) async throws -> NewTokens {
        let (application, account, directory) = (wish.asking.application, wish.asking.account, providers.directory)
        let metadata = try await directory.metadata(for: wish.authority)
        let authenticated = try providers.credentials.client(of: application)
        let request = try RefreshRequest(
            refreshToken: refreshToken,
            account: KnownIdentity(issuer: account.issuer, subject: account.subject, tenantID: account.tenantID),
            scopes: wish.scopes, granted: granted, claims: wish.demand.claims, metadata: metadata,
            client: authenticated, configured: try await directory.metadata(for: application.authority),
            guestAccountID: wish.target.tenant == nil ? nil : account.id)
        let client = TokenThrottle.Client(
            tokenEndpoint: metadata.tokenEndpoint, id: authenticated.registration.clientID)
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
        var fields = [
            ("login_hint", asking.account.username), ("return_to", publicURL.pagePath(of: application)),
        ]
        let more = target.scopes.scopes.filter { !application.scopes.scopes.contains($0) }
        if !more.isEmpty { fields.append(("scope", more.joined(separator: " "))) }
        if let tenant = target.tenant { fields.append(("tenant", tenant)) }
        if let claims { fields.append(("claims", claims.json)) }
        return .signIn(publicURL.signInPath(of: application, fields))
    }
}
