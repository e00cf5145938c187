import EventLoop
import SessionStore
import Synchronization

/// One worker's connections: one for single statements, and a few for transactions. While the server refuses
/// connections, the lane tries again by itself, first after 50 ms and at most 1.5 s. While the server does not respond,
/// it starts another attempt each second, beside the earlier ones.
///
/// `@unchecked Sendable`: everything but `worker` is used on the worker only.
final class PostgresLane: @unchecked Sendable {
    typealias Opened = (Result<PostgresConnection, PostgresFailure>) -> Void

    /// The use of a connection.
    private enum Purpose: CaseIterable {
        /// Single statements, which are all sent on one connection.
        case statements
        /// A transaction, which has a connection of its own.
        case transaction

        /// The callers that wait for such a connection.
        var queue: ReferenceWritableKeyPath<PostgresLane, [Waiter]> {
            switch self {
            case .statements: \.waitingForStatements
            case .transaction: \.waitingForTransaction
            }
        }
    }

    /// A caller that waits for a connection.
    private struct Waiter {
        let deadline: MonotonicTime
        /// Whether the caller cannot continue without an answer.
        let isPatient: Bool
        let serve: Opened
    }

    /// The longest time that a caller waits for a connection.
    private static let patience: Duration = .seconds(10)
    /// The time without a server after which callers no longer wait.
    private static let outage: Duration = .seconds(2)
    private static let firstDelay: Duration = .milliseconds(50)
    private static let lastDelay: Duration = .milliseconds(1500)

    let worker: Worker
    private let limit: Int
    private let recovery: Recovery

    private var single: PostgresConnection?
    private var idle: [PostgresConnection] = []
    private var taken = 0
    private var waitingForStatements: [Waiter] = []
    private var waitingForTransaction: [Waiter] = []
    private let attempts: ConnectionAttempts
    private var retry: TimerID?
    private var delay = firstDelay
    private var downSince: MonotonicTime?
    private var lastFailure: PostgresFailure?
    private var expiry: (id: TimerID, at: MonotonicTime)?
    private var isClosed = false

    /// - Parameters:
    ///   - limit: the most connections for transactions.
    ///   - recovery: the state that the lanes of one database share.
    init(worker: Worker, settings: PostgresSettings, limit: Int, recovery: Recovery) {
        self.worker = worker
        attempts = ConnectionAttempts(worker: worker, settings: settings)
        self.limit = max(1, limit)
        self.recovery = recovery
        recovery.add { [weak self] in worker.submit { [weak self] in self?.tryAtOnce() } }
    }

    // MARK: For the store

    /// The state of the connections.
    var connections: StoreConnections {
        var found = StoreConnections()
        found.isReachable = downSince == nil && !recovery.isSilent
        found.open = idle.count(where: \.isOpen) + taken + (single?.isOpen == true ? 1 : 0)
        found.busy = taken
        found.limit = limit
        found.waiting = waitingForStatements.count + waitingForTransaction.count
        return found
    }

    /// Passes the connection for single statements to `serve`.
    ///
    /// - Parameter answerBy: the time at which `serve` gets ``PostgresFailure/silence``.
    func withSingle(answerBy: MonotonicTime?, _ serve: @escaping Opened) {
        if let single, single.isOpen, !worker.isShutDown { return serve(.success(single)) }
        wait(serve, for: .statements, answerBy: answerBy)
    }

    /// Passes a connection for a transaction to `serve`. It must be given back.
    func take(_ serve: @escaping Opened) {
        while !worker.isShutDown, let connection = idle.popLast() {
            guard connection.isOpen else { continue }
            taken += 1
            return serve(.success(connection))
        }
        wait(serve, for: .transaction)
    }

    /// Takes a connection back. It may be closed, or still have a last statement in progress.
    func giveBack(_ connection: PostgresConnection) {
        taken -= 1
        guard connection.isOpen, !isClosed else {
            connection.close()
            return connectNext()
        }
        guard let next = waitingForTransaction.first else { return idle.append(connection) }
        waitingForTransaction.removeFirst()
        taken += 1
        next.serve(.success(connection))
    }

    /// Closes all connections. Waiting callers get none.
    func close() {
        isClosed = true
        for timer in [retry, expiry?.id] { timer.map { _ = worker.cancelTimer($0) } }
        attempts.end()
        single?.close()
        for connection in idle { connection.close() }
        idle = []
        refuse(.connection("the store is closed"))
    }

    /// Whether a connection exists. The server may refuse another one, and still serve those.
    private var hasConnection: Bool { taken > 0 || !idle.isEmpty || single?.isOpen == true }

    // MARK: Waiting

    private func wait(_ serve: @escaping Opened, for purpose: Purpose, answerBy: MonotonicTime? = nil) {
        guard !isClosed, !worker.isShutDown else { return serve(.failure(.connection("the store is closed"))) }
        if let downSince, let lastFailure, !hasConnection, worker.now - downSince > Self.outage {
            return serve(.failure(lastFailure))
        }
        let waiter = Waiter(deadline: answerBy ?? worker.now + Self.patience, isPatient: answerBy == nil, serve: serve)
        self[keyPath: purpose.queue].append(waiter)
        setExpiry(at: waiter.deadline)
        connectNext()
    }

