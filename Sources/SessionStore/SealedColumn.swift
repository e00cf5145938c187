import Foundation
import GRDB

/// A column that holds sealed values. Table and column names are ours: no input is part of the SQL.
struct SealedColumn: Sendable {
    let table, column: String
    /// The number by which the rows are walked.
    let key: String
    /// Finds the identity that the values of a row are sealed for.
    let identity: String
    let place: @Sendable (Row) throws -> Sealer.Place

    /// Every one of them.
    static let all: [SealedColumn] = [
        ofAccount("claims") { .claims($0, app: $1, account: $2) },
        ofAccount("refresh_token") { .refreshToken($0, app: $1, account: $2) },
        ofAccount("id_token") { .idToken($0, app: $1, account: $2) },
        SealedColumn(
            table: "access_token", column: "token", key: "key",
            identity: """
                SELECT session, app, id, requested_scopes, tenant
                FROM access_token JOIN account ON account.key = access_token.account WHERE access_token.key = ?
                """
        ) { row in
            .accessToken(
                try row.decode(atIndex: 0), app: try row.decode(atIndex: 1), account: try row.decode(atIndex: 2),
                tenant: try row.decode(atIndex: 4), scopes: try row.decode(atIndex: 3))
        },
        SealedColumn(
            table: "sign_in_attempt", column: "sealed", key: "rowid",
            identity: "SELECT state_hash FROM sign_in_attempt WHERE rowid = ?"
        ) { row in
            guard let hash = SHA256Hash(blob: try row.decode(atIndex: 0)) else {
                throw StoreError.corrupt("a state's hash does not have 32 bytes")
            }
            return .attempt(hash)
        },
    ]

    private static func ofAccount(
        _ column: String, _ place: @escaping @Sendable (Int64, String, String) -> Sealer.Place
    ) -> SealedColumn {
        SealedColumn(
            table: "account_secret", column: column, key: "account",
            identity: "SELECT session, app, id FROM account WHERE key = ?"
        ) { row in
            place(try row.decode(atIndex: 0), try row.decode(atIndex: 1), try row.decode(atIndex: 2))
        }
    }

    /// How many values each key seals. Reads every sealed value's first bytes.
    static func counts(_ db: Database) throws -> [KeyRing.KeyID: Int] {
        var counts: [KeyRing.KeyID: Int] = [:]
        for column in all {
            // A database of an older version has not all of them.
            guard try db.tableExists(column.table),
                try db.columns(in: column.table).contains(where: { $0.name == column.column })
            else { continue }
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT substr(\(column.column), \(Sealer.keyIDColumns)), COUNT(*) FROM \(column.table)
                    WHERE \(column.column) IS NOT NULL GROUP BY 1
                    """)
            for row in rows {
                let id = KeyRing.KeyID(bytes: Array(try row.decode(Data.self, atIndex: 0)))
                counts[id, default: 0] += try row.decode(Int.self, atIndex: 1)
            }
        }
        return counts
    }

    /// Whether a key seals anything. Reads sealed values' first bytes until one is found.
    static func isUsed(_ db: Database, _ id: KeyRing.KeyID) throws -> Bool {
        for column in all {
            let row = try db.row(
                "SELECT 1 FROM \(column.table) WHERE substr(\(column.column), \(Sealer.keyIDColumns)) = ? LIMIT 1",
                [Data(id.bytes)])
            if row != nil { return true }
        }
        return false
    }
}
