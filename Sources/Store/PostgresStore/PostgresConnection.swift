import CPostgres
import EventLoop

/// One connection to the server, in libpq's pipeline mode: statements are sent without waiting for the results of
/// earlier ones. Each statement is followed by a sync, so that an error ends only one statement.
///
/// `@unchecked Sendable`: everything is used on the worker only.
final class PostgresConnection: ReadinessHandler, @unchecked Sendable {
    typealias Completion = (Result<PostgresResult, PostgresFailure>) -> Void

    private enum Phase {
        case connecting((PostgresFailure?) -> Void)
        case open
        case closed
    }

    /// A statement that was sent.
    private struct Pending {
        let sql: String
        let deadline: MonotonicTime
        /// The time until which the caller waits; nil if it waits for as long as it takes.
        var answerBy: MonotonicTime?
        /// The caller's completion; nil when the caller no longer waits.
        var completion: Completion?
        /// Whether it still has to be prepared: the first result is then that of the preparation.
        var isPreparing: Bool
        var result: PostgresResult?
        var failure: PostgresFailure?
    }

    /// The time without any answer after which the server is in doubt.
    static let doubtAfter: Duration = .seconds(1)

    private let worker: Worker
    /// The address and port that it was opened to.
    let place: String
    private var phase: Phase
    private var raw: OpaquePointer?
    private var watch: Watch?
    private var isWaitingToWrite = false
    private var pending: [Pending] = []
    private var timer: (id: TimerID, at: MonotonicTime)?
    private var timeLimit: MonotonicTime
    /// The time at which the server is in doubt; nil while nothing is expected from it, and afterwards.
    private var doubtAt: MonotonicTime?
    /// Whether the server is in doubt, and has not answered since.
    private(set) var isQuiet = false
    /// The statements that were prepared on this connection.
    private var prepared: Set<String> = []
    /// Called once, when an open connection ends.
    var onClose: ((PostgresFailure) -> Void)?
    /// Called when the server has responded.
    var onAnswer: (() -> Void)?
    /// Called when the server has not answered for ``doubtAfter`` although it should have.
    var onDoubt: (() -> Void)?

    var isOpen: Bool { if case .open = phase { true } else { false } }

    /// Starts to connect.
    ///
    /// - Parameters:
    ///   - parameters: libpq's parameters, without a name that has to be resolved.
    ///   - patience: the longest time that connecting may take.
    ///   - completion: called once, later or at once, with the reason for which there is no connection; nil when it is
    ///     open.
    init(
        worker: Worker, parameters: [String: String], patience: Duration,
        completion: @escaping (PostgresFailure?) -> Void
    ) {
        self.worker = worker
        place = Self.place(of: parameters)
        phase = .connecting(completion)
        timeLimit = worker.now + patience
        raw = withTexts(of: parameters) { PQconnectStartParams($0, $1, 0) }
        guard let raw, PQstatus(raw) != CONNECTION_BAD else {
            fail(reason)
            return
        }
        // libpq would otherwise write notices to standard error.
        PQsetNoticeProcessor(raw, { _, _ in }, nil)
        setTimer()
        wait(for: .write)
    }

    deinit {
        if let raw { PQfinish(raw) }
    }

    /// Returns the place to which parameters lead.
    static func place(of parameters: [String: String]) -> String {
        "\(parameters["hostaddr"] ?? parameters["host"] ?? "") \(parameters["port"] ?? "")"
    }

    /// Closes the connection; pending statements fail.
    func close() { fail("the connection was closed") }

    // MARK: Statements

    /// Sends a statement.
    ///
    /// - Parameters:
    ///   - isPrepared: whether the statement is prepared, once for this connection.
    ///   - patience: the longest time that the statement may take; after that the connection is closed.
    ///   - answerBy: the time until which the caller waits. After that `completion` gets ``PostgresFailure/silence``,
    ///     and the statement continues.
    ///   - completion: called once on the worker.
    func send(
        _ sql: String, _ parameters: [Parameter], isPrepared: Bool, patience: Duration, answerBy: MonotonicTime? = nil,
        completion: @escaping Completion
    ) {
        guard case .open = phase, let raw else { return completion(.failure(.connection("the connection was lost"))) }
        let isPreparing = isPrepared && prepared.insert(sql).inserted
        let isSent = parameters.withPointers { values, lengths in
            let types = parameters.map(\.type)
            let formats = [Int32](repeating: 1, count: parameters.count)
            let count = Int32(parameters.count)
            guard isPrepared else {
                return PQsendQueryParams(raw, sql, count, types, values, lengths, formats, 1) == 1
            }
            let name = Self.name(of: sql)
            if isPreparing, PQsendPrepare(raw, name, sql, count, types) != 1 { return false }
            return PQsendQueryPrepared(raw, name, count, values, lengths, formats, 1) == 1
        }
        pending.append(
            Pending(
                sql: sql, deadline: worker.now + patience, answerBy: answerBy, completion: completion,
                isPreparing: isPreparing))
        guard isSent, PQpipelineSync(raw) == 1 else { return fail(reason) }
        // A statement that may take long says nothing about the server while it runs.
        if pending.count == 1, !isQuiet, patience <= Transaction.patience {
            doubtAt = worker.now + Self.doubtAfter
            doubtAt.map { setTimer(at: $0) }
        }
        if timer == nil { setTimer() } else if let answerBy { setTimer(at: answerBy) }
        flush()
    }

