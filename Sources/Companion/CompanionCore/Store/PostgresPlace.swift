import EventLoop
import Logging
import PostgresStore
import SessionStore

/// A PostgreSQL database, which several servers may use.
struct PostgresPlace: StorePlace {
    let settings: PostgresSettings
    let passwordFile: String?

    /// Returns the settings with the password.
    ///
    /// - Throws: `unavailable` when the password's file cannot be read.
    func complete() throws(StoreError) -> PostgresSettings {
        guard let passwordFile else { return settings }
        return try settings.with(passwordFile: passwordFile)
    }

    func open(
        _ ring: KeyRing, isServer: Bool, workers: WorkerGroup?, onOperation: (@Sendable (StoreOperation) -> Void)?
    ) throws(StoreError) -> any MovableBackend {
        try PostgresStore(complete(), keyRing: ring, workers: workers, onOperation: onOperation)
    }

    func exists() throws(StoreError) -> Bool { try PostgresStore.exists(complete()) }

    func isInUse(_ ring: KeyRing) throws(StoreError) -> Bool {
        try !PostgresStore.inspect(complete(), keyRing: ring).servers.isEmpty
    }

    func inspect(_ ring: KeyRing?, key: EncryptionKey, failure: StoreError?) -> StoreInspection {
        // If the password cannot be read, the connection fails and reports that.
        let settings = (try? complete()) ?? settings
        let found = PostgresStore.inspect(settings, keyRing: ring)
        let sealing = StorageFindings(
            health: found.health, files: [], database: settings.description, key: key, keyFailure: failure)
        return StoreInspection(
            findings: PostgresFindings(found: found, settings: settings).all + sealing.ofKeys,
            latestClaims: found.health.latestClaims)
    }

    func migrate(isRehearsal: Bool) throws(StoreError) -> [String] {
        let settings = try complete()
        let steps =
            try isRehearsal ? PostgresStore.pendingMigrations(settings) : PostgresStore.migrate(settings)
        guard !steps.isEmpty else { return ["\(settings) is already up to date."] }
        return steps + [
            isRehearsal ? "\(settings) is unchanged. These migrations would run." : "\(settings) is up to date."
        ]
    }

    func backUp(to target: String, key: EncryptionKey) throws {
        let tables = PostgresStore.tables.map { "--table=\($0)" }.joined(separator: " ")
        throw CopiedByOthers(
            description: """
                \(settings) is a PostgreSQL database, which its own programs copy:
                  pg_dump --format=custom --file=\(target) \(tables) \(settings)
                It opens only with the key (\(key)). Keep a copy of that too, in another place.
                """)
    }

    /// The error of `backup`: it says which program copies a PostgreSQL database.
    private struct CopiedByOthers: Error, CustomStringConvertible {
        let description: String
    }

    func report(on store: SessionStore, to logger: Logger) {
        guard let isEncrypted = store.isEncrypted else { return }
        logger.log(
            level: settings.isUnprotected ? .warning : .notice,
            "the database is \(settings.protection(isEncrypted: isEncrypted))", metadata: ["database": "\(settings)"])
    }
}
