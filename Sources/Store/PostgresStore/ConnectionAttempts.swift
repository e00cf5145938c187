import EventLoop

/// The attempts to open one connection. The first attempt starts at once. While the server does not respond, another
/// one starts each second, at an address that no other attempt is waiting for, or else at the same. The first connection
/// that opens ends the other attempts. So a packet that was lost on the way to a server that has recovered does not make
/// callers wait for `patience`, and neither does a server that is gone without a word.
///
/// `@unchecked Sendable`: everything is used on the worker only.
final class ConnectionAttempts: @unchecked Sendable {
    enum Outcome {
        /// A connection is open, and all other attempts have ended.
        case opened(PostgresConnection)
        /// An attempt has failed. `isLast` is true when no other one is in progress.
        case failed(PostgresFailure, isLast: Bool)
    }

    private final class Attempt {
        /// The number of attempts that were in progress when it began.
        let number: Int
        var connection: PostgresConnection?
        /// When it began to wait for its connection.
        var since: MonotonicTime?

        init(number: Int) { self.number = number }
    }

    /// The longest time that a connection may take to open.
    private static let patience: Duration = .seconds(3)
    private static let interval: Duration = .seconds(1)
    private static let limit = 3

    private let worker: Worker
    private let settings: PostgresSettings
    private let recovery: Recovery
    private var underWay: [Attempt] = []
    private var next: TimerID?

    init(worker: Worker, settings: PostgresSettings, recovery: Recovery) {
        self.worker = worker
        self.settings = settings
        self.recovery = recovery
    }

    var areUnderWay: Bool { !underWay.isEmpty }

    /// Starts an attempt, if none is in progress.
    ///
    /// - Parameter completion: called on the worker with each outcome, never before this returns.
    func begin(_ completion: @escaping (Outcome) -> Void) {
        if underWay.count < Self.limit {
            let attempt = Attempt(number: underWay.count)
            underWay.append(attempt)
            findAddresses { [weak self] places in
                guard let self else { return }
                connect(attempt, to: inOrder(places, for: attempt), completion)
            }
        }
        next = worker.addTimer(after: Self.interval) { [weak self] in self?.begin(completion) }
    }

    /// Orders the places for an attempt: the one that was opened last comes first, so that while it can be reached, no
    /// connection is to a primary that it has replaced and that has come back; those that were silent last come last.
    private func inOrder(_ places: [[String: String]], for attempt: Attempt) -> [[String: String]] {
        guard !places.isEmpty else { return [] }
        let first = attempt.number % places.count
        let all = Array(places[first...] + places[..<first])
        let waitedFor = Set(underWay.filter { $0 !== attempt }.compactMap(\.connection?.place))
        let free = all.filter { !waitedFor.contains(PostgresConnection.place(of: $0)) }
        guard !free.isEmpty else { return all }
        let rank = { [recovery] in recovery.rank(of: PostgresConnection.place(of: $0)) }
        return Recovery.Rank.allCases.flatMap { wanted in free.filter { rank($0) == wanted } }
    }

    /// Ends the attempts in progress, without an outcome.
    func end() {
        next.map { _ = worker.cancelTimer($0) }
        let ended = underWay
        underWay = []
        for attempt in ended { attempt.connection?.close() }
    }

    /// Finds the possible addresses of the server: every endpoint, at each of its addresses.
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
            let timer = worker.addTimer(after: Self.patience) { answer.give([]) }
            NameResolution.system.addresses(of: host) { [worker] addresses in
                worker.submit {
                    worker.cancelTimer(timer)
                    answer.give(addresses)
                }
            }
        }
        next(0)
    }

    private func connect(
        _ attempt: Attempt, to places: [[String: String]], _ completion: @escaping (Outcome) -> Void
    ) {
        guard isUnderWay(attempt) else { return }
        guard let place = places.first else {
            let failure = PostgresFailure.connection("the host name of the database cannot be resolved")
            return worker.atBatchEnd { [weak self] in self?.failed(attempt, failure, completion) }
        }
        attempt.since = worker.now
        attempt.connection = PostgresConnection(worker: worker, parameters: place, patience: Self.patience) {
            [weak self] failure in
            // Not within the initializer, which may call this.
            self?.worker.atBatchEnd {
                guard let self, self.isUnderWay(attempt) else { return }
                self.recovery.note(PostgresConnection.place(of: place), isSilent: failure == .notInTime)
                guard let failure else { return self.opened(attempt, completion) }
                guard places.count > 1 else { return self.failed(attempt, failure, completion) }
                self.connect(attempt, to: Array(places.dropFirst()), completion)
            }
        }
    }

    private func isUnderWay(_ attempt: Attempt) -> Bool { underWay.contains { $0 === attempt } }

    private func opened(_ attempt: Attempt, _ completion: (Outcome) -> Void) {
        guard let connection = attempt.connection, connection.isOpen else {
            return failed(attempt, .connection("the connection was lost"), completion)
        }
        underWay.removeAll { $0 === attempt }
        recovery.noteOpened(connection.place)
        for slower in underWay where slower.since.map({ worker.now - $0 >= Self.interval }) == true {
            if let place = slower.connection?.place, place != connection.place { recovery.note(place, isSilent: true) }
        }
        end()
        completion(.opened(connection))
    }

    private func failed(_ attempt: Attempt, _ failure: PostgresFailure, _ completion: (Outcome) -> Void) {
        guard isUnderWay(attempt) else { return }
        underWay.removeAll { $0 === attempt }
        if underWay.isEmpty { end() }
        completion(.failed(failure, isLast: underWay.isEmpty))
    }
}

/// Continues when addresses were found, or when that takes too long. Unchecked, but safe to send through another
/// thread: it is created and used on one worker.
private final class Answer: @unchecked Sendable {
    private var completion: (([String]) -> Void)?

    init(_ completion: @escaping ([String]) -> Void) { self.completion = completion }

    /// Calls the completion, the first time only.
    func give(_ addresses: [String]) {
        let completion = completion
        self.completion = nil
        completion?(addresses)
    }
}
