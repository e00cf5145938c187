import Foundation
package import SessionStore

extension PostgresStore: MovableBackend {
    package var emptying: String { "run there, with psql: DROP TABLE \(Self.tables.joined(separator: ", "));" }

    package func wholeSessions(after: SessionKey?, limit: Int) async throws(StoreError) -> [WholeSession] {
        let keys = try await database.readLong(
            "SELECT key FROM session WHERE key > $1 ORDER BY key LIMIT $2",
            [.integer(after?.value ?? 0), .integer(Int64(limit))]
        ) { try $0.rows.map { try $0.key(0) } }
        var found: [WholeSession] = []
        for key in keys {
            guard let session = try await session(key) else { continue }
            var secrets: [AccountKey: WholeSession.Secrets] = [:]
            for account in session.accounts.map(\.key) {
                secrets[account] = WholeSession.Secrets(
                    refreshToken: try await refreshToken(of: account), idToken: try await idToken(of: account),
                    accessTokens: try await accessTokens(of: account))
            }
            let attempts = try await database.read(
                """
                SELECT \(AttemptRow.columns), state_hash, weight FROM sign_in_attempt
                WHERE session = $1 AND consumed_at IS NOT NULL
                """, [.key(key)]
            ) { result in
                try result.rows.map { row in
                    WholeSession.Attempt(
                        state: try row.hash(7), row: try AttemptRow(row), isOfNewcomer: try row.integer(8) > 0)
                }
            }
            found.append(WholeSession(session: session, secrets: secrets, attempts: attempts))
        }
        return found
    }

    package func put(_ sessions: [WholeSession]) async throws(StoreError) {
        try await database.write { transaction in
            for whole in sessions { try await transaction.put(whole) }
        }
    }

    package func logoutTokens() async throws(StoreError) -> [SHA256Hash: Int64] {
        try await database.readLong("SELECT hash, ends_at FROM logout_token") { result in
            try result.rows.reduce(into: [:]) { tokens, row in tokens[try row.hash(0)] = try row.integer(1) }
        }
    }

    package func put(logoutTokens: [SHA256Hash: Int64]) async throws(StoreError) {
        try await database.write { transaction in
            for (hash, endsAt) in logoutTokens {
                transaction.run(
                    "INSERT INTO logout_token (hash, ends_at) VALUES ($1, $2) ON CONFLICT (hash) DO NOTHING",
                    [.hash(hash), .integer(endsAt)])
            }
        }
    }
}

extension Transaction {
    fileprivate func put(_ whole: WholeSession) async throws {
        let session = whole.session.row
        insertSession(session.key, session.idHash, now: session.createdAt)
        use(session.key, now: session.lastSeenAt)
        for (app, username) in whole.session.previousUsernames {
            run(
                "INSERT INTO previous_account (session, app, username) VALUES ($1, $2, $3)",
                [.key(session.key), .text(app), .text(username)])
        }
        for account in whole.session.accounts {
            let secrets = whole.secrets[account.key]
            store(account, RenewedTokens(refreshToken: secrets?.refreshToken, idToken: secrets?.idToken))
            run(
                """
                UPDATE account SET is_current = $4, needs_interaction = $5, interaction_claims = $6
                WHERE \(AccountKey.condition)
                """,
                account.key.parameters + [
                    .flag(account.isCurrent), .text(account.needsInteraction), .text(account.interactionClaims),
                ])
            for token in secrets?.accessTokens ?? [] { try await store(token, now: .min) }
        }
        for attempt in whole.attempts {
            let row = attempt.row
            run(
                """
                INSERT INTO sign_in_attempt (state_hash, session, weight, begun_at, consumed_at, code_hash, failed_at,
                    completed_at, issued_id_hash)
                VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
                """,
                [
                    .hash(attempt.state), .key(session.key), .integer(attempt.isOfNewcomer ? 1 : 0),
                    .integer(row.begunAt), .integer(row.consumedAt), .hash(row.codeHash), .integer(row.failedAt),
                    .integer(row.completedAt), .hash(row.issuedIDHash),
                ])
        }
    }
}
