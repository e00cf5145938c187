package import Foundation
package import SessionStore

/// Notes about sessions that servers keep for each other. No statement here locks a session, except for counting trips:
/// there are many notes, and a session that has ended may leave some behind until they are an hour old.
extension PostgresStore {
    package func add(_ notes: [SessionNoteRow]) async throws(StoreError) {
        try await database.write { transaction in
            transaction.insert(notes)
            let crowded = notes.filter(\.makesRoom).map(\.session)
            guard !crowded.isEmpty else { return }
            transaction.run(
                """
                DELETE FROM session_note WHERE id IN (
                    SELECT id FROM (
                        SELECT id, session, row_number() OVER (PARTITION BY session ORDER BY id DESC) AS place
                        FROM session_note WHERE session = ANY($1)) AS numbered
                    WHERE place > $2 OR place > $3
                        AND NOT EXISTS (SELECT 1 FROM account WHERE account.session = numbered.session))
                """,
                [
                    .keys(crowded), .integer(Int64(SignInRules.maxNotes)),
                    .integer(Int64(SignInRules.maxNotesOfNewcomer)),
                ])
        }
    }

    package func notes(of session: SessionKey, since: Int64) async throws(StoreError) -> [SessionNoteRow] {
        try await database.read(
            "SELECT id, kind, app, sealed, body FROM session_note WHERE session = $1 AND id >= $2 ORDER BY id",
            [.key(session), .integer(since)]
        ) { result in
            try result.rows.map { row in
                SessionNoteRow(
                    id: try row.integer(0), session: session,
                    kind: SessionNote.Kind(rawValue: try row.integer(1)) ?? .record, app: try row.text(2),
                    sealed: try row.blob(3), unsealed: try row.text(4))
            }
        }
    }

    package func forgetNotes(of session: SessionKey) async throws(StoreError) {
        try await database.write { transaction in
            transaction.run("DELETE FROM session_note WHERE session = $1", [.key(session)])
        }
    }

    package func addTrip(_ trip: SessionNoteRow, unlessThereAre most: Int, since: Int64)
        async throws(StoreError) -> Int64?
    {
        try await database.write { transaction in
            // Two servers must not both count the last trip.
            transaction.run("SELECT key FROM session WHERE key = $1 FOR UPDATE", [.key(trip.session)])
            let found = try await transaction.query(
                """
                SELECT id, kind FROM session_note WHERE session = $1 AND app = $2 AND id > $3 AND kind <> 0 ORDER BY id
                """, [.key(trip.session), .text(trip.app), .integer(since)]
            ).rows.map { row in
                (id: try row.integer(0), kind: SessionNote.Kind(rawValue: try row.integer(1)) ?? .record)
            }
            if let oldest = SignInRules.oldestTrip(among: found, most: most) { return oldest }
            transaction.insert([trip])
            return nil
        }
    }

    package func keep(_ answer: PostedAnswer, now: Int64) async throws(StoreError) -> Bool {
        try await database.write { transaction in
            transaction.run(
                "DELETE FROM posted_answer WHERE ends_at <= $1 OR handle = $2", [.integer(now), .hash(answer.handle)])
            transaction.run(
                """
                DELETE FROM posted_answer WHERE handle IN (
                    SELECT handle FROM (
                        SELECT handle, row_number() OVER newest AS place, sum(length(sealed)) OVER newest AS size
                        FROM posted_answer WHERE asker = $1
                        WINDOW newest AS (ORDER BY ends_at DESC, handle ROWS UNBOUNDED PRECEDING)) AS own
                    WHERE place > $2 OR size > $3)
                """,
                [
                    .blob(answer.asker), .integer(Int64(PostedAnswer.maxPerAddress - 1)),
                    .integer(Int64(PostedAnswer.maxBytesPerAddress - answer.sealed.count)),
                ])
            let row = try await transaction.query(
                "SELECT COUNT(*), CAST(COALESCE(SUM(length(sealed)), 0) AS bigint) FROM posted_answer"
            ).first
            let (count, size) = (try row?.integer(0) ?? 0, try row?.integer(1) ?? 0)
            guard SignInRules.hasRoom(forAnswer: answer.sealed.count, beside: count, size) else { return false }
            transaction.run(
                """
                INSERT INTO posted_answer (handle, asker, sealed, ends_at) VALUES ($1, $2, $3, $4)
                ON CONFLICT (handle) DO UPDATE SET sealed = EXCLUDED.sealed, ends_at = EXCLUDED.ends_at
                """,
                [.hash(answer.handle), .blob(answer.asker), .blob(answer.sealed), .integer(answer.endsAt)])
            return true
        }
    }

    package func postedAnswer(_ handle: SHA256Hash, now: Int64) async throws(StoreError) -> Data? {
        try await database.read(
            "SELECT sealed FROM posted_answer WHERE handle = $1 AND ends_at > $2", [.hash(handle), .integer(now)]
        ) { try $0.first?.blob(0) }
    }
}

extension Transaction {
    private static let noteBatch: Int64 = 5_000

    fileprivate func insert(_ notes: [SessionNoteRow]) {
        run(
            """
            INSERT INTO session_note (id, session, kind, app, sealed)
            SELECT id, session, kind, app, sealed FROM unnest($1, $2, $3, $4, $5) AS new (id, session, kind, app, sealed)
            ON CONFLICT (id) DO NOTHING
            """,
            [
                .integers(notes.map(\.id)), .keys(notes.map(\.session)), .integers(notes.map(\.kind.rawValue)),
                .texts(notes.map(\.app)), .blobs(notes.map(\.sealed)),
            ])
    }

    /// Deletes some of the notes that are too old, and responses that were never fetched.
    ///
    /// - Returns: whether there may be more.
    func purgeNotes(now: Int64) async throws -> Bool {
        run("DELETE FROM posted_answer WHERE ends_at <= $1", [.integer(now)])
        let oldest = SessionNoteRow.id(at: now - SignInRules.noteLifetime.milliseconds)
        let changes = try await query(
            "DELETE FROM session_note WHERE id IN (SELECT id FROM session_note WHERE id < $1 ORDER BY id LIMIT $2)",
            [.integer(oldest), .integer(Self.noteBatch)]
        ).changes
        return changes == Int(Self.noteBatch)
    }
}
