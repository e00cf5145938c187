import Expiring
import Foundation
import OpenIDConnect
import SessionStore
import Synchronization

/// An access token and where it came from.
struct AcquiredToken: Sendable {
    enum Source: String, Sendable, Encodable { case cache, refreshed }

    var source: Source
    var token: StoredAccessToken
}

/// What a token is for.
struct TokenTarget: Sendable, Hashable {
    let session: SessionKey
    let app: String
    let accountID: String
    /// In lower case, when it is another than the one in which the account signed in.
    let tenant: String?
    let scopes: ScopeSet

    struct Account: Hashable {
        let session: SessionKey
        let app: String
        let id: String
    }

    var account: Account { Account(session: session, app: app, id: accountID) }
}

/// MSAL's silent acquisition: the stored token while it is good, else a refresh, of which there is one at a time for a
/// session, account, tenant and scope set; everyone else waits for its result.
final class TokenAcquisition: Sendable {
    /// A token counts as expired so long before it does, as in MSAL (facts: lifetimes).
    static let expiryMargin: TimeInterval = 300

    private struct Key: Hashable {
        var target: TokenTarget
        /// One that must be new does not join one that may be answered from the store.
        var isForced: Bool
    }

    private let store: SessionStore
    private let directory: ProviderDirectory
    private let admission: Admission
    private let timeline: Timeline
    private let credentials: ClientCredentials
    private let exchange: TokenExchange
    private let metrics: Metrics
    private let publicURL: PublicURL
    private let now: @Sendable () -> Date
    private let forced: ForcedRefreshLimit
    private let refreshes = SingleFlight<Key, AcquiredToken>()
    private let accounts = OneAtATime<TokenTarget.Account>()

    /// What a refresh brought when it could not be stored.
    private struct Unsaved {
        /// The refresh token that it cost, which the provider may not take again.
        var spent: String
        var tokens: NewTokens
    }

    private static let unsavedLifetime: TimeInterval = 12 * 3600
    private let unsaved = Mutex(ExpiringMap<TokenTarget.Account, Unsaved>(maxCount: 10_000, maxBytes: 8 << 20))

