import Foundation
import SessionStore

extension PostgresStore {
    private static let resealBatch: Int64 = 100

    package func sealedCounts() async throws(StoreError) -> [KeyRing.KeyID: Int] {
        try await database.readLong(SealedColumns.countQuery) { try SealedColumns.counts($0) }
    }

    package func note(sealingKey: KeyRing.KeyID) async throws(StoreError) {
        try await database.write { transaction in
            transaction.run(
                "INSERT INTO sealing_key (id) VALUES ($1) ON CONFLICT (id) DO NOTHING", [.key(sealingKey)])
        }
    }

    package func forget(sealingKeys: Set<KeyRing.KeyID>) async throws(StoreError) {
        try await database.write { transaction in
            for id in sealingKeys { transaction.run("DELETE FROM sealing_key WHERE id = $1", [.key(id)]) }
        }
    }

    /// A step is all that some sessions hold; the cursor is the last one's key.
    package func values(notSealedBy key: KeyRing.KeyID, from cursor: StoreCursor) async throws(StoreError)
        -> SealedValues?
    {
        let keys = try await database.read(
            "SELECT key FROM session WHERE key > $1 ORDER BY key LIMIT $2",
            [.integer(Int64(cursor.text) ?? 0), .integer(Self.resealBatch)]
        ) { try $0.rows.map { try $0.key(0) } }
        guard let last = keys.last else { return nil }
        var values: [(place: SealedPlace, sealed: Data)] = []
        for column in SealedColumns.all {
            values += try await database.read(
                """
                SELECT \(column.owner), \(column.name) FROM \(column.table)
                WHERE session = ANY($1) AND \(column.keyID) <> $2
                """, [.keys(keys), .key(key)]
            ) { result in try result.rows.map { (try column.place($0), try $0.blob(column.ownerCount)) } }
        }
        return SealedValues(values: values, next: StoreCursor(last.description))
    }

    package func replace(_ values: [ResealedValue]) async throws(StoreError) -> Int {
        try await database.write { transaction in
            var count = 0
            for value in values { count += try await SealedColumns.replace(value, transaction) }
            return count
        }
    }
}

/// A column that holds sealed values. Table and column names are ours: no input is part of the SQL.
struct SealedColumns: Sendable {
    let table, name: String
    /// The columns that say what a value is sealed for, and how many they are.
    let owner: String
    let ownerCount: Int32
    let place: @Sendable (PostgresRow) throws -> SealedPlace

    /// The part of a value that names its key (`substring` counts from 1).
    var keyID: String {
        "substring(\(name) FROM \(Sealer.keyIDBytes.lowerBound + 1) FOR \(Sealer.keyIDBytes.count))"
    }

    /// Every one of them.
    static let all: [SealedColumns] = [
        SealedColumns(table: "account", name: "claims", owner: AccountKey.columns, ownerCount: 3) {
            .claims(try AccountKey($0))
        },
        SealedColumns(table: "account", name: "refresh_token", owner: AccountKey.columns, ownerCount: 3) {
            .refreshToken(try AccountKey($0))
        },
        SealedColumns(table: "account", name: "id_token", owner: AccountKey.columns, ownerCount: 3) {
            .idToken(try AccountKey($0))
        },
        SealedColumns(
            table: "access_token", name: "token", owner: "\(AccountKey.columns), tenant, requested_scopes",
            ownerCount: 5
        ) { .accessToken(try AccountKey($0), tenant: try $0.text(3), scopes: try $0.text(4)) },
        SealedColumns(table: "sign_in_attempt", name: "sealed", owner: "state_hash", ownerCount: 1) {
            .attempt(state: try $0.hash(0))
        },
    ]

    /// Puts a value in the place of the one that it was made from, if that is still there.
    ///
    /// - Returns: how many it replaced.
    static func replace(_ value: ResealedValue, _ transaction: Transaction) async throws -> Int {
        let values = [Parameter.blob(value.old), .blob(value.new)]
        let (sql, parameters): (String, [Parameter]) =
            switch value.place {
            case .claims(let key): (ofAccount("claims"), key.parameters + values)
            case .refreshToken(let key): (ofAccount("refresh_token"), key.parameters + values)
            case .idToken(let key): (ofAccount("id_token"), key.parameters + values)
            case .accessToken(let key, let tenant, let scopes):
                (
                    """
                    UPDATE access_token SET token = $5
                    WHERE \(AccountKey.condition) AND token = $4 AND tenant = $6 AND requested_scopes = $7
                    """, key.parameters + values + [.text(tenant), .text(scopes)]
                )
            case .attempt(let state):
                (
                    "UPDATE sign_in_attempt SET sealed = $2 WHERE sealed = $1 AND state_hash = $3",
                    values + [.hash(state)]
                )
            case .postedAnswer(let handle):
                ("UPDATE posted_answer SET sealed = $2 WHERE sealed = $1 AND handle = $3", values + [.hash(handle)])
            }
        return try await transaction.query(sql, parameters).changes
    }

    private static func ofAccount(_ column: String) -> String {
        "UPDATE account SET \(column) = $5 WHERE \(AccountKey.condition) AND \(column) = $4"
    }

    // MARK: Counting

    /// Reads every sealed value's first bytes.
    static let countQuery = all.map { column in
        "SELECT \(column.keyID), COUNT(*) FROM \(column.table) WHERE \(column.name) IS NOT NULL GROUP BY 1"
    }.joined(separator: " UNION ALL ")

    /// How many values each key seals.
    static func counts(_ result: PostgresResult) throws -> [KeyRing.KeyID: Int] {
        try result.rows.reduce(into: [:]) { counts, row in
            counts[KeyRing.KeyID(bytes: Array(try row.blob(0))), default: 0] += Int(clamping: try row.integer(1))
        }
    }

    /// Fails when something here was sealed with a key that is not at hand; notes the current key.
    static func checkKeys(_ connection: BlockingConnection, _ ring: KeyRing, _ name: String) throws {
        let known = try connection.query("SELECT id FROM sealing_key").rows.map {
            KeyRing.KeyID(bytes: Array(try $0.blob(0)))
        }
        let missing = try ring.check(known, of: name) { id in
            try all.contains { column in
                try !connection.query(
                    "SELECT 1 FROM \(column.table) WHERE \(column.keyID) = $1 LIMIT 1", [.key(id)]
                ).isEmpty
            }
        }
        for id in missing { try connection.query("DELETE FROM sealing_key WHERE id = $1", [.key(id)]) }
        guard !known.contains(ring.currentKeyID) else { return }
        try connection.query(
            "INSERT INTO sealing_key (id) VALUES ($1) ON CONFLICT (id) DO NOTHING", [.key(ring.currentKeyID)])
    }
}
