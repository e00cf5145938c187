import GRDB

/// One operation on the database, for measuring.
public struct StoreOperation: Sendable {
    /// What an operation does.
    public enum Kind: String, Sendable, CaseIterable {
        /// Looks something up.
        case read
        /// Changes something, and is on the disk.
        case write
    }

    /// What it did.
    public let kind: Kind
    /// From the call to its answer, waiting for its turn included.
    public let duration: Duration
    /// Whether the database could not do it. What is not there, or not any more, is no failure.
    public let failed: Bool
}

extension SessionStore {
    /// How many sessions the database holds; ended ones that are not deleted yet are among them.
    public struct Counts: Sendable, Equatable {
        /// All of them.
        public let sessions: Int
        /// Those in which somebody is signed in.
        public let signedIn: Int
    }

    /// Counts the sessions: looks at all of them, so ask it now and then only.
    public func counts() async throws(StoreError) -> Counts {
        try await database.read { db in
            let row = try db.row(
                "SELECT (SELECT count(*) FROM session), (SELECT count(DISTINCT session) FROM account)", [])
            return Counts(
                sessions: try row?.decode(Int.self, atIndex: 0) ?? 0,
                signedIn: try row?.decode(Int.self, atIndex: 1) ?? 0)
        }
    }

    /// What the cache holds: bytes, and sessions.
    public var cacheSize: (bytes: Int, sessions: Int) { cache.size }
}

extension SessionStore {
    /// What is wrong with the key file; nil while it has the keys in use, or where they come from elsewhere. The keys in
    /// memory serve on, but a restart would not find them.
    public var keyProblem: String? {
        let ring = sealer.ring
        guard let file = ring.file else { return nil }
        do throws(StoreError) {
            guard let found = try KeyRing.load(existingAt: file) else {
                return "The key file \(file) is gone: put it back before the server is started again."
            }
            // The background work takes up a changed file within about a second.
            guard !Set(found.keyIDs).isDisjoint(with: ring.keyIDs) else {
                return "The key file \(file) holds other keys than those in use: put the old one back."
            }
            return nil
        } catch {
            return error.description
        }
    }
}
