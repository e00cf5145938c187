import Foundation
import GRDB
package import SessionStore

extension SQLiteStore {
    private static let resealBatch = 200

    package func sealedCounts() async throws(StoreError) -> [KeyRing.KeyID: Int] {
        try await database.read { db in try SealedColumn.counts(db) }
    }

    package func note(sealingKey: KeyRing.KeyID) async throws(StoreError) {
        try await database.write { db in
            try db.run("INSERT OR IGNORE INTO sealing_key (id) VALUES (?)", [sealingKey])
        }
    }

    package func forget(sealingKeys: Set<KeyRing.KeyID>) async throws(StoreError) {
        try await database.write { db in
            for id in sealingKeys { try db.run("DELETE FROM sealing_key WHERE id = ?", [id]) }
        }
    }

    package func values(notSealedBy key: KeyRing.KeyID, from cursor: StoreCursor) async throws(StoreError)
        -> SealedValues?
    {
        let (index, after) = SealedColumn.place(of: cursor)
        guard SealedColumn.allCases.indices.contains(index) else { return nil }
        let column = SealedColumn.allCases[index]
        // A reader finds the rows: on the writer, a walk through a large table would block every sign-in.
        return try await database.read { db in
            let rows = try db.rows(
                """
                SELECT \(column.key) AS number,
                    CASE WHEN \(column.keyID) <> ? THEN \(column.name) END AS sealed
                FROM \(column.table) WHERE \(column.key) > ? ORDER BY \(column.key) LIMIT ?
                """, [key, after, Self.resealBatch])
            guard let last = rows.last else {
                return SealedValues(values: [], next: SealedColumn.cursor(index + 1))
            }
            let values = try rows.compactMap { row -> (place: SealedPlace, sealed: Data)? in
                guard let sealed = try row.decode(Data?.self, forColumn: "sealed"),
                    let place = try column.place(ofRow: row.decode(forColumn: "number"), db)
                else { return nil }
                return (place, sealed)
            }
            return SealedValues(
                values: values,
                next: SealedColumn.cursor(index, after: try last.decode(Int64.self, forColumn: "number")))
        }
    }

    package func replace(_ values: [ResealedValue]) async throws(StoreError) -> Int {
        try await database.write { db in
            try values.reduce(into: 0) { count, value in
                try SealedColumn.replace(value, db)
                count += db.changesCount
            }
        }
    }
}

extension SQLiteSchema {
    /// Throws when something was sealed with a key that is missing; otherwise records the current key. Writes only when
    /// there is something new, so that the command line can inspect a database that others have locked.
    static func checkKeys(_ pool: DatabasePool, _ ring: KeyRing, _ path: String) throws {
        let known = try pool.read { db in try db.values("SELECT id FROM sealing_key", as: KeyRing.KeyID.self) }
        let missing = try ring.check(known, of: path) { id in
            try pool.read { db in try SealedColumn.isUsed(db, id) }
        }
        guard !missing.isEmpty || !known.contains(ring.currentKeyID) else { return }
        try pool.write { db in
            for id in missing { try db.run("DELETE FROM sealing_key WHERE id = ?", [id]) }
            try db.run("INSERT OR IGNORE INTO sealing_key (id) VALUES (?)", [ring.currentKeyID])
        }
    }
}
