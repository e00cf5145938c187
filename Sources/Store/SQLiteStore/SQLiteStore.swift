import Foundation
import GRDB
public import SessionStore

/// Sessions in one SQLite file.
///
/// Every write is on the disk (synced) when its method returns. Only one server can use a file (``ServerLock``); the
/// command line may use it beside the server.
public final class SQLiteStore: StoreBackend {
    /// The default path of the database.
    public static let defaultPath = "companion.sqlite"

    let database: StoreDatabase
    private let reserve: DiskReserve

    /// Opens the file (or creates it with mode 0600), migrates it, and checks that the keys fit.
    ///
    /// - Parameters:
    ///   - isServer: whether to become the only server of the file, and to examine it in the background.
    ///   - now: the clock that measures how long a thread is blocked.
    ///   - onOperation: called after each operation, for measuring, on the thread on which the operation ended. It must
    ///     not block.
    /// - Throws: when the file or the keys cannot be used.
    package init(
        path: String, keyRing: KeyRing, isServer: Bool = false,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        onOperation: (@Sendable (StoreOperation) -> Void)? = nil
    ) throws(StoreError) {
        database = try StoreDatabase(
            path: path, keyRing: keyRing, isServer: isServer, now: now, onOperation: onOperation)
        reserve = DiskReserve(besides: path)
        if isServer { database.examine() }
    }

    package var name: String { database.path }
    /// ``changeMark()`` notices the commits of other processes.
    package var trust: Duration? { nil }
    package var openingMark: ChangeMark? { database.versionAtOpening.map(ChangeMark.init) }
    package var openingTime: Int64? { database.timeAtOpening }
    package func changeMark() async -> ChangeMark? { await database.outsideVersion().map(ChangeMark.init) }
    package var sinceLastWrite: Duration? { database.sinceLastCommit }
    package func isShortOfSpace(reserve bytes: Int, now: Int64) -> Bool { reserve.isLow(bytes: bytes, now: now) }
    package var unsoundness: String? { database.soundness.problem }
    package func close() async { await database.close() }

    package func session(withID idHash: SHA256Hash) async throws(StoreError) -> SealedSession? {
        try await database.read { db in try db.sessionQueries().session(idHash) }
    }

    package func session(_ key: SessionKey) async throws(StoreError) -> SealedSession? {
        try await database.read { db in try db.sessionQueries().session(key) }
    }

    package func sessionNow(withID idHash: SHA256Hash) -> ImmediateRead<SealedSession> {
        database.readNow { queries in try queries.session(idHash) }
    }

    package func confirmWritable(now: Int64) async throws(StoreError) {
        try await database.write { db in
            try db.run("INSERT OR REPLACE INTO write_probe (only_row, at) VALUES (1, ?)", [now])
        }
    }
}
