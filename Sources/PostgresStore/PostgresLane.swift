import EventLoop
import SessionStore
import Synchronization

/// One worker's connections: one for single statements, and a few for transactions. While the server refuses, it tries again
/// by itself, after 50 ms at first and 1.5 s at last; while the server is silent, each second beside the attempts before.
///
/// `@unchecked Sendable`: everything but `worker` is touched on the worker only.
final class PostgresLane: @unchecked Sendable {
    typealias Opened = (Result<PostgresConnection, PostgresFailure>) -> Void

    /// What a connection is for.
    private enum Purpose: CaseIterable {
        /// Single statements, of which all are sent on one connection.
        case statements
        /// A transaction, which has a connection for itself.
        case transaction

        /// Those who wait for such a connection.
        var queue: ReferenceWritableKeyPath<PostgresLane, [Waiter]> {
            switch self {
            case .statements: \.waitingForStatements
            case .transaction: \.waitingForTransaction
            }
        }
    }

    /// Somebody who waits for a connection.
    private struct Waiter {
        let deadline: MonotonicTime
        /// Whether there is nothing to go on with without an answer.
        let isPatient: Bool
        let serve: Opened
    }

    /// How long somebody waits for a connection.
    private static let patience: Duration = .seconds(10)
    /// After so long without a server nobody waits any more.
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
    ///   - recovery: what the lanes of one database have in common.
    init(worker: Worker, settings: PostgresSettings, limit: Int, recovery: Recovery) {
        self.worker = worker
        attempts = ConnectionAttempts(worker: worker, settings: settings)
        self.limit = max(1, limit)
        self.recovery = recovery
        recovery.add { [weak self] in worker.submit { [weak self] in self?.tryAtOnce() } }
    }

    // MARK: For the store

    /// How it stands with the connections.
    var connections: StoreConnections {
        var found = StoreConnections()
        found.isReachable = downSince == nil && !recovery.isSilent
        found.open = idle.count(where: \.isOpen) + taken + (single?.isOpen == true ? 1 : 0)
        found.busy = taken
        found.limit = limit
        found.waiting = waitingForStatements.count + waitingForTransaction.count
        return found
    }

    /// Gives the connection for single statements to `serve`.
    ///
    /// - Parameter answerBy: then `serve` gets ``PostgresFailure/silence``.
    func withSingle(answerBy: MonotonicTime?, _ serve: @escaping Opened) {
        if let single, single.isOpen, !worker.isShutDown { return serve(.success(single)) }
        wait(serve, for: .statements, answerBy: answerBy)
    }

    /// Gives a connection for a transaction to `serve`, which has to be given back.
    func take(_ serve: @escaping Opened) {
        while !worker.isShutDown, let connection = idle.popLast() {
            guard connection.isOpen else { continue }
            taken += 1
            return serve(.success(connection))
        }
        wait(serve, for: .transaction)
    }

    /// Takes a connection back. It may be closed, or have a last statement under way.
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

    /// Ends all connections. Who waits gets none.
    func close() {
        isClosed = true
        for timer in [retry, expiry?.id] { timer.map { _ = worker.cancelTimer($0) } }
        attempts.end()
        single?.close()
        for connection in idle { connection.close() }
        idle = []
        refuse(.connection("the store is closed"))
    }

    /// The server may refuse one connection more, and serve those that there are.
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

    /// Has those end whose time is over then, unless that happens before.
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

    /// What the next connection is for; nil when no one needs another.
    private var need: Purpose? {
        // In an outage one is made although nobody waits, to see when it is over.
        let isOutage = downSince != nil || recovery.isSilent
        if single?.isOpen != true, !waitingForStatements.isEmpty || isOutage { return .statements }
        return !waitingForTransaction.isEmpty && taken + idle.count < limit ? .transaction : nil
    }

    /// Makes the next connection that somebody needs, one at a time.
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

    /// The server is there, though it may refuse one connection more.
    private func answered() {
        downSince = nil
        recovery.isSilent = false
    }

    /// Another lane has reached the server: the outage is over, and this one's requests wait rather than fail.
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
        // Where the server only refuses one connection more, those that there are have an answer.
        if let open = single ?? idle.last {
            open.send("SELECT 1", [], isPrepared: false, patience: Transaction.patience) { _ in }
        }
        guard isLast else { return }
        // Not all of them at the same moment.
        retry = worker.addTimer(after: delay * Double.random(in: 0.75...1)) { [weak self] in
            self?.retry = nil
            self?.connectNext()
        }
        delay = min(delay * 2, Self.lastDelay)
    }
}

/// What the lanes of one database tell each other. When one of them reaches the server again, the others need not wait for
/// their next attempt.
final class Recovery: Sendable {
    private let lanes = Mutex<[@Sendable () -> Void]>([])
    private let silence = Atomic(false)

    /// Whether somebody has waited for an answer in vain, and there was none since. Asked at each answer, written seldom.
    var isSilent: Bool {
        get { silence.load(ordering: .relaxed) }
        set { if newValue != isSilent { silence.store(newValue, ordering: .relaxed) } }
    }

    /// - Parameter tryAtOnce: called on any thread.
    func add(_ tryAtOnce: @escaping @Sendable () -> Void) { lanes.withLock { $0.append(tryAtOnce) } }

    func announce() { for tryAtOnce in lanes.withLock({ $0 }) { tryAtOnce() } }
}
