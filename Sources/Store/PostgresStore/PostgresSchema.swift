import SessionStore

/// The tables, and the migrations that bring a database to this version.
///
/// The server that starts first runs the migrations. Each is one transaction, which begins with a lock on the schema's
/// row. Servers of the previous version may be running: a migration only adds things that they can ignore (its `serves`
/// does not change), and things that they need are removed one version later.
///
/// The tables avoid features that differ between PostgreSQL and other databases that speak its protocol, or that a
/// pooler forbids: sequences, triggers, advisory locks, notifications, session settings. Times are in milliseconds
/// since 1970.
enum PostgresSchema {
    struct Migration {
        let name: String
        /// The oldest version of the schema whose programs can still work after the migration.
        let serves: Int64
        let statements: [String]
    }

    static let migrations: [Migration] = [
        Migration(
            name: "1: sessions, accounts, tokens, attempts, leases", serves: 1,
            statements: [
                """
                CREATE TABLE session (
                    key bigint PRIMARY KEY,
                    id_hash bytea NOT NULL UNIQUE,
                    version bigint NOT NULL DEFAULT 1,
                    -- Names the latest write, so that one whose outcome is not known can be looked up.
                    last_write bigint NOT NULL DEFAULT 0,
                    created_at bigint NOT NULL,
                    last_seen_at bigint NOT NULL
                )
                """,
                """
                CREATE TABLE previous_account (
                    session bigint NOT NULL REFERENCES session (key) ON DELETE CASCADE,
                    app text NOT NULL,
                    username text NOT NULL,
                    PRIMARY KEY (session, app)
                )
                """,
                """
                CREATE TABLE account (
                    session bigint NOT NULL REFERENCES session (key) ON DELETE CASCADE,
                    app text NOT NULL,
                    id text NOT NULL,
                    position bigint NOT NULL,
                    username text NOT NULL,
                    name text,
                    tenant_id text,
                    environment text NOT NULL,
                    object_id text,
                    issuer text NOT NULL,
                    subject text NOT NULL,
                    sid text,
                    policy text,
                    is_current boolean NOT NULL DEFAULT false,
                    needs_interaction text,
                    interaction_claims text,
                    signed_in_at bigint NOT NULL,
                    claims bytea NOT NULL,
                    refresh_token bytea,
                    id_token bytea,
                    fence bigint NOT NULL DEFAULT 0,
                    lease_by text NOT NULL DEFAULT '',
                    lease_until bigint NOT NULL DEFAULT 0,
                    retry_at bigint NOT NULL DEFAULT 0,
                    PRIMARY KEY (session, app, id)
                )
                """,
                // Indexes cannot hold long texts, and a provider may send any text.
                "CREATE INDEX account_by_sid ON account (left(sid, 200))",
                "CREATE INDEX account_by_subject ON account (left(subject, 200))",
                """
                CREATE TABLE access_token (
                    session bigint NOT NULL,
                    app text NOT NULL,
                    id text NOT NULL,
                    position bigint NOT NULL,
                    tenant text NOT NULL,
                    requested_scopes text NOT NULL,
                    granted_scopes text NOT NULL,
                    declined_scopes text NOT NULL,
                    expires_at bigint NOT NULL,
                    refresh_at bigint,
                    token bytea NOT NULL,
                    PRIMARY KEY (session, app, id, position),
                    FOREIGN KEY (session, app, id) REFERENCES account (session, app, id) ON DELETE CASCADE
                )
                """,
                """
                CREATE TABLE sign_in_attempt (
                    state_hash bytea PRIMARY KEY,
                    session bigint NOT NULL REFERENCES session (key) ON DELETE CASCADE,
                    position bigint NOT NULL,
                    begun_id_hash bytea NOT NULL,
                    app text NOT NULL,
                    return_to text NOT NULL,
                    prompt text,
                    requested_scopes text NOT NULL,
                    expected_account text,
                    begun_at bigint NOT NULL,
                    sealed bytea,
                    consumed_at bigint,
                    code_hash bytea,
                    failed_at bigint,
                    completed_at bigint,
                    issued_id_hash bytea,
                    weight bigint NOT NULL
                )
                """,
                "CREATE INDEX sign_in_attempt_by_session ON sign_in_attempt (session, begun_at)",
                "CREATE INDEX sign_in_attempt_by_age ON sign_in_attempt (begun_at)",
                "CREATE INDEX sign_in_attempt_of_newcomers ON sign_in_attempt (weight) WHERE weight > 0",
                // The key is the hash of issuer and jti. Rows are kept until the token expires.
                "CREATE TABLE logout_token (hash bytea PRIMARY KEY, ends_at bigint NOT NULL)",
                // Every key that sealed something here, so that a lost key is noticed when a server starts.
                "CREATE TABLE sealing_key (id bytea PRIMARY KEY)",
                """
                CREATE TABLE chore (
                    name text PRIMARY KEY,
                    by_process text NOT NULL DEFAULT '',
                    until bigint NOT NULL DEFAULT 0
                )
                """,
                // One more than the cases of `Chore`: a lock for counting newcomers near the limit.
                "INSERT INTO chore (name) VALUES ('purge'), ('resealing'), ('newcomers')",
                """
                CREATE TABLE server_process (
                    id text PRIMARY KEY,
                    host text NOT NULL,
                    version text NOT NULL,
                    keys bytea NOT NULL,
                    until bigint NOT NULL
                )
                """,
                "CREATE TABLE write_probe (only_row bigint PRIMARY KEY CHECK (only_row = 1), at bigint NOT NULL)",
                "INSERT INTO write_probe VALUES (1, 0)",
            ]),
        Migration(
            name: "2: indexes by last use and by beginning", serves: 1,
            statements: [
                // An index on a column that each use changes would cost each use as much as a new row. The server
                // derives the period, also for programs of the previous version.
                """
                ALTER TABLE session
                ADD COLUMN last_seen_period bigint GENERATED ALWAYS AS (last_seen_at / \(period)) STORED
                """,
                "CREATE INDEX session_by_last_use ON session (last_seen_period, key)",
                "CREATE INDEX session_by_age ON session (created_at, key)",
            ]),
        Migration(
            name: "3: what servers remember of sessions for each other", serves: 1,
            statements: [
                // The id begins with the time. There is no reference to the session, so that writing a note locks
                // nothing.
                """
                CREATE TABLE session_note (
                    id bigint PRIMARY KEY,
                    session bigint NOT NULL,
                    kind bigint NOT NULL,
                    app text NOT NULL,
                    body text NOT NULL
                )
                """,
                "CREATE INDEX session_note_by_session ON session_note (session, id)",
                // The key is the hash of the handle.
                "CREATE TABLE posted_answer (handle bytea PRIMARY KEY, sealed bytea NOT NULL, ends_at bigint NOT NULL)",
            ]),
        Migration(
            name: "4: how far the clock of a server's machine is ahead", serves: 1,
            statements: [
                // A program of the previous version does not report it.
                "ALTER TABLE server_process ADD COLUMN clock_ahead bigint"
            ]),
        Migration(
            name: "5: attempts that have come back", serves: 1,
            statements: [
                // Before that the browser keeps them. A program of the previous version reads and writes these columns;
                // the next version drops them.
                """
                ALTER TABLE sign_in_attempt
                    ALTER COLUMN position SET DEFAULT 0,
                    ALTER COLUMN begun_id_hash SET DEFAULT '\\x\(String(repeating: "00", count: 32))',
                    ALTER COLUMN app SET DEFAULT '',
                    ALTER COLUMN return_to SET DEFAULT '',
                    ALTER COLUMN requested_scopes SET DEFAULT '',
                    ALTER COLUMN session DROP NOT NULL,
                    DROP CONSTRAINT sign_in_attempt_session_fkey,
                    ADD CONSTRAINT sign_in_attempt_session_fkey
                        FOREIGN KEY (session) REFERENCES session (key) ON DELETE SET NULL
                """,
                // The client that posted it. A program of the previous version does not record it.
                "ALTER TABLE posted_answer ADD COLUMN asker bytea",
            ]),
        Migration(
            name: "6: sealed notes", serves: 1,
            statements: [
                // A program of the previous version writes and reads `body`, and does not see the notes of this one; the
                // next version drops it.
                """
                ALTER TABLE session_note
                    ALTER COLUMN body SET DEFAULT '',
                    ADD COLUMN sealed bytea NOT NULL DEFAULT ''
                """
            ]),
        Migration(
            name: "7: the last checks of applications", serves: 1,
            statements: [
                // The findings are JSON, and contain nothing secret.
                "CREATE TABLE check_round (app text PRIMARY KEY, ended_at bigint NOT NULL, findings text NOT NULL)",
                "INSERT INTO chore (name) VALUES ('checks')",
            ]),
        Migration(
            name: "8: the status that began a pause", serves: 1,
            statements: [
                // A program of the previous version writes `retry_at` alone. The status counts only while
                // `retry_status_at` is equal to it.
                """
                ALTER TABLE account
                    ADD COLUMN retry_status bigint,
                    ADD COLUMN retry_status_at bigint NOT NULL DEFAULT 0
                """
            ]),
    ]

