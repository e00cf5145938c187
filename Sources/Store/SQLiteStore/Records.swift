import Foundation
public import GRDB
public import SessionStore

// Conversions of table rows to the store's rows. Columns are found by name; a missing column, or one of another type,
// is an error.

extension SessionKey: DatabaseValueConvertible {
    /// The value in a column.
    public var databaseValue: DatabaseValue { value.databaseValue }
    /// Reads a column; nil for a value of another type.
    public static func fromDatabaseValue(_ value: DatabaseValue) -> SessionKey? {
        Int64.fromDatabaseValue(value).map { SessionKey($0) }
    }
}

extension SHA256Hash: DatabaseValueConvertible {
    /// The value in a column.
    public var databaseValue: DatabaseValue { blob.databaseValue }
    /// Reads a column; nil for a value of another type.
    public static func fromDatabaseValue(_ value: DatabaseValue) -> SHA256Hash? {
        Data.fromDatabaseValue(value).flatMap { SHA256Hash(blob: $0) }
    }
}

extension KeyRing.KeyID: DatabaseValueConvertible {
    /// The value in a column.
    public var databaseValue: DatabaseValue { Data(bytes).databaseValue }
    /// Reads a column; nil for a value of another type.
    public static func fromDatabaseValue(_ value: DatabaseValue) -> KeyRing.KeyID? {
        Data.fromDatabaseValue(value).map { KeyRing.KeyID(bytes: Array($0)) }
    }
}

extension SessionRow: FetchableRecord {
    static let columns = """
        key, id_hash, created_at, last_seen_at,
        EXISTS (SELECT 1 FROM account WHERE account.session = session.key) AS has_accounts,
        (SELECT MAX(begun_at) FROM sign_in_attempt WHERE sign_in_attempt.session = session.key) AS last_attempt_at,
        EXISTS (SELECT 1 FROM previous_account WHERE previous_account.session = session.key) AS remembers_somebody
        """

    package init(row: Row) throws {
        self.init(
            key: try row.decode(forColumn: "key"), idHash: try row.decode(forColumn: "id_hash"),
            createdAt: try row.decode(forColumn: "created_at"), lastSeenAt: try row.decode(forColumn: "last_seen_at"),
            hasAccounts: try row.decode(forColumn: "has_accounts"),
            remembersSomebody: try row.decode(forColumn: "remembers_somebody"),
            lastAttemptAt: try row.decode(forColumn: "last_attempt_at"))
    }
}

extension AccountKey: FetchableRecord {
    static let columns = "session, app, id"

    /// Reads a row with ``columns``.
    public init(row: Row) throws {
        self.init(
            session: try row.decode(forColumn: "session"), app: try row.decode(forColumn: "app"),
            id: try row.decode(forColumn: "id"))
    }
}

extension AttemptRow: FetchableRecord {
    static let columns = "session, begun_at, consumed_at, code_hash, failed_at, completed_at, issued_id_hash"

    package init(row: Row) throws {
        self.init(
            session: try row.decode(forColumn: "session"), begunAt: try row.decode(forColumn: "begun_at"),
            consumedAt: try row.decode(forColumn: "consumed_at"), codeHash: try row.decode(forColumn: "code_hash"),
            failedAt: try row.decode(forColumn: "failed_at"),
            completedAt: try row.decode(forColumn: "completed_at"),
            issuedIDHash: try row.decode(forColumn: "issued_id_hash"))
    }
}