    /// Returns a statement's name, which depends on its text: another client's statement of the same name, behind a
    /// pooler, is then the same statement.
    private static func name(of sql: String) -> String {
        // FNV-1a.
        "c\(sql.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x0100_0000_01b3 })"
    }

    private func flush() {
        guard let raw, let watch else { return }
        let left = PQflush(raw)
        guard left >= 0 else { return fail(reason) }
        guard (left == 1) != isWaitingToWrite else { return }
        isWaitingToWrite = left == 1
        worker.update(watch, for: isWaitingToWrite ? [.read, .write] : .read)
    }

    // MARK: Events

    func ready(_ readiness: Readiness, on worker: Worker) {
        switch phase {
        case .connecting: poll()
        case .open:
            guard let raw else { return }
            guard PQconsumeInput(raw) == 1 else {
                // Results that came before the end are still valid.
                takeResults()
                return fail(reason)
            }
            takeResults()
            if isWaitingToWrite { flush() }
        case .closed: break
        }
    }

    private func poll() {
        guard let raw else { return }
        // The socket may be a different one afterwards.
        if let watch { worker.unwatch(watch) }
        watch = nil
        switch PQconnectPoll(raw) {
        case PGRES_POLLING_READING: wait(for: .read)
        case PGRES_POLLING_WRITING: wait(for: .write)
        case PGRES_POLLING_OK: connected(raw)
        default: fail(reason)
        }
    }

    private func wait(for readiness: Readiness) {
        guard let raw, let watch = try? worker.watch(PQsocket(raw), for: readiness, self) else { return fail(reason) }
        self.watch = watch
    }

    private func connected(_ raw: OpaquePointer) {
        guard case .connecting(let completion) = phase, PQsetnonblocking(raw, 1) == 0, PQenterPipelineMode(raw) == 1
        else { return fail(reason) }
        phase = .open
        endTimer()
        wait(for: .read)
        if isOpen { completion(nil) }
    }

    private func takeResults() {
        var isAtEnd = false
        while let raw, !pending.isEmpty, PQisBusy(raw) == 0 {
            guard let result = PQgetResult(raw) else {
                // nil comes once after each command, and twice when there is nothing more.
                if isAtEnd { break }
                isAtEnd = true
                continue
            }
            isAtEnd = false
            take(result)
        }
        if let raw, PQstatus(raw) == CONNECTION_BAD { fail(reason) }
    }

    private func take(_ raw: OpaquePointer) {
        let status = PQresultStatus(raw)
        let result = PostgresResult(raw)
        switch status {
        case PGRES_PIPELINE_SYNC: complete(pending.removeFirst())
        case PGRES_FATAL_ERROR: pending[0].failure = pending[0].failure ?? result.failure
        case PGRES_PIPELINE_ABORTED: break
        case _ where pending[0].isPreparing: pending[0].isPreparing = false
        default: pending[0].result = result
        }
    }

    private func complete(_ statement: Pending) {
        isQuiet = false
        doubtAt = pending.isEmpty ? nil : worker.now + Self.doubtAfter
        onAnswer?()
        if let failure = statement.failure {
            if statement.isPreparing { prepared.remove(statement.sql) }
            statement.completion?(.failure(failure))
            if failure.endsConnection { fail("the server ended the connection") }
        } else if let result = statement.result {
            statement.completion?(.success(result))
        } else {
            statement.completion?(.failure(.connection("the server sent no result")))
        }
    }

    // MARK: Time and the end

    private func setTimer() {
        switch phase {
        case .connecting: setTimer(at: timeLimit)
        case .open:
            guard let first = pending.first else { return }
            setTimer(
                at: pending.lazy.compactMap(\.answerBy).reduce(min(first.deadline, doubtAt ?? first.deadline), min))
        case .closed: break
        }
    }

    /// Makes sure that the timers are checked at `limit` or before.
    private func setTimer(at limit: MonotonicTime) {
        if let timer, timer.at <= limit { return }
        endTimer()
        let id = worker.addTimer(after: limit - worker.now) { [weak self] in
            self?.timer = nil
            self?.lookAtTime()
        }
        timer = (id, limit)
    }

    private func endTimer() {
        timer.map { _ = worker.cancelTimer($0.id) }
        timer = nil
    }

    private func lookAtTime() {
        switch phase {
        case .connecting: fail(.notInTime)
        case .open:
            if let first = pending.first, first.deadline <= worker.now { return fail("the server is too slow") }
            var impatient: [Completion] = []
            for index in pending.indices where pending[index].answerBy.map({ $0 <= worker.now }) == true {
                pending[index].answerBy = nil
                if let completion = pending[index].completion.take() { impatient.append(completion) }
            }
            let isInDoubt = doubtAt.map { $0 <= worker.now } == true
            if isInDoubt { (isQuiet, doubtAt) = (true, nil) }
            setTimer()
            for completion in impatient { completion(.failure(.silence)) }
            if isInDoubt { onDoubt?() }
        case .closed: break
        }
    }

    private var reason: String { lastMessage(of: raw) }

    private func fail(_ reason: String) { fail(.connection(reason)) }

    private func fail(_ failure: PostgresFailure) {
        let ended = phase
        if case .closed = ended { return }
        phase = .closed
        endTimer()
        if let watch { worker.unwatch(watch) }
        watch = nil
        if let raw { PQfinish(raw) }
        raw = nil
        let lost = pending
        pending = []
        for statement in lost { statement.completion?(.failure(statement.failure ?? failure)) }
        if case .connecting(let completion) = ended { completion(failure) }
        onClose?(failure)
        onClose = nil
    }
}