    /// Ten minutes, in milliseconds. It is part of the tables and must not change.
    static let period: Int64 = 600_000

    /// Our tables, in the order in which they can be filled.
    static let tables = [
        "companion_schema", "session", "previous_account", "account", "access_token", "sign_in_attempt", "logout_token",
        "sealing_key", "chore", "server_process", "write_probe", "session_note", "posted_answer",
        "check_round",
    ]

    /// Returns the database's version, and the oldest version of a program that it still serves.
    ///
    /// - Returns: zeros if there are no tables.
    static func version(_ connection: BlockingConnection) throws -> (version: Int64, serves: Int64) {
        do {
            let row = try connection.query("SELECT version, serves FROM companion_schema WHERE only_row = 1").first
            return (try row?.integer(0) ?? 0, try row?.integer(1) ?? 0)
        } catch let failure as PostgresFailure where failure.isMissingTable {
            return (0, 0)
        }
    }

    /// Returns the migrations that have not run, in order.
    static func pendingMigrations(_ connection: BlockingConnection) throws -> [String] {
        let known = try version(connection)
        return migrations.dropFirst(Int(clamping: known.version)).map(\.name)
    }

    /// Throws when the database belongs to a newer version that this one must not touch.
    static func check(_ connection: BlockingConnection, _ name: String) throws {
        let known = try version(connection)
        if let refusal = refusal(of: name, version: known.version, serves: known.serves) { throw refusal }
    }

