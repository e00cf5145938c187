import CCurl
import EventLoop
import Foundation

/// The connections of one worker, and the transfers that use them or wait for them.
///
/// `@unchecked Sendable`: everything but `worker` is used on the worker only.
final class ConnectionPool: @unchecked Sendable {
    /// The most kept connections of one origin: enough for this worker's share of a few hundred people at once.
    private static let maxKept = 64
    /// A timer that is later than this shows that the process was paused.
    private static let lateness = Duration.seconds(1)

    let worker: Worker
    let configuration: HTTPClient.Configuration
    let multi: Multi
    /// The buffer for received bytes until they are parsed.
    let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 32_768)
    private var all: [ObjectIdentifier: OutgoingConnection] = [:]
    private var origins: [String: OriginConnections] = [:]
    /// One timer for all deadlines. It fires at the earliest deadline or before.
    private var timer: (id: TimerID, deadline: MonotonicTime)?
    private var isClosed = false

    init(worker: Worker, configuration: HTTPClient.Configuration) {
        self.worker = worker
        self.configuration = configuration
        multi = Multi(worker: worker)
    }

    deinit { buffer.deallocate() }

    // MARK: Transfers

    /// Starts `transfer`. Its end resumes its continuation.
    func start(_ transfer: Transfer) {
        if transfer.isCancelled { return transfer.finish(.failure(.cancelled)) }
        guard !isClosed, !worker.isShutDown else { return transfer.finish(.failure(.shutDown)) }
        transfer.deadline = worker.now + transfer.timeout
        fire(by: transfer.deadline)
        let name = transfer.request.origin
        let origin = origins[name] ?? OriginConnections(name)
        origins[name] = origin
        guard origin.waiting.isEmpty else { return origin.waiting.append(transfer) }
        serve(transfer, in: origin)
    }

    /// Sends `transfer` once more, on a new connection, because its connection could not be used.
    func retry(_ transfer: Transfer, in origin: OriginConnections) {
        transfer.needsNewConnection = true
        origins[origin.name] = origin
        serve(transfer, in: origin)
    }

    /// Ends `transfer` if it is in progress.
    func cancel(_ transfer: Transfer) {
        if let connection = transfer.connection { return connection.fail(.cancelled) }
        guard let origin = origins[transfer.request.origin],
            let index = origin.waiting.firstIndex(where: { $0 === transfer })
        else { return }
        origin.waiting.remove(at: index)
        transfer.finish(.failure(.cancelled))
    }

    /// Ends everything. The pool cannot be used afterwards.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        for origin in origins.values {
            let waiting = origin.waiting
            origin.waiting = []
            for transfer in waiting { transfer.finish(.failure(.shutDown)) }
        }
        for connection in all.values { connection.fail(.shutDown) }
        multi.close()
        timer.map { _ = worker.cancelTimer($0.id) }
        timer = nil
    }

    /// Sends `transfer` on a kept connection or a new one, or lets it wait for one.
    private func serve(_ transfer: Transfer, in origin: OriginConnections) {
        if !transfer.needsNewConnection, let connection = origin.takeKept(for: transfer, at: worker.now) {
            return connection.begin(transfer)
        }
        if origin.count >= configuration.maxConnections { origin.kept.first?.close() }
        guard origin.count < configuration.maxConnections else { return origin.waiting.append(transfer) }
        let connectTime = min(configuration.connectTimeout, transfer.deadline - worker.now)
        guard let handle = EasyHandle(configuration, sharing: multi.sessions),
            handle.prepare(for: transfer.request.origin, within: connectTime) == CURLE_OK, multi.connect(handle)
        else { return transfer.finish(.failure(.init(kind: .other, reason: "libcurl refused to be set up"))) }
        let connection = OutgoingConnection(
            for: transfer, in: origin, handle: handle, pool: self, endOfLife: worker.now + configuration.maxAge)
        all[ObjectIdentifier(connection)] = connection
        origin.count += 1
    }

    // MARK: Reports from connections

    /// Keeps `connection` for another request, or closes it.
    func keep(_ connection: OutgoingConnection, of origin: OriginConnections) {
        guard worker.now < connection.endOfLife else { return connection.close() }
        connection.expiry = min(worker.now + configuration.keptFor, connection.endOfLife)
        origin.kept.append(connection)
        if origin.kept.count > Self.maxKept { origin.kept.first?.close() }
        fire(by: connection.expiry)
        serveWaiting(of: origin)
    }

    func forget(_ connection: OutgoingConnection, of origin: OriginConnections) {
        guard all.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
        origin.count -= 1
        origin.kept.removeAll { $0 === connection }
        if origin.count == 0, origin.waiting.isEmpty { origins[origin.name] = nil }
        serveWaiting(of: origin)
    }

    /// Serves transfers that wait for a connection, at the end of the batch: the reporting connection is still in use.
    private func serveWaiting(of origin: OriginConnections) {
        guard !origin.waiting.isEmpty, !isClosed else { return }
        worker.atBatchEnd { [self] in
            while !origin.waiting.isEmpty, origin.count < configuration.maxConnections || !origin.kept.isEmpty {
                serve(origin.waiting.removeFirst(), in: origin)
            }
        }
    }

    // MARK: Deadlines

    /// Makes sure that `expire` is called at `deadline` or before. The timer is almost always earlier already.
    func fire(by deadline: MonotonicTime) {
        if let timer {
            guard deadline < timer.deadline else { return }
            worker.cancelTimer(timer.id)
        }
        let id = worker.addTimer(after: deadline - worker.now) { [unowned self] in
            timer = nil
            expire(dueAt: deadline)
        }
        timer = (id, deadline)
    }

    /// Ends transfers and connections whose deadline has passed, and finds the next deadline.
    private func expire(dueAt due: MonotonicTime) {
        // The process was paused. A response that is on its way may have used up a token that can be used only once.
        if worker.now - due > Self.lateness { return fire(by: worker.now + Self.lateness) }
        var next = MonotonicTime(nanoseconds: .max)
        for connection in all.values {
            if connection.deadline <= worker.now { connection.timeOut() } else { next = min(next, connection.deadline) }
        }
        for origin in origins.values {
            for transfer in origin.waiting where transfer.deadline <= worker.now {
                transfer.finish(.failure(.timedOut("waiting for a connection", transfer.authority)))
            }
            origin.waiting.removeAll { $0.deadline <= worker.now }
            next = origin.waiting.reduce(next) { min($0, $1.deadline) }
        }
        if next < MonotonicTime(nanoseconds: .max) { fire(by: next) }
    }
}

/// The connections of one worker to one origin.
final class OriginConnections {
    let name: String
    /// The number of connections, in use and kept.
    var count = 0
    /// The kept connections, the last one used at the end.
    var kept: [OutgoingConnection] = []
    /// The waiting transfers. The first one has waited longest.
    var waiting: [Transfer] = []
    /// Whether the last response to a request with an owner had the request's identifier. Only then do requests of
    /// several people share a connection: otherwise a duplicate, late or early response could go to another person.
    var returnsRequestIDs = false

    init(_ name: String) { self.name = name }

    /// Returns a kept connection that can be used for `transfer`; unusable ones are closed on the way.
    func takeKept(for transfer: Transfer, at now: MonotonicTime) -> OutgoingConnection? {
        for index in kept.indices.reversed() where kept[index].isFor(transfer.owner) {
            let connection = kept[index]
            if connection.canBeUsed(at: now) { return kept.remove(at: index) }
            connection.close()
        }
        return nil
    }
}
