import Foundation
import GRDB
import SessionStore

// Where the columns with sealed values stand. Table and column names are ours: no input is part of the SQL.

extension SealedColumn {
    /// The table, the number by which its rows are walked, and what finds the owner of a row by that number.
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

    /// What the value of a row is sealed for; nil when the row is gone.
    func place(ofRow number: Int64, _ db: Database) throws -> SealedPlace? {
        guard let row = try db.row(location.owner, [number]) else { return nil }
        return try place(
            account: AccountKey(row: row), tenant: row.decode(forColumn: "tenant"),
            scopes: row.decode(forColumn: "requested_scopes"))
    }

    /// Puts a value in the place of the one that it was made from, if that is still there.
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
        case .signIn, .postedAnswer: return
        }
        try db.run(
            "UPDATE \(column.table) SET \(column.name) = ? WHERE \(column.name) = ? AND \(owner)",
            [value.new, value.old] + arguments)
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
        for column in allCases {
            // A database of an older version has not all of them.
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

    /// Whether a key seals anything. Reads sealed values' first bytes until one is found.
    static func isUsed(_ db: Database, _ id: KeyRing.KeyID) throws -> Bool {
        try allCases.contains { column in
            try db.value("SELECT 1 FROM \(column.table) WHERE \(column.keyID) = ? LIMIT 1", [id], as: Int.self) != nil
        }
    }
}
