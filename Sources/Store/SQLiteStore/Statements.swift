import Foundation
import GRDB
import SessionStore

// The building blocks of the transactions.

extension Database {
    /// Runs a cached statement.
    func run(_ sql: String, _ arguments: StatementArguments = []) throws {
        try cachedStatement(sql: sql).execute(arguments: arguments)
    }

    /// Returns the first row of a cached statement.
    func row(_ sql: String, _ arguments: StatementArguments = []) throws -> Row? {
        try Row.fetchOne(cachedStatement(sql: sql), arguments: arguments)
    }

    /// Returns all rows of a cached statement.
    func rows(_ sql: String, _ arguments: StatementArguments = []) throws -> [Row] {
        try Row.fetchAll(cachedStatement(sql: sql), arguments: arguments)
    }

    /// Returns the first record of a cached statement.
    func first<Record: FetchableRecord>(
        _ sql: String, _ arguments: StatementArguments = [], as type: Record.Type = Record.self
    ) throws -> Record? {
        try Record.fetchOne(cachedStatement(sql: sql), arguments: arguments)
    }

    /// Returns the value of a cached statement; nil if there is no row, or NULL in it.
    func value<Value: DatabaseValueConvertible>(
        _ sql: String, _ arguments: StatementArguments = [], as type: Value.Type = Value.self
    ) throws -> Value? {
        try Value.fetchOne(cachedStatement(sql: sql), arguments: arguments)
    }

    /// Returns the values of a cached statement.
    func values<Value: DatabaseValueConvertible>(
        _ sql: String, _ arguments: StatementArguments = [], as type: Value.Type = Value.self
    ) throws -> [Value] {
        try Value.fetchAll(cachedStatement(sql: sql), arguments: arguments)
    }

    // MARK: Sessions

    /// Returns the reads that requests wait for, on this connection.
    func sessionQueries() throws -> SessionQueries {
        try SessionQueries { sql in try cachedStatement(sql: sql).sqliteStatement }
    }

    func session(_ key: SessionKey) throws -> SessionRow? {
        try first("SELECT \(SessionRow.columns) FROM session WHERE key = ?", [key])
    }

    func session(_ idHash: SHA256Hash) throws -> SessionRow? {
        try first("SELECT \(SessionRow.columns) FROM session WHERE id_hash = ?", [idHash])
    }

    func insertSession(_ idHash: SHA256Hash, now: Int64) throws -> SessionKey {
        try run("INSERT INTO session (id_hash, created_at, last_seen_at) VALUES (?, ?, ?)", [idHash, now, now])
        return SessionKey(lastInsertedRowID)
    }

    func use(_ session: SessionKey, now: Int64) throws {
        try run("UPDATE session SET last_seen_at = MAX(last_seen_at, ?) WHERE key = ?", [now, session])
    }

    func rotate(_ session: SessionKey, to idHash: SHA256Hash, now: Int64) throws {
        try run(
            "UPDATE session SET id_hash = ?, last_seen_at = MAX(last_seen_at, ?) WHERE key = ?", [idHash, now, session])
    }

    /// Signs everyone out of a session whose row stays, for an attempt that may be in progress in it.
    func empty(_ session: SessionKey, now: Int64) throws {
        try run("UPDATE sign_in_attempt SET session = NULL WHERE session = ?", [session])
        try run("DELETE FROM account WHERE session = ?", [session])
        try run("DELETE FROM previous_account WHERE session = ?", [session])
        try run("UPDATE session SET created_at = ? WHERE key = ?", [now, session])
    }

    func delete(_ session: SessionKey) throws {
        try run("DELETE FROM session WHERE key = ?", [session])
    }

    // MARK: Attempts

    func attempt(_ state: SHA256Hash) throws -> AttemptRow? {
        try first("SELECT \(AttemptRow.columns) FROM sign_in_attempt WHERE state_hash = ?", [state])
    }

    // MARK: Accounts

    /// Returns the number of the account's row; nil if the account is not signed in.
    func number(of account: AccountKey) throws -> Int64? {
        try value(
            "SELECT key FROM account WHERE session = ? AND app = ? AND id = ?",
            [account.session, account.app, account.id])
    }

    /// Returns the number of the account's row; throws if the account is not signed in.
    func requireNumber(of account: AccountKey) throws -> Int64 {
        guard let number = try number(of: account) else { throw StoreError.noSuchSession }
        return number
    }

