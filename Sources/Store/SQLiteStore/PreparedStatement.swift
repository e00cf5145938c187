import Foundation
import GRDB
import GRDBSQLite

/// A statement of SQLite itself, which its connection owns. It is for frequent reads, for which the overhead of GRDB
/// matters. It may only be used where its connection may be used.
struct PreparedStatement {
    let handle: OpaquePointer

    /// Runs the statement with these arguments and passes each row to `body`.
    func forEachRow(_ arguments: Argument..., body: (ResultRow) throws -> Void) throws {
        try whileAtRow(arguments) { row in
            try body(row)
            return true
        }
    }

    /// Runs the statement and passes its first row to `body`. The statement stays at the row until `body` returns, so
    /// other reads on the connection in the meantime see the same snapshot.
    ///
    /// - Returns: nil when there is no row.
    func atFirstRow<Value>(_ arguments: Argument..., body: (ResultRow) throws -> Value) throws -> Value? {
        var value: Value?
        try whileAtRow(arguments) { row in
            value = try body(row)
            return false
        }
        return value
    }

    private func whileAtRow(_ arguments: [Argument], body: (ResultRow) throws -> Bool) throws {
        // The statement must always be reset. The last one on the connection ends the read transaction, for which a
        // checkpoint must not wait.
        defer { sqlite3_reset(handle) }
        for (index, argument) in arguments.enumerated() {
            try check(argument.bind(to: handle, at: Int32(index + 1)))
        }
        while true {
            let status = sqlite3_step(handle)
            if status == SQLITE_DONE { return }
            guard status == SQLITE_ROW else { throw error(status) }
            guard try body(ResultRow(statement: handle)) else { return }
        }
    }

    private func check(_ status: Int32) throws {
        guard status == SQLITE_OK else { throw error(status) }
    }

    private func error(_ status: Int32) -> DatabaseError {
        let connection = sqlite3_db_handle(handle)
        return DatabaseError(
            resultCode: ResultCode(rawValue: status), message: sqlite3_errmsg(connection).map { String(cString: $0) })
    }

    /// The value of a `?`.
    enum Argument {
        case integer(Int64)
        case text(String)
        case blob(Data)

        fileprivate func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
            // SQLITE_TRANSIENT: SQLite makes a copy.
            let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
            return switch self {
            case .integer(let value): sqlite3_bind_int64(statement, index, value)
            case .text(let value):
                value.utf8.withContiguousStorageIfAvailable { bytes in
                    bytes.withMemoryRebound(to: CChar.self) { bytes in
                        sqlite3_bind_text(statement, index, bytes.baseAddress, Int32(clamping: bytes.count), transient)
                    }
                } ?? sqlite3_bind_text(statement, index, value, -1, transient)
            case .blob(let value):
                value.withUnsafeBytes {
                    sqlite3_bind_blob(statement, index, $0.baseAddress, Int32(clamping: $0.count), transient)
                }
            }
        }
    }
}

/// The row at which a statement is. Columns are found by index; a column of another type is an error.
struct ResultRow {
    private let statement: OpaquePointer

    fileprivate init(statement: OpaquePointer) { self.statement = statement }

    /// A column that does not have the type that we write.
    struct UnexpectedType: Error {}

    func integer(_ column: Int32) throws(UnexpectedType) -> Int64 {
        guard let value = try optionalInteger(column) else { throw UnexpectedType() }
        return value
    }

    func text(_ column: Int32) throws(UnexpectedType) -> String {
        guard let value = try optionalText(column) else { throw UnexpectedType() }
        return value
    }

    func optionalInteger(_ column: Int32) throws(UnexpectedType) -> Int64? {
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: return sqlite3_column_int64(statement, column)
        case SQLITE_NULL: return nil
        default: throw UnexpectedType()
        }
    }

    func optionalText(_ column: Int32) throws(UnexpectedType) -> String? {
        switch sqlite3_column_type(statement, column) {
        case SQLITE_TEXT:
            guard let bytes = sqlite3_column_text(statement, column) else { throw UnexpectedType() }
            let count = Int(sqlite3_column_bytes(statement, column))
            return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
        case SQLITE_NULL: return nil
        default: throw UnexpectedType()
        }
    }

    func blob(_ column: Int32) throws(UnexpectedType) -> Data {
        guard sqlite3_column_type(statement, column) == SQLITE_BLOB else { throw UnexpectedType() }
        // An empty blob has no address.
        guard let bytes = sqlite3_column_blob(statement, column) else { return Data() }
        return Data(bytes: bytes, count: Int(sqlite3_column_bytes(statement, column)))
    }
}
