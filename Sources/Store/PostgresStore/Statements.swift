import Foundation
import SessionStore

// The building blocks of the transactions.

extension SessionRow {
    static let columns = """
        key, id_hash, created_at, last_seen_at,
        EXISTS (SELECT 1 FROM account WHERE account.session = session.key),
        EXISTS (SELECT 1 FROM previous_account WHERE previous_account.session = session.key),
        (SELECT MAX(begun_at) FROM sign_in_attempt WHERE sign_in_attempt.session = session.key)
        """

    init(_ row: PostgresRow) throws {
        self.init(
            key: try row.key(0), idHash: try row.hash(1), createdAt: try row.integer(2),
            lastSeenAt: try row.integer(3), hasAccounts: try row.flag(4), remembersSomebody: try row.flag(5),
            lastAttemptAt: try row.optionalInteger(6))
    }
}

extension AttemptRow {
    static let columns = "session, begun_at, consumed_at, code_hash, failed_at, completed_at, issued_id_hash"

    init(_ row: PostgresRow) throws {
        self.init(
            session: try row.optionalInteger(0).map { SessionKey($0) }, begunAt: try row.integer(1),
            consumedAt: try row.integer(2),
            codeHash: try row.optionalHash(3), failedAt: try row.optionalInteger(4),
            completedAt: try row.optionalInteger(5), issuedIDHash: try row.optionalHash(6))
    }
}

extension AccountKey {
    static let columns = "session, app, id"

    init(_ row: PostgresRow) throws {
        self.init(session: try row.key(0), app: try row.text(1), id: try row.text(2))
    }

    /// The values of `$1`, `$2` and `$3`, which name an account in every statement.
    var parameters: [Parameter] { [.key(session), .text(app), .text(id)] }
    static let condition = "session = $1 AND app = $2 AND id = $3"
}

/// The columns of an account that hold the state of its leases.
extension RefreshState {
    static let columns = """
        fence, lease_by, lease_until, retry_at, CASE WHEN retry_status_at = retry_at THEN retry_status END
        """
    /// Uses `$4` to `$8`.
    static let assignment = """
        fence = $4, lease_by = $5, lease_until = $6, retry_at = $7, retry_status_at = $7, retry_status = $8
        """
    var parameters: [Parameter] {
        [
            .integer(fence), .text(holder), .integer(until), .integer(retryAt),
            .integer(retryStatus.map { Int64($0) }),
        ]
    }

    init(_ row: PostgresRow) throws {
        self.init(
            fence: try row.integer(0), holder: try row.text(1), until: try row.integer(2), retryAt: try row.integer(3),
            retryStatus: try row.optionalInteger(4).map { Int(clamping: $0) })
    }
}

extension Transaction {
    // MARK: Sessions

    /// Returns the session with this key, locked against other changes.
    func lock(_ key: SessionKey) async throws -> SessionRow? {
        run("SELECT key FROM session WHERE key = $1 FOR UPDATE", [.key(key)])
        // This is a separate statement: the first one may have waited, and saw the other tables as they were before.
        return try await session(key)
    }

    /// Returns the session with this id, locked against other changes.
    func lock(_ idHash: SHA256Hash) async throws -> SessionRow? {
        run("SELECT key FROM session WHERE id_hash = $1 FOR UPDATE", [.hash(idHash)])
        return try await query("SELECT \(SessionRow.columns) FROM session WHERE id_hash = $1", [.hash(idHash)])
            .first.map(SessionRow.init)
    }

    func session(_ key: SessionKey) async throws -> SessionRow? {
        try await query("SELECT \(SessionRow.columns) FROM session WHERE key = $1", [.key(key)])
            .first.map(SessionRow.init)
    }

    func insertSession(_ key: SessionKey, _ idHash: SHA256Hash, now: Int64) {
        run(
            "INSERT INTO session (key, id_hash, created_at, last_seen_at) VALUES ($1, $2, $3, $3)",
            [.key(key), .hash(idHash), .integer(now)])
    }

    func use(_ session: SessionKey, now: Int64) {
        run(
            "UPDATE session SET last_seen_at = GREATEST(last_seen_at, $1) WHERE key = $2",
            [.integer(now), .key(session)])
    }

    func rotate(_ session: SessionKey, to idHash: SHA256Hash, now: Int64) {
        run(
            "UPDATE session SET id_hash = $1, last_seen_at = GREATEST(last_seen_at, $2) WHERE key = $3",
            [.hash(idHash), .integer(now), .key(session)])
    }

    /// Signs everyone out of sessions whose rows stay, for an attempt that may be in progress in them.
    func empty(_ sessions: [SessionKey], now: Int64) {
        guard !sessions.isEmpty else { return }
        run("UPDATE sign_in_attempt SET session = NULL WHERE session = ANY($1)", [.keys(sessions)])
        run("DELETE FROM account WHERE session = ANY($1)", [.keys(sessions)])
        run("DELETE FROM previous_account WHERE session = ANY($1)", [.keys(sessions)])
        run(
            "UPDATE session SET created_at = $1, version = version + 1 WHERE key = ANY($2)",
            [.integer(now), .keys(sessions)])
    }

    func delete(_ sessions: [SessionKey]) {
        guard !sessions.isEmpty else { return }
        run("DELETE FROM session WHERE key = ANY($1)", [.keys(sessions)])
    }

    // MARK: Attempts

