import Dispatch
import GRDB
import SessionStore
import Synchronization

/// The only access to the file. Reads run on the calling thread, or concurrently on GRDB's pool; writes run in groups
/// on its one writer.
///
/// Group commit: writes that arrive while a transaction is being synced wait and share the next one, each in a
/// savepoint of its own. 200 concurrent sign-ins cost a handful of syncs. Nothing here blocks the caller's thread, and
/// nothing is cancelled with the caller's task: a write either happened or threw.
final class StoreDatabase: Sendable {
    struct State {
        var waiting: [any Write] = []
        var isDraining = false
        var lastCommit: ContinuousClock.Instant?
    }

    private static let maxBatch = 256

    let path: String
    let pool: DatabasePool
    private let readers: ImmediateReaders
    private let lock: ServerLock?
    let soundness: Soundness
    /// The connection that examines the file; it is interrupted at the end.
    private let examiner = Mutex<DatabaseQueue?>(nil)
    private let gate: OperationGate
    let state = Mutex(State())
    /// The value of `outsideVersion()` before anything was read.
    let versionAtOpening: Int64?
    /// The latest use of a session in the database when it was opened.
    let timeAtOpening: Int64?
    private let onOperation: (@Sendable (StoreOperation) -> Void)?

    init(
        path: String, keyRing: KeyRing, isServer: Bool, now: @escaping @Sendable () -> ContinuousClock.Instant,
        onOperation: (@Sendable (StoreOperation) -> Void)?
    ) throws(StoreError) {
        self.path = path
        self.onOperation = onOperation
        gate = OperationGate(path)
        try SQLiteSchema.makeFile(path)
        lock = isServer ? try ServerLock(ofDatabaseAt: path) : nil
        pool = try SQLiteSchema.open(path, keyRing)
        soundness = Soundness(path: path, lock: lock)
        readers = ImmediateReaders(path: path, now: now)
        versionAtOpening = pool.writeWithoutTransaction { db in try? Int64.fetchOne(db, sql: "PRAGMA data_version") }
        timeAtOpening = pool.writeWithoutTransaction { db in
            try? Int64.fetchOne(
                db,
                sql: """
                    SELECT MAX(last_seen_at) FROM session
                    WHERE last_seen_period = (SELECT MAX(last_seen_period) FROM session)
                    """)
        }
    }

    /// Runs `body` on the calling thread, if that needs no waiting.
    func readNow<Value>(_ body: (SessionQueries) throws -> Value?) -> ImmediateRead<Value> {
        let start = ContinuousClock.now
        let result = readers.read(body)
        if case .mustWait = result { return result }
        onOperation?(StoreOperation(.read, .success(result), since: start))
        return result
    }

    /// Runs `body` on one consistent snapshot of the database, for callers that can wait.
    func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws(StoreError) -> Value
    {
        let start = ContinuousClock.now
        try gate.enter()
        defer { gate.leave() }
        let result: Result<Value, StoreError> = await withCheckedContinuation { continuation in
            // GRDB's own async functions throw when the task is cancelled; this one always calls back.
            pool.asyncRead { database in
                let result: Result<Value, StoreError>
                do {
                    result = .success(try body(database.get()))
                } catch {
                    result = .failure(self.storeError(error))
                }
                continuation.resume(returning: result)
            }
        }
        onOperation?(StoreOperation(.read, result, since: start))
        return try result.get()
    }

