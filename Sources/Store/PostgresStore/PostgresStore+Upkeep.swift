package import SessionStore

extension PostgresStore {
    private static let batch = 500

    package func noteUses(_ uses: [(key: SessionKey, at: Int64)]) async throws(StoreError) -> [SessionKey] {
        let at = Dictionary(uses.map { ($0.key, $0.at) }, uniquingKeysWith: max)
        return try await withUnheld(Array(at.keys)) { transaction, keys in
            transaction.run(
                """
                UPDATE session SET last_seen_at = use.at FROM unnest($1, $2) AS use (key, at)
                WHERE session.key = use.key AND last_seen_at < use.at
                """, [.keys(keys), .integers(keys.compactMap { at[$0] })])
        }.held
    }

    /// Locks sessions and does something with them. It does not wait for transactions that hold one of the sessions,
    /// because callers that need another of them would wait as well. If a session is held, each session is handled by
    /// itself, and held ones are skipped.
    ///
    /// - Returns: the results, and the sessions that other transactions hold.
    private func withUnheld<Value: Sendable>(
        _ keys: [SessionKey], _ body: @escaping @Sendable (Transaction, [SessionKey]) async throws -> Value
    ) async throws(StoreError) -> (done: [Value], held: [SessionKey]) {
        guard !keys.isEmpty else { return ([], []) }
        let done = try await database.writeUnlessHeld { transaction in
            // All transactions that lock several sessions use the same order.
            transaction.run(
                "SELECT key FROM session WHERE key = ANY($1) ORDER BY key FOR UPDATE NOWAIT", [.keys(keys)])
            return try await body(transaction, keys)
        }
        if let done { return ([done], []) }
        guard keys.count > 1 else { return ([], keys) }
        var all: (done: [Value], held: [SessionKey]) = ([], [])
        for key in keys {
            let one = try await withUnheld([key], body)
            all.done += one.done
            all.held += one.held
        }
        return all
    }

    /// Makes two walks, each along one index: first over the sessions that have not been used recently, then over those
    /// that began long ago.
    package func purgeSessions(from cursor: StoreCursor, _ rules: SignInRules, now: Int64) async throws(StoreError)
        -> PurgeStep
    {
        let place = PurgePlace(cursor)
        let (unusedSince, begunBefore) = rules.purgeBounds(now: now)
        let period = PostgresSchema.period
        let (order, condition, bound) =
            switch place.walk {
            case .unused:
                ("last_seen_period", "last_seen_period <= $3 / \(period) AND last_seen_at < $3", unusedSince)
            case .old: ("created_at", "created_at < $3", begunBefore)
            }
        let rows = try await database.readLong(
            """
            SELECT \(SessionRow.columns), \(order) FROM session
            WHERE (\(order), key) > ($1, $2) AND \(condition) ORDER BY \(order), key LIMIT $4
            """,
            [.integer(place.position), .key(place.key), .integer(bound), .integer(Int64(Self.batch))]
        ) { try $0.rows.map { (session: try SessionRow($0), position: try $0.integer(7)) } }
        let candidates = rows.map(\.session).filter { rules.isPurgeable($0, now: now) }.map(\.key)
        let ended = try await candidates.isEmpty ? [] : purge(candidates, rules, now: now)
        return place.step(after: rows.last, ended: ended)
    }

    /// Decides again inside the transaction: a session may have been used or renewed in the meantime.
    private func purge(_ keys: [SessionKey], _ rules: SignInRules, now: Int64) async throws(StoreError)
        -> [SessionKey]
    {
        try await withUnheld(keys) { transaction, keys in
            let sessions = try await transaction.rows(keys)
            var deleted: [SessionKey] = []
            var emptied: [SessionKey] = []
            for session in sessions {
                switch rules.purge(session, now: now) {
                case .keep: break
                case .delete: deleted.append(session.key)
                case .empty: emptied.append(session.key)
                }
            }
            transaction.delete(deleted)
            transaction.empty(emptied, now: now)
            return deleted + emptied
        }.done.flatMap(\.self)
    }

    package func purgeAttempts(_ rules: SignInRules, now: Int64) async throws(StoreError) -> PurgeStep {
        let old = Parameter.integer(rules.oldestKeptAttempt(now: now))
        let isMore = try await database.write { transaction in
            transaction.run("DELETE FROM logout_token WHERE ends_at <= $1", [.integer(now)])
            transaction.run("DELETE FROM sign_in_attempt WHERE begun_at < $1 AND session IS NULL", [old])
            return try await transaction.purgeNotes(now: now)
        }
        let found = try await database.readLong(
            """
            SELECT session FROM sign_in_attempt WHERE begun_at < $1 AND session IS NOT NULL
            ORDER BY begun_at, state_hash LIMIT $2
            """,
            [old, .integer(Int64(Self.batch))]
        ) { try $0.rows.map { try $0.key(0) } }
        // Sessions are locked before their attempts, as everywhere.
        let (ended, held) = try await withUnheld(Array(Set(found))) { transaction, keys in
            transaction.run(
                "DELETE FROM sign_in_attempt WHERE begun_at < $1 AND session = ANY($2)", [old, .keys(keys)])
            let ended = try await transaction.rows(keys).filter {
                !$0.hasAccounts && rules.isPurgeable($0, now: now)
            }.map(\.key)
            transaction.delete(ended)
            return ended
        }
        // Held sessions would be found again at once.
        return PurgeStep(
            ended: ended.flatMap(\.self), isMore: isMore || found.count == Self.batch && held.isEmpty)
    }

    package func bringBack(to time: Int64) async throws(StoreError) {
        let (period, latest) = (Parameter.integer(time / PostgresSchema.period), Parameter.integer(time))
        try await database.write { transaction in
            // All transactions that lock several sessions use the same order.
            transaction.run(
                """
                SELECT key FROM session WHERE (last_seen_period >= $1 AND last_seen_at > $2) OR created_at > $2
                ORDER BY key FOR UPDATE
                """, [period, latest])
            transaction.run(
                "UPDATE session SET last_seen_at = $2 WHERE last_seen_period >= $1 AND last_seen_at > $2",
                [period, latest])
            transaction.run("UPDATE session SET created_at = $1 WHERE created_at > $1", [latest])
        }
    }

    /// The server does its own housekeeping (autovacuum).
    package func tidyUp() async throws(StoreError) -> Bool { false }
}

extension Transaction {
    fileprivate func rows(_ keys: [SessionKey]) async throws -> [SessionRow] {
        try await query("SELECT \(SessionRow.columns) FROM session WHERE key = ANY($1)", [.keys(keys)])
            .rows.map(SessionRow.init)
    }
}
