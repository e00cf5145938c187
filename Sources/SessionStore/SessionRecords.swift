import Foundation
import GRDB

/// How rows become values and values rows. Used inside transactions only.
struct SessionRecords: Sendable {
    let sealer: Sealer
    let lifetimes: Lifetimes

    /// The columns by which a session's life is decided.
    struct Head {
        let key: Int64
        let idHash: Data
        let createdAt, lastSeenAt: Int64
        let hasAccounts: Bool
        let lastAttemptAt: Int64?
        let remembersSomebody: Bool

        static let columns = """
            key, id_hash, created_at, last_seen_at, EXISTS (SELECT 1 FROM account WHERE account.session = session.key),
            (SELECT MAX(begun_at) FROM sign_in_attempt WHERE sign_in_attempt.session = session.key),
            EXISTS (SELECT 1 FROM previous_account WHERE previous_account.session = session.key)
            """

        init(_ row: Row) throws {
            key = try row.decode(atIndex: 0)
            idHash = try row.decode(atIndex: 1)
            createdAt = try row.decode(atIndex: 2)
            lastSeenAt = try row.decode(atIndex: 3)
            hasAccounts = try row.decode(atIndex: 4)
            lastAttemptAt = try row.decode(atIndex: 5)
            remembersSomebody = try row.decode(atIndex: 6)
        }
    }

    func head(_ db: Database, key: Int64) throws -> Head? {
        try db.row("SELECT \(Head.columns) FROM session WHERE key = ?", [key]).map(Head.init)
    }

    func head(_ db: Database, hash: SHA256Hash) throws -> Head? {
        try db.row("SELECT \(Head.columns) FROM session WHERE id_hash = ?", [hash.blob]).map(Head.init)
    }

    func isOver(_ head: Head, lastUse: Int64, now: Int64) -> Bool {
        lifetimes.isOver(
            hasAccounts: head.hasAccounts, remembersSomebody: head.remembersSomebody, createdAt: head.createdAt,
            lastSeenAt: max(head.lastSeenAt, lastUse), lastAttemptAt: head.lastAttemptAt, now: now)
    }

    func snapshot(_ db: Database, hash: SHA256Hash) throws -> Snapshot? {
        try head(db, hash: hash).map { try snapshot(db, $0) }
    }

    func snapshot(_ db: Database, key: Int64) throws -> Snapshot? {
        try head(db, key: key).map { try snapshot(db, $0) }
    }

    private func snapshot(_ db: Database, _ head: Head) throws -> Snapshot {
        guard let idHash = SHA256Hash(blob: head.idHash) else {
            throw StoreError.corrupt("a session id's hash does not have 32 bytes")
        }
        let accounts = try accounts(db, head.key)
        let tokens = accounts.isEmpty ? [] : try tokens(db, head.key)
        let previous = try db.rows("SELECT app, username FROM previous_account WHERE session = ?", [head.key]).map {
            row in
            (try row.decode(String.self, atIndex: 0), try row.decode(String.self, atIndex: 1))
        }
        let session = Session(
            key: SessionKey(head.key), createdAt: Date(milliseconds: head.createdAt),
            lastSeenAt: Date(milliseconds: head.lastSeenAt), accounts: accounts,
            previousUsernames: Dictionary(previous) { first, _ in first }, lastAttemptAt: head.lastAttemptAt)
        return Snapshot(session: session, idHash: idHash, tokens: tokens)
    }

    private func accounts(_ db: Database, _ session: Int64) throws -> [Account] {
        try db.rows(
            """
            SELECT id, app, username, name, tenant_id, environment, object_id, issuer, subject, sid, claims,
                needs_interaction, interaction_claims, is_current, signed_in_at, policy
            FROM account JOIN account_secret ON account_secret.account = account.key
            WHERE session = ? ORDER BY account.key
            """, [session]
        ).map { row in
            let id = try row.decode(String.self, atIndex: 0)
            let app = try row.decode(String.self, atIndex: 1)
            return Account(
                id: id, app: app, username: try row.decode(atIndex: 2), name: try row.decode(atIndex: 3),
                tenantID: try row.decode(atIndex: 4), environment: try row.decode(atIndex: 5),
                objectID: try row.decode(atIndex: 6), issuer: try row.decode(atIndex: 7),
                subject: try row.decode(atIndex: 8), sid: try row.decode(atIndex: 9),
                idTokenClaims: try sealer.open(
                    row.decode(Data.self, atIndex: 10), for: .claims(session, app: app, account: id)),
                needsInteraction: try row.decode(atIndex: 11), interactionClaims: try row.decode(atIndex: 12),
                policy: try row.decode(atIndex: 15), current: try row.decode(atIndex: 13),
                signedInAt: Date(milliseconds: try row.decode(atIndex: 14)))
        }
    }

