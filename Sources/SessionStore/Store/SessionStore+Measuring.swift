/// One operation of a backend, for measuring.
public struct StoreOperation: Sendable {
    /// What an operation does.
    public enum Kind: String, Sendable, CaseIterable {
        /// Looks something up.
        case read
        /// Changes something, and is stored.
        case write
    }

    /// What it did.
    public let kind: Kind
    /// From the call to its answer, waiting for its turn included.
    public let duration: Duration
    /// Whether the backend could not do it. What is not there, or not any more, is no failure.
    public let failed: Bool

    /// From what it came to.
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

/// How it stands with the connections to a place on another machine.
public struct StoreConnections: Sendable, Equatable {
    /// Whether the place can be reached, as far as anybody has tried.
    public var isReachable = true
    /// Connections that are open.
    public var open = 0
    /// Those of them in which a transaction is under way.
    public var busy = 0
    /// The most that may be in transactions.
    public var limit = 0
    /// Operations that wait for a connection.
    public var waiting = 0

    /// Nothing is connected.
    package init() {}

    /// With those of another worker.
    package static func + (one: StoreConnections, other: StoreConnections) -> StoreConnections {
        var sum = one
        sum.isReachable = one.isReachable && other.isReachable
        sum.open += other.open
        sum.busy += other.busy
        sum.limit += other.limit
        sum.waiting += other.waiting
        return sum
    }
}

extension SessionStore {
    /// The connections to the place; nil where it needs none.
    public func connections() async -> StoreConnections? { await cluster?.connections() }

    /// Whether the first connection to the place was encrypted; nil where it needs none.
    public var isEncrypted: Bool? { cluster?.isEncrypted }

    /// How many sessions are stored; ended ones that are not deleted yet are among them.
    public struct Counts: Sendable, Equatable {
        /// All of them.
        public let sessions: Int
        /// Those in which somebody is signed in.
        public let signedIn: Int

        package init(sessions: Int, signedIn: Int) {
            self.sessions = sessions
            self.signedIn = signedIn
        }
    }

    /// Counts the sessions: looks at all of them, so ask it now and then only.
    public func counts() async throws(StoreError) -> Counts {
        try await backend.counts()
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
