package import EventLoop
import Foundation
public import SessionStore
import WebFormats

/// Sessions in a PostgreSQL database, which several servers can use at once.
///
/// Every write is stored when its method returns, as durably as the server is configured (`synchronous_commit`).
public final class PostgresStore: ClusteredStoreBackend {
    let database: PostgresDatabase
    private let staleness: Duration
    package let isEncrypted: Bool?
    package let openingTime: Int64?

    /// Migrates the database and checks that the keys fit, while the calling thread waits. Afterwards everything runs
    /// on `workers`.
    ///
    /// - Parameters:
    ///   - settings: the settings of the database.
    ///   - keyRing: the keys.
    ///   - workers: the workers to run on; nil creates one.
    ///   - followsOutage: whether the database may have been away until now. A server that starts cannot know.
    ///   - onOperation: called after each operation, for measuring, on the thread on which the operation ended. It must
    ///     not block.
    /// - Throws: when the database or the keys cannot be used.
    package init(
        _ settings: PostgresSettings, keyRing: KeyRing, workers: WorkerGroup? = nil, followsOutage: Bool = true,
        onOperation: (@Sendable (StoreOperation) -> Void)? = nil
    ) throws(StoreError) {
        (isEncrypted, openingTime) = try Self.open(settings, keyRing)
        database = try PostgresDatabase(
            settings, workers: workers, followsOutage: followsOutage, onOperation: onOperation)
        staleness = settings.staleness
    }

    /// - Returns: whether the connection was encrypted, and the database's time in milliseconds.
    private static func open(
        _ settings: PostgresSettings, _ keyRing: KeyRing
    ) throws(StoreError) -> (isEncrypted: Bool?, time: Int64?) {
        if let refusal = Primaries(settings)?.refusal { throw .unavailable("\(settings.description): \(refusal)") }
        let connection = try BlockingConnection(settings)
        do {
            _ = try PostgresSchema.migrate(connection, settings.description)
            try SealedColumn.checkKeys(connection, keyRing, settings.description)
            let time = try connection.query("SELECT \(Transaction.serverTime)").first?.integer(0)
            return (connection.isEncrypted, time)
        } catch {
            throw StoreError(error, of: settings.description)
        }
    }

    package var name: String { database.name }
    package var trust: Duration? { staleness }
    /// ``versions(of:within:)`` notices changes by others.
    package var openingMark: ChangeMark? { nil }
    package func changeMark() async -> ChangeMark? { nil }
    package var sinceLastWrite: Duration? { database.sinceLastWrite }
    package var unsoundness: String? { database.damage }
    /// Always false: the database's disk is its administrator's responsibility.
    package func isShortOfSpace(reserve: Int, now: Int64) -> Bool { false }
    package func close() async { await database.close() }

    // MARK: Sessions

    package func session(withID idHash: SHA256Hash) async throws(StoreError) -> SealedSession? {
        try await database.read(SealedSession.query(where: "id_hash = $1"), [.hash(idHash)]) {
            try SealedSession($0)
        }
    }

    package func session(_ key: SessionKey) async throws(StoreError) -> SealedSession? {
        try await database.read(SealedSession.query(where: "key = $1"), [.key(key)]) { try SealedSession($0) }
    }

    /// Always waits, because the server may be another machine.
    package func sessionNow(withID idHash: SHA256Hash) -> ImmediateRead<SealedSession> { .mustWait }

    package func versions(of sessions: [SessionKey], within limit: Duration?) async throws(StoreError)
        -> [SessionKey: Int64]
    {
        guard !sessions.isEmpty else { return [:] }
        return try await database.read(
            "SELECT key, version FROM session WHERE key = ANY($1)", [.keys(sessions)], within: limit
        ) { result in
            try result.rows.reduce(into: [:]) { versions, row in versions[try row.key(0)] = try row.integer(1) }
        }
    }

    package func confirmWritable(now: Int64) async throws(StoreError) {
        try await database.write { transaction in
            transaction.run("UPDATE write_probe SET at = $1 WHERE only_row = 1", [.integer(now)])
        }
    }
}

extension SealedSession {
    /// Returns the query for a session. It is one statement and so one snapshot, with a row for each account, and at
    /// least one row.
    static func query(where condition: String) -> String {
        """
        SELECT s.key, s.id_hash, s.created_at, s.last_seen_at, s.version,
            (SELECT CAST(json_object_agg(app, username) AS text) FROM previous_account WHERE session = s.key),
            (SELECT MAX(begun_at) FROM sign_in_attempt WHERE session = s.key),
            a.app, a.id, username, name, tenant_id, environment, object_id, issuer, subject, sid, policy, is_current,
            needs_interaction, interaction_claims, signed_in_at, claims
        FROM session AS s LEFT JOIN account AS a ON a.session = s.key WHERE s.\(condition) ORDER BY a.position
        """
    }

    init?(_ result: PostgresResult) throws {
        guard let first = result.first else { return nil }
        let key = try first.key(0)
        let accounts = try result.rows.compactMap { try AccountRow($0, in: key) }
        let previous = try first.optionalText(5).flatMap { JSONValue(parsing: $0.utf8)?.object } ?? [:]
        self.init(
            row: SessionRow(
                key: key, idHash: try first.hash(1), createdAt: try first.integer(2),
                lastSeenAt: try first.integer(3), hasAccounts: !accounts.isEmpty, remembersSomebody: !previous.isEmpty,
                // The lifetime of a session with an account does not depend on it.
                lastAttemptAt: accounts.isEmpty ? try first.optionalInteger(6) : nil),
            accounts: accounts, previousUsernames: previous.compactMapValues(\.string),
            version: try first.integer(4))
    }
}

extension AccountRow {
    /// Reads a row of ``SealedSession/query(where:)``; nil if it contains no account.
    fileprivate init?(_ row: PostgresRow, in session: SessionKey) throws {
        guard let app = try row.optionalText(7) else { return nil }
        self.init(
            key: AccountKey(session: session, app: app, id: try row.text(8)),
            identity: AccountIdentity(
                username: try row.text(9), name: try row.optionalText(10), tenantID: try row.optionalText(11),
                environment: try row.text(12), objectID: try row.optionalText(13), issuer: try row.text(14),
                subject: try row.text(15), sid: try row.optionalText(16), policy: try row.optionalText(17)),
            isCurrent: try row.flag(18), needsInteraction: try row.optionalText(19),
            interactionClaims: try row.optionalText(20), signedInAt: try row.integer(21), claims: try row.blob(22))
    }
}
