import EventLoop
import SessionStore

/// One worker's connections: one for single statements, and a few for transactions. While the server refuses, it tries again
/// by itself, after 50 ms at first and 1.5 s at last; while the server is silent, each second beside the attempts before.
///
/// `@unchecked Sendable`: everything but `worker` and `settings` is touched on the worker only.
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
        let serve: Opened
    }

    /// An attempt to make a connection.
    private final class Attempt {
        let purpose: Purpose
        /// How many were under way when it began. It begins at another place than they.
        let number: Int
        var connection: PostgresConnection?

        init(for purpose: Purpose, number: Int) {
            self.purpose = purpose
            self.number = number
        }
    }

    /// How long a connection may take to be made.
    private static let connectPatience: Duration = .seconds(3)
    /// After so long another attempt begins beside those under way: what was lost on the way to a server that is back
    /// keeps nobody waiting for `connectPatience`.
    private static let attemptInterval: Duration = .seconds(1)
    private static let maxAttempts = 3
    /// How long somebody waits for a connection.
    private static let patience: Duration = .seconds(10)
    /// After so long without a server nobody waits any more.
    private static let outage: Duration = .seconds(2)
    private static let firstDelay: Duration = .milliseconds(50)
    private static let lastDelay: Duration = .milliseconds(1500)

    let worker: Worker
    private let settings: PostgresSettings
    private let limit: Int
    private let recovery: Recovery

    private var single: PostgresConnection?
    private var idle: [PostgresConnection] = []
    private var taken = 0
    private var waitingForStatements: [Waiter] = []
    private var waitingForTransaction: [Waiter] = []
    private var attempts: [Attempt] = []
    private var nextAttempt: TimerID?
    private var retry: TimerID?
    private var delay = firstDelay
    private var downSince: MonotonicTime?
    private var lastFailure: PostgresFailure?
    private var expiry: TimerID?
    private var isClosed = false

    /// - Parameters:
    ///   - limit: the most connections for transactions.
    ///   - recovery: what the lanes of one database have in common.
    init(worker: Worker, settings: PostgresSettings, limit: Int, recovery: Recovery) {
        self.worker = worker
        self.settings = settings
        self.limit = max(1, limit)
        self.recovery = recovery
        recovery.add { [weak self] in worker.submit { [weak self] in self?.tryAtOnce() } }
    }

    // MARK: For the store

    /// How it stands with the connections.
    var connections: StoreConnections {
        var found = StoreConnections()
        found.isReachable = downSince == nil
        found.open = idle.count(where: \.isOpen) + taken + (single?.isOpen == true ? 1 : 0)
        found.busy = taken
        found.limit = limit
        found.waiting = waitingForStatements.count + waitingForTransaction.count
        return found
    }

    /// Gives the connection for single statements to `serve`.
    func withSingle(_ serve: @escaping Opened) {
        if let single, single.isOpen, !worker.isShutDown { return serve(.success(single)) }
        wait(serve, for: .statements)
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
        for timer in [retry, expiry] { timer.map { _ = worker.cancelTimer($0) } }
        endAttempts()
        single?.close()
        for connection in idle { connection.close() }
        idle = []
        refuse(.connection("the store is closed"))
    }

    /// The server may refuse one connection more, and serve those that there are.
    private var hasConnection: Bool { taken > 0 || !idle.isEmpty || single?.isOpen == true }

    // MARK: Waiting

    private func wait(_ serve: @escaping Opened, for purpose: Purpose) {
        guard !isClosed, !worker.isShutDown else { return serve(.failure(.connection("the store is closed"))) }
        if let downSince, let lastFailure, !hasConnection, worker.now - downSince > Self.outage {
            return serve(.failure(lastFailure))
        }
        self[keyPath: purpose.queue].append(Waiter(deadline: worker.now + Self.patience, serve: serve))
        setExpiry()
        connectNext()
    }

    private func setExpiry() {
        let queues = Purpose.allCases.map(\.queue)
        guard expiry == nil, let next = queues.compactMap({ self[keyPath: $0].first?.deadline }).min() else { return }
        expiry = worker.addTimer(after: next - worker.now) { [weak self] in
            guard let self else { return }
            expiry = nil
            let failure = lastFailure ?? .connection("all connections are in use")
            for queue in queues {
                while let first = self[keyPath: queue].first, first.deadline <= worker.now {
                    self[keyPath: queue].removeFirst()
                    first.serve(.failure(failure))
                }
            }
            setExpiry()
        }
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
        if single?.isOpen != true, !waitingForStatements.isEmpty || downSince != nil { return .statements }
        return !waitingForTransaction.isEmpty && taken + idle.count < limit ? .transaction : nil
    }

    /// Makes the next connection that somebody needs, one at a time.
    private func connectNext() {
        guard !isClosed, attempts.isEmpty, retry == nil, let need else { return }
        beginAttempt(for: need)
    }

    private func beginAttempt(for purpose: Purpose) {
        if attempts.count < Self.maxAttempts {
            let attempt = Attempt(for: purpose, number: attempts.count)
            attempts.append(attempt)
            findAddresses { [weak self] places in
                let first = places.isEmpty ? 0 : attempt.number % places.count
                self?.connect(attempt, to: Array(places[first...] + places[..<first]))
            }
        }
        nextAttempt = worker.addTimer(after: Self.attemptInterval) { [weak self] in
            self?.beginAttempt(for: purpose)
        }
    }

    /// Ends those that are under way.
    private func endAttempts() {
        nextAttempt.map { _ = worker.cancelTimer($0) }
        let ended = attempts
        attempts = []
        for attempt in ended { attempt.connection?.close() }
    }

    /// Where the server may be: every endpoint, at each of its addresses.
    private func findAddresses(_ completion: @escaping ([[String: String]]) -> Void) {
        var found: [[String: String]] = []
        let left = settings.endpoints
        func next(_ index: Int) {
            guard left.indices.contains(index) else { return completion(found) }
            let endpoint = left[index]
            guard endpoint.needsResolution, let host = endpoint.host else {
                found.append(settings.parameters(for: endpoint, at: nil))
                return next(index + 1)
            }
            let answer = Answer { addresses in
                found += addresses.map { self.settings.parameters(for: endpoint, at: $0) }
                next(index + 1)
            }
            let timer = worker.addTimer(after: Self.connectPatience) { answer.give([]) }
            NameResolution.system.addresses(of: host) { [worker] addresses in
                worker.submit {
                    worker.cancelTimer(timer)
                    answer.give(addresses)
                }
            }
        }
        next(0)
    }

    private func connect(_ attempt: Attempt, to places: [[String: String]]) {
        guard attempts.contains(where: { $0 === attempt }) else { return }
        guard let place = places.first else {
            return failed(attempt, .connection("the host name of the database cannot be resolved"))
        }
        attempt.connection = PostgresConnection(worker: worker, parameters: place, patience: Self.connectPatience) {
            [weak self] failure in
            // Not within the initializer, which may call this.
            self?.worker.atBatchEnd {
                guard let self, self.attempts.contains(where: { $0 === attempt }) else { return }
                guard let failure else { return self.opened(attempt) }
                guard places.count > 1 else { return self.failed(attempt, failure) }
                self.connect(attempt, to: Array(places.dropFirst()))
            }
        }
    }

    private func opened(_ attempt: Attempt) {
        guard let connection = attempt.connection, connection.isOpen else {
            return failed(attempt, .connection("the connection was lost"))
        }
        attempt.connection = nil
        endAttempts()
        let wasDown = downSince != nil
        delay = Self.firstDelay
        downSince = nil
        lastFailure = nil
        if wasDown { recovery.announce() }
        connection.onClose = { [weak self, weak connection] failure in
            guard let self, let connection else { return }
            lost(connection, failure)
        }
        switch attempt.purpose {
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
    }

    private func failed(_ attempt: Attempt, _ failure: PostgresFailure) {
        attempts.removeAll { $0 === attempt }
        lastFailure = failure
        let since = downSince ?? worker.now
        downSince = since
        if !hasConnection, worker.now - since > Self.outage { refuse(failure) }
        guard attempts.isEmpty else { return }
        endAttempts()
        // Not all of them at the same moment.
        retry = worker.addTimer(after: delay * Double.random(in: 0.75...1)) { [weak self] in
            self?.retry = nil
            self?.connectNext()
        }
        delay = min(delay * 2, Self.lastDelay)
    }
}

/// When one lane of a database reaches the server again, the others need not wait for their next attempt.
final class Recovery: Sendable {
    private let lanes = Locked<[@Sendable () -> Void]>([])

    /// - Parameter tryAtOnce: called on any thread.
    func add(_ tryAtOnce: @escaping @Sendable () -> Void) { lanes.withLock { $0.append(tryAtOnce) } }

    func announce() { for tryAtOnce in lanes.withLock({ $0 }) { tryAtOnce() } }
}

/// What goes on when addresses are there, or when they take too long. Safe to send through another thread unchecked: it is
/// made and used on one worker.
private final class Answer: @unchecked Sendable {
    private var completion: (([String]) -> Void)?

    init(_ completion: @escaping ([String]) -> Void) { self.completion = completion }

    /// Goes on, the first time.
    func give(_ addresses: [String]) {
        let completion = completion
        self.completion = nil
        completion?(addresses)
    }
}
