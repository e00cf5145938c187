import SessionStore

/// Why a statement did not do what it should.
package enum PostgresFailure: Error, Equatable {
    /// The server refused it. `state` is the SQLSTATE (PostgreSQL's documentation, appendix A).
    case server(state: String, message: String)
    /// There is no connection, or it was lost: whether a statement that was sent has run is not known.
    case connection(String)

    /// The same transaction may succeed: somebody else was quicker, held what was needed, or made the same key for a new
    /// session; or the connection was one to a server that is no more.
    var isWorthAnotherAttempt: Bool {
        if isOfPooler || endsConnection { return true }
        guard case .server(let state, let message) = self else { return false }
        return ["40001", "40P01", "55P03"].contains(state)
            || (isDuplicate && message.contains("\"session_pkey\""))
    }

    /// A prepared statement is not where it was: there is a pooler between, which does not know them.
    var isOfPooler: Bool {
        guard case .server(let state, _) = self else { return false }
        return ["26000", "42P05"].contains(state)
    }

    /// A row with this key is there already.
    var isDuplicate: Bool {
        guard case .server(let state, _) = self else { return false }
        return state == "23505"
    }

    /// A table was made that is there already, or is being made: as its row in a catalogue, its type, or itself.
    var isDuplicateTable: Bool {
        guard case .server(let state, _) = self else { return false }
        return ["23505", "42710", "42P07"].contains(state)
    }

    /// There is no such table.
    var isMissingTable: Bool {
        guard case .server(let state, _) = self else { return false }
        return state == "42P01"
    }

    /// This server will not do any more: it stops, or may not be written to.
    var endsConnection: Bool {
        switch self {
        case .connection: true
        case .server(let state, _): ["25006", "57P01", "57P02", "57P03"].contains(state) || state.hasPrefix("08")
        }
    }

    /// As the store reports it.
    func storeError(of name: String) -> StoreError {
        switch self {
        case .connection(let reason): return .unavailable("\(name): \(reason)")
        case .server(let state, let message):
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
