public import Foundation
import Synchronization
import WebFormats

/// The sessions, accounts, tokens and sign-in attempts: what is secret is sealed here, what is looked up is hashed, and a
/// cache stands in front of the backend that keeps them.
///
/// Every write is stored durably when its method returns, with one exception: when a session was last used is written once
/// a minute (four times within the idle time where that is shorter), so after a kill or power failure a session may end as
/// much earlier.
/// When the backend cannot be used, methods throw `StoreError.unavailable`, what is in memory is still served, and
/// everything works again when the cause is gone.
public final class SessionStore: Sendable {
    /// How long sessions live, and how much memory they may take.
    public struct Configuration: Sendable {
        /// A session that was not used for so long is over.
        public var idle: Duration
        /// A session is over so long after its first sign-in, however much it is used.
        public var maxAge: Duration
        /// The most time between leaving for the provider and coming back.
        public static let attemptLifetime: Duration = .seconds(30 * 60)
        /// The bytes that stay free on the disk for those who are signed in; on a small disk a tenth of it. 0 keeps none.
        public var freeBytes = standardFreeBytes
        /// 64 MB.
        public static let standardFreeBytes = 64 << 20
        /// How much memory the cache may take, in bytes.
        public var cacheBytes: Int
        /// What other servers on the same place call this one's version.
        public var version = ""
        /// Called when the running store has followed a rotation of the keys, with the key that seals from then on. Must
        /// not block.
        public var onRotation: (@Sendable (KeyRing.KeyID) -> Void)?
        /// Called when something is wrong with this server beside the others, and when that is over. Must not block.
        public var onConcern: (@Sendable (StoreConcern, _ isOver: Bool) -> Void)?

        /// Every property, in their order.
        public init(idle: Duration, maxAge: Duration, cacheBytes: Int = 64 << 20) {
            self.idle = idle
            self.maxAge = maxAge
            self.cacheBytes = cacheBytes
        }
    }

    let backend: any StoreBackend
    /// The same, where several servers may use it at once.
    let cluster: (any ClusteredStoreBackend)?
    /// Where several servers share the place, what they remember of sessions for each other, on its way there.
    let notes: NoteQueue?
    let answers: any PostedAnswerKeeper
    /// Names this run of a server to the others.
    let process: ServerProcess.ID
    let cache: SessionCache
    package let sealer: Sealer
    let rules: SignInRules
    let time: StoreTime
    /// The machine's clock, which is also that of its files.
    let wall: @Sendable () -> Date
    let randomBytes: @Sendable (Int) -> [UInt8]
    let onRotation: (@Sendable (KeyRing.KeyID) -> Void)?
    let onConcern: (@Sendable (StoreConcern, _ isOver: Bool) -> Void)?
    let found = Mutex<[StoreConcern]>([])
    let version: String
    private let upkeep = Mutex<Task<Void, Never>?>(nil)

    /// Takes a backend into use, which has checked that the keys fit.
    ///
    /// - Parameters:
    ///   - clocks: By which it goes.
    ///   - randomBytes: A secure source; must give as many bytes as asked.
    ///   - backgroundWork: Whether the work that a server needs begins: batched "last seen", purge of what expired, and a
    ///     look each second for changes by others.
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

    /// Bytes from the system's secure generator.
    public static let secureRandomBytes: @Sendable (Int) -> [UInt8] = { count in
        // Eight bytes for each system call.
        var generator = SystemRandomNumberGenerator()
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 8)
        while bytes.count < count { withUnsafeBytes(of: generator.next() as UInt64) { bytes += $0 } }
        return Array(bytes.prefix(max(0, count)))
    }

    /// Stops the background work, writes what is pending, waits for what is under way and closes the backend. Further
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
        await settleNotes()
        await reportEnd()
        await backend.close()
    }

    var now: Int64 { time.now }

    /// The time by which sessions and sign-ins go.
    public var currentTime: Date { Date(milliseconds: now) }

    // MARK: Sessions

    /// What memory knows of the session: no I/O, never blocks. A hit counts as use of the session.
    public func cachedSession(_ id: SessionID) -> CachedSession {
        cache.session(id.hash, version: id.version, now: now)
    }

    /// The session, from memory or read on the calling thread, which is never held for long: for an event loop's worker.
    /// Absent when unknown or expired. Counts as use of the session.
    public func sessionNow(_ id: SessionID) -> ImmediateRead<Session> {
        if case .hit(let session) = cachedSession(id) { return .found(session) }
        let ticket = cache.ticket()
        return backend.sessionNow(withID: id.hash).map { sealed in
            // `session(_:)` throws what is wrong with it.
            guard let snapshot = try? sealer.open(sealed) else { return .mustWait }
            return cache.admit(snapshot, ticket, now: now, isUse: true).map { .found($0) } ?? .absent
        }
    }

    /// The session; nil when unknown or expired. Counts as use of the session.
    public func session(_ id: SessionID) async throws(StoreError) -> Session? {
        switch sessionNow(id) {
        case .found(let session): return session
        case .absent: return nil
        case .mustWait: break
        }
        if let session = try await revalidated(id) { return session }
        let ticket = cache.ticket()
        guard let sealed = try await backend.session(withID: id.hash) else { return nil }
        return cache.admit(try sealer.open(sealed), ticket, now: now, isUse: true)
    }
}
