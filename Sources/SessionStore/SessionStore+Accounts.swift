import Foundation
import GRDB

extension SessionStore {
    /// An access token that serves the scopes, when it is in memory: no I/O.
    ///
    /// - Parameter tenant: in lower case, when it is another than the one in which the account signed in.
    public func cachedAccessToken(
        _ session: SessionKey, app: String, accountID: String, tenant: String? = nil, scopes: ScopeSet
    ) -> StoredAccessToken? {
        cache.token(session.value, app, accountID, tenant, scopes)
    }

    /// An access token that serves the scopes: one asked for with exactly these, else one whose granted scopes include
    /// them. It may have expired.
    public func accessToken(
        _ session: SessionKey, app: String, accountID: String, tenant: String? = nil, scopes: ScopeSet
    ) async throws(StoreError) -> StoredAccessToken? {
        if let token = cachedAccessToken(session, app: app, accountID: accountID, tenant: tenant, scopes: scopes) {
            return token
        }
        let ticket = cache.ticket()
        let records = records
        guard let snapshot = try await database.read({ db in try records.snapshot(db, key: session.value) }),
            cache.admit(snapshot, ticket, now: now, isUse: false) != nil
        else { return nil }
        return snapshot.token(app, accountID, tenant, scopes)
    }

    /// The account's ID token as it came; nil when there is none. Not cached: it is needed at sign-out alone.
    public func idToken(_ session: SessionKey, app: String, accountID: String) async throws(StoreError) -> String? {
        let records = records
        return try await database.read { db in try records.idToken(db, session.value, app, accountID) }
    }

    /// The account's refresh token; nil when there is none. Not cached: it is needed about once an hour.
    public func refreshToken(_ session: SessionKey, app: String, accountID: String) async throws(StoreError) -> String?
    {
        let records = records
        return try await database.read { db in try records.refreshToken(db, session.value, app, accountID) }
    }

    /// Stores a refresh response and clears `needsInteraction`. Throws `noSuchSession` when the account was signed out
    /// meanwhile: nothing is stored then.
    public func storeRefreshed(_ session: SessionKey, app: String, accountID: String, tokens: NewTokens)
        async throws(StoreError)
    {
        let now = now
        let records = records
        try await changeAccount(session, app, accountID) { db, key in
            try records.renewSecrets(db, key, session.value, app, accountID, tokens)
            try records.storeAccessToken(db, key, session.value, app, accountID, tokens, now: now)
            try db.run("UPDATE account SET needs_interaction = NULL, interaction_claims = NULL WHERE key = ?", [key])
        }
    }

    /// Remembers that the provider wants the person. With `refreshToken`, only when that is still the stored one: a
    /// refusal that arrives after a new sign-in says nothing about it.
    public func markNeedsInteraction(
        _ session: SessionKey, app: String, accountID: String, reason: String, claims: String? = nil,
        refreshToken: String? = nil
    ) async throws(StoreError) {
        let records = records
        try await changeAccount(session, app, accountID) { db, key in
            if let refreshToken, try records.refreshToken(db, session.value, app, accountID) != refreshToken { return }
            try db.run(
                "UPDATE account SET needs_interaction = ?, interaction_claims = ? WHERE key = ?", [reason, claims, key])
        }
    }

    /// Signs an account out: its tokens are gone when this returns, also when it was signed out before. The session's id
    /// is rotated: set the one returned.
    public func removeAccount(_ session: SessionKey, app: String, accountID: String, keepAsPrevious: Bool)
        async throws(StoreError) -> SessionID
    {
        let now = now
        let fresh = SessionID(randomBytes: randomBytes)
        return try await database.write { [self] db, changes in
            guard try records.head(db, key: session.value) != nil else { throw StoreError.noSuchSession }
            if keepAsPrevious {
                try db.run(
                    """
                    INSERT OR REPLACE INTO previous_account (session, app, username)
                    SELECT session, app, username FROM account WHERE session = ? AND app = ? AND id = ?
                    """, [session.value, app, accountID])
            } else {
                try db.run("DELETE FROM previous_account WHERE session = ? AND app = ?", [session.value, app])
            }
            try db.run("DELETE FROM account WHERE session = ? AND app = ? AND id = ?", [session.value, app, accountID])
            try records.rotate(db, session.value, to: fresh.hash, now: now)
            changes.sessions.insert(session.value)
            return fresh
        }
    }

    /// Ends an account that may not be signed in any more. The session's id stays, because it is nobody's doing at this
    /// browser. Does nothing when it was signed out before.
    public func dropAccount(_ session: SessionKey, app: String, accountID: String) async throws(StoreError) {
        try await database.write { db, changes in
            try db.run(
                "DELETE FROM account WHERE session = ? AND app = ? AND id = ?", [session.value, app, accountID])
            changes.sessions.insert(session.value)
        }
    }

    /// Chooses the account that the application's page shows. Throws `noSuchSession` when it is not signed in.
    public func setCurrentAccount(_ session: SessionKey, app: String, accountID: String) async throws(StoreError) {
        try await changeAccount(session, app, accountID) { db, key in
            try db.run(
                "UPDATE account SET is_current = (key = ?) WHERE session = ? AND app = ?", [key, session.value, app])
        }
    }

    /// Single sign-out by the provider: removes the accounts of this issuer with the provider's session id, or subject,
    /// or both (OpenID Connect Back-Channel Logout section 2.6), and sessions left without account. Returns the
    /// accounts that went.
    public func removeSessions(issuer: String, sid: String?, subject: String? = nil) async throws(StoreError)
        -> [EndedAccount]
    {
        try await database.write { [self] db, changes in
            try removeSessions(db, &changes, issuer: issuer, sid: sid, subject: subject)
        }
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
        return try await database.write { [self] db, changes in
            try db.run(
                "INSERT OR IGNORE INTO logout_token (hash, ends_at) VALUES (?, ?)", [hash.blob, end.milliseconds])
            guard db.changesCount > 0 else { return nil }
            return try removeSessions(db, &changes, issuer: issuer, sid: sid, subject: subject)
        }
    }

    private func removeSessions(
        _ db: Database, _ changes: inout StoreDatabase.Changes, issuer: String, sid: String?, subject: String?
    ) throws -> [EndedAccount] {
        guard sid != nil || subject != nil else { return [] }
        let rows = try db.rows(
            """
            SELECT key, session, app, id, environment FROM account
            WHERE issuer = ?1 AND (?2 IS NULL OR sid = ?2) AND (?3 IS NULL OR subject = ?3)
            """, [issuer, sid, subject])
        return try rows.map { row in
            let session = try row.decode(Int64.self, atIndex: 1)
            try db.run("DELETE FROM account WHERE key = ?", [try row.decode(Int64.self, atIndex: 0)])
            try db.run(
                "DELETE FROM session WHERE key = ?1 AND NOT EXISTS (SELECT 1 FROM account WHERE session = ?1)",
                [session])
            changes.sessions.insert(session)
            return EndedAccount(
                app: try row.decode(atIndex: 2), session: SessionKey(session),
                pseudonym: pseudonym(ofAccount: try row.decode(atIndex: 3), environment: try row.decode(atIndex: 4)))
        }
    }

    private func changeAccount(
        _ session: SessionKey, _ app: String, _ accountID: String,
        _ change: @escaping @Sendable (Database, Int64) throws -> Void
    ) async throws(StoreError) {
        let records = records
        try await database.write { db, changes in
            guard let key = try records.accountKey(db, session.value, app, accountID) else {
                throw StoreError.noSuchSession
            }
            try change(db, key)
            changes.sessions.insert(session.value)
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
