import Cryptography
public import Foundation
import Synchronization
import WebFormats

/// The sessions, accounts, tokens and sign-in attempts. This type seals secrets and hashes values that are looked up,
/// and keeps a cache in front of the backend.
///
/// Every write is stored durably when its method returns, with one exception: the time when a session was last used is
/// written once a minute (four times within the idle time if that is shorter). After a kill or a power failure, a
/// session may therefore expire earlier by as much.
/// While the database is unavailable, methods throw `StoreError.unavailable` and sessions in memory are still served.
/// Everything works again when the cause is gone.
public final class SessionStore: Sendable {
    /// The lifetimes of sessions, and the size of the cache.
    public struct Configuration: Sendable {
        /// The time after which an unused session expires.
        public var idle: Duration
        /// The time after its first sign-in after which a session expires, however much it is used.
        public var maxAge: Duration
        /// The longest time between leaving for the provider and coming back.
        public static let attemptLifetime: Duration = .seconds(30 * 60)
        /// The bytes that stay free on the disk for people who are signed in; a tenth of a small disk. 0 reserves
        /// nothing.
        public var freeBytes = standardFreeBytes
        /// 64 MB.
        public static let standardFreeBytes = 64 << 20
        /// The most memory that the cache may use, in bytes.
        public var cacheBytes: Int
        /// This server's version, which it reports to the other servers on the same database.
        public var version = ""
        /// Called when the running store has followed a rotation of the keys, with the key that seals from then on. It
        /// must not block.
        public var onRotation: (@Sendable (KeyRing.KeyID) -> Void)?
        /// Called when this server has a problem that concerns other servers on the same database, and when it is
        /// solved. It must not block.
        public var onConcern: (@Sendable (StoreConcern, _ isOver: Bool) -> Void)?

        /// Creates a configuration.
        public init(idle: Duration, maxAge: Duration, cacheBytes: Int = 64 << 20) {
            self.idle = idle
            self.maxAge = maxAge
            self.cacheBytes = cacheBytes
        }
    }

    let backend: any StoreBackend
    /// The backend, if several servers may use it at once; otherwise nil.
    let cluster: (any ClusteredStoreBackend)?
    /// Notes on their way to a clustered database; nil for a single server.
    let notes: NoteQueue?
    let answers: any PostedAnswerKeeper
    /// The id of this run of the server, for other servers.
    let process: ServerProcess.ID
    let cache: SessionCache
    package let sealer: Sealer
    let rules: SignInRules
    let time: StoreTime
    /// The machine's clock, which also sets the times of its files.
    let wall: @Sendable () -> Date
    let randomBytes: @Sendable (Int) -> [UInt8]
    let onRotation: (@Sendable (KeyRing.KeyID) -> Void)?
    let onConcern: (@Sendable (StoreConcern, _ isOver: Bool) -> Void)?
    let found = Mutex<[StoreConcern]>([])
    let version: String
    private let upkeep = Mutex<Task<Void, Never>?>(nil)

    /// Starts to use a backend, which has checked that the keys fit.
    ///
    /// - Parameters:
    ///   - clocks: The clocks to use.
    ///   - randomBytes: A secure source, which must return as many bytes as requested.
    ///   - backgroundWork: Whether to start the work that a server needs: writing times of use in batches, purging what
    ///     has expired, and checking every second for changes by others.
    package init(
        backend: any StoreBackend, configuration: Configuration, keyRing: KeyRing, clocks: Clocks,
        randomBytes: @escaping @Sendable (Int) -> [UInt8] = SessionStore.secureRandomBytes, backgroundWork: Bool = true
    ) {
        let lifetimes = Lifetimes(
            idle: configuration.idle.milliseconds, maxAge: configuration.maxAge.milliseconds,
            attempt: Configuration.attemptLifetime.milliseconds)
        let cache = SessionCache(
            maxBytes: configuration.cacheBytes, lifetimes: lifetimes, trust: backend.trust?.milliseconds,
            steady: { clocks.steady().milliseconds })
        self.backend = backend
        cluster = backend as? any ClusteredStoreBackend
        let time = StoreTime(clocks, opening: backend.openingTime, isClustered: cluster != nil, idle: lifetimes.idle)
        self.time = time
        wall = clocks.wall
        notes = cluster.map(NoteQueue.init)
        answers = cluster ?? PostedAnswersInMemory(steady: clocks.steady)
        process = Hex.encode(randomBytes(8))
        self.cache = cache
        sealer = Sealer(keyRing, storeName: backend.name)
        rules = SignInRules(
            lifetimes: lifetimes, freeBytes: configuration.freeBytes, lastUse: { cache.lastUse($0) },
            deletionTime: { time.deleting })
        onRotation = configuration.onRotation
        onConcern = configuration.onConcern
        version = configuration.version
        self.randomBytes = randomBytes
        guard backgroundWork else { return }
        upkeep.withLock { task in
            let beginning = UpkeepProgress(mark: backend.openingMark, ring: keyRing)
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

    /// Returns bytes that nobody can guess.
    public static let secureRandomBytes: @Sendable (Int) -> [UInt8] = { SecureRandom.bytes($0) }

    /// Stops the background work, writes what is pending, waits for operations in progress and closes the backend.
    /// Later calls throw `unavailable`.
    public func close() async {
        let task = upkeep.withLock { task in
            defer { task = nil }
            return task
        }
        task?.cancel()
        await task?.value
        // On a full disk the times of last use cannot be written; nothing else is pending.
        try? await writeLastUses()
        await settleNotes()
        await reportEnd()
        await backend.close()
    }

    var now: Int64 { time.now }

    /// The time that decides whether sessions and sign-ins have expired.
    public var currentTime: Date { Date(milliseconds: now) }

    // MARK: Sessions

    /// Looks the session up in memory, without I/O and without blocking. A hit counts as use of the session.
    public func cachedSession(_ id: SessionID) -> CachedSession {
        cache.session(id.hash, version: id.version, now: now)
    }

    /// Returns the session from memory, or reads it on the calling thread without blocking it for long: for the worker
    /// of an event loop. The session is absent when it is unknown or has expired. This counts as use of the session.
    public func sessionNow(_ id: SessionID) -> ImmediateRead<Session> {
        if case .hit(let session) = cachedSession(id) { return .found(session) }
        let ticket = cache.ticket()
        return backend.sessionNow(withID: id.hash).map { sealed in
            // `session(_:)` throws the reason.
            guard let snapshot = try? sealer.open(sealed) else { return .mustWait }
            return cache.admit(snapshot, ticket, now: now, isUse: true).map { .found($0) } ?? .absent
        }
    }

    /// Returns the session; nil when it is unknown or has expired. This counts as use of the session.
    ///
    /// - Parameter mustWait: whether ``sessionNow(_:)`` has just said so for this request, and is not asked again.
    public func session(_ id: SessionID, mustWait: Bool = false) async throws(StoreError) -> Session? {
        if !mustWait {
            switch sessionNow(id) {
            case .found(let session): return session
            case .absent: return nil
            case .mustWait: break
            }
        }
        if let session = try await revalidated(id) { return session }
        let ticket = cache.ticket()
        guard let sealed = try await backend.session(withID: id.hash) else { return nil }
        return cache.admit(try sealer.open(sealed), ticket, now: now, isUse: true)
    }
}
