package import Foundation
package import SessionStore

extension PostgresStore {
    package func accessTokens(of account: AccountKey) async throws(StoreError) -> [AccessTokenRow] {
        try await database.read(
            """
            SELECT tenant, requested_scopes, granted_scopes, declined_scopes, expires_at, refresh_at, token
            FROM access_token WHERE \(AccountKey.condition) ORDER BY position
            """, account.parameters
        ) { result in
            try result.rows.map { row in
                AccessTokenRow(
                    account: account, tenant: try row.text(0), requestedScopes: try row.text(1),
                    grantedScopes: try row.text(2), declinedScopes: try row.text(3), expiresAt: try row.integer(4),
                    refreshAt: try row.optionalInteger(5), token: try row.blob(6))
            }
        }
    }

    /// Always waits, because the server may be another machine.
    package func accessTokensNow(of account: AccountKey) -> ImmediateRead<[AccessTokenRow]> { .mustWait }

    package func refreshToken(of account: AccountKey) async throws(StoreError) -> Data? {
        try await database.read(
            "SELECT refresh_token FROM account WHERE \(AccountKey.condition)", account.parameters
        ) { try $0.first?.optionalBlob(0) }
    }

    package func idToken(of account: AccountKey) async throws(StoreError) -> Data? {
        try await database.read(
            "SELECT id_token FROM account WHERE \(AccountKey.condition)", account.parameters
        ) { try $0.first?.optionalBlob(0) }
    }

    package func replaceTokens(
        of account: AccountKey, with tokens: RenewedTokens, under lease: RefreshLease?, now: Int64
    ) async throws(StoreError) -> Bool {
        try await database.write { transaction in
            guard try await transaction.change(account.session) != nil,
                let (state, refreshToken, _) = try await transaction.refreshState(of: account)
            else { throw StoreError.noSuchSession }
            if let lease, !SignInRules.mayStore(under: lease, fence: state.fence, refreshToken: refreshToken) {
                return false
            }
            transaction.renew(account, tokens, state.renewed)
            if let token = tokens.accessToken { try await transaction.store(token, now: now) }
            return true
        }
    }

    package func replaceRefreshToken(of account: AccountKey, with refreshToken: Data, under lease: RefreshLease)
        async throws(StoreError) -> Bool
    {
        try await database.write { transaction in
            // Nobody who waits for the end of the lease needs to read the session again.
            guard try await transaction.lock(account.session) != nil,
                let (state, stored, _) = try await transaction.refreshState(of: account)
            else { throw StoreError.noSuchSession }
            guard SignInRules.mayStore(under: lease, fence: state.fence, refreshToken: stored) else { return false }
            transaction.run(
                "UPDATE account SET refresh_token = $4 WHERE \(AccountKey.condition)",
                account.parameters + [.blob(refreshToken)])
            return true
        }
    }

    package func markNeedsInteraction(
        _ account: AccountKey, reason: String, claims: String?, ifRefreshTokenIs refreshToken: Data?
    ) async throws(StoreError) -> Bool {
        try await database.write { transaction in
            guard try await transaction.change(account.session) != nil,
                let stored = try await transaction.refreshState(of: account)
            else { throw StoreError.noSuchSession }
            if let refreshToken, stored.refreshToken != refreshToken { return false }
            transaction.run(
                """
                UPDATE account SET needs_interaction = $4, interaction_claims = $5 WHERE \(AccountKey.condition)
                """, account.parameters + [.text(reason), .text(claims)])
            return true
        }
    }

    package func remove(_ account: AccountKey, keepAsPrevious: Bool, fresh: SHA256Hash, now: Int64)
        async throws(StoreError)
    {
        try await database.write { transaction in
            guard try await transaction.change(account.session) != nil else { throw StoreError.noSuchSession }
            if keepAsPrevious {
                transaction.run(
                    """
                    INSERT INTO previous_account (session, app, username)
                    SELECT session, app, username FROM account WHERE \(AccountKey.condition)
                    ON CONFLICT (session, app) DO UPDATE SET username = EXCLUDED.username
                    """, account.parameters)
            } else {
                transaction.run(
                    "DELETE FROM previous_account WHERE session = $1 AND app = $2",
                    [.key(account.session), .text(account.app)])
            }
            transaction.delete(account)
            transaction.rotate(account.session, to: fresh, now: now)
        }
    }

    package func drop(_ account: AccountKey) async throws(StoreError) {
        try await database.write { transaction in
            guard try await transaction.change(account.session) != nil else { return }
            transaction.delete(account)
        }
    }

    package func makeCurrent(_ account: AccountKey) async throws(StoreError) {
        try await database.write { transaction in
            guard try await transaction.change(account.session) != nil,
                try await transaction.refreshState(of: account) != nil
            else { throw StoreError.noSuchSession }
            transaction.makeCurrent(account)
        }
    }

    package func endAccounts(_ logout: ProviderLogout) async throws(StoreError) -> [EndedAccountRow]? {
        try await database.write { transaction in
            if let token = logout.token {
                let result = try await transaction.query(
                    "INSERT INTO logout_token (hash, ends_at) VALUES ($1, $2) ON CONFLICT (hash) DO NOTHING",
                    [.hash(token.hash), .integer(token.endsAt)])
                guard result.changes > 0 else { return nil }
            }
            guard logout.sid != nil || logout.subject != nil else { return [] }
            let sessions = try await transaction.accounts(of: logout).map(\.key.session)
            // All transactions that lock several sessions use the same order. Accounts that have signed out in the
            // meantime are not found again.
            transaction.run("SELECT key FROM session WHERE key = ANY($1) ORDER BY key FOR UPDATE", [.keys(sessions)])
            let ended = try await transaction.accounts(of: logout).filter { sessions.contains($0.key.session) }
            for row in ended { transaction.delete(row.key) }
            let touched = Parameter.keys(ended.map(\.key.session))
            transaction.run("UPDATE session SET version = version + 1 WHERE key = ANY($1)", [touched])
            transaction.run(
                """
                DELETE FROM session WHERE key = ANY($1)
                    AND NOT EXISTS (SELECT 1 FROM account WHERE account.session = session.key)
                """, [touched])
            return ended
        }
    }
}

extension Transaction {
    /// Returns the accounts that match `ProviderLogout.names(_:)`. The first condition of each query uses an index.
    fileprivate func accounts(of logout: ProviderLogout) async throws -> [EndedAccountRow] {
        let condition =
            logout.sid != nil
            ? "left(sid, 200) = left($2, 200) AND sid = $2 AND ($3 IS NULL OR subject = $3)"
            : "left(subject, 200) = left($3, 200) AND subject = $3 AND $2 IS NULL"
        return try await query(
            "SELECT \(AccountKey.columns), environment FROM account WHERE issuer = $1 AND \(condition)",
            [.text(logout.issuer), .text(logout.sid), .text(logout.subject)]
        ).rows.map { row in EndedAccountRow(key: try AccountKey(row), environment: try row.text(3)) }
    }
}