    func refreshToken(of account: AccountKey) throws -> Data? {
        try value(
            """
            SELECT refresh_token FROM account JOIN account_secret ON account_secret.account = account.key
            WHERE session = ? AND app = ? AND id = ?
            """, [account.session, account.app, account.id])
    }

    func idToken(of account: AccountKey) throws -> Data? {
        try value(
            """
            SELECT id_token FROM account JOIN account_secret ON account_secret.account = account.key
            WHERE session = ? AND app = ? AND id = ?
            """, [account.session, account.app, account.id])
    }

    /// Inserts or updates the account. Its row keeps its number, and its refresh token unless there is a new one.
    func store(_ account: AccountRow, _ tokens: RenewedTokens) throws -> Int64 {
        let identity = account.identity
        let stored: Int64? = try value(
            """
            INSERT INTO account (session, app, id, username, name, tenant_id, environment, object_id, issuer, subject, sid,
                policy, signed_in_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (session, app, id) DO UPDATE SET
                username = excluded.username, name = excluded.name, tenant_id = excluded.tenant_id,
                environment = excluded.environment, object_id = excluded.object_id, issuer = excluded.issuer,
                subject = excluded.subject, sid = excluded.sid, policy = excluded.policy, signed_in_at = excluded.signed_in_at,
                needs_interaction = NULL, interaction_claims = NULL
            RETURNING key
            """,
            [
                account.key.session, account.key.app, account.key.id, identity.username, identity.name,
                identity.tenantID, identity.environment, identity.objectID, identity.issuer, identity.subject,
                identity.sid, identity.policy, account.signedInAt,
            ])
        guard let number = stored else { throw StoreError.noSuchSession }
        try run(
            """
            INSERT INTO account_secret (account, claims, refresh_token, id_token) VALUES (?, ?, ?, ?)
            ON CONFLICT (account) DO UPDATE SET
                claims = excluded.claims, refresh_token = COALESCE(excluded.refresh_token, refresh_token),
                id_token = COALESCE(excluded.id_token, id_token)
            """, [number, account.claims, tokens.refreshToken, tokens.idToken])
        return number
    }

    func renew(_ number: Int64, _ tokens: RenewedTokens) throws {
        try run(
            """
            UPDATE account_secret SET claims = COALESCE(?, claims), refresh_token = COALESCE(?, refresh_token),
                id_token = COALESCE(?, id_token)
            WHERE account = ?
            """, [tokens.claims, tokens.refreshToken, tokens.idToken, number])
        try run(
            """
            UPDATE account SET username = COALESCE(?, username), name = COALESCE(?, name), needs_interaction = NULL,
                interaction_claims = NULL
            WHERE key = ?
            """, [tokens.username, tokens.name, number])
    }

    func makeCurrent(_ number: Int64, _ account: AccountKey) throws {
        try run(
            "UPDATE account SET is_current = (key = ?) WHERE session = ? AND app = ?",
            [number, account.session, account.app])
    }

    func delete(_ account: AccountKey) throws {
        try run(
            "DELETE FROM account WHERE session = ? AND app = ? AND id = ?",
            [account.session, account.app, account.id])
    }

    // MARK: Access tokens

    func store(_ token: AccessTokenRow, _ number: Int64, now: Int64) throws {
        // The rows' numbers show which is the newest.
        var others: [Int64] = []
        for row in try rows(
            "SELECT key, tenant, requested_scopes, expires_at FROM access_token WHERE account = ? ORDER BY key",
            [number])
        {
            let key: Int64 = try row.decode(atIndex: 0)
            let isSuperseded =
                try row.decode(String.self, atIndex: 1) == token.tenant
                && SignInRules.isSuperseded(try row.decode(atIndex: 2), by: token.requestedScopes)
            if try isSuperseded || row.decode(Int64.self, atIndex: 3) <= now {
                try deleteToken(key)
            } else {
                others.append(key)
            }
        }
        for key in others.prefix(max(0, others.count - (SignInRules.maxTokensPerAccount - 1))) { try deleteToken(key) }
        try run(
            """
            INSERT INTO access_token
                (account, tenant, requested_scopes, granted_scopes, declined_scopes, expires_at, refresh_at, token)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                number, token.tenant, token.requestedScopes, token.grantedScopes, token.declinedScopes, token.expiresAt,
                token.refreshAt, token.token,
            ])
    }

    private func deleteToken(_ key: Int64) throws {
        try run("DELETE FROM access_token WHERE key = ?", [key])
    }
}
