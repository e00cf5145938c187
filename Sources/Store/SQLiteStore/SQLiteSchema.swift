import Foundation
import GRDB
import SessionStore

/// The tables, and the way in which the file is opened.
///
/// Small columns that every request needs are separate from the sealed blobs. STRICT guarantees the types. Keys are
/// AUTOINCREMENT, because a sealed value's identity must never be given to another row. Times are in milliseconds since
/// 1970.
enum SQLiteSchema {
    /// "CMPN": distinguishes our files from other SQLite databases.
    static let applicationID: Int32 = 0x434D_504E
    /// The `PRAGMA auto_vacuum` of a file that returns space to the disk in steps.
    static let incrementalVacuum = 2
    /// Ten minutes, in milliseconds. It is part of the tables and must not change.
    static let period: Int64 = 600_000

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1: sessions, accounts, tokens, attempts") { db in
            try db.execute(sql: "PRAGMA application_id = \(applicationID)")
            try db.execute(
                sql: """
                    CREATE TABLE session (
                        key INTEGER PRIMARY KEY AUTOINCREMENT,
                        id_hash BLOB NOT NULL UNIQUE,
                        created_at INTEGER NOT NULL,
                        last_seen_at INTEGER NOT NULL
                    ) STRICT;

                    CREATE TABLE previous_account (
                        session INTEGER NOT NULL REFERENCES session(key) ON DELETE CASCADE,
                        app TEXT NOT NULL,
                        username TEXT NOT NULL,
                        PRIMARY KEY (session, app)
                    ) STRICT, WITHOUT ROWID;

                    CREATE TABLE account (
                        key INTEGER PRIMARY KEY AUTOINCREMENT,
                        session INTEGER NOT NULL REFERENCES session(key) ON DELETE CASCADE,
                        app TEXT NOT NULL,
                        id TEXT NOT NULL,
                        username TEXT NOT NULL,
                        name TEXT,
                        tenant_id TEXT,
                        environment TEXT NOT NULL,
                        object_id TEXT,
                        issuer TEXT NOT NULL,
                        subject TEXT NOT NULL,
                        sid TEXT,
                        is_current INTEGER NOT NULL DEFAULT 0,
                        needs_interaction TEXT,
                        interaction_claims TEXT,
                        signed_in_at INTEGER NOT NULL,
                        UNIQUE (session, app, id)
                    ) STRICT;
                    CREATE INDEX account_by_sid ON account (issuer, sid);
                    CREATE INDEX account_by_subject ON account (issuer, subject);

                    CREATE TABLE account_secret (
                        account INTEGER PRIMARY KEY REFERENCES account(key) ON DELETE CASCADE,
                        claims BLOB NOT NULL,
                        refresh_token BLOB
                    ) STRICT;

                    CREATE TABLE access_token (
                        key INTEGER PRIMARY KEY AUTOINCREMENT,
                        account INTEGER NOT NULL REFERENCES account(key) ON DELETE CASCADE,
                        requested_scopes TEXT NOT NULL,
                        granted_scopes TEXT NOT NULL,
                        expires_at INTEGER NOT NULL,
                        refresh_at INTEGER,
                        token BLOB NOT NULL,
                        UNIQUE (account, requested_scopes)
                    ) STRICT;

                    CREATE TABLE sign_in_attempt (
                        state_hash BLOB PRIMARY KEY NOT NULL,
                        session INTEGER NOT NULL REFERENCES session(key) ON DELETE CASCADE,
                        begun_id_hash BLOB NOT NULL,
                        app TEXT NOT NULL,
                        return_to TEXT NOT NULL,
                        prompt TEXT,
                        requested_scopes TEXT NOT NULL,
                        expected_account TEXT,
                        begun_at INTEGER NOT NULL,
                        sealed BLOB,
                        consumed_at INTEGER,
                        code_hash BLOB,
                        failed_at INTEGER,
                        completed_at INTEGER,
                        issued_id_hash BLOB
                    ) STRICT;
                    CREATE INDEX sign_in_attempt_by_session ON sign_in_attempt (session, begun_at);
                    CREATE INDEX sign_in_attempt_by_age ON sign_in_attempt (begun_at);

                    -- Every key that sealed something here, so that a lost key is noticed when the file is opened.
                    CREATE TABLE sealing_key (id BLOB PRIMARY KEY NOT NULL) STRICT, WITHOUT ROWID;

                    CREATE TABLE write_probe (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), at INTEGER NOT NULL) STRICT;
                    """)
        }
        migrator.registerMigration("2: ID tokens, user flows, tokens by tenant") { db in
            // The table is recreated, because its uniqueness changes; the rows keep their numbers, which show their
            // age.
            try db.execute(
                sql: """
                    ALTER TABLE account ADD COLUMN policy TEXT;
                    ALTER TABLE account_secret ADD COLUMN id_token BLOB;

                    ALTER TABLE access_token RENAME TO access_token_1;
                    CREATE TABLE access_token (
                        key INTEGER PRIMARY KEY AUTOINCREMENT,
                        account INTEGER NOT NULL REFERENCES account(key) ON DELETE CASCADE,
                        tenant TEXT NOT NULL DEFAULT '',
                        requested_scopes TEXT NOT NULL,
                        granted_scopes TEXT NOT NULL,
                        declined_scopes TEXT NOT NULL DEFAULT '',
                        expires_at INTEGER NOT NULL,
                        refresh_at INTEGER,
                        token BLOB NOT NULL,
                        UNIQUE (account, tenant, requested_scopes)
                    ) STRICT;
                    INSERT INTO access_token
                        (key, account, requested_scopes, granted_scopes, expires_at, refresh_at, token)
                    SELECT key, account, requested_scopes, granted_scopes, expires_at, refresh_at, token
                    FROM access_token_1;
                    DROP TABLE access_token_1;
                    """)
        }
        migrator.registerMigration("3: limits for newcomers, used logout tokens") { db in
            // Triggers count what counts against the limits, so that the counts are right whatever deletes the rows (a
            // purge, the cascade from a session, the command line), and after a restart. Older attempts count nothing;
            // they are gone within half an hour.
            try db.execute(
                sql: """
                    ALTER TABLE sign_in_attempt ADD COLUMN weight INTEGER NOT NULL DEFAULT 0;

                    CREATE TABLE newcomers (
                        only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
                        count INTEGER NOT NULL,
                        bytes INTEGER NOT NULL
                    ) STRICT;
                    INSERT INTO newcomers VALUES (1, 0, 0);
                    CREATE TRIGGER newcomer_begins AFTER INSERT ON sign_in_attempt WHEN NEW.weight > 0 BEGIN
                        UPDATE newcomers SET count = count + 1, bytes = bytes + NEW.weight;
                    END;
                    CREATE TRIGGER newcomer_goes AFTER DELETE ON sign_in_attempt WHEN OLD.weight > 0 BEGIN
                        UPDATE newcomers SET count = count - 1, bytes = bytes - OLD.weight;
                    END;
                    CREATE TRIGGER newcomer_signs_in AFTER UPDATE OF weight ON sign_in_attempt
                    WHEN OLD.weight > 0 AND NEW.weight = 0 BEGIN
                        UPDATE newcomers SET count = count - 1, bytes = bytes - OLD.weight;
                    END;

                    -- By the hash of issuer and jti, until the token ends.
                    CREATE TABLE logout_token (hash BLOB PRIMARY KEY NOT NULL, ends_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
                    """)
        }
        migrator.registerMigration("4: indexes by last use and by beginning") { db in
            // The index uses the period, not the exact time: a session that is used again mostly stays where it is in
            // the index, so that a minute's uses change few of its pages. Both indexes end with the key, which is the
            // row's number.
            try db.execute(
                sql: """
                    ALTER TABLE session
                    ADD COLUMN last_seen_period INTEGER GENERATED ALWAYS AS (last_seen_at / \(period)) VIRTUAL;
                    CREATE INDEX session_by_last_use ON session (last_seen_period);
                    CREATE INDEX session_by_age ON session (created_at);
                    """)
        }
        migrator.registerMigration("5: attempts that have come back") { db in
            // Before that the browser keeps them. Attempts of the previous version must begin again.
            try db.execute(
                sql: """
                    DROP TABLE sign_in_attempt;
                    DROP TABLE newcomers;
                    CREATE TABLE sign_in_attempt (
                        state_hash BLOB PRIMARY KEY NOT NULL,
                        session INTEGER REFERENCES session(key) ON DELETE SET NULL,
                        is_newcomers INTEGER NOT NULL,
                        begun_at INTEGER NOT NULL,
                        consumed_at INTEGER NOT NULL,
                        code_hash BLOB,
                        failed_at INTEGER,
                        completed_at INTEGER,
                        issued_id_hash BLOB
                    ) STRICT, WITHOUT ROWID;
                    CREATE INDEX sign_in_attempt_by_session ON sign_in_attempt (session, begun_at);
                    CREATE INDEX sign_in_attempt_by_age ON sign_in_attempt (begun_at);
                    CREATE INDEX sign_in_attempt_of_newcomers ON sign_in_attempt (consumed_at) WHERE is_newcomers = 1;
                    """)
        }
        migrator.registerMigration("6: the last checks of applications") { db in
            // The findings are JSON, and contain nothing secret.
            try db.execute(
                sql: """
                    CREATE TABLE check_round (
                        app TEXT PRIMARY KEY NOT NULL,
                        ended_at INTEGER NOT NULL,
                        findings TEXT NOT NULL
                    ) STRICT, WITHOUT ROWID;
                    """)
        }
        return migrator
    }

    /// Opens the file and brings it to this version.
    static func open(_ path: String, _ ring: KeyRing) throws(StoreError) -> DatabasePool {
        let pool = try connect(path)
        do {
            try migrator.migrate(pool)
            try checkKeys(pool, ring, path)
            return pool
        } catch {
            throw StoreError(error, path)
        }
    }

    /// Opens an existing file, whatever its version.
    static func connect(_ path: String) throws(StoreError) -> DatabasePool {
        do {
            let identity = FileIdentity(path)
            var configuration = GRDB.Configuration()
            configuration.label = "companion.store"
            // Long enough for another process's short transaction, and short enough for a waiting request.
            configuration.busyMode = .timeout(0.3)
            // If the disk refuses even the rollback, GRDB would otherwise end the process.
            configuration.allowsUnsafeTransactions = true
            configuration.prepareDatabase { db in
                // The pool opens readers when they are needed. Another file of the same name is another database.
                guard FileIdentity(path) == identity else { throw StoreError.unavailable(Soundness.replaced(path)) }
                try db.execute(sql: "PRAGMA busy_timeout = 300; PRAGMA temp_store = MEMORY")
                // This applies to new files, and to old ones that are rewritten. Where it is set already, setting it
                // again would write.
                guard !db.configuration.readonly, try Int.fetchOne(db, sql: "PRAGMA auto_vacuum") == 0 else { return }
                try db.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL")
            }
            let pool = try DatabasePool(path: path, configuration: configuration)
            try pool.writeWithoutTransaction { db in
                try check(db, path)
                // FULL: a commit is on the disk before the response. kill -9 loses nothing at any setting (the kernel
                // has the pages), but with NORMAL a power failure undoes what was committed since the last checkpoint,
                // and sign-outs would be undone. Group commit makes up for the cost.
                try db.execute(sql: "PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864")
            }
            return pool
        } catch {
            throw StoreError(error, path)
        }
    }

    /// Opens an existing file for inspection, even while a server writes to it: nothing is created, migrated or
    /// checked.
    static func connectReadOnly(_ path: String) throws(StoreError) -> DatabaseQueue {
        guard access(path, R_OK) == 0 else {
            throw .unavailable("the database \(path) cannot be read: \(systemMessage())")
        }
        do {
            var configuration = GRDB.Configuration()
            configuration.label = "companion.look"
            configuration.readonly = true
            configuration.busyMode = .timeout(5)
            configuration.prepareDatabase { db in try db.execute(sql: "PRAGMA temp_store = MEMORY") }
            return try DatabaseQueue(path: path, configuration: configuration)
        } catch {
            throw StoreError(error, path)
        }
    }

    /// Takes the write lock and releases it, even beside a running server: nothing is written.
    ///
    /// - Throws: `unavailable` when another program holds it for seconds, or when the file cannot be written.
    static func tryWriteLock(_ path: String) throws(StoreError) {
        guard access(path, W_OK) == 0 else {
            throw .unavailable("the database \(path) cannot be written: \(systemMessage())")
        }
        do {
            var configuration = GRDB.Configuration()
            configuration.label = "companion.look"
            // A server's own transactions take a few milliseconds.
            configuration.busyMode = .timeout(3)
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            defer { try? queue.close() }
            try queue.inDatabase { db in
                try db.execute(sql: "BEGIN IMMEDIATE")
                try db.execute(sql: "ROLLBACK")
            }
        } catch {
            throw StoreError(error, path)
        }
    }

    /// Returns the migrations that have not run, in order.
    static func pendingMigrations(_ db: Database) throws -> [String] {
        let done = try Set(migrator.appliedIdentifiers(db))
        return migrator.migrations.filter { !done.contains($0) }
    }

    /// Returns the damage that SQLite finds in the file's structure, in a few lines at most; empty if it is sound. This
    /// reads the whole file. It does not use `integrity_check`, which also compares every index with its table and
    /// takes many times as long.
    static func damage(_ db: Database) throws -> [String] {
        try String.fetchAll(db, sql: "PRAGMA quick_check(10)").filter { $0 != "ok" }
    }

    /// Throws when the file belongs to another application or a newer version.
    static func check(_ db: Database, _ path: String) throws {
        let id = try Int32.fetchOne(db, sql: "PRAGMA application_id") ?? 0
        // A first start that was killed leaves the migrator's own empty table, because the id comes with the first
        // migration.
        let isEmpty =
            try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master WHERE tbl_name <> 'grdb_migrations'") == 0
        guard id == applicationID || (id == 0 && isEmpty) else {
            throw StoreError.corrupt("\(path) is another application's database. Choose another file.")
        }
        if try !isEmpty && migrator.hasBeenSuperseded(db) {
            throw StoreError.newerSchema(
                "The database \(path) was made by a newer version of companion. Run that version, restore a backup from before, or choose another file."
            )
        }
    }

    /// Creates the file with mode 0600. SQLite would make it readable for others; its -wal and -shm files copy the
    /// mode. O_EXCL is needed because closing a descriptor of a file that SQLite has open in this process would drop
    /// its locks.
    static func makeFile(_ path: String) throws(StoreError) {
        let descriptor = Foundation.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor >= 0 {
            Foundation.close(descriptor)
        } else if errno != EEXIST {
            throw .unavailable("the database \(path) cannot be made: \(systemMessage())")
        } else if access(path, W_OK) != 0 {
            // SQLite would open it read only, and not notice when it becomes writable.
            throw .unavailable("the database \(path) cannot be written: \(systemMessage())")
        }
    }
}

extension StoreError {
    /// Converts an error of SQLite or GRDB. Uses the code and SQLite's own message, which name tables and columns but
    /// never values.
    init(_ error: any Error, _ path: String) {
        switch error {
        case let error as StoreError:
            self = error
        case let error as DatabaseError:
            let message = "\(path): \(error.message ?? "error") (SQLite \(error.extendedResultCode.rawValue))"
            switch error.resultCode {
            case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_ERROR:
                self = .corrupt(message)
            default:
                self = .unavailable(message)
            }
        default:
            self = .corrupt("\(path): a row does not have the form that we write")
        }
    }
}