    /// Returns the attempt with this state, if it is consumed, and its session, both locked against other changes. An
    /// attempt that an earlier version has begun, and that is not consumed, does not count.
    func lockAttempt(_ state: SHA256Hash) async throws -> (attempt: AttemptRow, session: SessionRow?)? {
        run(
            """
            SELECT key FROM session WHERE key = (SELECT session FROM sign_in_attempt WHERE state_hash = $1) FOR UPDATE
            """, [.hash(state)])
        let attempt = try await query(
            "SELECT \(AttemptRow.columns) FROM sign_in_attempt WHERE state_hash = $1 AND consumed_at IS NOT NULL FOR UPDATE",
            [.hash(state)]
        ).first.map(AttemptRow.init)
        guard let attempt else { return nil }
        guard let key = attempt.session else { return (attempt, nil) }
        return (attempt, try await session(key))
    }

    // MARK: Accounts

    /// Returns the state of the account's leases, its sealed refresh token, and the time by the server's clock.
    func refreshState(of account: AccountKey) async throws -> (state: RefreshState, refreshToken: Data?, now: Int64)? {
        let row = try await query(
            """
            SELECT \(RefreshState.columns), refresh_token, \(Self.serverTime) FROM account WHERE \(AccountKey.condition)
            """, account.parameters
        ).first
        guard let row else { return nil }
        return (try RefreshState(row), try row.optionalBlob(5), try row.integer(6))
    }

    func set(_ state: RefreshState, of account: AccountKey) {
        run(
            "UPDATE account SET \(RefreshState.assignment) WHERE \(AccountKey.condition)",
            account.parameters + state.parameters)
    }

    /// The time by the server's clock.
    static let serverTime = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS bigint)"

    /// Inserts or updates the account. It keeps its position, and its refresh token unless there is a new one.
    func store(_ account: AccountRow, _ tokens: RenewedTokens) {
        let identity = account.identity
        run(
            """
            INSERT INTO account (session, app, id, position, username, name, tenant_id, environment, object_id, issuer,
                subject, sid, policy, signed_in_at, claims, refresh_token, id_token)
            SELECT $1, $2, $3, COALESCE(MAX(position), 0) + 1, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16
            FROM account WHERE session = $1
            ON CONFLICT (session, app, id) DO UPDATE SET
                username = EXCLUDED.username, name = EXCLUDED.name, tenant_id = EXCLUDED.tenant_id,
                environment = EXCLUDED.environment, object_id = EXCLUDED.object_id, issuer = EXCLUDED.issuer,
                subject = EXCLUDED.subject, sid = EXCLUDED.sid, policy = EXCLUDED.policy,
                signed_in_at = EXCLUDED.signed_in_at, needs_interaction = NULL, interaction_claims = NULL,
                claims = EXCLUDED.claims, refresh_token = COALESCE(EXCLUDED.refresh_token, account.refresh_token),
                id_token = COALESCE(EXCLUDED.id_token, account.id_token),
                fence = account.fence + 1, lease_by = '', lease_until = 0, retry_at = 0
            """,
            account.key.parameters + [
                .text(identity.username), .text(identity.name), .text(identity.tenantID), .text(identity.environment),
                .text(identity.objectID), .text(identity.issuer), .text(identity.subject), .text(identity.sid),
                .text(identity.policy), .integer(account.signedInAt), .blob(account.claims),
                .blob(tokens.refreshToken), .blob(tokens.idToken),
            ])
    }

    func renew(_ account: AccountKey, _ tokens: RenewedTokens, _ state: RefreshState) {
        run(
            """
            UPDATE account SET \(RefreshState.assignment), claims = COALESCE($9, claims),
                refresh_token = COALESCE($10, refresh_token), id_token = COALESCE($11, id_token),
                username = COALESCE($12, username), name = COALESCE($13, name), needs_interaction = NULL,
                interaction_claims = NULL
            WHERE \(AccountKey.condition)
            """,
            account.parameters + state.parameters + [
                .blob(tokens.claims), .blob(tokens.refreshToken), .blob(tokens.idToken), .text(tokens.username),
                .text(tokens.name),
            ])
    }

    func makeCurrent(_ account: AccountKey) {
        run("UPDATE account SET is_current = (id = $3) WHERE session = $1 AND app = $2", account.parameters)
    }

    func delete(_ account: AccountKey) {
        run("DELETE FROM account WHERE \(AccountKey.condition)", account.parameters)
    }

    // MARK: Access tokens

    func store(_ token: AccessTokenRow, now: Int64) async throws {
        // The rows' positions show which is the newest.
        let rows = try await query(
            """
            SELECT position, tenant, requested_scopes, expires_at FROM access_token
            WHERE \(AccountKey.condition) ORDER BY position
            """, token.account.parameters
        ).rows
        var old: [Int64] = []
        var others: [Int64] = []
        for row in rows {
            let isSuperseded =
                try row.text(1) == token.tenant
                && SignInRules.isSuperseded(try row.text(2), by: token.requestedScopes)
            if try isSuperseded || row.integer(3) <= now {
                old.append(try row.integer(0))
            } else {
                others.append(try row.integer(0))
            }
        }
        old += others.prefix(max(0, others.count - (SignInRules.maxTokensPerAccount - 1)))
        if !old.isEmpty {
            run(
                "DELETE FROM access_token WHERE \(AccountKey.condition) AND position = ANY($4)",
                token.account.parameters + [.integers(old)])
        }
        run(
            """
            INSERT INTO access_token (session, app, id, position, tenant, requested_scopes, granted_scopes,
                declined_scopes, expires_at, refresh_at, token)
            SELECT $1, $2, $3, COALESCE(MAX(position), 0) + 1, $4, $5, $6, $7, $8, $9, $10
            FROM access_token WHERE \(AccountKey.condition)
            """,
            token.account.parameters + [
                .text(token.tenant), .text(token.requestedScopes), .text(token.grantedScopes),
                .text(token.declinedScopes), .integer(token.expiresAt), .integer(token.refreshAt), .blob(token.token),
            ])
    }
}
