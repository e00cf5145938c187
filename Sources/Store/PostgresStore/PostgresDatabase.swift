import EventLoop
import Foundation
import SessionStore
import Synchronization

/// The only access to the server: single statements, pipelined on one connection for each worker, and transactions on a
/// few more connections.
///
/// Nothing here blocks the caller's thread, and nothing is cancelled with the caller's task.
final class PostgresDatabase: Sendable {
    private struct State {
        var isPrepared: Bool
        var lastWrite: ContinuousClock.Instant?
        var lastKey: Int64 = 0
        /// The damage that the server has met last.
        var damage: (text: String, at: ContinuousClock.Instant)?
    }

    /// A read of all rows takes longer than a request may.
    private static let longPatience: Duration = .seconds(60)
    private static let maxAttempts = 5
    /// The time for which damage is told after it was met: who is served meets a damaged page only now and then.
    private static let damageMemory: Duration = .seconds(3600)

    let name: String
    private let lanes: [PostgresLane]
    private let recovery: Recovery
    private let workers: WorkerGroup
    private let ownsWorkers: Bool
    private let gate: OperationGate
    private let state: Mutex<State>
    private let onOperation: (@Sendable (StoreOperation) -> Void)?

    /// - Parameters:
    ///   - workers: the workers to run on; nil creates one.
    ///   - followsOutage: whether an outage of the database counts as having ended now.
    init(
        _ settings: PostgresSettings, workers: WorkerGroup?, followsOutage: Bool,
        onOperation: (@Sendable (StoreOperation) -> Void)?
    ) throws(StoreError) {
        name = settings.description
        ownsWorkers = workers == nil
        do {
            self.workers = try workers ?? WorkerGroup(count: 1)
        } catch {
            throw .unavailable("\(name): \(error)")
        }
        let all = self.workers.workers
        let recovery = Recovery()
        if followsOutage { recovery.noteReturn(at: .read()) }
        self.recovery = recovery
        lanes = all.map { worker in
            PostgresLane(
                worker: worker, settings: settings, limit: settings.poolSize / all.count, recovery: recovery)
        }
        gate = OperationGate(name)
        state = Mutex(State(isPrepared: settings.preparation == .auto))
        self.onOperation = onOperation
    }

    // MARK: Operations

    /// Runs one statement, which is a snapshot of its own.
    ///
    /// - Parameter limit: the longest time that the caller waits; nil waits for as long as it takes. After one call has
    ///   run out of time, calls with a limit fail at once until the server has responded again.
    func read<Value: Sendable>(
        _ sql: String, _ parameters: [Parameter] = [], within limit: Duration? = nil,
        _ body: (PostgresResult) throws -> Value
    ) async throws(StoreError) -> Value {
        if limit != nil, recovery.isSilent { throw PostgresFailure.silence.storeError(of: name) }
        return try await measured(.read) {
            let lane = self.lane()
            let answerBy = limit.map { MonotonicTime.read() + $0 }
            let end = ContinuousClock.now + (limit ?? Transaction.patience)
            // Results that the worker has read are decoded on it as well.
            return try await withTaskExecutorPreference(lane.worker) {
                var result = await self.single(sql, parameters, answerBy: answerBy, on: lane)
                if case .failure(let failure) = result, failure.isOfPooler || failure.endsConnection, .now < end {
                    self.note(failure)
                    // This only reads, and the connection may have been to a server that no longer exists.
                    result = await self.single(sql, parameters, answerBy: answerBy, on: lane)
                }
                return try body(result.get())
            }
        }
    }

    /// Runs one statement that may take long, without blocking others.
    func readLong<Value: Sendable>(
        _ sql: String, _ parameters: [Parameter] = [], _ body: (PostgresResult) throws -> Value
    ) async throws(StoreError) -> Value {
        try await measured(.read) {
            let lane = self.lane()
            return try await withTaskExecutorPreference(lane.worker) {
                let connection = try await lane.taken()
                let result = await withCheckedContinuation { continuation in
                    lane.onWorker {
                        connection.send(sql, parameters, isPrepared: false, patience: Self.longPatience) {
                            lane.giveBack(connection)
                            continuation.resume(returning: $0)
                        }
                    }
                }
                return try body(result.get())
            }
        }
    }

