import Foundation
import GRDB

/// What the background work remembers from round to round.
struct UpkeepProgress: Sendable {
    /// The database's version for which the cache is right.
    var version: Int64?
    var written = ContinuousClock.now
    /// The key that seals, once the database knows of it.
    var notedKey: KeyRing.KeyID?
    /// nil when nothing is to be sealed anew.
    var resealing: Resealing?
    /// Whether the file may have more free pages than it needs.
    var isShrinking = false

    /// As at the opening of the database, which has noted the key.
    init(version: Int64? = nil, ring: KeyRing) {
        self.version = version
        follow(ring)
    }

    mutating func follow(_ ring: KeyRing) {
        notedKey = ring.currentKeyID
        resealing = ring.older.isEmpty ? nil : Resealing(key: ring.currentKeyID)
    }
}

extension SessionStore {
    /// How often uses are written and expired rows purged.
    static let writeInterval: Duration = .seconds(60)
    /// Another process that purges does not know the last two minutes of use: the server writes them once a minute.
    private static let purgeGrace: Int64 = 120_000
    private static let batch = 500

    /// One round of the background work, each second.
    func upkeepRound(_ progress: UpkeepProgress) async -> UpkeepProgress {
        var progress = progress
        progress.version = await noticeOutsideChanges(since: progress.version)
        await followRotation(&progress)
        if progress.written.duration(to: .now) >= Self.writeInterval {
            progress.written = .now
            // Writes the uses first. When the disk refuses, the next minute tries again.
            _ = try? await purgeExpired()
            progress.isShrinking = true
        }
        if progress.isShrinking { progress.isShrinking = (try? await giveSpaceBack()) ?? false }
        return progress
    }

    /// Ends all cache entries when another process committed since `version`, and reads the key file again when it
    /// changed. Answers the version now.
    func noticeOutsideChanges(since version: Int64?) async -> Int64? {
        _ = sealer.reloadIfChanged()
        guard let now = await database.outsideVersion() else { return version }
        if let version, version != now { cache.endAll() }
        return now
    }

    /// After a rotation, and at each start while there are older keys: seals everything with the current key, a fifth
    /// of a second at a time. An error (the disk is full) leaves the rest for the next round.
    private func followRotation(_ progress: inout UpkeepProgress) async {
        let ring = sealer.ring
        if progress.notedKey != ring.currentKeyID {
            guard (try? await noteCurrentKey()) != nil else { return }
            progress.follow(ring)
            onRotation?(ring.currentKeyID)
        }
        let end = ContinuousClock.now + .milliseconds(200)
        while let state = progress.resealing, ContinuousClock.now < end, !Task.isCancelled {
            do throws(StoreError) {
                if let next = try await resealStep(state) {
                    progress.resealing = next
                } else {
                    // Once more when there was something: a write that was under way may have used the older key.
                    progress.resealing = state.count > 0 ? Resealing(key: state.key) : nil
                }
            } catch {
                return
            }
        }
    }

    /// Writes when sessions were last used, in transactions of a few hundred rows.
    func writeLastUses() async throws(StoreError) {
        let uses = cache.takeUnwrittenUses().sorted { $0.key < $1.key }
        do {
            for start in stride(from: 0, to: uses.count, by: Self.batch) {
                let some = uses[start..<min(start + Self.batch, uses.count)]
                try await database.write { db, _ in
                    for (key, at) in some {
                        try db.run(
                            "UPDATE session SET last_seen_at = ? WHERE key = ? AND last_seen_at < ?", [at, key, at])
                    }
                }
            }
            cache.usesWritten()
        } catch {
            cache.usesNotWritten()
            throw error
        }
    }

