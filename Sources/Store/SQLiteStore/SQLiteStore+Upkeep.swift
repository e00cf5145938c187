import GRDB
package import SessionStore

extension SQLiteStore {
    /// The number of sessions that a purge deletes at a time. A session with its tokens takes a tenth of a millisecond,
    /// and the disk takes as much again; other writes wait for the whole batch.
    private static let batch = 20

    package func noteUses(_ uses: [(key: SessionKey, at: Int64)]) async throws(StoreError) -> [SessionKey] {
        try await database.write { db in
            for (key, at) in uses {
                try db.run("UPDATE session SET last_seen_at = ? WHERE key = ? AND last_seen_at < ?", [at, key, at])
            }
            return []
        }
    }

    package func purgeSessions(from cursor: StoreCursor, _ rules: SignInRules, now: Int64) async throws(StoreError)
        -> PurgeStep
    {
        let place = PurgePlace(cursor)
        let (unusedSince, begunBefore) = rules.purgeBounds(now: now)
        let bound = place.walk == .unused ? unusedSince : begunBefore
        // A reader finds the rows: only expired rows occupy the writer.
        let rows = try await database.read { db in
            try db.rows(Self.query(place.walk), [place.position, place.key, bound, Self.batch]).map { row in
                (session: try SessionRow(row: row), position: try row.decode(Int64.self, forColumn: "position"))
            }
        }
        let candidates = rows.map(\.session).filter { rules.isPurgeable($0, now: now) }.map(\.key)
        let ended = try await candidates.isEmpty ? [] : purge(candidates, rules, now: now)
        return place.step(after: rows.last, ended: ended)
    }

    /// Returns the next sessions of a walk, in the order of its index.
    static func query(_ walk: PurgePlace.Walk) -> String {
        let (order, condition) =
            switch walk {
            case .unused: ("last_seen_period", "last_seen_period <= ?3 / \(SQLiteSchema.period) AND last_seen_at < ?3")
            case .old: ("created_at", "created_at < ?3")
            }
        return """
            SELECT \(SessionRow.columns), \(order) AS position FROM session
            WHERE (\(order), key) > (?1, ?2) AND \(condition) ORDER BY \(order), key LIMIT ?4
            """
    }

    /// Decides again inside the transaction: a session may have been used or renewed in the meantime.
    private func purge(_ keys: [SessionKey], _ rules: SignInRules, now: Int64) async throws(StoreError)
        -> [SessionKey]
    {
        try await database.write { db in
            try keys.filter { key in
                guard let session = try db.session(key) else { return false }
                switch rules.purge(session, now: now) {
                case .keep: return false
                case .delete: try db.delete(key)
                case .empty: try db.empty(key, now: now)
                }
                return true
            }
        }
    }

    package func purgeAttempts(_ rules: SignInRules, now: Int64) async throws(StoreError) -> PurgeStep {
        try await database.write { db in
            try db.run("DELETE FROM logout_token WHERE ends_at <= ?", [now])
            let rows = try db.rows(
                "SELECT state_hash, session FROM sign_in_attempt WHERE begun_at < ? LIMIT ?",
                [rules.oldestKeptAttempt(now: now), Self.batch])
            var sessions: Set<SessionKey> = []
            for row in rows {
                try db.run(
                    "DELETE FROM sign_in_attempt WHERE state_hash = ?",
                    [try row.decode(SHA256Hash.self, forColumn: "state_hash")])
                if let session = try row.decode(SessionKey?.self, forColumn: "session") { sessions.insert(session) }
            }
            var ended: [SessionKey] = []
            for key in sessions {
                guard let session = try db.session(key), !session.hasAccounts, rules.isPurgeable(session, now: now)
                else { continue }
                try db.delete(key)
                ended.append(key)
            }
            return PurgeStep(ended: ended, isMore: rows.count == Self.batch)
        }
    }

    package func bringBack(to time: Int64) async throws(StoreError) {
        try await database.write { db in
            try db.run(
                "UPDATE session SET last_seen_at = ?1 WHERE last_seen_period >= ?1 / \(SQLiteSchema.period) AND last_seen_at > ?1",
                [time])
            try db.run("UPDATE session SET created_at = ?1 WHERE created_at > ?1", [time])
        }
    }

    /// The number of pages that are released at a time: a megabyte, in a few milliseconds.
    private static let pagesAtATime = 256

    /// Returns free pages of the file to the disk, in one small step. A megabyte, or a tenth of the file, stays for
    /// later writes. A file from before version 3 must be rewritten by ``rewrite(databaseAt:)`` first.
    package func tidyUp() async throws(StoreError) -> Bool {
        let (free, all, mode) = try await database.read { db in
            (
                try Int.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0,
                try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0,
                try Int.fetchOne(db, sql: "PRAGMA auto_vacuum") ?? 0
            )
        }
        let spare = free - max(Self.pagesAtATime, all / 10)
        guard mode == SQLiteSchema.incrementalVacuum, spare > 0 else { return false }
        try await database.write { db in
            try db.execute(sql: "PRAGMA incremental_vacuum(\(min(spare, Self.pagesAtATime)))")
        }
        guard spare <= Self.pagesAtATime else { return true }
        await database.mergeLog()
        return false
    }
}