    /// Runs `body` in a transaction, and returns when it is stored. After a conflict with another transaction, `body`
    /// runs again.
    func write<Value: Sendable>(_ body: @escaping @Sendable (Transaction) async throws -> Value)
        async throws(StoreError) -> Value
    {
        try await measured(.write) { try await self.stored(body) }
    }

    /// Runs a transaction whose `body` locks without waiting (NOWAIT).
    ///
    /// - Returns: nil when another transaction held the rows, again and again.
    func writeUnlessHeld<Value: Sendable>(_ body: @escaping @Sendable (Transaction) async throws -> Value)
        async throws(StoreError) -> Value?
    {
        try await measured(.write) {
            do {
                return try await self.stored(body)
            } catch let failure as PostgresFailure where failure.isHeld {
                return nil
            }
        }
    }

    private func stored<Value: Sendable>(_ body: @escaping @Sendable (Transaction) async throws -> Value)
        async throws -> Value
    {
        let lane = lane()
        return try await withTaskExecutorPreference(lane.worker) {
            try await self.attempts(on: lane, until: .now + Transaction.patience, body)
        }
    }

    private func attempts<Value: Sendable>(
        on lane: PostgresLane, left: Int = maxAttempts, until end: ContinuousClock.Instant,
        _ body: @Sendable (Transaction) async throws -> Value
    ) async throws -> Value {
        let connection = try await lane.taken()
        let transaction = Transaction(connection, isPrepared: state.withLock { $0.isPrepared })
        do {
            let value = try await body(transaction)
            try await commit(transaction, lane)
            lane.giveBack(connection)
            return value
        } catch {
            transaction.rollBack()
            lane.giveBack(connection)
            guard let failure = error as? PostgresFailure else { throw error }
            note(failure)
            guard failure.isWorthAnotherAttempt, left > 1, .now < end else { throw failure }
        }
        try? await Task.sleep(for: .milliseconds(Int64.random(in: 0...(10 << (Self.maxAttempts - left)))))
        return try await attempts(on: lane, left: left - 1, until: end, body)
    }

    private func commit(_ transaction: Transaction, _ lane: PostgresLane) async throws {
        do {
            try await transaction.commit()
        } catch {
            guard error.endsConnection else { throw error }
            guard try await wasStored(transaction, lane) else { throw error }
        }
        state.withLock { $0.lastWrite = .now }
    }

    /// Finds out whether a commit whose response was lost was stored.
    ///
    /// - Returns: false when it was not stored.
    /// - Throws: `unavailable` when that cannot be known, so that the transaction must not run again.
    private func wasStored(_ transaction: Transaction, _ lane: PostgresLane) async throws -> Bool {
        let end = ContinuousClock.now + Transaction.patience
        while let mark = transaction.mark {
            do {
                guard let answer = try await isStored(mark, lane) else { break }
                return answer
            } catch {
                // The next connection may be to a server that no longer exists, as the lost one was.
                guard .now < end else { break }
                try? await Task.sleep(for: .milliseconds(50))
            }
        }
        throw StoreError.unavailable("\(name): the connection was lost, and it is unknown whether a write was stored")
    }

    /// Returns whether a session's row has the mark of a write; nil if there was another write in the meantime.
    private func isStored(_ mark: Transaction.Mark, _ lane: PostgresLane) async throws -> Bool? {
        let connection = try await lane.taken()
        let look = Transaction(connection, isPrepared: false)
        defer {
            look.rollBack()
            lane.giveBack(connection)
        }
        // The lock waits for a transaction that is still in progress on the lost connection.
        let row = try await look.query(
            "SELECT last_write, version FROM session WHERE key = $1 FOR UPDATE", [.key(mark.session)]
        ).first
        guard let row else { return false }
        if try row.integer(0) == mark.write { return true }
        // A different version: there was another write in the meantime, before or after this write.
        return try row.integer(1) == mark.versionBefore ? false : nil
    }