    private func tokens(_ db: Database, _ session: Int64) throws -> [Snapshot.Token] {
        try db.rows(
            """
            SELECT app, id, requested_scopes, granted_scopes, expires_at, refresh_at, token, tenant, declined_scopes
            FROM access_token JOIN account ON account.key = access_token.account
            WHERE session = ? ORDER BY access_token.key
            """, [session]
        ).map { row in
            let app = try row.decode(String.self, atIndex: 0)
            let id = try row.decode(String.self, atIndex: 1)
            let requested = try row.decode(String.self, atIndex: 2)
            let tenant = try row.decode(String.self, atIndex: 7)
            let declined = try row.decode(String.self, atIndex: 8)
            return Snapshot.Token(
                app: app, accountID: id,
                token: StoredAccessToken(
                    secret: try sealer.open(
                        row.decode(Data.self, atIndex: 6),
                        for: .accessToken(session, app: app, account: id, tenant: tenant, scopes: requested)),
                    requestedScopes: ScopeSet(text: requested),
                    grantedScopes: ScopeSet(text: try row.decode(atIndex: 3)),
                    declinedScopes: declined.split(separator: " ").map(String.init),
                    tenant: tenant.isEmpty ? nil : tenant,
                    expiresOn: Date(milliseconds: try row.decode(atIndex: 4)),
                    refreshOn: try row.decode(Int64?.self, atIndex: 5).map { Date(milliseconds: $0) }))
        }
    }

    /// The row of one account of one application; nil when it was signed out.
    func accountKey(_ db: Database, _ session: Int64, _ app: String, _ id: String) throws -> Int64? {
        try db.row("SELECT key FROM account WHERE session = ? AND app = ? AND id = ?", [session, app, id])?
            .decode(atIndex: 0)
    }

    func refreshToken(_ db: Database, _ session: Int64, _ app: String, _ id: String) throws -> String? {
        let row = try db.row(
            """
            SELECT refresh_token FROM account JOIN account_secret ON account_secret.account = account.key
            WHERE session = ? AND app = ? AND id = ?
            """, [session, app, id])
        return try row?.decode(Data?.self, atIndex: 0).map {
            try sealer.open($0, for: .refreshToken(session, app: app, account: id))
        }
    }

    func idToken(_ db: Database, _ session: Int64, _ app: String, _ id: String) throws -> String? {
        let row = try db.row(
            """
            SELECT id_token FROM account JOIN account_secret ON account_secret.account = account.key
            WHERE session = ? AND app = ? AND id = ?
            """, [session, app, id])
        return try row?.decode(Data?.self, atIndex: 0).map {
            try sealer.open($0, for: .idToken(session, app: app, account: id))
        }
    }

    /// A new session row; the caller gives the id's hash.
    func insertSession(_ db: Database, _ hash: SHA256Hash, now: Int64) throws -> Int64 {
        try db.run("INSERT INTO session (id_hash, created_at, last_seen_at) VALUES (?, ?, ?)", [hash.blob, now, now])
        return db.lastInsertedRowID
    }

    func rotate(_ db: Database, _ session: Int64, to hash: SHA256Hash, now: Int64) throws {
        try db.run("UPDATE session SET id_hash = ?, last_seen_at = ? WHERE key = ?", [hash.blob, now, session])
    }

    /// Inserts the account or renews it; its row keeps its number, and its refresh token unless there is a new one.
    func storeAccount(
        _ db: Database, _ session: Int64, _ app: String, _ account: NewAccount, _ tokens: NewTokens, now: Int64
    ) throws -> Int64 {
        try db.run(
            """
            INSERT INTO account (session, app, id, username, name, tenant_id, environment, object_id, issuer, subject, sid,
                policy, signed_in_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (session, app, id) DO UPDATE SET
                username = excluded.username, name = excluded.name, tenant_id = excluded.tenant_id,
                environment = excluded.environment, object_id = excluded.object_id, issuer = excluded.issuer,
                subject = excluded.subject, sid = excluded.sid, policy = excluded.policy, signed_in_at = excluded.signed_in_at,
                needs_interaction = NULL, interaction_claims = NULL
            """,
            [
                session, app, account.id, account.username, account.name, account.tenantID, account.environment,
                account.objectID, account.issuer, account.subject, account.sid, account.policy, now,
            ])
        guard let key = try accountKey(db, session, app, account.id) else { throw StoreError.noSuchSession }
        try storeSecrets(db, key, session, app, account.id, claims: account.idTokenClaims, tokens)
        return key
    }

