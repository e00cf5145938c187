import Foundation
import GRDB
import SessionStore

/// A column that holds sealed values. Table and column names are ours: no input is part of the SQL.
struct SealedColumn: Sendable {
    let table, column: String
    /// The number by which the rows are walked.
    let key: String
    /// Finds what the values of a row are sealed for, by the row's number.
    let owner: String
    let place: @Sendable (Row) throws -> SealedPlace

    /// The part of a value that names its key (`substr` counts from 1).
    var keyID: String {
        "substr(\(column), \(Sealer.keyIDBytes.lowerBound + 1), \(Sealer.keyIDBytes.count))"
    }

    /// Every one of them.
    static let all: [SealedColumn] = [
        ofAccount("claims") { .claims($0) },
        ofAccount("refresh_token") { .refreshToken($0) },
        ofAccount("id_token") { .idToken($0) },
        SealedColumn(
            table: "access_token", column: "token", key: "key",
            owner: """
                SELECT \(AccountKey.columns), requested_scopes, tenant
                FROM access_token JOIN account ON account.key = access_token.account WHERE access_token.key = ?
                """
        ) { row in
            .accessToken(
                try AccountKey(row: row), tenant: try row.decode(forColumn: "tenant"),
                scopes: try row.decode(forColumn: "requested_scopes"))
        },
        SealedColumn(
            table: "sign_in_attempt", column: "sealed", key: "rowid",
            owner: "SELECT state_hash FROM sign_in_attempt WHERE rowid = ?"
        ) { row in .attempt(state: try row.decode(forColumn: "state_hash")) },
    ]

    private static func ofAccount(
        _ column: String, _ place: @escaping @Sendable (AccountKey) -> SealedPlace
    ) -> SealedColumn {
        SealedColumn(
            table: "account_secret", column: column, key: "account",
            owner: "SELECT \(AccountKey.columns) FROM account WHERE key = ?"
        ) { row in place(try AccountKey(row: row)) }
    }

    /// Puts a value in the place of the one that it was made from, if that is still there.
    static func replace(_ value: ResealedValue, _ db: Database) throws {
        let account = "(SELECT key FROM account WHERE session = ? AND app = ? AND id = ?)"
        func replace(_ column: String, of key: AccountKey) throws {
            try db.run(
                "UPDATE account_secret SET \(column) = ? WHERE \(column) = ? AND account = \(account)",
                [value.new, value.old, key.session, key.app, key.id])
        }
        switch value.place {
        case .claims(let key): try replace("claims", of: key)
        case .refreshToken(let key): try replace("refresh_token", of: key)
        case .idToken(let key): try replace("id_token", of: key)
        case .accessToken(let key, let tenant, let scopes):
            try db.run(
                """
                UPDATE access_token SET token = ?
                WHERE token = ? AND account = \(account) AND tenant = ? AND requested_scopes = ?
                """, [value.new, value.old, key.session, key.app, key.id, tenant, scopes])
        case .attempt(let state):
            try db.run(
                "UPDATE sign_in_attempt SET sealed = ? WHERE sealed = ? AND state_hash = ?",
                [value.new, value.old, state])
        case .postedAnswer: break
        }
    }

    // MARK: Walking

    /// Where a walk goes on: in which column, after which row.
    static func cursor(_ index: Int, after number: Int64 = .min) -> StoreCursor { StoreCursor("\(index) \(number)") }

    /// The beginning for a cursor that is none of ours.
    static func place(of cursor: StoreCursor) -> (index: Int, after: Int64) {
        let words = cursor.text.split(separator: " ")
        guard words.count == 2, let index = Int(words[0]), let after = Int64(words[1]) else { return (0, .min) }
        return (index, after)
    }

    // MARK: Counting

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
                    SELECT \(column.keyID) AS id, COUNT(*) AS count FROM \(column.table)
                    WHERE \(column.column) IS NOT NULL GROUP BY 1
                    """)
            for row in rows {
                counts[try row.decode(forColumn: "id"), default: 0] += try row.decode(Int.self, forColumn: "count")
            }
        }
        return counts
    }

    /// Whether a key seals anything. Reads sealed values' first bytes until one is found.
    static func isUsed(_ db: Database, _ id: KeyRing.KeyID) throws -> Bool {
        try all.contains { column in
            try db.value("SELECT 1 FROM \(column.table) WHERE \(column.keyID) = ? LIMIT 1", [id], as: Int.self) != nil
        }
    }
}
