import SessionStore

/// Why a statement did not do what it should.
package enum PostgresFailure: Error, Equatable {
    /// The server refused it. `state` is the SQLSTATE (PostgreSQL's documentation, appendix A), `constraint` the name of the
    /// one that would be broken. The message is in the server's language.
    case server(state: String, message: String, constraint: String? = nil)
    /// There is no connection, or it was lost: whether a statement that was sent has run is not known.
    case connection(String)

    /// The server has not answered for as long as somebody waited.
    static let silence = PostgresFailure.connection("the server does not answer")

    /// The SQLSTATE; nil where there is no connection.
    private var state: String? { if case .server(let state, _, _) = self { state } else { nil } }

    /// The same transaction may succeed: somebody else was quicker, held what was needed, or made the same key for a new
    /// session; or the connection was one to a server that is no more.
    var isWorthAnotherAttempt: Bool {
        if isOfPooler || endsConnection || isHeld { return true }
        if case .server("23505", _, "session_pkey") = self { return true }
        return ["40001", "40P01"].contains(state)
    }

    /// Somebody else holds a row, and the statement was not to wait for it (NOWAIT).
    var isHeld: Bool { state == "55P03" }
    /// A prepared statement is not where it was: there is a pooler between, which does not know them.
    var isOfPooler: Bool { ["26000", "42P05"].contains(state) }
    /// A table was made that is there already, or is being made: as its row in a catalogue, its type, or itself.
    var isDuplicateTable: Bool { ["23505", "42710", "42P07"].contains(state) }
    /// There is no such table.
    var isMissingTable: Bool { state == "42P01" }

    /// This server will not do any more: it stops, or may not be written to.
    var endsConnection: Bool {
        guard let state else { return true }
        return ["25006", "57P01", "57P02", "57P03"].contains(state) || state.hasPrefix("08")
    }

    /// As the store reports it.
    func storeError(of name: String) -> StoreError {
        switch self {
        case .connection(let reason): return .unavailable("\(name): \(reason)")
        case .server(let state, let message, _):
            let text = "\(name): \(message) (SQLSTATE \(state))"
            // What is wrong with a statement or a row, not with the server: data exceptions, broken constraints, tables
            // that are not as they should be, damage.
            return ["22", "23", "42", "XX001", "XX002"].contains(where: state.hasPrefix) && state != "42501"
                ? .corrupt(text) : .unavailable(text)
        }
    }
}

extension StoreError {
    /// From what a transaction threw.
    init(_ error: any Error, of name: String) {
        switch error {
        case let error as StoreError: self = error
        case let failure as PostgresFailure: self = failure.storeError(of: name)
        default: self = .corrupt("\(name): a row does not have the form that we write")
        }
    }
}
