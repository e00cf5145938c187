import Foundation
import OpenIDConnect
import SessionStore

/// An access token and where it came from.
struct AcquiredToken: Sendable {
    enum Source: String, Sendable, Encodable { case cache, refreshed }

    var source: Source
    var token: StoredAccessToken
}

/// MSAL's silent acquisition: the stored token while it is good, else a refresh, of which there is one at a time for a
/// session, account and scope set; everyone else waits for its result.
final class TokenAcquisition: Sendable {
    /// A token counts as expired so long before it does, as in MSAL (facts: lifetimes).
    static let expiryMargin: TimeInterval = 300

    private struct Key: Hashable {
        var session: SessionKey
        var app: String
        var account: String
        var scopes: ScopeSet
    }

    private let store: SessionStore
    private let directory: ProviderDirectory
    private let transport: ProviderDirectory.Transport
    private let timeline: Timeline
    private let now: @Sendable () -> Date
    private let refreshes = SingleFlight<Key, AcquiredToken>()

    init(
        store: SessionStore, directory: ProviderDirectory, transport: @escaping ProviderDirectory.Transport,
        timeline: Timeline, now: @escaping @Sendable () -> Date
    ) {
        self.store = store
        self.directory = directory
        self.transport = transport
        self.timeline = timeline
        self.now = now
    }

    /// What makes a stored token not good enough.
    enum Demand: Sendable, Equatable {
        /// Nothing but its age.
        case fresh
        /// Any stored token: the caller wants a new one.
        case refreshed
        /// This very token, because the API refused it. A newer one will do.
        case insteadOf(StoredAccessToken)

        static func == (left: Demand, right: Demand) -> Bool {
            switch (left, right) {
            case (.fresh, .fresh), (.refreshed, .refreshed): true
            case (.insteadOf(let left), .insteadOf(let right)): left.secret == right.secret
            default: false
            }
        }
    }

    /// An access token for scopes, without the person.
    ///
    /// - Throws: ``Problem``: `interaction_required` (or `consent_required` …) with the sign-in's URL only when the
    ///   provider said so; `provider_unavailable`, `throttled` and `provider_rejected_client` change nothing.
    func acquire(
        _ application: Application, session: SessionKey, account: Account, scopes: [String], demand: Demand = .fresh,
        correlationID: String
    ) async throws -> AcquiredToken {
        let set = ScopeSet(scopes)
        let cached = store.cachedAccessToken(session, app: application.id, accountID: account.id, scopes: set)
        if let cached, isGood(cached, for: demand) { return AcquiredToken(source: .cache, token: cached) }
        let key = Key(session: session, app: application.id, account: account.id, scopes: set)
        return try await refreshes.run(key) {
            try await self.refresh(
                application, session: session, account: account, scopes: scopes, demand: demand,
                correlationID: correlationID)
        }
    }

    private func isGood(_ token: StoredAccessToken, for demand: Demand) -> Bool {
        let now = now()
        guard token.expiresOn.timeIntervalSince(now) > TokenAcquisition.expiryMargin else { return false }
        switch demand {
        case .fresh: return token.refreshOn.map { $0 > now } ?? true
        case .refreshed: return false
        case .insteadOf(let refused): return token.secret != refused.secret
        }
    }

    /// One refresh. Looks at the store again first: another may have ended between the caller's look and now.
    private func refresh(
        _ application: Application, session: SessionKey, account: Account, scopes: [String], demand: Demand,
        correlationID: String
    ) async throws -> AcquiredToken {
        let start = ContinuousClock.now
        let set = ScopeSet(scopes)
        let stored = try await store.accessToken(session, app: application.id, accountID: account.id, scopes: set)
        if let stored, isGood(stored, for: demand) { return AcquiredToken(source: .cache, token: stored) }
        let refreshToken = try await store.refreshToken(session, app: application.id, accountID: account.id)
        do {
            guard let refreshToken else {
                throw Problem(
                    .interactionRequired, "There is no refresh token for this account. Sign in again.",
                    action: signIn(application, account, claims: nil))
            }
            let metadata = try await directory.metadata(for: application.authority)
            let request = try RefreshRequest(
                refreshToken: refreshToken,
                account: KnownIdentity(issuer: account.issuer, subject: account.subject, tenantID: account.tenantID),
                scopes: scopes, metadata: metadata, registration: application.registration)
            let refreshed = try await request.tokens(
                from: try await transport(request.providerRequest), directory: directory)
            try await store.storeRefreshed(
                session, app: application.id, accountID: account.id,
                tokens: NewTokens(refreshed.tokens, claims: refreshed.idTokenClaims, requestedScopes: scopes))
            guard
                let token = try await store.accessToken(
                    session, app: application.id, accountID: account.id, scopes: set)
            else { throw StoreError.noSuchSession }
            timeline.record(
                session: session.value, app: application.id, step: "token", outcome: "refreshed", since: start,
                correlationID: correlationID)
            return AcquiredToken(source: .refreshed, token: token)
        } catch {
            let problem = try await failure(error, application, session, account, refreshToken)
            timeline.record(
                session: session.value, app: application.id, step: "token", outcome: problem.code.rawValue,
                since: start,
                correlationID: problem.correlationID ?? correlationID)
            // Nothing is known about the account: what is still valid is served.
            if demand == .fresh, problem.action == nil, let stored, stored.expiresOn.timeIntervalSince(now()) > 5 {
                return AcquiredToken(source: .cache, token: stored)
            }
            throw problem
        }
    }

    /// What a failed refresh means. Only the provider's word makes an account need its person.
    private func failure(
        _ error: any Error, _ application: Application, _ session: SessionKey, _ account: Account,
        _ refreshToken: String?
    ) async throws -> Problem {
        guard let error = error as? OpenIDError else { return Problem(any: error) }
        guard error.isInteractionNeeded else { return Problem(error) }
        try await store.markNeedsInteraction(
            session, app: application.id, accountID: account.id, reason: error.code.rawValue,
            claims: error.claims?.json,
            refreshToken: refreshToken)
        return Problem(error, action: signIn(application, account, claims: error.claims))
    }

    /// Where the same account signs in again: with its hint, so that nobody has to choose.
    private func signIn(_ application: Application, _ account: Account, claims: ClaimsRequest?) -> Problem.Action {
        var fields = [("login_hint", account.username), ("return_to", "/\(application.id)")]
        if let claims { fields.append(("claims", claims.json)) }
        return .signIn("/auth/\(application.id)/sign-in?" + QueryEncoding.encode(fields))
    }
}
