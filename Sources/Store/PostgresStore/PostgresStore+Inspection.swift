import Foundation
public import SessionStore

/// The state of a PostgreSQL database, as an inspection finds it. Nothing is created, migrated or changed.
public struct PostgresInspection: Sendable {
    /// The facts that every backend reports.
    public var health = StoreHealth()
    /// The server's version, such as `15.6`; nil if it could not be reached.
    public var serverVersion: String?
    /// Whether the connection is encrypted.
    public var isEncrypted = false
    /// The reason for which the role cannot create missing tables; nil if it can, or if none is missing.
    public var creationFailure: StoreError?
    /// The version of our tables; 0 before the first start.
    public var schema: Int64 = 0
    /// The hosts of the address that take writes; nil if it names only one.
    public var primaries: Primaries?
    /// The longest time that the server lets this role's statements run (`statement_timeout`), in milliseconds; 0 is
    /// unlimited.
    public var statementTimeout: Int64 = 0
    /// The longest time that the server keeps a transaction of a silent client (`idle_in_transaction_session_timeout`),
    /// in milliseconds; 0 is unlimited.
    public var idleTransactionTimeout: Int64 = 0
    /// The time by which the server's clock is ahead of ours.
    public var clockDifference: Duration = .zero
    /// The time that the server takes to respond.
    public var latency: Duration = .zero
    /// The companions that use the database now: host and version, and the time by which the machine's clock is ahead
    /// of the server's, if they report it.
    public var servers: [(host: String, version: String, clockAhead: Duration?)] = []
}

extension PostgresStore {
    /// The tables that a copy must contain (`pg_dump --table`).
    public static let tables = PostgresSchema.tables

    /// Inspects the database without changing it.
    ///
    /// - Parameters:
    ///   - settings: the settings of the database.
    ///   - keyRing: the keys; nil if there are none.
    public static func inspect(_ settings: PostgresSettings, keyRing: KeyRing?) -> PostgresInspection {
        var found = PostgresInspection()
        found.health.add(keyRing, counts: [:], of: settings.description)
        found.primaries = Primaries(settings)
        do {
            let connection = try BlockingConnection(settings)
            found.isEncrypted = connection.isEncrypted
            try look(at: connection, &found)
            found.schema = try PostgresSchema.version(connection).version
            found.health.exists = found.schema > 0
            found.health.pendingMigrations = try PostgresSchema.pendingMigrations(connection)
            try PostgresSchema.check(connection, settings.description)
            if !found.health.pendingMigrations.isEmpty {
                found.creationFailure = failure(
                    of: "CREATE TABLE companion_creation_probe (at bigint)", connection, settings.description)
            }
            guard found.health.exists else { return found }
            try lookInside(connection, keyRing, settings.description, &found)
        } catch {
            found.health.failure = StoreError(error, of: settings.description)
        }
        return found
    }

    private static func look(at connection: BlockingConnection, _ found: inout PostgresInspection) throws {
        let setting = "SELECT CAST(setting AS bigint) FROM pg_settings WHERE name = $1"
        found.statementTimeout = try connection.query(setting, [.text("statement_timeout")]).first?.integer(0) ?? 0
        found.idleTransactionTimeout =
            try connection.query(setting, [.text("idle_in_transaction_session_timeout")]).first?.integer(0) ?? 0
        let start = ContinuousClock.now
        let row = try connection.query(
            "SELECT current_setting('server_version'), \(Transaction.serverTime), pg_database_size(current_database())"
        ).first
        found.latency = start.duration(to: .now)
        found.serverVersion = try row?.text(0)
        found.clockDifference = .milliseconds((try row?.integer(1) ?? 0) - Date().milliseconds)
        found.health.bytes = try row?.integer(2) ?? 0
    }

    private static func lookInside(
        _ connection: BlockingConnection, _ ring: KeyRing?, _ name: String, _ found: inout PostgresInspection
    ) throws {
        // Tables that are not migrated yet do not record clocks.
        let clock = found.health.pendingMigrations.isEmpty ? "clock_ahead" : "CAST(NULL AS bigint)"
        found.servers = try connection.query(ServerProcess.livingQuery(clock: clock)).rows.map {
            let process = try ServerProcess($0)
            return (process.host, process.version, process.clockAhead.map { .milliseconds($0) })
        }
        let claims = try connection.query(
            "SELECT DISTINCT ON (app) \(AccountKey.columns), claims FROM account ORDER BY app, signed_in_at DESC"
        ).rows.map { (account: try AccountKey($0), sealed: try $0.blob(3)) }
        let counts = try SealedColumn.counts(connection.query(SealedColumn.countQuery))
        found.health.add(ring, counts: counts, claims: claims, of: name)
        found.health.writeFailure = failure(of: "UPDATE write_probe SET at = at", connection, name)
    }

    /// Runs a statement, rolls it back, and returns the reason if it failed.
    private static func failure(of sql: String, _ connection: BlockingConnection, _ name: String) -> StoreError? {
        defer { _ = try? connection.query("ROLLBACK") }
        do {
            try connection.query("BEGIN")
            try connection.query(sql)
            return nil
        } catch {
            return StoreError(error, of: name)
        }
    }

    /// Returns the migrations that this version would run, by name, in order.
    public static func pendingMigrations(_ settings: PostgresSettings) throws(StoreError) -> [String] {
        try withConnection(settings) { connection in
            try PostgresSchema.check(connection, settings.description)
            return try PostgresSchema.pendingMigrations(connection)
        }
    }

    /// Brings the database to this version, and returns the migrations that ran. Each migration happens completely or
    /// not at all, even beside servers of the previous version.
    public static func migrate(_ settings: PostgresSettings) throws(StoreError) -> [String] {
        try withConnection(settings) { try PostgresSchema.migrate($0, settings.description) }
    }

    /// Whether our tables exist.
    public static func exists(_ settings: PostgresSettings) throws(StoreError) -> Bool {
        try withConnection(settings) { try PostgresSchema.version($0).version > 0 }
    }

    private static func withConnection<Value>(
        _ settings: PostgresSettings, _ body: (BlockingConnection) throws -> Value
    ) throws(StoreError) -> Value {
        let connection = try BlockingConnection(settings)
        do {
            return try body(connection)
        } catch {
            throw StoreError(error, of: settings.description)
        }
    }
}
