/// What the command line does, also beside a running server.
extension SessionStore {
    /// Sessions in the order of their keys, after `after`; expired ones that were not purged yet among them.
    public func list(after: SessionKey? = nil, limit: Int = 1000) async throws(StoreError) -> [SessionSummary] {
        try await backend.list(after: after, limit: max(0, limit))
    }

    /// Ends one session; false when there is none.
    public func revoke(_ session: SessionKey) async throws(StoreError) -> Bool {
        try await !revoke(.one(session)).isEmpty
    }

    /// Ends every session in which this username is signed in; returns which.
    public func revoke(username: String) async throws(StoreError) -> [SessionKey] {
        try await revoke(.username(username))
    }

    /// Ends every session; returns which.
    public func revokeAll() async throws(StoreError) -> [SessionKey] {
        var ended: [SessionKey] = []
        while true {
            let some = try await revoke(.any(limit: 500))
            guard !some.isEmpty else { return ended }
            ended += some
        }
    }

    private func revoke(_ which: Revocation) async throws(StoreError) -> [SessionKey] {
        let ended = try await backend.revoke(which)
        cache.end(ended)
        return ended
    }
}
