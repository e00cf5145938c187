import EventLoop
import SQLiteStore
import SessionStore

/// An SQLite file.
struct SQLitePlace: StorePlace {
    let path: String

    func open(
        _ ring: KeyRing, isServer: Bool, workers: WorkerGroup?, onOperation: (@Sendable (StoreOperation) -> Void)?
    ) throws(StoreError) -> any MovableBackend {
        try SQLiteStore(path: path, keyRing: ring, isServer: isServer, onOperation: onOperation)
    }

    func exists() -> Bool { SQLiteStore.exists(databaseAt: path) }

    func isInUse(_ ring: KeyRing) -> Bool { SQLiteStore.isInUse(databaseAt: path) }

    func inspect(_ ring: KeyRing?, key: EncryptionKey, failure: StoreError?) -> StoreInspection {
        let health = SQLiteStore.health(databaseAt: path, keyRing: ring)
        let findings = StorageFindings(
            health: health, files: SQLiteStore.files(databaseAt: path), database: path, key: key, keyFailure: failure)
        return StoreInspection(findings: findings.all, latestClaims: health.latestClaims)
    }

    func migrate(isRehearsal: Bool) throws(StoreError) -> [String] {
        var lines =
            isRehearsal
            ? try SQLiteStore.rehearseMigration(databaseAt: path) : try SQLiteStore.migrate(databaseAt: path)
        if !lines.isEmpty {
            let count = lines.count == 1 ? "1 migration" : "\(lines.count) migrations"
            lines.append(
                isRehearsal
                    ? "\(count) succeeded on a copy. \(path) is unchanged."
                    : "\(count) succeeded. \(path) is up to date.")
        }
        if !isRehearsal, try SQLiteStore.rewrite(databaseAt: path) {
            lines.append("\(path) was rewritten. From now on it returns free space to the disk.")
        }
        return lines.isEmpty ? ["\(path) is already up to date."] : lines
    }

    func backUp(to target: String, key: EncryptionKey) throws(StoreError) {
        try SQLiteStore.backUp(databaseAt: path, to: target)
    }
}
