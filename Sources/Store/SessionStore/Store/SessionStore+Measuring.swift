/// A measured operation of a backend.
public struct StoreOperation: Sendable {
    /// The kind of an operation.
    public enum Kind: String, Sendable, CaseIterable {
        /// A read.
        case read
        /// A write, which is stored when it ends.
        case write
    }

    /// The kind of the operation.
    public let kind: Kind
    /// The time from the call to its return, including the wait for its turn.
    public let duration: Duration
    /// Whether the backend failed. A value that does not exist is not a failure.
    public let failed: Bool

    /// Creates the measurement of an operation from its result.
    package init<Value>(_ kind: Kind, _ result: Result<Value, StoreError>, since start: ContinuousClock.Instant) {
        self.kind = kind
        duration = start.duration(to: .now)
        failed =
            switch result {
            case .success, .failure(.noSuchSession), .failure(.attemptNotPending), .failure(.noRoom): false
            case .failure: true
            }
    }
}

extension SessionStore {
    /// Returns the state of the connections to the database; nil if the backend needs none.
    public func connections() async -> StoreConnections? { await cluster?.connections() }

    /// Whether the first connection to the database was encrypted; nil if the backend needs none.
    public var isEncrypted: Bool? { cluster?.isEncrypted }

    /// Counts the sessions. This reads all of them, so call it rarely.
    public func counts() async throws(StoreError) -> SessionCounts {
        try await backend.counts()
    }

    /// The size of the cache in bytes and in sessions.
    public var cacheSize: (bytes: Int, sessions: Int) { cache.size }
}

extension SessionStore {
    /// A problem with the database's own files: damage, another file of its name, or a second server; nil while there is
    /// none. While there is one, nothing is stored if the database is a file.
    public var databaseProblem: String? { backend.unsoundness }

    /// A problem with the key file; nil while it contains the keys in use, or if they come from elsewhere. The keys in
    /// memory stay in use, but a restart would not find them.
    public var keyProblem: String? {
        let ring = sealer.ring
        guard let file = ring.file else { return nil }
        do throws(StoreError) {
            guard let found = try KeyRing.load(existingAt: file) else {
                return "The key file \(file) is gone: put it back before the server is started again."
            }
            guard let lost = sealer.lost(in: found) else { return nil }
            return
                "The key file \(file) lacks the key \(lost), which is in use: put the old file back (or add that key "
                + "as a further line) before the server is started again."
        } catch {
            return error.description
        }
    }
}