    /// Runs `body` in a transaction, and returns when it is on the disk. `body` may share a transaction with others;
    /// when it throws, only its own changes are undone.
    func write<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value)
        async throws(StoreError) -> Value
    {
        let start = ContinuousClock.now
        try gate.enter()
        defer { gate.leave() }
        let result: Result<Value, StoreError> = await withCheckedContinuation { continuation in
            let write = WriteOf(body: body, continuation: continuation)
            let mustDrain = state.withLock { state in
                state.waiting.append(write)
                defer { state.isDraining = true }
                return !state.isDraining
            }
            if mustDrain { drain() }
        }
        onOperation?(StoreOperation(.write, result, since: start))
        return try result.get()
    }

    /// Returns the writer's value of `PRAGMA data_version`. It changes when another process commits, and not with our
    /// own commits, because all our writes are on that connection.
    func outsideVersion() async -> Int64? {
        guard (try? gate.enter()) != nil else { return nil }
        defer { gate.leave() }
        return await withCheckedContinuation { continuation in
            pool.asyncWriteWithoutTransaction { db in
                continuation.resume(returning: try? Int64.fetchOne(db.cachedStatement(sql: "PRAGMA data_version")))
            }
        }
    }

    /// The time since the last commit reached the disk; nil if the last one failed, or the file is closed.
    var sinceLastCommit: Duration? {
        gate.isOpen && soundness.problem == nil ? state.withLock { $0.lastCommit }?.duration(to: .now) : nil
    }

    /// Reads the whole file in the background, on a connection and a thread of its own, and notes damage to its
    /// structure. This takes some seconds for each GB. It blocks nobody, but the log cannot shrink meanwhile.
    func examine() {
        DispatchQueue.global(qos: .utility).async { [self] in
            do {
                let queue = try SQLiteSchema.connectReadOnly(path)
                defer { try? queue.close() }
                examiner.withLock { $0 = queue }
                defer { examiner.withLock { $0 = nil } }
                guard gate.isOpen else { return }
                let damage = try queue.inDatabase { db in try SQLiteSchema.damage(db) }
                if !damage.isEmpty { soundness.note(damage: damage.prefix(3).joined(separator: "; ")) }
            } catch {
                soundness.note(error)
            }
        }
    }

    private func storeError(_ error: any Error) -> StoreError {
        soundness.note(error)
        return StoreError(error, path)
    }

    /// Throws while nothing may be stored.
    private func requireSoundness() throws(StoreError) {
        if let problem = soundness.problem { throw .unavailable(problem) }
    }

    /// Merges the log into the file, which then has its final size, as far as no reader uses the log.
    func mergeLog() async {
        guard (try? gate.enter()) != nil else { return }
        defer { gate.leave() }
        await withCheckedContinuation { continuation in
            pool.asyncWriteWithoutTransaction { db in
                // If it fails (the disk is full), the log serves as well.
                _ = try? db.checkpoint(.passive)
                continuation.resume()
            }
        }
    }

    /// Refuses new work, waits for work in progress, merges the log into the file and closes it.
    func close() async {
        guard await gate.close() else { return }
        readers.close()
        examiner.withLock { $0?.interrupt() }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                // GRDB closes the writer before its readers, and a reader could not merge the log.
                _ = try? self.pool.writeWithoutTransaction { db in try db.checkpoint(.passive) }
                // This fails only while statements run, and none do.
                try? self.pool.close()
                self.lock?.release()
                continuation.resume()
            }
        }
    }

    /// Runs one batch. Each batch takes its own turn on the writer's queue, so that other work there gets its turn too.
    private func drain() {
        pool.asyncWriteWithoutTransaction { db in
            let batch = self.state.withLock { state in
                let batch = Array(state.waiting.prefix(Self.maxBatch))
                state.waiting.removeFirst(batch.count)
                return batch
            }
            self.commit(batch, db)
            let hasMore = self.state.withLock { state in
                state.isDraining = !state.waiting.isEmpty
                return state.isDraining
            }
            if hasMore { self.drain() }
        }
    }

    /// Runs `body` in a savepoint. GRDB's own savepoints are parsed each time, which takes longer than most writes.
    private func inSavepoint(_ db: Database, _ body: () throws -> Void) throws {
        try db.run("SAVEPOINT write")
        do {
            try body()
        } catch {
            // If SQLite has rolled back everything, the savepoint is gone.
            guard db.isInsideTransaction else { throw error }
            do {
                try db.run("ROLLBACK TO write")
                try db.run("RELEASE write")
            } catch {
                throw StoreError.unavailable("\(path): a write could not be undone")
            }
            throw error
        }
        try db.run("RELEASE write")
    }

    private func commit(_ batch: [any Write], _ db: Database) {
        do {
            if db.isInsideTransaction { try db.rollback() }
            try requireSoundness()
            let changesBefore = db.totalChangesCount
            try db.inTransaction(.immediate) {
                for write in batch {
                    do {
                        try inSavepoint(db) { try write.run(db) }
                    } catch {
                        let error = storeError(error)
                        // A full disk or an I/O error affects all writes, and SQLite may have rolled back everything.
                        if case .unavailable = error { throw error }
                        guard db.isInsideTransaction else { throw error }
                        write.fail(error)
                    }
                }
                return .commit
            }
            // Nothing is acknowledged that a restart would not find.
            try requireSoundness()
            // A transaction without changes has not touched the disk, and proves nothing about it.
            if db.totalChangesCount != changesBefore { state.withLock { $0.lastCommit = .now } }
            for write in batch { write.finish() }
        } catch {
            let error = storeError(error)
            state.withLock { $0.lastCommit = nil }
            for write in batch { write.fail(error) }
        }
    }
}

/// A write with a result of any type.
protocol Write: AnyObject, Sendable {
    func run(_ db: Database) throws
    /// Returns the value to the caller, after the commit.
    func finish()
    /// Throws the error to the caller after a rollback, unless it has returned already.
    func fail(_ error: StoreError)
}

/// Unchecked, but safe to share: the caller creates it, and afterwards only the writer's serial queue uses it.
private final class WriteOf<Value: Sendable>: Write, @unchecked Sendable {
    private let body: @Sendable (Database) throws -> Value
    private var continuation: CheckedContinuation<Result<Value, StoreError>, Never>?
    private var value: Value?

    init(
        body: @escaping @Sendable (Database) throws -> Value,
        continuation: CheckedContinuation<Result<Value, StoreError>, Never>
    ) {
        self.body = body
        self.continuation = continuation
    }

    func run(_ db: Database) throws {
        value = try body(db)
    }

    func finish() {
        guard let value else { return }
        continuation?.resume(returning: .success(value))
        continuation = nil
    }

    func fail(_ error: StoreError) {
        continuation?.resume(returning: .failure(error))
        continuation = nil
    }
}
