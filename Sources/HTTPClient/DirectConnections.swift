import CCurl
import EventLoop
import Foundation

/// The connections of one worker on which we speak HTTP/1.1 ourselves, by origin. Confined to the worker.
final class DirectConnections {
    /// Connections in all, in use and kept. What is beyond goes libcurl's way, which sets no bound.
    private static let maxConnections = 256
    /// Kept connections of one origin: what this worker's share of a few hundred people at once needs.
    private static let maxKept = 64

    unowned let multi: Multi
    /// What is received stands here until it is parsed.
    let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 32_768)
    private var all: [ObjectIdentifier: DirectConnection] = [:]
    /// By origin; the last one used is last.
    private var kept: [String: [DirectConnection]] = [:]
    /// Origins whose responses libcurl has to decode.
    private var leftToLibcurl: Set<String> = []
    /// One timer for all deadlines: it fires at the earliest, or before.
    private var timer: (id: TimerID, deadline: MonotonicTime)?

    init(_ multi: Multi) { self.multi = multi }

    deinit { buffer.deallocate() }

    var worker: Worker { multi.worker }

    /// Sends `transfer` on a kept connection or on a new one. Returns false when it has to go libcurl's way.
    func start(_ transfer: Transfer) -> Bool {
        guard let direct = transfer.direct, !leftToLibcurl.contains(direct.origin) else { return false }
        transfer.deadline = worker.now + transfer.timeout
        while let connection = kept[direct.origin]?.popLast() {
            if connection.canBeUsed(at: worker.now) {
                connection.begin(transfer)
                return true
            }
            connection.close()
        }
        return open(transfer)
    }

    /// Sends `transfer` once more, on a new connection.
    func retry(_ transfer: Transfer) {
        transfer.isRetried = true
        if !open(transfer) { multi.startWithLibcurl(transfer) }
    }

    /// Has libcurl send `transfer`, and what comes later for its origin.
    func leaveToLibcurl(_ transfer: Transfer) {
        if let origin = transfer.direct?.origin { leftToLibcurl.insert(origin) }
        multi.startWithLibcurl(transfer)
    }

    /// What is left of a transfer's time; all of it before it has started.
    func timeLeft(to transfer: Transfer) -> Duration {
        transfer.deadline.map { $0 - worker.now } ?? transfer.timeout
    }

    private func open(_ transfer: Transfer) -> Bool {
        guard let direct = transfer.direct, all.count < Self.maxConnections,
            !Self.environmentNamesProxy(isSecure: transfer.request.isSecure),
            let handle = EasyHandle(multi.configuration),
            handle.prepareConnection(to: direct.origin, timeout: timeLeft(to: transfer)) == CURLE_OK
        else { return false }
        let connection = DirectConnection(
            to: direct.origin, isSecure: transfer.request.isSecure, handle: handle, pool: self,
            endOfLife: worker.now + multi.configuration.maxAge)
        guard multi.connect(handle) else { return false }
        all[ObjectIdentifier(connection)] = connection
        connection.wait(with: transfer)
        return true
    }

    /// Whether libcurl would ask a proxy, or ask `no_proxy` whether to. It reads the same variables.
    private static func environmentNamesProxy(isSecure: Bool) -> Bool {
        let names = isSecure ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]
        return (names + ["all_proxy", "ALL_PROXY"]).contains { getenv($0).map { $0.pointee != 0 } ?? false }
    }

    // MARK: What connections report

    /// Keeps `connection` for another request, or closes it.
    func keep(_ connection: DirectConnection) {
        guard worker.now < connection.endOfLife, (kept[connection.origin]?.count ?? 0) < Self.maxKept else {
            return connection.close()
        }
        connection.expiry = min(worker.now + multi.configuration.keptFor, connection.endOfLife)
        kept[connection.origin, default: []].append(connection)
        fire(by: connection.expiry)
    }

    func forget(_ connection: DirectConnection) {
        all[ObjectIdentifier(connection)] = nil
        if let index = kept[connection.origin]?.lastIndex(where: { $0 === connection }) {
            kept[connection.origin]?.remove(at: index)
        }
        if kept[connection.origin]?.isEmpty == true { kept[connection.origin] = nil }
    }

    func close() {
        for connection in all.values { connection.fail(.cancelled("the client has been shut down")) }
        timer.map { _ = worker.cancelTimer($0.id) }
        timer = nil
    }

    // MARK: Deadlines

    /// Has `expire` be called at `deadline` or before. Almost always the timer is earlier already.
    func fire(by deadline: MonotonicTime) {
        if let timer {
            guard deadline < timer.deadline else { return }
            worker.cancelTimer(timer.id)
        }
        let id = worker.addTimer(after: deadline - worker.now) { [unowned self] in
            timer = nil
            expire()
        }
        timer = (id, deadline)
    }

    /// Ends what has passed its deadline, and looks for the next.
    private func expire() {
        var next: MonotonicTime?
        for connection in all.values {
            guard let deadline = connection.deadline else { continue }
            if deadline <= worker.now {
                connection.timeOut()
            } else {
                next = min(deadline, next ?? deadline)
            }
        }
        if let next { fire(by: next) }
    }
}