    private func single(_ sql: String, _ parameters: [Parameter], answerBy: MonotonicTime?, on lane: PostgresLane)
        async -> Result<PostgresResult, PostgresFailure>
    {
        let isPrepared = state.withLock { $0.isPrepared }
        return await withCheckedContinuation { continuation in
            let finish: @Sendable (Result<PostgresResult, PostgresFailure>) -> Void = { [recovery] result in
                if case .failure(.silence) = result { recovery.isSilent = true }
                continuation.resume(returning: result)
            }
            lane.onWorker {
                lane.withSingle(answerBy: answerBy) { opened in
                    switch opened {
                    case .failure(let failure): finish(.failure(failure))
                    case .success(let connection):
                        connection.send(
                            sql, parameters, isPrepared: isPrepared, patience: Transaction.patience,
                            answerBy: answerBy, completion: finish)
                    }
                }
            }
        }
    }

    private func note(_ failure: PostgresFailure) {
        state.withLock { state in
            if failure.isOfPooler { state.isPrepared = false }
        }
    }

    /// Returns the lane of the current worker, or any lane.
    private func lane() -> PostgresLane {
        let worker = Worker.current ?? workers.next()
        return lanes.first { $0.worker === worker } ?? lanes[workers.next().index % lanes.count]
    }

    private func measured<Value: Sendable>(
        _ kind: StoreOperation.Kind, _ body: () async throws -> Value
    ) async throws(StoreError) -> Value {
        let start = ContinuousClock.now
        try gate.enter()
        defer { gate.leave() }
        let result: Result<Value, StoreError>
        do {
            result = .success(try await body())
        } catch {
            let reported = StoreError(error, of: name)
            result = .failure(reported)
            if (error as? PostgresFailure)?.isDamage == true {
                state.withLock { $0.damage = (reported.description, .now) }
            }
            if case .failure(.unavailable) = result { state.withLock { $0.lastWrite = nil } }
        }
        onOperation?(StoreOperation(kind, result, since: start))
        return try result.get()
    }

    // MARK: Health and closing

    /// The time since the last write was stored; nil if it failed, or the store is closed.
    var sinceLastWrite: Duration? { gate.isOpen ? state.withLock { $0.lastWrite }?.duration(to: .now) : nil }

    /// The damage that the server has met within the last hour, with its remedy; nil if there was none.
    var damage: String? {
        guard let damage = state.withLock({ $0.damage }), damage.at.duration(to: .now) < Self.damageMemory else {
            return nil
        }
        return
            "\(damage.text): the database's administrator must examine its files and the disk, and repair or restore what "
            + "is damaged"
    }

    /// The time since the database answered again after an outage; nil if there was none.
    var sinceReturn: Duration? { recovery.sinceReturn }

    /// Returns the state of the connections of all workers.
    func connections() async -> StoreConnections {
        var all = StoreConnections()
        for lane in lanes {
            all = all + (await lane.worker.perform { $0.isShutDown ? StoreConnections() : lane.connections })
        }
        return all
    }

    /// Returns a key for a new session: the time, and 20 random bits. The keys of one process increase, and stay below
    /// 2^62, so that SQLite, which continues after the highest, can take them over.
    func newKey() -> SessionKey {
        let now = (Date().milliseconds << 20) + Int64.random(in: 0..<(1 << 20))
        return SessionKey(
            state.withLock { state in
                state.lastKey = max(now, state.lastKey + 1)
                return state.lastKey
            })
    }

    /// Refuses new work, waits for the work in progress and closes the connections.
    func close() async {
        guard await gate.close() else { return }
        for lane in lanes { _ = await lane.worker.perform { _ in lane.close() } }
        if ownsWorkers { await workers.shutdown() }
    }
}

extension PostgresLane {
    /// Runs `work` on the worker, at once if the caller is on it.
    func onWorker(_ work: @escaping @Sendable () -> Void) {
        worker.isCurrent ? work() : worker.submit(work)
    }

    /// Returns a connection for a transaction. It must be given back.
    func taken() async throws(PostgresFailure) -> PostgresConnection {
        let opened = await withCheckedContinuation { continuation in
            onWorker { self.take { continuation.resume(returning: $0) } }
        }
        return try opened.get()
    }
}
