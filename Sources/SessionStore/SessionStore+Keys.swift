import Foundation
import GRDB

/// One key, and how much it seals.
public struct KeyUse: Sendable, Hashable {
    /// The key's id, which is no secret.
    public let id: KeyRing.KeyID
    /// Whether it is the one that seals now.
    public let isCurrent: Bool
    /// Whether the key ring holds it: without it, what it sealed is lost.
    public let isAtHand: Bool
    /// How many values in the database are sealed with it.
    public let values: Int

    /// The ring's keys in their order, then keys that are not in it.
    static func list(_ ring: KeyRing?, _ counts: [KeyRing.KeyID: Int]) -> [KeyUse] {
        let known = ring?.keyIDs ?? []
        let lost = counts.keys.filter { !known.contains($0) }.sorted { $0.description < $1.description }
        return (known + lost).map {
            KeyUse(
                id: $0, isCurrent: $0 == ring?.currentKeyID, isAtHand: known.contains($0), values: counts[$0] ?? 0)
        }
    }
}

/// How far the sealing anew has come, row by row of one column after the other.
struct Resealing: Sendable {
    /// The key that sealed when it began.
    let key: KeyRing.KeyID
    var column = 0
    var after = Int64.min
    /// Values sealed anew.
    var count = 0
}

extension SessionStore {
    private static let resealBatch = 200

    /// Which keys there are and how many values each seals.
    public func keyUses() async throws(StoreError) -> [KeyUse] {
        let counts = try await database.read { db in try SealedColumn.counts(db) }
        return KeyUse.list(sealer.ring, counts)
    }

    /// Seals with the current key what an older one sealed; answers how many values. What does not open (damaged, or a
    /// key is missing) stays as it is. Safe beside a running server.
    public func reseal() async throws(StoreError) -> Int {
        _ = sealer.reloadIfChanged()
        try await noteCurrentKey()
        var state = Resealing(key: sealer.ring.currentKeyID)
        while let next = try await resealStep(state) { state = next }
        return state.count
    }

    /// Seals the rest with the current key and takes the older keys that seal nothing any more out of the key file.
    /// Answers what became of the older keys: those that still seal something stay.
    ///
    /// Beside a running server, some seconds after `KeyRing.rotate(fileAt:)`: see ``KeyRing/settlingTime``.
    public func retireOlderKeys() async throws(StoreError) -> (retired: [KeyRing.KeyID], kept: [KeyUse]) {
        guard let file = sealer.ring.file else {
            throw .keyFile(
                "The keys come from the environment: leave only the first in COMPANION_ENCRYPTION_KEY and restart.")
        }
        _ = try await reseal()
        let older = try await keyUses().filter { $0.isAtHand && !$0.isCurrent }
        let idle = Set(older.filter { $0.values == 0 }.map(\.id))
        if !idle.isEmpty {
            _ = try KeyRing.drop(idle, fromFileAt: file, randomBytes: randomBytes)
            _ = sealer.reloadIfChanged()
            try await database.write { db, _ in
                for id in idle { try db.run("DELETE FROM sealing_key WHERE id = ?", [Data(id.bytes)]) }
            }
        }
        return (older.map(\.id).filter(idle.contains), older.filter { !idle.contains($0.id) })
    }

    /// One small step; nil at the end.
    func resealStep(_ state: Resealing) async throws(StoreError) -> Resealing? {
        guard state.column < SealedColumn.all.count else { return nil }
        let column = SealedColumn.all[state.column]
        let sealer = sealer
        // A reader looks for the rows: on the writer, walking a large table would keep every sign-in waiting.
        let (last, values) = try await database.read { db in
            let rows = try db.rows(
                """
                SELECT \(column.key),
                    CASE WHEN substr(\(column.column), \(Sealer.keyIDColumns)) <> ? THEN \(column.column) END
                FROM \(column.table) WHERE \(column.key) > ? ORDER BY \(column.key) LIMIT ?
                """, [Data(state.key.bytes), state.after, Self.resealBatch])
            var values: [(key: Int64, old: Data, new: Data)] = []
            for row in rows {
                guard let old = try row.decode(Data?.self, atIndex: 1) else { continue }
                let key = try row.decode(Int64.self, atIndex: 0)
                guard let owner = try db.row(column.identity, [key]) else { continue }
                let place = try column.place(owner)
                // One damaged value must not keep the others from the new key.
                guard let text = try? sealer.open(old, for: place) else { continue }
                values.append((key, old, try sealer.seal(text, for: place)))
            }
            return (try rows.last?.decode(Int64.self, atIndex: 0), values)
        }
        var next = state
        guard let last else {
            next.column += 1
            next.after = .min
            return next
        }
        if !values.isEmpty {
            next.count += try await database.write { db, _ in
                var count = 0
                for value in values {
                    // A value that was renewed since it was read stays: its writer sealed it.
                    try db.run(
                        """
                        UPDATE \(column.table) SET \(column.column) = ?
                        WHERE \(column.key) = ? AND \(column.column) = ?
                        """, [value.new, value.key, value.old])
                    count += db.changesCount
                }
                return count
            }
        }
        next.after = last
        return next
    }

    /// So that the loss of this key is noticed when the file is opened.
    func noteCurrentKey() async throws(StoreError) {
        let id = sealer.ring.currentKeyID
        try await database.write { db, _ in
            try db.run("INSERT OR IGNORE INTO sealing_key (id) VALUES (?)", [Data(id.bytes)])
        }
    }
}

extension KeyRing {
    /// How long after a rotation a running server may still commit what it sealed with the key before.
    public static var settlingTime: Duration { .seconds(10) }
}

extension Schema {
    /// Fails when something here was sealed with a key that is not at hand; notes the current key. Writes only when
    /// there is something new, so that the command line can look at a database that others have locked.
    static func checkKeys(_ pool: DatabasePool, _ ring: KeyRing, _ path: String) throws {
        let known = try pool.read { db in
            try db.rows("SELECT id FROM sealing_key").map {
                KeyRing.KeyID(bytes: Array(try $0.decode(Data.self, atIndex: 0)))
            }
        }
        let missing = known.filter { !ring.keyIDs.contains($0) }
        for id in missing where try pool.read({ db in try SealedColumn.isUsed(db, id) }) {
            throw StoreError.cannotUnseal(Sealer.keyMissing(id, path))
        }
        guard !missing.isEmpty || !known.contains(ring.currentKeyID) else { return }
        try pool.write { db in
            for id in missing { try db.run("DELETE FROM sealing_key WHERE id = ?", [Data(id.bytes)]) }
            try db.run("INSERT OR IGNORE INTO sealing_key (id) VALUES (?)", [Data(ring.currentKeyID.bytes)])
        }
    }
}
