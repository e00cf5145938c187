import Foundation
package import SessionStore

extension PostgresStore {
    private static let resealBatch: Int64 = 100

    package func sealedCounts() async throws(StoreError) -> [KeyRing.KeyID: Int] {
        try await database.readLong(SealedColumn.countQuery) { try SealedColumn.counts($0) }
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

    /// One step covers a number of whole sessions; the cursor is the key of the last one.
    package func values(notSealedBy key: KeyRing.KeyID, from cursor: StoreCursor) async throws(StoreError)
        -> SealedValues?
    {
        let keys = try await database.read(
            "SELECT key FROM session WHERE key > $1 ORDER BY key LIMIT $2",
            [.integer(Int64(cursor.text) ?? 0), .integer(Self.resealBatch)]
        ) { try $0.rows.map { try $0.key(0) } }
        guard let last = keys.last else { return nil }
        var values: [(place: SealedPlace, sealed: Data)] = []
        for column in SealedColumn.allCases {
            values += try await database.read(
                """
                SELECT \(column.owner.joined(separator: ", ")), \(column.name) FROM \(column.table)
                WHERE session = ANY($1) AND \(column.keyID) <> $2
                """, [.keys(keys), .key(key)]
            ) { result in try result.rows.map { (try column.place($0), try $0.blob(Int32(column.owner.count))) } }
        }
        return SealedValues(values: values, next: StoreCursor(last.description))
    }

    package func replace(_ values: [ResealedValue]) async throws(StoreError) -> Int {
        try await database.write { transaction in
            var count = 0
            for value in values { count += try await SealedColumn.replace(value, transaction) }
            return count
        }
    }
}

// The location of the columns with sealed values. Table and column names are constants: no input is part of the SQL.

extension SealedColumn {
    /// The table, and the columns that name the owner of a row.
    private var location: (table: String, owner: [String]) {
        switch self {
        case .claims, .refreshToken, .idToken: ("account", ["session", "app", "id"])
        case .accessToken: ("access_token", ["session", "app", "id", "tenant", "requested_scopes"])
        }
    }

    fileprivate var table: String { location.table }
    fileprivate var owner: [String] { location.owner }

    /// The part of a value that names its key (`substring` counts from 1).
    fileprivate var keyID: String {
        "substring(\(name) FROM \(Sealer.keyIDBytes.lowerBound + 1) FOR \(Sealer.keyIDBytes.count))"
    }

    /// Returns the place for which a row's value is sealed. The row begins with ``owner``.
    fileprivate func place(_ row: PostgresRow) throws -> SealedPlace {
        try place(account: AccountKey(row), tenant: row.text(3), scopes: row.text(4))
    }

    /// Replaces a value by its resealed form, if the old one is still stored.
    ///
    /// - Returns: the number of values that were replaced.
    fileprivate static func replace(_ value: ResealedValue, _ transaction: Transaction) async throws -> Int {
        guard let column = value.place.column else { return 0 }
        let owner: [Parameter]
        switch value.place {
        case .claims(let key), .refreshToken(let key), .idToken(let key): owner = key.parameters
        case .accessToken(let key, let tenant, let scopes): owner = key.parameters + [.text(tenant), .text(scopes)]
        case .signIn, .postedAnswer, .note: return 0
        }
        let isOwner = column.owner.enumerated().map { " AND \($1) = $\($0 + 3)" }.joined()
        return try await transaction.query(
            "UPDATE \(column.table) SET \(column.name) = $1 WHERE \(column.name) = $2" + isOwner,
            [.blob(value.new), .blob(value.old)] + owner
        ).changes
    }

    // MARK: Counting

    /// Counts the values of each key. Reads the first bytes of every sealed value.
    static let countQuery = allCases.map { column in
        "SELECT \(column.keyID), COUNT(*) FROM \(column.table) WHERE \(column.name) IS NOT NULL GROUP BY 1"
    }.joined(separator: " UNION ALL ")

    /// Returns the number of values that each key seals.
    static func counts(_ result: PostgresResult) throws -> [KeyRing.KeyID: Int] {
        try result.rows.reduce(into: [:]) { counts, row in
            counts[KeyRing.KeyID(bytes: Array(try row.blob(0))), default: 0] += Int(clamping: try row.integer(1))
        }
    }

    /// Throws when something was sealed with a key that is missing; otherwise records the current key.
    static func checkKeys(_ connection: BlockingConnection, _ ring: KeyRing, _ name: String) throws {
        let known = try connection.query("SELECT id FROM sealing_key").rows.map {
            KeyRing.KeyID(bytes: Array(try $0.blob(0)))
        }
        let missing = try ring.check(known, of: name) { id in
            try allCases.contains { column in
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
