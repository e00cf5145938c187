import Foundation
import GRDB
public import SessionStore

/// The database as a whole: copies of it, and its version. No keys are needed for any of this.
extension SQLiteStore {
    /// Whether there is a database.
    public static func exists(databaseAt path: String) -> Bool { access(path, F_OK) == 0 }

    /// Writes a copy of the database as it is at this moment (mode 0600), also while a server writes to it. The copy
    /// appears complete and synced, or not at all, and never in place of another file. What it holds is sealed with the
    /// keys of the key file, which belongs to it.
    public static func backUp(databaseAt path: String, to target: String) throws(StoreError) {
        guard access(target, F_OK) != 0 else {
            throw .unavailable("\(target) is there already, and is left alone: name another file")
        }
        let temporary = try copy(path, beside: target)
        defer { removeFiles(temporary) }
        // Unlike rename, link refuses to take the place of a file.
        guard link(temporary, target) == 0 else { throw cannotWrite(target) }
        try sync(URL(fileURLWithPath: target).deletingLastPathComponent().path, O_DIRECTORY)
    }

    /// The changes of the tables that this version would make, by name, in their order.
    public static func pendingMigrations(databaseAt path: String) throws(StoreError) -> [String] {
        try pending(Schema.connectReadOnly(path), path)
    }

    /// Brings the database to this version and returns the migrations that ran. Each of them happens as a whole or not at
    /// all. A server of an older version must not run on the file.
    public static func migrate(databaseAt path: String) throws(StoreError) -> [String] {
        let waiting = try pendingMigrations(databaseAt: path)
        guard !waiting.isEmpty else { return [] }
        let pool = try Schema.connect(path)
        do {
            defer { try? pool.close() }
            try Schema.migrator.migrate(pool)
            let damage = try pool.read { db in try Schema.damage(db) }
            guard damage.isEmpty else { throw StoreError.corrupt("\(path): \(damage.joined(separator: "; "))") }
        } catch {
            throw StoreError(error, path)
        }
        return waiting
    }

    /// Rewrites a file from before version 3 once, so that from then on it gives free space back to the disk; false when
    /// it does so already. Needs as much free space as the database takes, and keeps a server that works on it waiting.
    public static func rewrite(databaseAt path: String) throws(StoreError) -> Bool {
        let pool = try Schema.connect(path)
        do {
            defer { try? pool.close() }
            return try pool.writeWithoutTransaction { db in
                guard try Int.fetchOne(db, sql: "PRAGMA auto_vacuum") != Schema.incrementalVacuum else { return false }
                try db.execute(sql: "VACUUM")
                return true
            }
        } catch {
            throw StoreError(error, path)
        }
    }

    /// Runs the migrations on a copy beside the database, which is removed again, and returns them. Needs as much free
    /// space as the database takes.
    public static func rehearseMigration(databaseAt path: String) throws(StoreError) -> [String] {
        let copy = try copy(path, beside: path)
        defer { removeFiles(copy) }
        return try migrate(databaseAt: copy)
    }

    private static func pending(_ queue: DatabaseQueue, _ path: String) throws(StoreError) -> [String] {
        do {
            defer { try? queue.close() }
            return try queue.inDatabase { db in
                try Schema.check(db, path)
                return try Schema.pendingMigrations(db)
            }
        } catch {
            throw StoreError(error, path)
        }
    }

    /// A synced copy under a name of its own.
    private static func copy(_ path: String, beside target: String) throws(StoreError) -> String {
        let queue = try Schema.connectReadOnly(path)
        defer { try? queue.close() }
        let temporary = "\(target).\(KeyRing.KeyID(bytes: SessionStore.secureRandomBytes(KeyRing.KeyID.byteCount))).new"
        // SQLite takes the empty file, which is ours alone, in place of one of the process's umask.
        let descriptor = Foundation.open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw cannotWrite(target) }
        Foundation.close(descriptor)
        do {
            try queue.inDatabase { db in
                try Schema.check(db, path)
                // One statement, one snapshot: it keeps no writer waiting (the log grows meanwhile). Unlike the backup
                // interface it does not begin anew when somebody writes, and leaves no deleted rows in the copy.
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
        let queue = try Schema.connectReadOnly(path)
        defer { try? queue.close() }
        return try queue.inDatabase { db in try Schema.damage(db) }
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
