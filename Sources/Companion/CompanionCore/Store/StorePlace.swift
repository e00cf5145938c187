package import EventLoop
package import Logging
package import SessionStore

/// A place where sessions are stored, with all operations that an operator needs. Code above this protocol does not
/// depend on the kind of database. A new kind takes a target with a ``MovableBackend``, a case of ``StoreAddress``, and
/// one type that conforms to this protocol.
package protocol StorePlace: Sendable {
    /// Opens the store. Creates it, or migrates it to this version's format, if necessary.
    ///
    /// - Parameters:
    ///   - isServer: whether to serve from it. A file has one server at a time; commands may use it beside that.
    ///   - workers: the workers that handle connections to another machine; nil creates one.
    ///   - onOperation: called after each operation, for metrics.
    /// - Throws: when the store or the keys cannot be used.
    func open(
        _ ring: KeyRing, isServer: Bool, workers: WorkerGroup?, onOperation: (@Sendable (StoreOperation) -> Void)?
    ) throws(StoreError) -> any MovableBackend

    /// Whether the store has sessions, or tables for them.
    func exists() throws(StoreError) -> Bool

    /// Whether a running server uses the store.
    func isInUse(_ ring: KeyRing) throws(StoreError) -> Bool

    /// Inspects the store from outside, without creating, migrating or changing anything.
    ///
    /// - Parameters:
    ///   - ring: the keys; nil if there are none.
    ///   - key: the location of the keys.
    ///   - failure: the reason why the keys cannot be used; nil if they can, or do not exist yet.
    func inspect(_ ring: KeyRing?, key: EncryptionKey, failure: StoreError?) -> StoreInspection

    /// Migrates the store to this version's format.
    ///
    /// - Parameter isRehearsal: whether to report the changes without making them.
    /// - Returns: the changes, as lines for the operator.
    func migrate(isRehearsal: Bool) throws(StoreError) -> [String]

    /// Writes a consistent copy to a new file.
    ///
    /// - Parameter key: the key of the database.
    /// - Throws: an error that names the database's own programs, if the companion cannot copy it.
    func backUp(to target: String, key: EncryptionKey) throws

    /// Logs what the start has found in the store.
    func report(on store: SessionStore, to logger: Logger)
}

extension StorePlace {
    package func report(on store: SessionStore, to logger: Logger) {}
}

/// The result of inspecting a store.
package struct StoreInspection {
    /// The findings for the operator.
    package let findings: [CheckFinding]
    /// The ID token's claims (JSON) of each application's latest sign-in, as far as they can be decrypted.
    package let latestClaims: [String: String]
}

extension CompanionConfiguration {
    /// The place for the address in ``database``.
    package var place: any StorePlace {
        switch database {
        case .file(let path): SQLitePlace(path: path)
        case .postgres(let settings, let passwordFile): PostgresPlace(settings: settings, passwordFile: passwordFile)
        }
    }

    /// Copies all sessions to another store. People stay signed in once the server is configured with it.
    ///
    /// - Parameter target: the configuration with the new `database`.
    /// - Returns: the number of sessions.
    /// - Throws: ``StoreError`` if a server uses one of the stores, or if the target already contains sessions.
    package func copySessions(to target: CompanionConfiguration) async throws -> Int {
        let ring = try encryptionKey.loadedOrMade()
        for each in [self, target] where try each.place.exists() && each.place.isInUse(ring) {
            throw StoreError.unavailable(
                "a server works with \(each.database): stop all servers before sessions are moved")
        }
        // As a server, so that none starts meanwhile.
        let from = try place.open(ring, isServer: true, workers: nil, onOperation: nil)
        return try await closing(from.close) {
            let to = try target.place.open(ring, isServer: true, workers: nil, onOperation: nil)
            return try await closing(to.close) { try await from.copyAll(to: to) }
        }
    }
}