    /// Deletes what has expired, in small batches; answers how many sessions. Safe beside a running server.
    public func purgeExpired() async throws(StoreError) -> Int {
        try await writeLastUses()
        let now = now
        // The least that makes a session's life worth a look; its accounts and attempts are looked at then.
        let unusedSince = now &- lifetimes.idle &- Self.purgeGrace
        let begunBefore = now &- lifetimes.maxAge
        var after: Int64 = 0
        var count = 0
        while true {
            let seen = after
            let heads = try await database.read { db in
                try db.rows(
                    """
                    SELECT \(SessionRecords.Head.columns) FROM session
                    WHERE key > ? AND (last_seen_at < ? OR created_at < ?) ORDER BY key LIMIT ?
                    """, [seen, unusedSince, begunBefore, Self.batch]
                ).map(SessionRecords.Head.init)
            }
            guard let last = heads.last else { break }
            after = last.key
            let candidates = heads.filter { isPurgeable($0, now) }.map(\.key)
            if !candidates.isEmpty { count += try await purge(candidates, now) }
        }
        var deleted = Self.batch
        while deleted == Self.batch {
            let (attempts, sessions) = try await purgeAttempts(now)
            deleted = attempts
            count += sessions
        }
        return count
    }

    /// Deletes attempts that are over, the sessions that end with them, and the logout tokens that are; answers how many
    /// attempts and sessions.
    private func purgeAttempts(_ now: Int64) async throws(StoreError) -> (attempts: Int, sessions: Int) {
        try await database.write { [self] db, changes in
            try db.run("DELETE FROM logout_token WHERE ends_at <= ?", [now])
            let rows = try db.rows(
                "SELECT rowid, session FROM sign_in_attempt WHERE begun_at < ? LIMIT ?",
                [now &- lifetimes.attempt &- Self.purgeGrace, Self.batch])
            var sessions: Set<Int64> = []
            for row in rows {
                try db.run("DELETE FROM sign_in_attempt WHERE rowid = ?", [try row.decode(Int64.self, atIndex: 0)])
                sessions.insert(try row.decode(atIndex: 1))
            }
            var ended = 0
            for key in sessions {
                guard let head = try records.head(db, key: key), !head.hasAccounts, isPurgeable(head, now) else {
                    continue
                }
                try db.run("DELETE FROM session WHERE key = ?", [key])
                changes.sessions.insert(key)
                ended += 1
            }
            return (rows.count, ended)
        }
    }

    private func isPurgeable(_ head: SessionRecords.Head, _ now: Int64) -> Bool {
        records.isOver(head, lastUse: cache.lastUse(head.key), now: now &- Self.purgeGrace)
    }

    /// Decides again inside the transaction: a session may have been used or renewed since.
    private func purge(_ keys: [Int64], _ now: Int64) async throws(StoreError) -> Int {
        try await database.write { [self] db, changes in
            var count = 0
            for key in keys {
                guard let head = try records.head(db, key: key), isPurgeable(head, now) else { continue }
                let attempt = try db.row(
                    "SELECT 1 FROM sign_in_attempt WHERE session = ? AND begun_at >= ? AND consumed_at IS NULL LIMIT 1",
                    [key, now &- lifetimes.attempt])
                if attempt == nil {
                    try db.run("DELETE FROM session WHERE key = ?", [key])
                    count += 1
                } else if head.hasAccounts {
                    // Somebody is at the provider's page right now: the sign-in goes into an empty session.
                    try records.empty(db, key, now: now)
                    count += 1
                }
                changes.sessions.insert(key)
            }
            return count
        }
    }

    /// True when a write reaches the disk (`/readyz`). A commit within the last second answers for it.
    public func probeWritable() async -> Bool {
        if let since = database.sinceLastCommit, since < .seconds(1) { return true }
        do throws(StoreError) {
            try await requireWritable()
            return true
        } catch {
            return false
        }
    }

    /// Before something is spent that can only be kept here.
    ///
    /// - Throws: `unavailable` when no write reaches the disk now; that one did a moment ago says nothing.
    public func requireWritable() async throws(StoreError) {
        let now = now
        try await database.write { db, _ in
            try db.run("INSERT OR REPLACE INTO write_probe (only_row, at) VALUES (1, ?)", [now])
        }
    }
}