    init(
        store: SessionStore, directory: ProviderDirectory, admission: Admission, timeline: Timeline,
        credentials: ClientCredentials,
        exchange: TokenExchange, metrics: Metrics, publicURL: PublicURL, now: @escaping @Sendable () -> Date
    ) {
        self.admission = admission
        self.metrics = metrics
        self.credentials = credentials
        self.exchange = exchange
        self.publicURL = publicURL
        self.store = store
        self.directory = directory
        self.timeline = timeline
        self.now = now
        forced = ForcedRefreshLimit(now: now)
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
    /// - Parameter tenant: another tenant than the one in which the account signed in, where it is a guest.
    /// - Throws: ``Problem``: `interaction_required` (or `consent_required` …) with the sign-in's URL only when the
    ///   provider said so; `provider_unavailable`, `throttled` and `provider_rejected_client` change nothing.
    func acquire(
        _ application: Application, session: SessionKey, account: Account, tenant: String? = nil, scopes: [String],
        demand: Demand = .fresh, correlationID: String
    ) async throws -> AcquiredToken {
        do {
            let token = try await find(
                application, session: session, account: account, tenant: tenant, scopes: scopes, demand: demand,
                correlationID: correlationID)
            metrics.token(application.id, token.source)
            return token
        } catch {
            metrics.tokenFailed(application.id, Problem(any: error).code)
            throw error
        }
    }

    private func find(
        _ application: Application, session: SessionKey, account: Account, tenant: String?, scopes: [String],
        demand: Demand, correlationID: String
    ) async throws -> AcquiredToken {
        let home = application.authority(for: account)
        var authority = home
        if let tenant {
            authority = try application.authority(ofTenant: tenant)
            try await admission.check(authority, application)
        }
        let target = TokenTarget(
            session: session, app: application.id, accountID: account.id,
            tenant: authority == home ? nil : tenant?.lowercased(), scopes: ScopeSet(scopes))
        let cached = store.cachedAccessToken(
            session, app: application.id, accountID: account.id, tenant: target.tenant, scopes: target.scopes)
        if let cached, isGood(cached, for: demand) { return AcquiredToken(source: .cache, token: cached) }
        let place = authority
        return try await refreshes.run(Key(target: target, isForced: demand.isForced)) {
            // A refresh token may be good for one use: two scope sets must not use it at once.
            try await self.accounts.run(target.account) {
                try await self.refresh(
                    application, at: place, account: account, target: target, scopes: scopes, demand: demand,
                    correlationID: correlationID)
            }
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
    private func refresh(
        _ application: Application, at authority: Authority, account: Account, target: TokenTarget, scopes: [String],
        demand: Demand, correlationID: String
    ) async throws -> AcquiredToken {
        let start = ContinuousClock.now
        let stored = try await storedToken(target)
        if let stored, isGood(stored, for: demand) { return AcquiredToken(source: .cache, token: stored) }
        var refreshToken = try await store.refreshToken(target.session, app: target.app, accountID: target.accountID)
        do {
            if let saved = try await storeUnsaved(target, spent: refreshToken) {
                if let token = try await storedToken(target), isGood(token, for: demand) {
                    return AcquiredToken(source: .cache, token: token)
                }
                refreshToken = saved.refreshToken ?? refreshToken
            }
            guard let refreshToken else {
                throw Problem(
                    .interactionRequired, "There is no refresh token for this account. Sign in again.",
                    action: signIn(application, account, target, claims: demand.claims))
            }
            // Its successor would be lost while nothing can be kept, and a refresh token may be good for one use.
            try await store.requireWritable()
            let tokens = try await redeem(
                refreshToken, application, at: authority, account: account, target: target, scopes: scopes,
                granted: stored?.grantedScopes.scopes, demand: demand)
            try await save(tokens, target, spent: refreshToken)
            guard let token = try await storedToken(target) else { throw StoreError.noSuchSession }
            timeline.record(
                session: target.session.value, app: target.app, step: "token", outcome: "refreshed",
                at: try? await directory.metadata(for: authority).tokenEndpoint.description, since: start,
                correlationID: correlationID)
            return AcquiredToken(source: .refreshed, token: token)
        } catch {
            let problem = try await failure(
                error, application, account, target, refreshToken, demanded: demand.claims)
            timeline.record(
                session: target.session.value, app: target.app, step: "token", outcome: problem.code.rawValue,
                since: start, correlationID: problem.correlationID ?? correlationID)
            // Nothing is known about the account: what is still valid is served.
            if !demand.isForced, problem.action == nil, let stored, stored.expiresOn.timeIntervalSince(now()) > 5 {
                return AcquiredToken(source: .cache, token: stored)
            }
            throw problem
        }
    }

    /// Stores a refresh's answer; keeps it when that is not possible now, since nothing else has the next refresh token.
    private func save(_ tokens: NewTokens, _ target: TokenTarget, spent: String) async throws(StoreError) {
        do {
            try await store.storeRefreshed(
                target.session, app: target.app, accountID: target.accountID, tokens: tokens)
            _ = unsaved.withLock { $0.remove(target.account) }
        } catch {
            guard error.isUnavailable else { throw error }
            let now = now()
            let cost = spent.utf8.count + (tokens.refreshToken?.utf8.count ?? 0) + (tokens.accessToken?.utf8.count ?? 0)
            unsaved.withLock {
                _ = $0.set(
                    Unsaved(spent: spent, tokens: tokens), for: target.account, cost: cost,
                    until: now.addingTimeInterval(TokenAcquisition.unsavedLifetime), now: now)
            }
            throw error
        }
    }

    /// Stores what an earlier refresh brought, unless somebody has signed in anew since.
    ///
    /// - Returns: what it was; nil when there is nothing.
    private func storeUnsaved(_ target: TokenTarget, spent: String?) async throws(StoreError) -> NewTokens? {
        let now = now()
        guard let kept = unsaved.withLock({ $0.value(for: target.account, now: now) }) else { return nil }
        guard kept.spent == spent else {
            _ = unsaved.withLock { $0.remove(target.account) }
            return nil
        }
        try await save(kept.tokens, target, spent: kept.spent)
        return kept.tokens
    }

    private func storedToken(_ target: TokenTarget) async throws(StoreError) -> StoredAccessToken? {
        try await store.accessToken(
            target.session, app: target.app, accountID: target.accountID, tenant: target.tenant, scopes: target.scopes)
    }

    /// The exchange with the token endpoint.
    private func redeem(
        _ refreshToken: String, _ application: Application, at authority: Authority, account: Account,
        target: TokenTarget, scopes: [String], granted: [String]?, demand: Demand
    ) async throws -> NewTokens {
        let metadata = try await directory.metadata(for: authority)
        let registration = try credentials.registration(of: application)
        let request = try RefreshRequest(
            refreshToken: refreshToken,
            account: KnownIdentity(issuer: account.issuer, subject: account.subject, tenantID: account.tenantID),
            scopes: scopes, granted: granted, claims: demand.claims, metadata: metadata, registration: registration,
            configured: try await directory.metadata(for: application.authority),
            guestAccountID: target.tenant == nil ? nil : account.id)
        let refreshed = try await exchange.run(
            request.providerRequest, at: metadata, clientID: registration.clientID, .refresh(accountID: account.id),
            admit: { () throws(Problem) in
                // What a pause has refused does not count.
                guard demand.isForced else { return }
                try forced.take(ForcedRefreshLimit.Account(app: target.app, id: target.accountID))
            }
        ) { try await request.tokens(from: $0, directory: directory) }
        return NewTokens(refreshed, requestedScopes: scopes, tenant: target.tenant)
    }

    /// What a failed refresh means. Only the provider's word makes an account need its person.
    private func failure(
        _ error: any Error, _ application: Application, _ account: Account, _ target: TokenTarget,
        _ refreshToken: String?, demanded: ClaimsRequest?
    ) async throws -> Problem {
        guard let error = error as? OpenIDError else { return Problem(any: error) }
        guard error.isInteractionNeeded else { return Problem(error) }
        // What another tenant, or more scopes, ask for says nothing about the account itself.
        if target.tenant == nil, target.scopes == ScopeSet(application.registration.scopes) {
            try await store.markNeedsInteraction(
                target.session, app: target.app, accountID: target.accountID, reason: error.code.rawValue,
                claims: (error.claims ?? demanded)?.json, refreshToken: refreshToken)
        }
        return Problem(error, action: signIn(application, account, target, claims: error.claims ?? demanded))
    }

    /// Remembers what an API asks for beyond what a silent renewal can give: the next sign-in carries it, no matter who begins it.
    func learn(_ claims: ClaimsRequest, reason: Problem.Code, for target: TokenTarget) async throws(StoreError) {
        guard target.tenant == nil else { return }
        try await store.markNeedsInteraction(
            target.session, app: target.app, accountID: target.accountID, reason: reason.rawValue, claims: claims.json)
    }

    /// Where the same account signs in again: with its hint, so that nobody has to choose.
    func signIn(
        _ application: Application, _ account: Account, _ target: TokenTarget, claims: ClaimsRequest?
    ) -> Problem.Action {
        var fields = [("login_hint", account.username), ("return_to", publicURL.pagePath(of: application))]
        let more = target.scopes.scopes.filter { !ScopeSet(application.registration.scopes).scopes.contains($0) }
        if !more.isEmpty { fields.append(("scope", more.joined(separator: " "))) }
        if let tenant = target.tenant { fields.append(("tenant", tenant)) }
        if let claims { fields.append(("claims", claims.json)) }
        return .signIn(publicURL.signInPath(of: application, fields))
    }
}
