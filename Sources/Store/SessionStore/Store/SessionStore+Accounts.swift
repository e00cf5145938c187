public import Foundation

extension SessionStore {
    /// Returns an access token that covers the scopes, from memory or read on the calling thread, without blocking it
    /// for long: for the worker of an event loop. The token may have expired.
    ///
    /// - Parameter tenant: the tenant in lower case, if it is not the one in which the account signed in.
    public func accessTokenNow(
        of account: AccountKey, tenant: String? = nil, scopes: ScopeSet
    ) -> ImmediateRead<StoredAccessToken> {
        let opened = { (token: HeldToken?) -> ImmediateRead<StoredAccessToken> in
            guard let token else { return .absent }
            // `accessToken(of:tenant:scopes:)` throws the reason.
            return (try? self.open(token)).map { .found($0) } ?? .mustWait
        }
        switch cache.token(account, tenant, scopes) {
        case .token(let token): return opened(token)
        case .none: return .absent
        case .unknown: break
        }
        let ticket = cache.ticket()
        return backend.accessTokensNow(of: account).map { rows in
            opened(cache.admit(rows, of: account, ticket).token(tenant, scopes))
        }
    }

    /// Returns an access token that covers the scopes: the one requested with exactly these scopes, otherwise one whose
    /// granted scopes include them. It may have expired.
    public func accessToken(
        of account: AccountKey, tenant: String? = nil, scopes: ScopeSet
    ) async throws(StoreError) -> StoredAccessToken? {
        if !cache.holds(account.session) {
            // Tokens are cached with their session.
            let ticket = cache.ticket()
            guard let sealed = try await backend.session(account.session),
                cache.admit(try sealer.open(sealed), ticket, now: now, isUse: false) != nil
            else { return nil }
        }
        switch accessTokenNow(of: account, tenant: tenant, scopes: scopes) {
        case .found(let token): return token
        case .absent: return nil
        case .mustWait: break
        }
        let known = { self.cache.token(account, tenant, scopes, grace: self.outageGrace) }
        // The cached tokens of a session are current if the session is.
        if case .token = known(), let session = cache.doubtful(account.session, now: now), try await holds(session),
            case .token(let token) = known()
        {
            return try open(token)
        }
        let ticket = cache.ticket()
        let tokens = cache.admit(try await backend.accessTokens(of: account), of: account, ticket)
        return try tokens.token(tenant, scopes).map { token throws(StoreError) in try open(token) }
    }

    /// Opens the token, and caches the opened token.
    private func open(_ token: HeldToken) throws(StoreError) -> StoredAccessToken {
        switch token {
        case .open(let token): return token
        case .sealed(let row):
            let token = try sealer.open(row)
            cache.opened(row, token)
            return token
        }
    }

    /// Returns the account's ID token as the provider sent it; nil if it has none. Not cached: it is only needed at
    /// sign-out.
    public func idToken(of account: AccountKey) async throws(StoreError) -> String? {
        guard let sealed = try await backend.idToken(of: account) else { return nil }
        return try sealer.open(sealed, for: .idToken(account))
    }

    /// Returns the account's refresh token; nil if it has none. Not cached: it is needed about once an hour.
    public func refreshToken(of account: AccountKey) async throws(StoreError) -> String? {
        guard let sealed = try await backend.refreshToken(of: account) else { return nil }
        return try sealer.open(sealed, for: .refreshToken(account))
    }

    /// Records that the provider wants the person to sign in again. With `refreshToken`, only if that token is still
    /// stored, because a refusal that arrives after a new sign-in is outdated.
    public func markNeedsInteraction(
        _ account: AccountKey, reason: String, claims: String? = nil, refreshToken: String? = nil
    ) async throws(StoreError) {
        var isMarked = false
        while !isMarked {
            var stored: Data?
            if let refreshToken {
                stored = try await backend.refreshToken(of: account)
                guard let stored, try sealer.open(stored, for: .refreshToken(account)) == refreshToken else { return }
            }
            // If the token was resealed in the meantime, it is compared once more.
            isMarked = try await backend.markNeedsInteraction(
                account, reason: reason, claims: claims, ifRefreshTokenIs: stored)
        }
        cache.end([account.session])
    }

    /// Signs an account out. Its tokens are deleted when this returns, even if it was signed out before. The session's
    /// id is rotated: set the one returned.
    public func removeAccount(_ account: AccountKey, keepAsPrevious: Bool) async throws(StoreError) -> SessionID {
        let fresh = SessionID(randomBytes: randomBytes)
        try await backend.remove(account, keepAsPrevious: keepAsPrevious, fresh: fresh.hash, now: now)
        cache.end([account.session])
        return fresh
    }

    /// Removes an account that may no longer be signed in. The session's id stays, because nothing happened in this
    /// browser. Does nothing if the account is signed out already.
    public func dropAccount(_ account: AccountKey) async throws(StoreError) {
        try await backend.drop(account)
        cache.end([account.session])
    }

    /// Makes the account the one that the application's page shows. Throws `noSuchSession` when it is not signed in.
    public func setCurrentAccount(_ account: AccountKey) async throws(StoreError) {
        try await backend.makeCurrent(account)
        cache.end([account.session])
    }

    /// Signs people out at the provider's request: removes the accounts of this issuer with the provider's session id,
    /// or subject, or both (OpenID Connect Back-Channel Logout section 2.6), and sessions that have no account left.
    /// Returns the accounts that were removed.
    public func removeSessions(issuer: String, sid: String?, subject: String? = nil) async throws(StoreError)
        -> [EndedAccount]
    {
        try await endAccounts(ProviderLogout(issuer: issuer, sid: sid, subject: subject)) ?? []
    }

    /// Does the same for a logout token, which can be used once. Its use is recorded together with its effect, so that
    /// a token whose effect could not be stored can be used again.
    ///
    /// - Parameters:
    ///   - tokenID: its `jti`, which is unique for its issuer.
    ///   - end: the time until which the token must be recognized.
    /// - Returns: the accounts that were removed; nil when the token was used before.
    public func removeSessions(issuer: String, sid: String?, subject: String?, tokenID: String, until end: Date)
        async throws(StoreError) -> [EndedAccount]?
    {
        // The length separates the two values.
        let hash = SHA256Hash(of: "logout token \(issuer.utf8.count) \(issuer)\(tokenID)")
        return try await endAccounts(
            ProviderLogout(issuer: issuer, sid: sid, subject: subject, token: (hash, end.milliseconds)))
    }

    private func endAccounts(_ logout: ProviderLogout) async throws(StoreError) -> [EndedAccount]? {
        guard let ended = try await backend.endAccounts(logout) else { return nil }
        cache.end(ended.map(\.key.session))
        return ended.map { row in
            EndedAccount(
                app: row.key.app, session: row.key.session,
                pseudonym: pseudonym(ofAccount: row.key.id, environment: row.environment))
        }
    }
}

/// An account that the provider has signed out.
public struct EndedAccount: Sendable, Hashable {
    /// The configured application's name.
    public let app: String
    /// The session in which it was signed in.
    public let session: SessionKey
    /// Its name in the audit log.
    public let pseudonym: Pseudonym
}
