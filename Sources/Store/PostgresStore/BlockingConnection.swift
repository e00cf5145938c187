import CPostgres
package import SessionStore

/// A connection for the work before a server serves, and for the command line: the calling thread waits.
package final class BlockingConnection {
    private let raw: OpaquePointer
    private let name: String

    /// Connects to the first usable endpoint.
    ///
    /// - Throws: `unavailable` when no endpoint can be used.
    package convenience init(_ settings: PostgresSettings) throws(StoreError) {
        var parameters = settings.currentParameters
        func list(_ part: (PostgresSettings.Endpoint) -> String?) -> String? {
            let parts = settings.endpoints.map { part($0) ?? "" }
            return parts.allSatisfy(\.isEmpty) ? nil : parts.joined(separator: ",")
        }
        parameters["host"] = list(\.host)
        parameters["hostaddr"] = list(\.address)
        parameters["port"] = list(\.port)
        parameters["connect_timeout"] = parameters["connect_timeout"] ?? "5"
        try self.init(parameters, name: settings.description)
    }

    /// Connects with libpq's parameters.
    ///
    /// - Parameter name: the database's name in messages.
    init(_ parameters: [String: String], name: String) throws(StoreError) {
        self.name = name
        guard let raw = withTexts(of: parameters, { PQconnectdbParams($0, $1, 0) }) else {
            throw .unavailable("\(name): libpq refused to be set up")
        }
        self.raw = raw
        PQsetNoticeProcessor(raw, { _, _ in }, nil)
        guard PQstatus(raw) == CONNECTION_OK else {
            throw .unavailable("\(name): \(lastMessage(of: raw))")
        }
    }

    deinit { PQfinish(raw) }

    /// Whether the connection is encrypted.
    var isEncrypted: Bool { PQsslInUse(raw) == 1 }

    /// Runs a statement.
    @discardableResult
    package func query(_ sql: String, _ parameters: [Parameter] = []) throws(PostgresFailure) -> PostgresResult {
        let result = parameters.withPointers { values, lengths in
            PQexecParams(
                raw, sql, Int32(parameters.count), parameters.map(\.type), values, lengths,
                [Int32](repeating: 1, count: parameters.count), 1)
        }
        guard let result else { throw .connection(lastMessage(of: raw)) }
        let status = PQresultStatus(result)
        let found = PostgresResult(result)
        guard status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK else { throw found.failure }
        return found
    }

    /// Runs statements in one transaction, which is rolled back when they throw.
    func transaction<Value>(_ body: (BlockingConnection) throws -> Value) throws -> Value {
        try query("BEGIN ISOLATION LEVEL READ COMMITTED")
        do {
            let value = try body(self)
            guard try query("COMMIT").tag == "COMMIT" else {
                throw PostgresFailure.connection("a transaction was not stored")
            }
            return value
        } catch {
            _ = try? query("ROLLBACK")
            throw error
        }
    }
}

/// Calls `body` with parameters in libpq's form: two lists of C strings that end with nil. libpq copies them.
func withTexts<Result>(
    of parameters: [String: String],
    _ body: (UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<UnsafePointer<CChar>?>) -> Result
) -> Result {
    let texts = parameters.flatMap { [$0.key, $0.value] }.map { text in
        let bytes = text.utf8CString
        let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
        for (index, byte) in bytes.enumerated() { (copy + index).initialize(to: byte) }
        return copy
    }
    defer { for text in texts { text.deallocate() } }
    let keywords = stride(from: 0, to: texts.count, by: 2).map { UnsafePointer(texts[$0]) as UnsafePointer<CChar>? }
    let values = stride(from: 1, to: texts.count, by: 2).map { UnsafePointer(texts[$0]) as UnsafePointer<CChar>? }
    return body(keywords + [nil], values + [nil])
}

/// Returns libpq's error message, in one line.
func lastMessage(of raw: OpaquePointer?) -> String {
    let message = raw.map { String(cString: PQerrorMessage($0)) } ?? ""
    let lines = message.split(whereSeparator: \.isNewline).map { String($0.drop(while: \.isWhitespace)) }
    return lines.isEmpty ? "the connection was lost" : lines.joined(separator: "; ")
}
