import Foundation
import GRDB

/// What the command line does, also while a server runs on the same file.
extension SessionStore {
    /// Sessions in the order of their keys, after `after`; expired ones that were not purged yet among them.
    public func list(after: SessionKey? = nil, limit: Int = 1000) async throws(StoreError) -> [SessionSummary] {
        let after = after?.value ?? 0
        return try await database.read { db in
            try db.rows(
                "SELECT key, created_at, last_seen_at FROM session WHERE key > ? ORDER BY key LIMIT ?",
                [after, max(0, limit)]
            ).map { row in
                let key = try row.decode(Int64.self, atIndex: 0)
                let accounts = try db.rows("SELECT app, username FROM account WHERE session = ? ORDER BY key", [key])
                return SessionSummary(
                    key: SessionKey(key), createdAt: Date(milliseconds: try row.decode(atIndex: 1)),
                    lastSeenAt: Date(milliseconds: try row.decode(atIndex: 2)),
                    accounts: try accounts.map {
                        SessionSummary.Entry(app: try $0.decode(atIndex: 0), username: try $0.decode(atIndex: 1))
                    })
            }
        }
    }

    /// Ends one session; false when there is none.
    public func revoke(_ session: SessionKey) async throws(StoreError) -> Bool {
        try await !delete("SELECT key FROM session WHERE key = ?", [session.value]).isEmpty
    }

    /// Ends every session in which this username is signed in; returns which.
    public func revoke(username: String) async throws(StoreError) -> [SessionKey] {
        try await delete("SELECT DISTINCT session FROM account WHERE username = ? COLLATE NOCASE", [username])
    }

    /// Ends every session; returns which.
    public func revokeAll() async throws(StoreError) -> [SessionKey] {
        var ended: [SessionKey] = []
        while true {
            let some = try await delete("SELECT key FROM session LIMIT 500", [])
            guard !some.isEmpty else { return ended }
            ended += some
        }
    }

    private func delete(_ query: String, _ arguments: [any DatabaseValueConvertible & Sendable])
        async throws(StoreError) -> [SessionKey]
    {
        try await database.write { db, changes in
            let keys = try db.rows(query, StatementArguments(arguments)).map { try $0.decode(Int64.self, atIndex: 0) }
            for key in keys {
                try db.run("DELETE FROM session WHERE key = ?", [key])
                changes.sessions.insert(key)
            }
            return keys.map(SessionKey.init)
        }
    }
}