    /// Makes sure that callers whose time has run out are served at `next` or before.
    private func setExpiry(at next: MonotonicTime) {
        if let expiry, expiry.at <= next { return }
        expiry.map { _ = worker.cancelTimer($0.id) }
        let id = worker.addTimer(after: next - worker.now) { [weak self] in self?.expire() }
        expiry = (id, next)
    }

    private func expire() {
        expiry = nil
        let failure = lastFailure ?? .connection("all connections are in use")
        var ended: [Waiter] = []
        for queue in Purpose.allCases.map(\.queue) {
            ended += self[keyPath: queue].filter { $0.deadline <= worker.now }
            self[keyPath: queue].removeAll { $0.deadline <= worker.now }
        }
        let left = (waitingForStatements + waitingForTransaction).map(\.deadline)
        left.min().map(setExpiry)
        for waiter in ended { waiter.serve(.failure(waiter.isPatient ? failure : .silence)) }
    }

    private func refuse(_ failure: PostgresFailure) {
        let refused = waitingForTransaction + waitingForStatements
        waitingForTransaction = []
        waitingForStatements = []
        for waiter in refused { waiter.serve(.failure(failure)) }
    }

    // MARK: Connecting

    /// The use of the next connection; nil when none is needed.
    private var need: Purpose? {
        // In an outage, a connection is attempted even if no caller waits, to notice the end of the outage.
        let isOutage = downSince != nil || recovery.isSilent
        if single?.isOpen != true, !waitingForStatements.isEmpty || isOutage { return .statements }
        return !waitingForTransaction.isEmpty && taken + idle.count < limit ? .transaction : nil
    }

    /// Opens the next connection that is needed, one at a time.
    private func connectNext() {
        guard !isClosed, !attempts.areUnderWay, retry == nil, let need else { return }
        attempts.begin { [weak self] outcome in
            switch outcome {
            case .opened(let connection): self?.opened(connection, for: need)
            case .failed(let failure, let isLast): self?.failed(failure, isLast: isLast)
            }
        }
    }

    private func opened(_ connection: PostgresConnection, for purpose: Purpose) {
        let wasDown = downSince != nil
        delay = Self.firstDelay
        answered()
        lastFailure = nil
        if wasDown { recovery.announce() }
        connection.onClose = { [weak self, weak connection] failure in
            guard let self, let connection else { return }
            lost(connection, failure)
        }
        connection.onAnswer = { [weak self] in self?.answered() }
        switch purpose {
        case .statements:
            single = connection
            let served = waitingForStatements
            waitingForStatements = []
            for waiter in served { waiter.serve(.success(connection)) }
        case .transaction:
            taken += 1
            giveBack(connection)
        }
        connectNext()
    }

    /// Records that the server can be reached, although it may refuse another connection.
    private func answered() {
        downSince = nil
        recovery.isSilent = false
    }

    /// Tries again at once, because another lane has reached the server: the outage is over, and requests wait rather
    /// than fail.
    private func tryAtOnce() {
        if downSince != nil { downSince = worker.now }
        guard let retry else { return }
        worker.cancelTimer(retry)
        self.retry = nil
        connectNext()
    }

    private func lost(_ connection: PostgresConnection, _ failure: PostgresFailure) {
        idle.removeAll { $0 === connection }
        if single === connection { single = nil }
        lastFailure = failure
        if recovery.isSilent { connectNext() }
    }

    private func failed(_ failure: PostgresFailure, isLast: Bool) {
        lastFailure = failure
        let since = downSince ?? worker.now
        downSince = since
        if !hasConnection, worker.now - since > Self.outage { refuse(failure) }
        // If the server only refuses another connection, the existing ones still get responses.
        if let open = single ?? idle.last {
            open.send("SELECT 1", [], isPrepared: false, patience: Transaction.patience) { _ in }
        }
        guard isLast else { return }
        // The delay is random, so that not all lanes try at the same moment.
        retry = worker.addTimer(after: delay * Double.random(in: 0.75...1)) { [weak self] in
            self?.retry = nil
            self?.connectNext()
        }
        delay = min(delay * 2, Self.lastDelay)
    }
}

/// State that the lanes of one database share. When one of them reaches the server again, the others do not wait for
/// their next attempt.
final class Recovery: Sendable {
    private let lanes = Mutex<[@Sendable () -> Void]>([])
    private let silence = Atomic(false)

    /// Whether a caller has run out of time, and the server has not responded since. It is read at each response and
    /// rarely written.
    var isSilent: Bool {
        get { silence.load(ordering: .relaxed) }
        set { if newValue != isSilent { silence.store(newValue, ordering: .relaxed) } }
    }

    /// - Parameter tryAtOnce: called on any thread.
    func add(_ tryAtOnce: @escaping @Sendable () -> Void) { lanes.withLock { $0.append(tryAtOnce) } }

    func announce() { for tryAtOnce in lanes.withLock({ $0 }) { tryAtOnce() } }
}
