import SessionStore

/// One transaction on one connection. Statements whose result is not needed are sent without waiting. If one of them
/// fails, the next call that waits throws its failure, at the latest the commit.
///
/// `@unchecked Sendable`: it is used on its connection's worker only.
final class Transaction: @unchecked Sendable {
    /// The time after which a statement is ended, together with its connection.
    static let patience: Duration = .seconds(5)

    private let connection: PostgresConnection
    private let isPrepared: Bool
    private var failure: PostgresFailure?
    private(set) var isCommitting = false
    /// The session whose row shows whether the transaction was stored, and the values that it then has.
    private(set) var mark: Mark?
    typealias Mark = (session: SessionKey, write: Int64, versionBefore: Int64)

    init(_ connection: PostgresConnection, isPrepared: Bool) {
        self.connection = connection
        self.isPrepared = isPrepared
        control("BEGIN ISOLATION LEVEL READ COMMITTED")
    }

    /// Sends a statement without waiting.
    func run(_ sql: String, _ parameters: [Parameter] = []) {
        connection.send(sql, parameters, isPrepared: isPrepared, patience: Self.patience, completion: note)
    }

    private func note(_ result: Result<PostgresResult, PostgresFailure>) {
        if case .failure(let failure) = result, self.failure == nil { self.failure = failure }
    }

    /// Begins or ends the transaction. This statement is never prepared, because a pooler that has lost prepared
    /// statements must not prevent a transaction from ending.
    private func control(_ sql: String) {
        connection.send(sql, [], isPrepared: false, patience: Self.patience, completion: note)
    }

    /// Sends a statement and waits for its result.
    @discardableResult
    func query(_ sql: String, _ parameters: [Parameter] = []) async throws(PostgresFailure) -> PostgresResult {
        try await result(of: sql, parameters, isPrepared: isPrepared)
    }

    private func result(of sql: String, _ parameters: [Parameter], isPrepared: Bool)
        async throws(PostgresFailure) -> PostgresResult
    {
        let result = await withCheckedContinuation { continuation in
            connection.send(sql, parameters, isPrepared: isPrepared, patience: Self.patience) { result in
                continuation.resume(returning: result)
            }
        }
        // An earlier statement may have failed already, which made this one fail.
        if let failure { throw failure }
        return try result.get()
    }

    func commit() async throws(PostgresFailure) {
        isCommitting = true
        let result = try await result(of: "COMMIT", [], isPrepared: false)
        guard result.tag == "COMMIT" else { throw failure ?? .connection("a transaction was not stored") }
    }

    /// Rolls the transaction back without waiting. If the connection is lost, the server does the same.
    func rollBack() {
        guard connection.isOpen else { return }
        control("ROLLBACK")
    }

    /// Gives a session a new version, after waiting for other transactions that change the session.
    ///
    /// - Returns: the version; nil if the session no longer exists, because it is signed out.
    @discardableResult
    func change(_ session: SessionKey) async throws -> Int64? {
        let write = Int64.random(in: 1 ... .max)
        let row = try await query(
            "UPDATE session SET version = version + 1, last_write = $2 WHERE key = $1 RETURNING version",
            [.key(session), .integer(write)]
        ).first
        guard let version = try row?.integer(0) else { return nil }
        mark = (session, write, version - 1)
        return version
    }
}
