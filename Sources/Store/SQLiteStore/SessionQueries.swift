import SessionStore

/// The reads that requests wait for, on one connection. Sessions and access tokens are read nowhere else.
struct SessionQueries {
    private let sessionByID, sessionByKey, accounts, previousAccounts, latestAttempt, accessTokens: PreparedStatement

    /// - Parameter prepare: prepares a statement that lives as long as this value.
    init(prepare: (String) throws -> OpaquePointer) rethrows {
        func statement(_ sql: String) throws -> PreparedStatement { PreparedStatement(handle: try prepare(sql)) }
        let columns = "key, id_hash, created_at, last_seen_at"
        sessionByID = try statement("SELECT \(columns) FROM session WHERE id_hash = ?")
        sessionByKey = try statement("SELECT \(columns) FROM session WHERE key = ?")
        // We sort the rows: for one or two rows, SQLite's sorting costs more than the rest.
        accounts = try statement(
            """
            SELECT key, app, id, username, name, tenant_id, environment, object_id, issuer, subject, sid, policy, is_current,
                needs_interaction, interaction_claims, signed_in_at, claims
            FROM account JOIN account_secret ON account_secret.account = account.key WHERE session = ?
            """)
        previousAccounts = try statement("SELECT app, username FROM previous_account WHERE session = ?")
        latestAttempt = try statement("SELECT MAX(begun_at) FROM sign_in_attempt WHERE session = ?")
        accessTokens = try statement(
            """
            SELECT access_token.key, tenant, requested_scopes, granted_scopes, declined_scopes, expires_at, refresh_at, token
            FROM account JOIN access_token ON access_token.account = account.key
            WHERE session = ? AND app = ? AND id = ?
            """)
    }

    /// Returns the session with this id, as of one moment; nil if it does not exist. It may have expired.
    func session(_ idHash: SHA256Hash) throws -> SealedSession? {
        try sessionByID.atFirstRow(.blob(idHash.blob), body: sealedSession)
    }

    /// Returns the session with this key, in the same way.
    func session(_ key: SessionKey) throws -> SealedSession? {
        try sessionByKey.atFirstRow(.integer(key.value), body: sealedSession)
    }

    private func sealedSession(_ row: ResultRow) throws -> SealedSession {
        let key = SessionKey(try row.integer(0))
        guard let idHash = SHA256Hash(blob: try row.blob(1)) else { throw ResultRow.UnexpectedType() }
        let accounts = try accounts(of: key)
        let previous = try previousUsernames(of: key)
        return SealedSession(
            row: SessionRow(
                key: key, idHash: idHash, createdAt: try row.integer(2), lastSeenAt: try row.integer(3),
                hasAccounts: !accounts.isEmpty, remembersSomebody: !previous.isEmpty,
                // The lifetime of a session with an account does not depend on it.
                lastAttemptAt: accounts.isEmpty ? try latestAttempt(of: key) : nil),
            accounts: accounts, previousUsernames: previous)
    }

    /// Returns the account's access tokens, in the order in which they were stored.
    func accessTokens(of account: AccountKey) throws -> [AccessTokenRow] {
        var rows: [(key: Int64, row: AccessTokenRow)] = []
        try accessTokens.forEachRow(.integer(account.session.value), .text(account.app), .text(account.id)) { row in
            let token = AccessTokenRow(
                account: account, tenant: try row.text(1), requestedScopes: try row.text(2),
                grantedScopes: try row.text(3), declinedScopes: try row.text(4), expiresAt: try row.integer(5),
                refreshAt: try row.optionalInteger(6), token: try row.blob(7))
            rows.append((try row.integer(0), token))
        }
        return sorted(rows)
    }

    private func accounts(of session: SessionKey) throws -> [AccountRow] {
        var rows: [(key: Int64, row: AccountRow)] = []
        try accounts.forEachRow(.integer(session.value)) { row in
            let account = AccountRow(
                key: AccountKey(session: session, app: try row.text(1), id: try row.text(2)),
                identity: AccountIdentity(
                    username: try row.text(3), name: try row.optionalText(4), tenantID: try row.optionalText(5),
                    environment: try row.text(6), objectID: try row.optionalText(7), issuer: try row.text(8),
                    subject: try row.text(9), sid: try row.optionalText(10), policy: try row.optionalText(11)),
                isCurrent: try row.integer(12) != 0, needsInteraction: try row.optionalText(13),
                interactionClaims: try row.optionalText(14), signedInAt: try row.integer(15),
                claims: try row.blob(16))
            rows.append((try row.integer(0), account))
        }
        return sorted(rows)
    }

    private func previousUsernames(of session: SessionKey) throws -> [String: String] {
        var usernames: [String: String] = [:]
        try previousAccounts.forEachRow(.integer(session.value)) { row in
            usernames[try row.text(0)] = try row.text(1)
        }
        return usernames
    }

    private func latestAttempt(of session: SessionKey) throws -> Int64? {
        try latestAttempt.atFirstRow(.integer(session.value)) { row in try row.optionalInteger(0) } ?? nil
    }

    private func sorted<Row>(_ rows: [(key: Int64, row: Row)]) -> [Row] {
        (rows.count > 1 ? rows.sorted { $0.key < $1.key } : rows).map(\.row)
    }
}
