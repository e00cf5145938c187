import SessionStore

/// The reason for which a statement failed.
package enum PostgresFailure: Error, Equatable {
    /// The server refused it. `state` is the SQLSTATE (PostgreSQL's documentation, appendix A), `constraint` is the
    /// name of the violated constraint. The message is in the server's language.
    case server(state: String, message: String, constraint: String? = nil)
    /// There is no connection, or it was lost: it is not known whether a statement that was sent has run.
    case connection(String)

    /// The server has not responded within the time that the caller waited.
    static let silence = PostgresFailure.connection("the server does not answer")
    /// The server has not responded within the time that opening a connection may take.
    static let notInTime = PostgresFailure.connection("the server did not accept the connection in time")

    /// The SQLSTATE; nil if there is no connection.
    private var state: String? { if case .server(let state, _, _) = self { state } else { nil } }

    /// Whether the same transaction may succeed when it runs again. This is so if another transaction was faster, held
    /// the rows, or chose the same key for a new session, or if the connection was to a server that no longer exists.
    var isWorthAnotherAttempt: Bool {
        if isOfPooler || endsConnection || isHeld { return true }
        if case .server("23505", _, "session_pkey") = self { return true }
        return ["40001", "40P01"].contains(state)
    }

    /// Whether another transaction holds a row for which the statement does not wait (NOWAIT).
    var isHeld: Bool { state == "55P03" }
    /// Whether a prepared statement is missing, because there is a pooler that does not support them.
    var isOfPooler: Bool { ["26000", "42P05"].contains(state) }
    /// Whether a table was created that exists already, or is being created: the conflict can be in a catalogue row,
    /// its type, or the table.
    var isDuplicateTable: Bool { ["23505", "42710", "42P07"].contains(state) }
    /// Whether a table does not exist.
    var isMissingTable: Bool { state == "42P01" }
    /// Whether the server has met damage in a table's or an index's file.
    var isDamage: Bool { ["XX001", "XX002"].contains(state) }

    /// Whether this server can no longer be used: it is stopping, or is read only.
    var endsConnection: Bool {
        guard let state else { return true }
        return ["25006", "57P01", "57P02", "57P03"].contains(state) || state.hasPrefix("08")
    }

    /// Returns the error that the store reports.
    func storeError(of name: String) -> StoreError {
        switch self {
        case .connection(let reason): return .unavailable("\(name): \(reason)")
        case .server(let state, let message, _):
            let text = "\(name): \(message) (SQLSTATE \(state))"
            // These states concern a statement or a row, not the server: data exceptions, violated constraints, tables
            // of the wrong form, damage.
            let isCorrupt = isDamage || ["22", "23", "42"].contains(where: state.hasPrefix) && state != "42501"
            return isCorrupt ? .corrupt(text) : .unavailable(text)
        }
    }
}

extension StoreError {
    /// Converts an error that a transaction threw.
    init(_ error: any Error, of name: String) {
        switch error {
        case let error as StoreError: self = error
        case let failure as PostgresFailure: self = failure.storeError(of: name)
        default: self = .corrupt("\(name): a row does not have the form that we write")
        }
    }
}
