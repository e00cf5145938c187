import Foundation
import GRDB

extension SessionStore {
    /// Seals again with the current key what an older one sealed, in small batches; answers how many values. Afterwards
    /// the older keys are needed no more (`KeyRing.dropOlderKeys(fileAt:)`). Beside a running server, wait two seconds
    /// after `KeyRing.rotate(fileAt:)`: until then it may still seal with the old key.
    public func reseal() async throws(StoreError) -> Int {
        _ = sealer.reloadIfChanged()
        try await noteCurrentKey()
        var count = 0
        count += try await reseal(
            "account_secret", "claims", "account",
            "SELECT session, app, id, '' FROM account WHERE key = ?"
        ) { row in
            .claims(try row.decode(atIndex: 0), app: try row.decode(atIndex: 1), account: try row.decode(atIndex: 2))
        }
        count += try await reseal(
            "account_secret", "refresh_token", "account",
            "SELECT session, app, id, '' FROM account WHERE key = ?"
        ) { row in
            .refreshToken(
                try row.decode(atIndex: 0), app: try row.decode(atIndex: 1), account: try row.decode(atIndex: 2))
        }
        count += try await reseal(
            "account_secret", "id_token", "account",
            "SELECT session, app, id, '' FROM account WHERE key = ?"
        ) { row in
            .idToken(try row.decode(atIndex: 0), app: try row.decode(atIndex: 1), account: try row.decode(atIndex: 2))
        }
        count += try await reseal(
            "access_token", "token", "key",
            """
            SELECT session, app, id, requested_scopes, tenant FROM access_token JOIN account ON account.key = access_token.account
            WHERE access_token.key = ?
            """
        ) { row in
            .accessToken(
                try row.decode(atIndex: 0), app: try row.decode(atIndex: 1), account: try row.decode(atIndex: 2),
                tenant: try row.decode(atIndex: 4), scopes: try row.decode(atIndex: 3))
        }
        count += try await reseal(
            "sign_in_attempt", "sealed", "rowid", "SELECT state_hash FROM sign_in_attempt WHERE rowid = ?"
        ) { row in
            guard let hash = SHA256Hash(blob: try row.decode(atIndex: 0)) else {
                throw StoreError.corrupt("a state's hash does not have 32 bytes")
            }
            return .attempt(hash)
        }
        let current = sealer.ring.currentKeyID
        try await database.write { db, _ in
            for row in try db.rows("SELECT id FROM sealing_key", []) {
                let id = KeyRing.KeyID(bytes: Array(try row.decode(Data.self, atIndex: 0)))
                if try id != current && !Schema.isUsed(db, id) {
                    try db.run("DELETE FROM sealing_key WHERE id = ?", [Data(id.bytes)])
                }
            }
        }
        return count
    }

    /// `table`, `column` and the rest are ours: no input is part of the SQL.
    private func reseal(
        _ table: String, _ column: String, _ key: String, _ identity: String,
        _ place: @escaping @Sendable (Row) throws -> Sealer.Place
    ) async throws(StoreError) -> Int {
        var count = 0
        var after = Int64.min
        while true {
            let seen = after
            let (last, changed) = try await database.write { [self] db, _ in
                let current = Data(sealer.ring.currentKeyID.bytes)
                let rows = try db.rows(
                    """
                    SELECT \(key), \(column) FROM \(table)
                    WHERE \(key) > ? AND substr(\(column), \(Sealer.keyIDColumns)) <> ? ORDER BY \(key) LIMIT 100
                    """, [seen, current])
                var last: Int64?
                for row in rows {
                    let number = try row.decode(Int64.self, atIndex: 0)
                    last = number
                    guard let owner = try db.row(identity, [number]) else { continue }
                    let place = try place(owner)
                    let text = try sealer.open(row.decode(Data.self, atIndex: 1), for: place)
                    try db.run(
                        "UPDATE \(table) SET \(column) = ? WHERE \(key) = ?", [sealer.seal(text, for: place), number])
                }
                return (last, rows.count)
            }
            guard let last else { return count }
            count += changed
            after = last
        }
    }

    /// So that the loss of this key is noticed when the file is opened.
    func noteCurrentKey() async throws(StoreError) {
        let id = Data(sealer.ring.currentKeyID.bytes)
        try await database.write { db, _ in try db.run("INSERT OR IGNORE INTO sealing_key (id) VALUES (?)", [id]) }
    }
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
        for id in missing where try pool.read({ db in try isUsed(db, id) }) {
            throw StoreError.cannotUnseal(Sealer.keyMissing(id, path))
        }
        guard !missing.isEmpty || !known.contains(ring.currentKeyID) else { return }
        try pool.write { db in
            for id in missing { try db.run("DELETE FROM sealing_key WHERE id = ?", [Data(id.bytes)]) }
            try db.run("INSERT OR IGNORE INTO sealing_key (id) VALUES (?)", [Data(ring.currentKeyID.bytes)])
        }
    }

    /// Reads every sealed value's first bytes: only done when a key was rotated out or lost.
    static func isUsed(_ db: Database, _ id: KeyRing.KeyID) throws -> Bool {
        for (table, column) in sealedColumns {
            let row = try db.row(
                "SELECT 1 FROM \(table) WHERE substr(\(column), \(Sealer.keyIDColumns)) = ? LIMIT 1", [Data(id.bytes)])
            if row != nil { return true }
        }
        return false
    }
}
