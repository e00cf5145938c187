import CPostgres
import Foundation
import SessionStore

/// The result of a statement.
///
/// Unchecked, but safe to share: libpq's result never changes.
package final class PostgresResult: @unchecked Sendable {
    private let raw: OpaquePointer

    /// Takes ownership of the result.
    init(_ raw: OpaquePointer) { self.raw = raw }

    deinit { PQclear(raw) }

    /// The number of rows.
    var count: Int { Int(PQntuples(raw)) }
    var isEmpty: Bool { count == 0 }
    package var first: PostgresRow? { isEmpty ? nil : self[0] }
    package var rows: [PostgresRow] { (0..<count).map { self[$0] } }
    private subscript(index: Int) -> PostgresRow { PostgresRow(result: self, raw: raw, row: Int32(index)) }

    /// The number of rows that the statement inserted, changed or deleted.
    var changes: Int { Int(String(cString: PQcmdTuples(raw))) ?? 0 }
    /// The command tag, such as `COMMIT`.
    var tag: String { String(cString: PQcmdStatus(raw)) }

    /// The error in the result.
    var failure: PostgresFailure {
        /// Returns one of the fields `PG_DIAG_…`, by its letter.
        func field(_ letter: Unicode.Scalar) -> String? {
            PQresultErrorField(raw, Int32(letter.value)).map { String(cString: $0) }
        }
        guard let state = field("C") else { return .connection("the connection was lost") }
        // The primary message names tables and constraints; the detail would quote values.
        return .server(state: state, message: field("M") ?? "error", constraint: field("n"))
    }
}

/// One row. Columns are found by index; a column of another type is an error.
package struct PostgresRow {
    fileprivate let result: PostgresResult
    fileprivate let raw: OpaquePointer
    fileprivate let row: Int32

    /// The number of columns.
    package var count: Int32 { PQnfields(raw) }

    /// A column that does not have the type that we write.
    package struct UnexpectedType: Error {}

    package func integer(_ column: Int32) throws(UnexpectedType) -> Int64 { try present(optionalInteger(column)) }
    package func text(_ column: Int32) throws(UnexpectedType) -> String { try present(optionalText(column)) }
    func blob(_ column: Int32) throws(UnexpectedType) -> Data { try present(optionalBlob(column)) }

    func flag(_ column: Int32) throws(UnexpectedType) -> Bool {
        try present(value(column, ofType: 16)).contains { $0 != 0 }
    }

    func optionalInteger(_ column: Int32) throws(UnexpectedType) -> Int64? {
        guard let bytes = try value(column, ofType: 20) else { return nil }
        guard bytes.count == 8 else { throw UnexpectedType() }
        return Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
    }

    func optionalText(_ column: Int32) throws(UnexpectedType) -> String? {
        try value(column, ofType: 25).map { String(decoding: $0, as: UTF8.self) }
    }

    func optionalBlob(_ column: Int32) throws(UnexpectedType) -> Data? {
        try value(column, ofType: 17).map { Data($0) }
    }

    func key(_ column: Int32) throws(UnexpectedType) -> SessionKey { SessionKey(try integer(column)) }

    func hash(_ column: Int32) throws(UnexpectedType) -> SHA256Hash { try present(optionalHash(column)) }

    func optionalHash(_ column: Int32) throws(UnexpectedType) -> SHA256Hash? {
        guard let blob = try optionalBlob(column) else { return nil }
        return try present(SHA256Hash(blob: blob))
    }

    /// The bytes, which live as long as the result.
    private func value(_ column: Int32, ofType type: UInt32) throws(UnexpectedType) -> UnsafeRawBufferPointer? {
        guard column < PQnfields(raw), PQftype(raw, column) == type, PQfformat(raw, column) == 1 else {
            throw UnexpectedType()
        }
        guard PQgetisnull(raw, row, column) == 0 else { return nil }
        return UnsafeRawBufferPointer(
            start: PQgetvalue(raw, row, column), count: Int(PQgetlength(raw, row, column)))
    }

    private func present<Value>(_ value: Value?) throws(UnexpectedType) -> Value {
        guard let value else { throw UnexpectedType() }
        return value
    }
}