    /// Returns the reason for which this program cannot use a database; nil if it can.
    static func refusal(of name: String, version: Int64, serves: Int64) -> StoreError? {
        let own = Int64(migrations.count)
        guard version > own, serves > own else { return nil }
        return .newerSchema(
            "The database \(name) was migrated by a newer version of companion (schema \(version), this version knows \(own)). Run that version, or restore a backup from before."
        )
    }

    /// Brings the database to this version.
    ///
    /// - Returns: the migrations that ran.
    static func migrate(_ connection: BlockingConnection, _ name: String) throws -> [String] {
        try check(connection, name)
        guard try !pendingMigrations(connection).isEmpty else { return [] }
        try makeSchemaRow(connection)
        var done: [String] = []
        while let next = try migrateOnce(connection) { done.append(next) }
        return done
    }

    private static func migrateOnce(_ connection: BlockingConnection) throws -> String? {
        try connection.transaction { connection in
            // A second server waits here, and finds that the migration is done.
            let row = try connection.query("SELECT version FROM companion_schema WHERE only_row = 1 FOR UPDATE").first
            // The role's timeout is for requests; migrating a large table takes longer.
            try connection.query("SET LOCAL statement_timeout = 0")
            let version = try row?.integer(0) ?? 0
            guard let next = migrations.dropFirst(Int(clamping: version)).first else { return nil }
            for statement in next.statements { try connection.query(statement) }
            try connection.query(
                "UPDATE companion_schema SET version = $1, serves = $2 WHERE only_row = 1",
                [.integer(version + 1), .integer(next.serves)])
            return next.name
        }
    }

    private static func makeSchemaRow(_ connection: BlockingConnection) throws {
        do {
            try connection.query(makeSchemaTable)
        } catch {
            // IF NOT EXISTS does not help when two servers do it at the same moment.
            guard error.isDuplicateTable else { throw error }
        }
        try connection.query("INSERT INTO companion_schema VALUES (1, 0, 0) ON CONFLICT (only_row) DO NOTHING")
    }

    private static let makeSchemaTable = """
        CREATE TABLE IF NOT EXISTS companion_schema (
            only_row bigint PRIMARY KEY CHECK (only_row = 1), version bigint NOT NULL, serves bigint NOT NULL)
        """
}
