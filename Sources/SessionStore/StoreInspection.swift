import Foundation
import GRDB
import Glibc
import WebFormats

/// What can be told of a database and its keys from outside: nothing is made, migrated or changed, also while a server
/// works on it.
public struct StoreInspection: Sendable, Redacted {
    /// A file and who may do what with it.
    public struct File: Sendable, Hashable {
        /// Where it is.
        public let path: String
        /// The permission bits, as 0o600.
        public let mode: UInt32

        /// nil when there is no such file, or its folder may not be looked into.
        public init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            self.init(path: path, mode: status.st_mode & 0o7777)
        }

        init(path: String, mode: UInt32) {
            self.path = path
            self.mode = mode
        }
    }

    /// The files of the database that are there; none before the first start.
    public internal(set) var files: [File] = []
    /// How many bytes they have.
    public internal(set) var fileBytes: Int64 = 0
    /// How many bytes are free where the database is (or is to be); nil when that folder is not there.
    public internal(set) var freeBytes: Int64?
    /// How large the file system is on which it is; nil when that folder is not there.
    public internal(set) var diskBytes: Int64?
    /// Why nothing can be written into it now; nil when something can, or when it is not there.
    public internal(set) var writeFailure: StoreError?
    /// Why it cannot be looked into; nil when it can, or is not there.
    public internal(set) var failure: StoreError?
    /// What is wrong with its structure; empty when it is sound.
    public internal(set) var damage: [String] = []
    /// Changes of the tables that this version makes when it starts.
    public internal(set) var pendingMigrations: [String] = []
    /// The keys, and how many values each seals.
    public internal(set) var keys: [KeyUse] = []
    /// The ID token's claims (JSON) of each application's latest sign-in, as far as they can be opened.
    public internal(set) var latestClaims: [String: String] = [:]

    /// Nothing was found, as before the first start.
    init() {}

    /// Looks. Reads the whole database: a few seconds for each GB.
    ///
    /// - Parameter keyRing: nil when there is no key.
    public init(databaseAt path: String, keyRing: KeyRing?) {
        let names = [path, path + "-wal", path + "-shm"]
        files = names.compactMap(File.init)
        for name in names {
            var status = stat()
            if stat(name, &status) == 0 { fileBytes += Int64(status.st_size) }
        }
        (freeBytes, diskBytes) = Self.space(besides: path)
        keys = KeyUse.list(keyRing, [:])
        guard !files.isEmpty else { return }
        do throws(StoreError) {
            try look(Schema.connectReadOnly(path), path, keyRing)
        } catch {
            failure = error
            return
        }
        do throws(StoreError) {
            try Schema.tryWriteLock(path)
        } catch {
            writeFailure = error
        }
    }

    private mutating func look(_ queue: DatabaseQueue, _ path: String, _ ring: KeyRing?) throws(StoreError) {
        do {
            defer { try? queue.close() }
            var found = self
            try queue.inDatabase { db in
                try Schema.check(db, path)
                found.damage = try Schema.damage(db)
                guard found.damage.isEmpty else { return }
                found.pendingMigrations = try Schema.pendingMigrations(db)
                found.keys = KeyUse.list(ring, try SealedColumn.counts(db))
                if let ring, found.pendingMigrations.isEmpty {
                    found.latestClaims = try Self.latestClaims(db, Sealer(ring, databasePath: path))
                }
            }
            self = found
        } catch {
            throw StoreError(error, path)
        }
    }

    private static func latestClaims(_ db: Database, _ sealer: Sealer) throws -> [String: String] {
        // SQLite takes the other columns from the row that has the maximum (its documentation of SELECT, section 2.5).
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT app, session, id, claims, MAX(signed_in_at)
                FROM account JOIN account_secret ON account_secret.account = account.key GROUP BY app
                """)
        return try rows.reduce(into: [:]) { latest, row in
            let app = try row.decode(String.self, atIndex: 0)
            let place = Sealer.Place.claims(
                try row.decode(atIndex: 1), app: app, account: try row.decode(atIndex: 2))
            latest[app] = try? sealer.open(try row.decode(atIndex: 3), for: place)
        }
    }

    static func space(besides path: String) -> (free: Int64?, disk: Int64?) {
        var status = statvfs()
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        guard statvfs(folder, &status) == 0 else { return (nil, nil) }
        func bytes(_ blocks: UInt) -> Int64 {
            Int64(clamping: UInt64(blocks).multipliedReportingOverflow(by: UInt64(status.f_frsize)).partialValue)
        }
        return (bytes(status.f_bavail), bytes(status.f_blocks))
    }
}
