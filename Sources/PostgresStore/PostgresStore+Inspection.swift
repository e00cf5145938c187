import Foundation
public import SessionStore

/// What can be said of a PostgreSQL database from outside. Nothing is made, migrated or changed.
public struct PostgresInspection: Sendable {
    /// What is said of every place.
    public var health = StoreHealth()
    /// The server's version, as `15.6`; nil when it could not be reached.
    public var serverVersion: String?
    /// Whether the connection is encrypted.
    public var isEncrypted = false
    /// Why the role cannot create the tables that are missing; nil when it can, or when none is missing.
    public var creationFailure: StoreError?
    /// The version of our tables; 0 before the first start.
    public var schema: Int64 = 0
    /// The version of the tables that this program makes.
    public let ownSchema = Int64(Schema.migrations.count)
    /// How long the server lets this role's statements run (`statement_timeout`), in milliseconds; 0 is for ever.
    public var statementTimeout: Int64 = 0
    /// How long the server keeps a transaction whose client says nothing (`idle_in_transaction_session_timeout`), in
    /// milliseconds; 0 is for ever.
    public var idleTransactionTimeout: Int64 = 0
    /// How far the server's clock is before ours.
    public var clockDifference: Duration = .zero
    /// How long the server takes to say something.
    public var latency: Duration = .zero
    /// The companions that work with it now: host and version, and how far the machine's clock is ahead of the server's,
    /// where they say so.
    public var servers: [(host: String, version: String, clockAhead: Duration?)] = []
}

extension PostgresStore {
    /// The tables that a copy has to contain (`pg_dump --table`).
    public static let tables = Schema.tables

    /// Looks at the database from outside.
    ///
    /// - Parameters:
    ///   - settings: where it is.
    ///   - keyRing: nil when there is no key.
    public static func inspect(_ settings: PostgresSettings, keyRing: KeyRing?) -> PostgresInspection {
        var found = PostgresInspection()
        found.health.add(keyRing, counts: [:], of: settings.description)
        do {
            let connection = try BlockingConnection(settings)
            found.isEncrypted = connection.isEncrypted
            try look(at: connection, &found)
            found.schema = try Schema.version(connection).version
            found.health.exists = found.schema > 0
            found.health.pendingMigrations = try Schema.pendingMigrations(connection)
            try Schema.check(connection, settings.description)
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
        // Tables that are not migrated yet say nothing of clocks.
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

    /// Why a statement fails, which is undone.
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

    /// The changes of the tables that this version would make, by name, in their order.
    public static func pendingMigrations(_ settings: PostgresSettings) throws(StoreError) -> [String] {
        try withConnection(settings) { connection in
            try Schema.check(connection, settings.description)
            return try Schema.pendingMigrations(connection)
        }
    }

    /// Brings the database to this version and returns the migrations that ran. Each of them happens as a whole or not at
    /// all, also beside servers of the version before.
    public static func migrate(_ settings: PostgresSettings) throws(StoreError) -> [String] {
        try withConnection(settings) { try Schema.migrate($0, settings.description) }
    }

    /// Whether our tables are there.
    public static func exists(_ settings: PostgresSettings) throws(StoreError) -> Bool {
        try withConnection(settings) { try Schema.version($0).version > 0 }
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
