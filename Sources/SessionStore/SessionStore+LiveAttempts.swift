import GRDB

extension SessionStore {
    /// Whether a sign-in with this `state` was begun within an attempt's lifetime: its callback may come, also again.
    /// Changes nothing.
    public func hasLiveAttempt(state: String) async throws(StoreError) -> Bool {
        let hash = SHA256Hash(of: state)
        let oldest = now &- lifetimes.attempt
        return try await database.read { db in
            try db.row(
                "SELECT 1 FROM sign_in_attempt WHERE state_hash = ? AND begun_at >= ?",
                [hash.blob, oldest]) != nil
        }
    }
}
