import Foundation
import GRDB
public import SessionStore

/// Copies and migrations of the whole database. None of this needs keys.
extension SQLiteStore {
    /// Whether the database exists.
    public static func exists(databaseAt path: String) -> Bool { access(path, F_OK) == 0 }

    /// Writes a copy of the database as it is at this moment (mode 0600), even while a server writes to it. The copy
    /// appears complete and synced, or not at all, and never replaces another file. Its values are sealed with the keys
    /// of the key file, which belongs to it.
    public static func backUp(databaseAt path: String, to target: String) throws(StoreError) {
        guard access(target, F_OK) != 0 else {
            throw .unavailable("\(target) exists already and was not changed: name another file")
        }
        let temporary = try copy(path, beside: target)
        defer { removeFiles(temporary) }
        // Unlike rename, link never replaces a file.
        guard link(temporary, target) == 0 else { throw cannotWrite(target) }
        try sync(URL(fileURLWithPath: target).deletingLastPathComponent().path, O_DIRECTORY)
    }

    /// Returns the migrations that this version would run, by name, in order.
    public static func pendingMigrations(databaseAt path: String) throws(StoreError) -> [String] {
        try pending(SQLiteSchema.connectReadOnly(path), path)
    }

    /// Brings the database to this version, and returns the migrations that ran. Each migration happens completely or
    /// not at all.
    ///
    /// - Throws: `unavailable` when there is something to do, and a server works with the file: an older version could
    ///   not go on.
    public static func migrate(databaseAt path: String) throws(StoreError) -> [String] {
        let waiting = try pendingMigrations(databaseAt: path)
        guard !waiting.isEmpty else { return [] }
        let lock = try ServerLock(ofDatabaseAt: path)
        defer { lock.release() }
        try runMigrations(databaseAt: path)
        return waiting
    }

    private static func runMigrations(databaseAt path: String) throws(StoreError) {
        let pool = try SQLiteSchema.connect(path)
        do {
            defer { try? pool.close() }
            try SQLiteSchema.migrator.migrate(pool)
            let damage = try pool.read { db in try SQLiteSchema.damage(db) }
            guard damage.isEmpty else { throw StoreError.corrupt("\(path): \(damage.joined(separator: "; "))") }
        } catch {
            throw StoreError(error, path)
        }
    }

    /// Rewrites a file from before version 3 once, so that afterwards it returns free space to the disk. Returns false
    /// if that was done already. This needs as much free space as the database takes.
    ///
    /// - Throws: `unavailable` when there is something to do, and a server works with the file, which would have to wait.
    public static func rewrite(databaseAt path: String) throws(StoreError) -> Bool {
        let pool = try SQLiteSchema.connect(path)
        do {
            defer { try? pool.close() }
            return try pool.writeWithoutTransaction { db in
                let mode = try Int.fetchOne(db, sql: "PRAGMA auto_vacuum")
                guard mode != SQLiteSchema.incrementalVacuum else { return false }
                let lock = try ServerLock(ofDatabaseAt: path)
                defer { lock.release() }
                try db.execute(sql: "VACUUM")
                return true
            }
        } catch {
            throw StoreError(error, path)
        }
    }

    /// Runs the migrations on a copy beside the database, deletes the copy, and returns the migrations. This needs as
    /// much free space as the database takes.
    public static func rehearseMigration(databaseAt path: String) throws(StoreError) -> [String] {
        let copy = try copy(path, beside: path)
        defer { removeFiles(copy) }
        let waiting = try pendingMigrations(databaseAt: copy)
        if !waiting.isEmpty { try runMigrations(databaseAt: copy) }
        return waiting
    }

    private static func pending(_ queue: DatabaseQueue, _ path: String) throws(StoreError) -> [String] {
        do {
            defer { try? queue.close() }
            return try queue.inDatabase { db in
                try SQLiteSchema.check(db, path)
                return try SQLiteSchema.pendingMigrations(db)
            }
        } catch {
            throw StoreError(error, path)
        }
    }

    /// Makes a synced copy under a unique name.
    private static func copy(_ path: String, beside target: String) throws(StoreError) -> String {
        let queue = try SQLiteSchema.connectReadOnly(path)
        defer { try? queue.close() }
        let temporary = "\(target).\(KeyRing.KeyID(bytes: SessionStore.secureRandomBytes(KeyRing.KeyID.byteCount))).new"
        // SQLite uses this empty file, which only we can read, instead of creating one with the process's umask.
        let descriptor = Foundation.open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw cannotWrite(target) }
        Foundation.close(descriptor)
        do {
            try queue.inDatabase { db in
                try SQLiteSchema.check(db, path)
                // One statement is one snapshot: it blocks no writer (the log grows in the meantime). Unlike the backup
                // interface, it does not start again when another process writes, and leaves no deleted rows in the
                // copy.
                try db.execute(sql: "VACUUM INTO ?", arguments: [temporary])
            }
            try sync(temporary, 0)
            let damage = try damage(databaseAt: temporary)
            guard damage.isEmpty else {
                throw StoreError.corrupt("\(path) cannot be copied whole: \(damage.joined(separator: "; "))")
            }
        } catch {
            removeFiles(temporary)
            throw StoreError(error, path)
        }
        return temporary
    }

    private static func damage(databaseAt path: String) throws -> [String] {
        let queue = try SQLiteSchema.connectReadOnly(path)
        defer { try? queue.close() }
        return try queue.inDatabase { db in try SQLiteSchema.damage(db) }
    }

    private static func sync(_ path: String, _ flags: Int32) throws(StoreError) {
        let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC | flags)
        guard descriptor >= 0 else { throw cannotWrite(path) }
        defer { Foundation.close(descriptor) }
        guard fsync(descriptor) == 0 else { throw cannotWrite(path) }
    }

    private static func removeFiles(_ path: String) {
        for suffix in ["", "-journal", "-wal", "-shm"] { unlink(path + suffix) }
    }

    private static func cannotWrite(_ path: String) -> StoreError {
        .unavailable("\(path) cannot be written: \(systemMessage())")
    }
}
