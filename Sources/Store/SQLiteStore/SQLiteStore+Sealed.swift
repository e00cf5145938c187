import Foundation
import GRDB
import SessionStore

// The location of the columns with sealed values. Table and column names are constants: no input is part of the SQL.

extension SealedColumn {
    /// The table, the number by which its rows are walked, and the query that finds a row's owner by that number.
    private var location: (table: String, key: String, owner: String) {
        switch self {
        case .claims, .refreshToken, .idToken:
            ("account_secret", "account", "SELECT \(AccountKey.columns) FROM account WHERE key = ?")
        case .accessToken:
            (
                "access_token", "key",
                """
                SELECT \(AccountKey.columns), requested_scopes, tenant
                FROM access_token JOIN account ON account.key = access_token.account WHERE access_token.key = ?
                """
            )
        }
    }

    var table: String { location.table }
    var key: String { location.key }

    /// The part of a value that names its key (`substr` counts from 1).
    var keyID: String { "substr(\(name), \(Sealer.keyIDBytes.lowerBound + 1), \(Sealer.keyIDBytes.count))" }

    /// Returns the place for which a row's value is sealed; nil when the row is gone.
    func place(ofRow number: Int64, _ db: Database) throws -> SealedPlace? {
        guard let row = try db.row(location.owner, [number]) else { return nil }
        return try place(
            account: AccountKey(row: row), tenant: row.decode(forColumn: "tenant"),
            scopes: row.decode(forColumn: "requested_scopes"))
    }

    /// Replaces a value by its resealed form, if the old one is still stored.
    static func replace(_ value: ResealedValue, _ db: Database) throws {
        guard let column = value.place.column else { return }
        let ofAccount = "account = (SELECT key FROM account WHERE session = ? AND app = ? AND id = ?)"
        let (owner, arguments): (String, StatementArguments)
        switch value.place {
        case .claims(let key), .refreshToken(let key), .idToken(let key):
            (owner, arguments) = (ofAccount, [key.session, key.app, key.id])
        case .accessToken(let key, let tenant, let scopes):
            owner = ofAccount + " AND tenant = ? AND requested_scopes = ?"
            arguments = [key.session, key.app, key.id, tenant, scopes]
        case .signIn, .postedAnswer, .note: return
        }
        try db.run(
            "UPDATE \(column.table) SET \(column.name) = ? WHERE \(column.name) = ? AND \(owner)",
            [value.new, value.old] + arguments)
    }

    // MARK: Walking

    /// Returns the cursor that continues in a column, after a row.
    static func cursor(_ index: Int, after number: Int64 = .min) -> StoreCursor { StoreCursor("\(index) \(number)") }

    /// Returns the position of a cursor; the beginning if the cursor is not ours.
    static func place(of cursor: StoreCursor) -> (index: Int, after: Int64) {
        let words = cursor.text.split(separator: " ")
        guard words.count == 2, let index = Int(words[0]), let after = Int64(words[1]) else { return (0, .min) }
        return (index, after)
    }

    // MARK: Counting

    /// Counts the values that each key seals. Reads the first bytes of every sealed value.
    static func counts(_ db: Database) throws -> [KeyRing.KeyID: Int] {
        var counts: [KeyRing.KeyID: Int] = [:]
        for column in allCases {
            // A database of an older version does not have all columns.
            guard try db.tableExists(column.table),
                try db.columns(in: column.table).contains(where: { $0.name == column.name })
            else { continue }
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT \(column.keyID) AS id, COUNT(*) AS count FROM \(column.table)
                    WHERE \(column.name) IS NOT NULL GROUP BY 1
                    """)
            for row in rows {
                counts[try row.decode(forColumn: "id"), default: 0] += try row.decode(Int.self, forColumn: "count")
            }
        }
        return counts
    }

    /// Whether a key seals anything. Reads the first bytes of sealed values until one is found.
    static func isUsed(_ db: Database, _ id: KeyRing.KeyID) throws -> Bool {
        try allCases.contains { column in
            try db.value("SELECT 1 FROM \(column.table) WHERE \(column.keyID) = ? LIMIT 1", [id], as: Int.self) != nil
        }
    }
}
