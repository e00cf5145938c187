import Foundation
import GRDB
public import SessionStore

extension SQLiteStore: MovableBackend {
    package var emptying: String { "remove the file." }

    /// Whether another program has the file open. For a moment the file has no log, which SQLite allows only to its
    /// sole user.
    public static func isInUse(databaseAt path: String) -> Bool {
        guard let queue = try? DatabaseQueue(path: path) else { return false }
        defer { try? queue.close() }
        let mode = try? queue.writeWithoutTransaction { db in
            try String.fetchOne(db, sql: "PRAGMA journal_mode = DELETE")
        }
        return mode != "delete"
    }

    package func wholeSessions(after: SessionKey?, limit: Int) async throws(StoreError) -> [WholeSession] {
        try await database.read { db in
            let keys = try db.values(
                "SELECT key FROM session WHERE key > ? ORDER BY key LIMIT ?", [after?.value ?? 0, limit],
                as: SessionKey.self)
            let queries = try db.sessionQueries()
            return try keys.compactMap { key in
                guard let session = try queries.session(key) else { return nil }
                var secrets: [AccountKey: WholeSession.Secrets] = [:]
                for account in session.accounts.map(\.key) {
                    secrets[account] = WholeSession.Secrets(
                        refreshToken: try db.refreshToken(of: account), idToken: try db.idToken(of: account),
                        accessTokens: try queries.accessTokens(of: account))
                }
                let attempts = try db.rows(
                    "SELECT \(AttemptRow.columns), state_hash, is_newcomers FROM sign_in_attempt WHERE session = ?",
                    [key])
                return WholeSession(
                    session: session, secrets: secrets,
                    attempts: try attempts.map { row in
                        WholeSession.Attempt(
                            state: try row.decode(forColumn: "state_hash"), row: try AttemptRow(row: row),
                            isOfNewcomer: try row.decode(forColumn: "is_newcomers"))
                    })
            }
        }
    }

    package func put(_ sessions: [WholeSession]) async throws(StoreError) {
        try await database.write { db in
            for whole in sessions { try db.put(whole) }
        }
    }

    package func logoutTokens() async throws(StoreError) -> [SHA256Hash: Int64] {
        try await database.read { db in
            try db.rows("SELECT hash, ends_at FROM logout_token").reduce(into: [:]) { tokens, row in
                tokens[try row.decode(SHA256Hash.self, forColumn: "hash")] = try row.decode(forColumn: "ends_at")
            }
        }
    }

    package func put(logoutTokens: [SHA256Hash: Int64]) async throws(StoreError) {
        try await database.write { db in
            for (hash, endsAt) in logoutTokens {
                try db.run("INSERT OR IGNORE INTO logout_token (hash, ends_at) VALUES (?, ?)", [hash, endsAt])
            }
        }
    }
}

extension Database {
    fileprivate func put(_ whole: WholeSession) throws {
        let session = whole.session.row
        try run(
            "INSERT INTO session (key, id_hash, created_at, last_seen_at) VALUES (?, ?, ?, ?)",
            [session.key, session.idHash, session.createdAt, session.lastSeenAt])
        for (app, username) in whole.session.previousUsernames {
            try run(
                "INSERT INTO previous_account (session, app, username) VALUES (?, ?, ?)", [session.key, app, username])
        }
        for account in whole.session.accounts {
            let secrets = whole.secrets[account.key]
            let number = try store(
                account, RenewedTokens(refreshToken: secrets?.refreshToken, idToken: secrets?.idToken))
            try run(
                "UPDATE account SET is_current = ?, needs_interaction = ?, interaction_claims = ? WHERE key = ?",
                [account.isCurrent, account.needsInteraction, account.interactionClaims, number])
            for token in secrets?.accessTokens ?? [] { try store(token, number, now: .min) }
        }
        for attempt in whole.attempts {
            let row = attempt.row
            try run(
                """
                INSERT INTO sign_in_attempt (state_hash, session, is_newcomers, begun_at, consumed_at, code_hash, failed_at,
                    completed_at, issued_id_hash)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    attempt.state, session.key, attempt.isOfNewcomer, row.begunAt, row.consumedAt, row.codeHash,
                    row.failedAt, row.completedAt, row.issuedIDHash,
                ])
        }
    }
}
