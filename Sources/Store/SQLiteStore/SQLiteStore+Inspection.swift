import Foundation
import GRDB
public import SessionStore

extension SQLiteStore {
    private static func names(_ path: String) -> [String] { [path, path + "-wal", path + "-shm"] }

    /// Returns the existing files of the database; none before the first start.
    public static func files(databaseAt path: String) -> [FileAccess] {
        names(path).compactMap(FileAccess.init)
    }

    /// Inspects the database without changing it. This reads all of it: a few seconds for each GB.
    ///
    /// - Parameter keyRing: the keys; nil if there are none.
    public static func health(databaseAt path: String, keyRing: KeyRing?) -> StoreHealth {
        var health = StoreHealth()
        for name in names(path) {
            var status = stat()
            guard stat(name, &status) == 0 else { continue }
            health.exists = true
            health.bytes += Int64(status.st_size)
        }
        (health.freeBytes, health.totalBytes) = DiskReserve.space(besides: path)
        health.add(keyRing, counts: [:], of: path)
        guard health.exists else { return health }
        do throws(StoreError) {
            try look(path, keyRing, &health)
        } catch {
            health.failure = error
            return health
        }
        do throws(StoreError) {
            try SQLiteSchema.tryWriteLock(path)
        } catch {
            health.writeFailure = error
        }
        return health
    }

    private static func look(_ path: String, _ ring: KeyRing?, _ health: inout StoreHealth) throws(StoreError) {
        let queue = try SQLiteSchema.connectReadOnly(path)
        do {
            defer { try? queue.close() }
            var found = health
            try queue.inDatabase { db in
                try SQLiteSchema.check(db, path)
                found.damage = try SQLiteSchema.damage(db)
                guard found.damage.isEmpty else { return }
                found.pendingMigrations = try SQLiteSchema.pendingMigrations(db)
                found.add(
                    ring, counts: try SealedColumn.counts(db),
                    claims: try found.pendingMigrations.isEmpty ? latestClaims(db) : [], of: path)
            }
            health = found
        } catch {
            throw StoreError(error, path)
        }
    }

    /// Returns the claims of each application's latest sign-in.
    private static func latestClaims(_ db: Database) throws -> [(account: AccountKey, sealed: Data)] {
        // SQLite takes the other columns from the row that has the maximum (its documentation of SELECT, section 2.5).
        try Row.fetchAll(
            db,
            sql: """
                SELECT \(AccountKey.columns), claims, MAX(signed_in_at)
                FROM account JOIN account_secret ON account_secret.account = account.key GROUP BY app
                """
        ).map { (try AccountKey(row: $0), try $0.decode(forColumn: "claims")) }
    }
}
