import Foundation
import GRDB

/// The sessions, accounts, tokens and sign-in attempts, in one SQLite file with a cache in front.
///
/// Every write is on the disk (synced) when its method returns, with one exception: when a session was last used is
/// written at most once a minute, so after a kill or power failure a session may end up to a minute early.
/// Only one server may use a file; the command line may work on it beside the server, which notices within about a
/// second. When the file cannot be used, methods throw `StoreError.unavailable`, what is in memory is still served, and
/// everything works again when the cause is gone.
public final class SessionStore: Sendable {
    /// Where the database is and how long sessions live.
    public struct Configuration: Sendable {
        /// Where the database is unless somebody says otherwise.
        public static let defaultPath = "companion.sqlite"

        /// The SQLite file; made (mode 0600) when it is not there.
        public var path: String
        /// A session that was not used for so long is over.
        public var idle: Duration
        /// A session is over so long after its first sign-in, however much it is used.
        public var maxAge: Duration
        /// The time between leaving for the provider and coming back.
        public var attemptLifetime: Duration = .seconds(30 * 60)
        /// How much people who are not signed in may take up.
        public var newcomers = NewcomerLimits()
        /// How much memory the cache may take, in bytes.
        public var cacheBytes: Int
        /// Called after each operation on the database, on whatever thread it ended: for measuring. Must not block.
        public var onOperation: (@Sendable (StoreOperation) -> Void)?
        /// Called when the running store has followed a rotation of the keys, with the key that seals from then on. Must
        /// not block.
        public var onRotation: (@Sendable (KeyRing.KeyID) -> Void)?

        /// Every property, in their order.
        public init(path: String, idle: Duration, maxAge: Duration, cacheBytes: Int = 64 << 20) {
            self.path = path
            self.idle = idle
            self.maxAge = maxAge
            self.cacheBytes = cacheBytes
        }
    }

    let database: StoreDatabase
    let cache: SessionCache
    let records: SessionRecords
    let sealer: Sealer
    let lifetimes: Lifetimes
    let newcomers: NewcomerLimits
    let reserve: DiskReserve
    let clock: @Sendable () -> Date
    let randomBytes: @Sendable (Int) -> [UInt8]
    let onRotation: (@Sendable (KeyRing.KeyID) -> Void)?
    private let upkeep = Locked<Task<Void, Never>?>(nil)

    /// Opens the database, makes or migrates it, and checks that the keys fit. Background work begins: batched
    /// "last seen", purge of what expired, and a look each second for changes by the command line.
    ///
    /// - Parameters:
    ///   - now: The wall clock.
    ///   - randomBytes: A secure source; must give as many bytes as asked.
    public convenience init(
        configuration: Configuration, keyRing: KeyRing, now: @escaping @Sendable () -> Date = { Date() },
        randomBytes: @escaping @Sendable (Int) -> [UInt8] = SessionStore.secureRandomBytes
    ) throws(StoreError) {
        try self.init(
            configuration: configuration, keyRing: keyRing, now: now, randomBytes: randomBytes, backgroundWork: true)
    }

    init(
        configuration: Configuration, keyRing: KeyRing, now: @escaping @Sendable () -> Date,
        randomBytes: @escaping @Sendable (Int) -> [UInt8], backgroundWork: Bool
    ) throws(StoreError) {
        lifetimes = Lifetimes(
            idle: configuration.idle.milliseconds, maxAge: configuration.maxAge.milliseconds,
            attempt: configuration.attemptLifetime.milliseconds)
        let cache = SessionCache(maxBytes: configuration.cacheBytes, lifetimes: lifetimes)
        self.cache = cache
        sealer = Sealer(keyRing, databasePath: configuration.path)
        records = SessionRecords(sealer: sealer, lifetimes: lifetimes)
        newcomers = configuration.newcomers
        reserve = DiskReserve(besides: configuration.path, bytes: configuration.newcomers.freeBytes)
        clock = now
        onRotation = configuration.onRotation
        self.randomBytes = randomBytes
        database = try StoreDatabase(
            path: configuration.path, sealer: sealer, onOperation: configuration.onOperation
        ) { cache.end($0.sessions) }
        guard backgroundWork else { return }
        upkeep.withLock { task in
            let beginning = UpkeepProgress(version: database.versionAtOpening, ring: keyRing)
            task = Task.detached(priority: .utility) { [weak self] in
                var progress = beginning
                while !Task.isCancelled {
                    guard let next = await self?.upkeepRound(progress) else { return }
                    progress = next
                    try? await Task.sleep(for: .seconds(1))
                }
            }
        }
    }

    deinit {
        upkeep.withLock { $0 }?.cancel()
    }

    /// Bytes from the system's secure generator.
    public static let secureRandomBytes: @Sendable (Int) -> [UInt8] = { count in
        var generator = SystemRandomNumberGenerator()
        return (0..<max(0, count)).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    /// Stops the background work, writes what is pending, waits for what is under way and closes the file. Further
    /// calls throw `unavailable`.
    public func close() async {
        let task = upkeep.withLock { task in
            defer { task = nil }
            return task
        }
        task?.cancel()
        await task?.value
        // A disk that is full now keeps the times of last use from being written; nothing else waits.
        try? await writeLastUses()
        await database.close()
    }

    var now: Int64 { clock().milliseconds }

    // MARK: Sessions

    /// The session when it is in memory: no I/O, never blocks. nil: ask `session(_:)`. Counts as use of the session.
    public func cachedSession(_ id: SessionID) -> Session? {
        cache.session(id.hash, now: now)
    }

    /// The session; nil when unknown or expired. Counts as use of the session.
    public func session(_ id: SessionID) async throws(StoreError) -> Session? {
        if let session = cachedSession(id) { return session }
        let ticket = cache.ticket()
        let records = records
        guard let snapshot = try await database.read({ db in try records.snapshot(db, hash: id.hash) }) else {
            return nil
        }
        return cache.admit(snapshot, ticket, now: now, isUse: true)
    }
}
