public import Foundation

extension SessionStore {
    /// An access token that serves the scopes, from memory or read on the calling thread, which is never held for long:
    /// for an event loop's worker. It may have expired.
    ///
    /// - Parameter tenant: in lower case, when it is another than the one in which the account signed in.
    public func accessTokenNow(
        of account: AccountKey, tenant: String? = nil, scopes: ScopeSet
    ) -> ImmediateRead<StoredAccessToken> {
        let opened = { (token: HeldToken?) -> ImmediateRead<StoredAccessToken> in
            guard let token else { return .absent }
            // `accessToken(of:tenant:scopes:)` throws what is wrong with it.
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

    /// An access token that serves the scopes: one asked for with exactly these, else one whose granted scopes include
    /// them. It may have expired.
    public func accessToken(
        of account: AccountKey, tenant: String? = nil, scopes: ScopeSet
    ) async throws(StoreError) -> StoredAccessToken? {
        if !cache.holds(account.session) {
            // Tokens are held beside their session.
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
        // What memory has of the session's tokens is as right as the session.
        if case .token = known(), let session = cache.doubtful(account.session, now: now), try await holds(session),
            case .token(let token) = known()
        {
            return try open(token)
        }
        let ticket = cache.ticket()
        let tokens = cache.admit(try await backend.accessTokens(of: account), of: account, ticket)
        return try tokens.token(tenant, scopes).map { token throws(StoreError) in try open(token) }
    }

    /// The token in the clear, which it is from then on in memory too.
    private func open(_ token: HeldToken) throws(StoreError) -> StoredAccessToken {
        switch token {
        case .open(let token): return token
        case .sealed(let row):
            let token = try sealer.open(row)
            cache.opened(row, token)
            return token
        }
    }

    /// The account's ID token as it came; nil when there is none. Not cached: it is needed at sign-out alone.
    public func idToken(of account: AccountKey) async throws(StoreError) -> String? {
        guard let sealed = try await backend.idToken(of: account) else { return nil }
        return try sealer.open(sealed, for: .idToken(account))
    }

    /// The account's refresh token; nil when there is none. Not cached: it is needed about once an hour.
    public func refreshToken(of account: AccountKey) async throws(StoreError) -> String? {
        guard let sealed = try await backend.refreshToken(of: account) else { return nil }
        return try sealer.open(sealed, for: .refreshToken(account))
    }

    /// Remembers that the provider wants the person. With `refreshToken`, only when that is still the stored one: a
    /// refusal that arrives after a new sign-in says nothing about it.
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
            // Where it was sealed anew meanwhile, it is compared once more.
            isMarked = try await backend.markNeedsInteraction(
                account, reason: reason, claims: claims, ifRefreshTokenIs: stored)
        }
        cache.end([account.session])
    }

    /// Signs an account out: its tokens are gone when this returns, also when it was signed out before. The session's id
    /// is rotated: set the one returned.
    public func removeAccount(_ account: AccountKey, keepAsPrevious: Bool) async throws(StoreError) -> SessionID {
        let fresh = SessionID(randomBytes: randomBytes)
        try await backend.remove(account, keepAsPrevious: keepAsPrevious, fresh: fresh.hash, now: now)
        cache.end([account.session])
        return fresh
    }

    /// Ends an account that may not be signed in any more. The session's id stays, because it is nobody's doing at this
    /// browser. Does nothing when it was signed out before.
    public func dropAccount(_ account: AccountKey) async throws(StoreError) {
        try await backend.drop(account)
        cache.end([account.session])
    }

    /// Chooses the account that the application's page shows. Throws `noSuchSession` when it is not signed in.
    public func setCurrentAccount(_ account: AccountKey) async throws(StoreError) {
        try await backend.makeCurrent(account)
        cache.end([account.session])
    }

    /// Single sign-out by the provider: removes the accounts of this issuer with the provider's session id, or subject,
    /// or both (OpenID Connect Back-Channel Logout section 2.6), and sessions left without account. Returns the
    /// accounts that went.
    public func removeSessions(issuer: String, sid: String?, subject: String? = nil) async throws(StoreError)
        -> [EndedAccount]
    {
        try await endAccounts(ProviderLogout(issuer: issuer, sid: sid, subject: subject)) ?? []
    }

    /// The same for a logout token, which is good once: that it was used is kept together with what it does, so that a
    /// token whose work could not be stored is still good.
    ///
    /// - Parameters:
    ///   - tokenID: its `jti`, which is unique for its issuer.
    ///   - end: until when it has to be known again.
    /// - Returns: the accounts that went; nil when it was used before.
    public func removeSessions(issuer: String, sid: String?, subject: String?, tokenID: String, until end: Date)
        async throws(StoreError) -> [EndedAccount]?
    {
        // The length sets the two apart.
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
    /// The session that it was in.
    public let session: SessionKey
    /// Its name in the audit log.
    public let pseudonym: Pseudonym
}
