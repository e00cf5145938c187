import Foundation
import GRDB
package import SessionStore

extension SQLiteStore {
    package func list(after: SessionKey?, limit: Int) async throws(StoreError) -> [SessionSummary] {
        try await database.read { db in
            try db.rows(
                "SELECT key, created_at, last_seen_at FROM session WHERE key > ? ORDER BY key LIMIT ?",
                [after?.value ?? 0, limit]
            ).map { row in
                let key = try row.decode(SessionKey.self, forColumn: "key")
                let accounts = try db.rows(
                    "SELECT app, username FROM account WHERE session = ? ORDER BY key", [key])
                return SessionSummary(
                    key: key, createdAt: Date(milliseconds: try row.decode(forColumn: "created_at")),
                    lastSeenAt: Date(milliseconds: try row.decode(forColumn: "last_seen_at")),
                    accounts: try accounts.map {
                        SessionSummary.Entry(
                            app: try $0.decode(forColumn: "app"), username: try $0.decode(forColumn: "username"))
                    })
            }
        }
    }

    package func revoke(_ which: Revocation) async throws(StoreError) -> [SessionKey] {
        try await database.write { db in
            let keys: [SessionKey] =
                switch which {
                case .one(let key): try db.values("SELECT key FROM session WHERE key = ?", [key])
                case .username(let name):
                    try db.values("SELECT DISTINCT session FROM account WHERE username = ? COLLATE NOCASE", [name])
                case .any(let limit): try db.values("SELECT key FROM session LIMIT ?", [limit])
                }
            for key in keys { try db.delete(key) }
            return keys
        }
    }

    package func counts() async throws(StoreError) -> SessionCounts {
        try await database.read { db in
            SessionCounts(
                sessions: try db.value("SELECT count(*) FROM session") ?? 0,
                signedIn: try db.value("SELECT count(DISTINCT session) FROM account") ?? 0)
        }
    }

    package func checkRounds() async throws(StoreError) -> [StoredCheckRound] {
        try await database.read { db in
            try db.rows("SELECT app, ended_at, findings FROM check_round").map { row in
                StoredCheckRound(
                    app: try row.decode(forColumn: "app"),
                    endedAt: Date(milliseconds: try row.decode(forColumn: "ended_at")),
                    findings: try row.decode(forColumn: "findings"))
            }
        }
    }

    package func keep(_ round: StoredCheckRound) async throws(StoreError) {
        try await database.write { db in
            try db.run(
                "INSERT OR REPLACE INTO check_round (app, ended_at, findings) VALUES (?, ?, ?)",
                [round.app, round.endedAt.milliseconds, round.findings])
        }
    }
}
