import EventLoop
import SessionStore
import Synchronization

/// One worker's connections: one for single statements, and a few for transactions. While the server refuses
/// connections, the lane tries again by itself, first after 50 ms and at most 1.5 s. While the server does not respond,
/// it starts another attempt each second, beside the earlier ones.
///
/// A server that is gone without a word is noticed once, not once for each connection: when it has answered on none for
/// a second, those that are idle are asked, and a new one is opened, wherever that is possible.
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
    /// The connections that transactions have.
    private var taken: [PostgresConnection] = []
    /// The connections that are asked whether the server still answers.
    private var asked: [PostgresConnection] = []
    private var answeredAt: MonotonicTime
    /// Whether the server is in doubt, and a new connection is wanted to find out.
    private var isInDoubt = false
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
        attempts = ConnectionAttempts(worker: worker, settings: settings, recovery: recovery)
        answeredAt = MonotonicTime.read()
        self.limit = max(1, limit)
        self.recovery = recovery
        recovery.add { [weak self] in worker.submit { [weak self] in self?.tryAtOnce() } }
    }

    // MARK: For the store

    /// The state of the connections.
    var connections: StoreConnections {
        var found = StoreConnections()
        found.isReachable = downSince == nil && !recovery.isSilent
        found.open = (idle + asked + taken + (single.map { [$0] } ?? [])).count(where: \.isOpen)
        found.busy = taken.count
        found.limit = limit
        found.waiting = waitingForStatements.count + waitingForTransaction.count
        return found
    }

    /// Passes the connection for single statements to `serve`.
    ///
    /// - Parameter answerBy: the time at which `serve` gets ``PostgresFailure/silence``.
    func withSingle(answerBy: MonotonicTime?, _ serve: @escaping Opened) {
        if let single, isUsable(single), !worker.isShutDown { return serve(.success(single)) }
        wait(serve, for: .statements, answerBy: answerBy)
    }

    /// Passes a connection for a transaction to `serve`. It must be given back.
    func take(_ serve: @escaping Opened) {
        while !worker.isShutDown, let connection = idle.popLast() {
            guard isUsable(connection) else {
                connection.close()
                continue
            }
            taken.append(connection)
            return serve(.success(connection))
        }
        wait(serve, for: .transaction)
    }

    /// Whether a connection is open, and its server not known to be silent.
    private func isUsable(_ connection: PostgresConnection) -> Bool {
        connection.isOpen && !connection.isQuiet && !recovery.isSilent(connection.place)
    }

    /// Takes a connection back. It may be closed, or still have a last statement in progress.
    func giveBack(_ connection: PostgresConnection) {
        taken.removeAll { $0 === connection }
        guard isUsable(connection), !isClosed else {
            connection.close()
            return connectNext()
        }
        // Those that were in doubt may have been replaced.
        guard hasRoom else { return connection.close() }
        guard let next = waitingForTransaction.first else { return idle.append(connection) }
        waitingForTransaction.removeFirst()
        taken.append(connection)
        next.serve(.success(connection))
    }

    /// Closes all connections. Waiting callers get none.
    func close() {
        isClosed = true
        for timer in [retry, expiry?.id] { timer.map { _ = worker.cancelTimer($0) } }
        attempts.end()
        single?.close()
        for connection in idle + asked { connection.close() }
        idle = []
        refuse(.connection("the store is closed"))
    }

    /// Whether a connection exists. The server may refuse another one, and still serve those.
    private var hasConnection: Bool {
        taken.contains(where: isUsable) || idle.contains(where: isUsable) || single.map(isUsable) == true
    }

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
        let isOutage = downSince != nil || recovery.isSilent || isInDoubt
        if single.map(isUsable) != true, !waitingForStatements.isEmpty || isOutage { return .statements }
        if isInDoubt { return .transaction }
        return !waitingForTransaction.isEmpty && hasRoom ? .transaction : nil
    }

    /// Whether there may be another connection for transactions.
    private var hasRoom: Bool { taken.count(where: \.isOpen) + idle.count < limit }

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
        let wasInDoubt = isInDoubt
        isInDoubt = false
        delay = Self.firstDelay
        answered()
        lastFailure = nil
        if wasDown { recovery.announce() }
        connection.onClose = { [weak self, weak connection] failure in
            guard let self, let connection else { return }
            lost(connection, failure)
        }
        connection.onAnswer = { [weak self, weak connection] in self?.answered(on: connection) }
        connection.onDoubt = { [weak self, weak connection] in
            guard let self, let connection else { return }
            doubt(connection)
        }
        // Those who wait on a connection to a server that is gone try again on a new one.
        if wasInDoubt { for old in taken + asked + [single].compactMap(\.self) { closeIfGone(old) } }
        switch purpose {
        case .statements:
            single.map(finish)
            single = connection
            serveStatements(on: connection)
        case .transaction: giveBack(connection)
        }
        connectNext()
    }

    private func serveStatements(on connection: PostgresConnection) {
        let served = waitingForStatements
        waitingForStatements = []
        for waiter in served { waiter.serve(.success(connection)) }
    }

    /// Closes a connection after the statements that were sent on it.
    private func finish(_ connection: PostgresConnection) {
        guard connection.isOpen else { return }
        connection.send("SELECT 1", [], isPrepared: false, patience: Transaction.patience) { _ in connection.close() }
    }

    /// Records that the server can be reached, although it may refuse another connection.
    private func answered(on connection: PostgresConnection? = nil) {
        answeredAt = worker.now
        if downSince != nil || recovery.isSilent {
            downSince = nil
            recovery.isSilent = false
            recovery.noteReturn(at: worker.now)
        }
        if let connection, connection === single, !waitingForStatements.isEmpty { serveStatements(on: connection) }
    }

    // MARK: Doubt

    /// Finds out whether the server is gone, if it has not answered on any connection for a second.
    private func doubt(_ connection: PostgresConnection) {
        closeIfGone(connection)
        guard connection.isQuiet, connection.isOpen, !isClosed else { return }
        let left = PostgresConnection.doubtAfter - (worker.now - answeredAt)
        guard left <= .zero else {
            // Another connection was answered meanwhile. Perhaps this one waits for a row that is held.
            _ = worker.addTimer(after: left) { [weak self, weak connection] in
                if let self, let connection { doubt(connection) }
            }
            return
        }
        isInDoubt = true
        let asked = idle
        idle = []
        self.asked += asked
        for each in asked {
            each.send("SELECT 1", [], isPrepared: false, patience: Transaction.patience) {
                [weak self] result in
                guard let self, case .success = result else { return }
                self.asked.removeAll { $0 === each }
                giveBack(each)
            }
        }
        connectNext()
    }

    /// Closes a connection on which nothing was answered for a second, if new ones to its server are not answered
    /// either.
    private func closeIfGone(_ connection: PostgresConnection) {
        if connection.isQuiet, recovery.isSilent(connection.place) { connection.close() }
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
        asked.removeAll { $0 === connection }
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
    private let silentPlaces = Mutex<Set<String>>([])
    private let hasSilentPlaces = Atomic(false)
    private let lastOpened = Mutex<String?>(nil)
    private let returned = Atomic<UInt64>(0)

    /// Whether a caller has run out of time, and the server has not responded since. It is read at each response and
    /// rarely written.
    var isSilent: Bool {
        get { silence.load(ordering: .relaxed) }
        set { if newValue != isSilent { silence.store(newValue, ordering: .relaxed) } }
    }

    /// Whether the last new connection to a place was not answered.
    func isSilent(_ place: String) -> Bool {
        hasSilentPlaces.load(ordering: .relaxed) && silentPlaces.withLock { $0.contains(place) }
    }

    func note(_ place: String, isSilent: Bool) {
        silentPlaces.withLock { places in
            if isSilent { places.insert(place) } else { places.remove(place) }
            hasSilentPlaces.store(!places.isEmpty, ordering: .relaxed)
        }
    }

    /// The order in which places are tried.
    enum Rank: CaseIterable {
        /// The last connection that opened is to it.
        case inUse
        case other
        case silent
    }

    func rank(of place: String) -> Rank {
        if isSilent(place) { return .silent }
        return lastOpened.withLock { $0 == place } ? .inUse : .other
    }

    func noteOpened(_ place: String) { lastOpened.withLock { $0 = place } }

    /// The time since the server answered again after an outage; nil if there was none.
    var sinceReturn: Duration? {
        let time = returned.load(ordering: .relaxed)
        return time == 0 ? nil : MonotonicTime.read() - MonotonicTime(nanoseconds: time)
    }

    func noteReturn(at time: MonotonicTime) { returned.store(time.nanoseconds, ordering: .relaxed) }

    /// - Parameter tryAtOnce: called on any thread.
    func add(_ tryAtOnce: @escaping @Sendable () -> Void) { lanes.withLock { $0.append(tryAtOnce) } }

    func announce() { for tryAtOnce in lanes.withLock({ $0 }) { tryAtOnce() } }
}
