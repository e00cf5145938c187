/// The operations of the command line. They are safe beside a running server.
extension SessionStore {
    /// Returns the sessions after `after`, in the order of their keys, including expired ones that were not purged yet.
    public func list(after: SessionKey? = nil, limit: Int = 1000) async throws(StoreError) -> [SessionSummary] {
        try await backend.list(after: after, limit: max(0, limit))
    }

    /// Ends one session; returns false if it does not exist.
    public func revoke(_ session: SessionKey) async throws(StoreError) -> Bool {
        try await !revoke(.one(session)).isEmpty
    }

    /// Ends every session in which this username is signed in, and returns the sessions.
    public func revoke(username: String) async throws(StoreError) -> [SessionKey] {
        try await revoke(.username(username))
    }

    /// Ends every session, and returns the sessions.
    public func revokeAll() async throws(StoreError) -> [SessionKey] {
        var ended: [SessionKey] = []
        while true {
            let some = try await revoke(.any(limit: 500))
            guard !some.isEmpty else { return ended }
            ended += some
        }
    }

    /// Returns the last round of checks of each application.
    public func checkRounds() async throws(StoreError) -> [StoredCheckRound] { try await backend.checkRounds() }

    /// Stores a round of checks in place of the application's last one.
    public func keep(_ round: StoredCheckRound) async throws(StoreError) { try await backend.keep(round) }

    private func revoke(_ which: Revocation) async throws(StoreError) -> [SessionKey] {
        let ended = try await backend.revoke(which)
        cache.end(ended)
        return ended
    }
}
