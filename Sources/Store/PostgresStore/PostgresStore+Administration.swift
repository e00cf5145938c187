import Foundation
package import SessionStore

extension PostgresStore {
    package func list(after: SessionKey?, limit: Int) async throws(StoreError) -> [SessionSummary] {
        try await database.readLong(
            """
            SELECT s.key, created_at, last_seen_at, app, username
            FROM (SELECT key, created_at, last_seen_at FROM session WHERE key > $1 ORDER BY key LIMIT $2) AS s
                LEFT JOIN account ON account.session = s.key
            ORDER BY s.key, position
            """, [.integer(after?.value ?? 0), .integer(Int64(limit))]
        ) { result in
            var found: [SessionSummary] = []
            for row in result.rows {
                let key = try row.key(0)
                var accounts = found.last?.key == key ? found.removeLast().accounts : []
                if let app = try row.optionalText(3) {
                    accounts.append(SessionSummary.Entry(app: app, username: try row.text(4)))
                }
                found.append(
                    SessionSummary(
                        key: key, createdAt: Date(milliseconds: try row.integer(1)),
                        lastSeenAt: Date(milliseconds: try row.integer(2)), accounts: accounts))
            }
            return found
        }
    }

    package func revoke(_ which: Revocation) async throws(StoreError) -> [SessionKey] {
        try await database.write { transaction in
            let (which, parameter): (String, Parameter) =
                switch which {
                case .one(let key): ("SELECT key FROM session WHERE key = $1", .key(key))
                case .username(let name):
                    (
                        """
                        SELECT DISTINCT session FROM account
                        WHERE lower(username COLLATE "C") = lower($1 COLLATE "C") ORDER BY session
                        """, .text(name)
                    )
                case .any(let limit): ("SELECT key FROM session ORDER BY key LIMIT $1", .integer(Int64(limit)))
                }
            let keys = try await transaction.query(which, [parameter]).rows.map { try $0.key(0) }
            // All transactions that lock several sessions use the same order.
            let locked = try await transaction.query(
                "SELECT key FROM session WHERE key = ANY($1) ORDER BY key FOR UPDATE", [.keys(keys)]
            ).rows.map { try $0.key(0) }
            transaction.delete(locked)
            return locked
        }
    }

    package func counts() async throws(StoreError) -> SessionCounts {
        try await database.readLong(
            "SELECT (SELECT COUNT(*) FROM session), (SELECT COUNT(DISTINCT session) FROM account)"
        ) { result in
            SessionCounts(
                sessions: Int(clamping: try result.first?.integer(0) ?? 0),
                signedIn: Int(clamping: try result.first?.integer(1) ?? 0))
        }
    }

    package func checkRounds() async throws(StoreError) -> [StoredCheckRound] {
        try await database.read("SELECT app, ended_at, findings FROM check_round", []) { result in
            try result.rows.map { row in
                StoredCheckRound(
                    app: try row.text(0), endedAt: Date(milliseconds: try row.integer(1)), findings: try row.text(2))
            }
        }
    }

    package func keep(_ round: StoredCheckRound) async throws(StoreError) {
        try await database.write { transaction in
            transaction.run(
                """
                INSERT INTO check_round (app, ended_at, findings) VALUES ($1, $2, $3)
                ON CONFLICT (app) DO UPDATE SET ended_at = EXCLUDED.ended_at, findings = EXCLUDED.findings
                """, [.text(round.app), .integer(round.endedAt.milliseconds), .text(round.findings)])
        }
    }
}
