package import CompanionCore
package import EventLoop
package import Logging
package import SessionStore

/// A place where sessions live, with all that an operator does with it. Nothing above asks which kind of database it is: a
/// new kind is a target with a ``StoreBackend``, a case of ``StoreAddress``, and one of these.
package protocol StorePlace: Sendable {
    /// Opens it; it is made, or brought to this version's format, where that is needed.
    ///
    /// - Parameters:
    ///   - workers: on which a database on another machine is asked; nil makes one for it.
    ///   - onOperation: called after each operation, for measuring.
    /// - Throws: when the place or the keys cannot be used.
    func open(
        _ ring: KeyRing, workers: WorkerGroup?, onOperation: (@Sendable (StoreOperation) -> Void)?
    ) throws(StoreError) -> any MovableBackend

    /// Whether there are sessions, or tables for them.
    func exists() throws(StoreError) -> Bool

    /// Whether a server works with it now.
    func isInUse(_ ring: KeyRing) throws(StoreError) -> Bool

    /// Looks at it from outside; nothing is made, migrated or changed.
    ///
    /// - Parameters:
    ///   - ring: nil when there is no key.
    ///   - key: where the keys are.
    ///   - failure: why the keys cannot be used; nil when they can, or are not made yet.
    func inspect(_ ring: KeyRing?, key: EncryptionKey, failure: StoreError?) -> StoreInspection

    /// Brings it to this version's format.
    ///
    /// - Parameter isRehearsal: only shows what would be done.
    /// - Returns: what was done, as lines for the operator.
    func migrate(isRehearsal: Bool) throws(StoreError) -> [String]

    /// Writes a consistent copy to a new file.
    ///
    /// - Parameter key: what opens it.
    /// - Throws: how its own programs copy it, where this one cannot.
    func backUp(to target: String, key: EncryptionKey) throws

    /// Logs what a start has found of it.
    func report(on store: SessionStore, to logger: Logger)
}

extension StorePlace {
    package func report(on store: SessionStore, to logger: Logger) {}
}

/// What was seen of a place.
package struct StoreInspection {
    /// What there is to say of it.
    let findings: [CheckFinding]
    /// The ID token's claims (JSON) of each application's latest sign-in, as far as they can be opened.
    let latestClaims: [String: String]
}

extension CompanionConfiguration {
    /// The place that ``database`` names.
    package var place: any StorePlace {
        switch database {
        case .file(let path): SQLitePlace(path: path)
        case .postgres(let settings, let passwordFile): PostgresPlace(settings: settings, passwordFile: passwordFile)
        }
    }

    /// Copies all sessions to another place: people stay signed in, as soon as the server is configured with it.
    ///
    /// - Parameter target: what `database` is configured with then.
    /// - Returns: how many sessions.
    /// - Throws: ``StoreError`` when a server works with one of the two, or the other one contains sessions already.
    package func copySessions(to target: CompanionConfiguration) async throws -> Int {
        let ring = try encryptionKey.loadedOrMade()
        for each in [self, target] where try each.place.exists() && each.place.isInUse(ring) {
            throw StoreError.unavailable(
                "a server works with \(each.database): stop all servers before sessions are moved")
        }
        let from = try place.open(ring, workers: nil, onOperation: nil)
        return try await closing(from.close) {
            let to = try target.place.open(ring, workers: nil, onOperation: nil)
            return try await closing(to.close) { try await from.copyAll(to: to) }
        }
    }
}