    private func storeSecrets(
        _ db: Database, _ key: Int64, _ session: Int64, _ app: String, _ id: String, claims: String, _ tokens: NewTokens
    ) throws {
        try db.run(
            """
            INSERT INTO account_secret (account, claims, refresh_token, id_token) VALUES (?, ?, ?, ?)
            ON CONFLICT (account) DO UPDATE SET
                claims = excluded.claims, refresh_token = COALESCE(excluded.refresh_token, refresh_token),
                id_token = COALESCE(excluded.id_token, id_token)
            """,
            [
                key, try sealer.seal(claims, for: .claims(session, app: app, account: id)),
                try tokens.refreshToken.map { try sealer.seal($0, for: .refreshToken(session, app: app, account: id)) },
                try tokens.idToken.map { try sealer.seal($0, for: .idToken(session, app: app, account: id)) },
            ])
    }

    /// What a refresh response renews. The account stays signed in when its claims are not renewed.
    func renewSecrets(_ db: Database, _ key: Int64, _ session: Int64, _ app: String, _ id: String, _ tokens: NewTokens)
        throws
    {
        // In another tenant a guest is somebody else to the ID token: the account's own claims stay.
        if let claims = tokens.idTokenClaims, tokens.tenant == nil {
            try storeSecrets(db, key, session, app, id, claims: claims, tokens)
            try db.run(
                "UPDATE account SET username = COALESCE(?, username), name = COALESCE(?, name) WHERE key = ?",
                [tokens.username, tokens.name, key])
        } else if let refreshToken = tokens.refreshToken {
            try db.run(
                "UPDATE account_secret SET refresh_token = ? WHERE account = ?",
                [try sealer.seal(refreshToken, for: .refreshToken(session, app: app, account: id)), key])
        }
    }

    /// The scopes come from a page's request: an account keeps only the newest sets, and none that has expired.
    static let maxTokensPerAccount = 20

    func storeAccessToken(
        _ db: Database, _ key: Int64, _ session: Int64, _ app: String, _ id: String, _ tokens: NewTokens, now: Int64
    ) throws {
        guard let accessToken = tokens.accessToken else { return }
        let requested = tokens.requestedScopes.description
        let tenant = tokens.tenant ?? ""
        try db.run("DELETE FROM access_token WHERE account = ? AND expires_at <= ?", [key, now])
        // As MSAL does: a token that was asked for with some of the same scopes is older news, and must not be found
        // in place of this one.
        for row in try db.rows(
            "SELECT key, requested_scopes FROM access_token WHERE account = ? AND tenant = ?", [key, tenant])
        {
            let others = ScopeSet(text: try row.decode(atIndex: 1)).scopes
            guard !tokens.requestedScopes.isDisjoint(with: others) else { continue }
            try db.run("DELETE FROM access_token WHERE key = ?", [try row.decode(Int64.self, atIndex: 0)])
        }
        // REPLACE gives the row a new number: numbers tell the newest.
        try db.run(
            """
            INSERT OR REPLACE INTO access_token
                (account, tenant, requested_scopes, granted_scopes, declined_scopes, expires_at, refresh_at, token)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                key, tenant, requested, tokens.grantedScopes.description, tokens.declinedScopes.joined(separator: " "),
                tokens.expiresOn.milliseconds, tokens.refreshOn?.milliseconds,
                try sealer.seal(
                    accessToken,
                    for: .accessToken(session, app: app, account: id, tenant: tenant, scopes: requested)),
            ])
        try db.run(
            """
            DELETE FROM access_token WHERE key IN
                (SELECT key FROM access_token WHERE account = ? ORDER BY key DESC LIMIT -1 OFFSET ?)
            """, [key, Self.maxTokensPerAccount])
    }

    /// Signs everybody out of a session whose row stays, for the attempts that are under way in it.
    func empty(_ db: Database, _ session: Int64, now: Int64) throws {
        try db.run("DELETE FROM account WHERE session = ?", [session])
        try db.run("DELETE FROM previous_account WHERE session = ?", [session])
        try db.run("UPDATE session SET created_at = ? WHERE key = ?", [now, session])
    }
}
