import Foundation
import GRDBSQLite
import SessionStore

/// The least that a read of a session can take: its rows, on one connection that is read only, by statements prepared
/// once; nothing is opened or decoded.
final class PreparedRead {
    private var connection: OpaquePointer?
    private var session: OpaquePointer?
    private var others: [OpaquePointer?] = []

    init(file: String) throws {
        try check(sqlite3_open_v2(file, &connection, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nil))
        session = try prepare("SELECT * FROM session WHERE id_hash = ?")
        others = [
            try prepare(
                "SELECT * FROM account JOIN account_secret ON account_secret.account = account.key WHERE session = ?"),
            try prepare(
                """
                SELECT access_token.* FROM access_token JOIN account ON account.key = access_token.account
                WHERE session = ?
                """),
            try prepare("SELECT * FROM previous_account WHERE session = ?"),
        ]
    }

    deinit {
        for statement in others + [session] { sqlite3_finalize(statement) }
        sqlite3_close(connection)
    }

    /// Takes every column of every row of the session.
    func read(_ id: SessionID) throws {
        // As SQLite's header has it: the bytes must be copied.
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        id.hash.blob.withUnsafeBytes { bytes in
            _ = sqlite3_bind_blob(session, 1, bytes.baseAddress, Int32(bytes.count), transient)
        }
        defer { sqlite3_reset(session) }
        guard sqlite3_step(session) == SQLITE_ROW else { throw Failure("a session is missing") }
        take(session)
        let key = sqlite3_column_int64(session, 0)
        for statement in others {
            sqlite3_bind_int64(statement, 1, key)
            while sqlite3_step(statement) == SQLITE_ROW { take(statement) }
            sqlite3_reset(statement)
        }
    }

    private func take(_ statement: OpaquePointer?) {
        for column in 0..<sqlite3_column_count(statement) {
            _ = sqlite3_column_blob(statement, column)
            _ = sqlite3_column_bytes(statement, column)
        }
    }

    private func prepare(_ sql: String) throws -> OpaquePointer? {
        var statement: OpaquePointer?
        try check(sqlite3_prepare_v3(connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil))
        return statement
    }

    private func check(_ status: Int32) throws {
        guard status == SQLITE_OK else { throw Failure(String(cString: sqlite3_errstr(status))) }
    }
}
