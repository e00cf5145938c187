import EventLoop
import Foundation
import TLS

/// One worker's share of a server: its listeners, its connections and the buffers which they use in turn.
///
/// `@unchecked Sendable`: everything but `worker` and `shared` is touched only on the worker.
final class Lane: @unchecked Sendable {
    /// One read takes at most this much.
    static let receiveBytes = 64 * 1024

    let worker: Worker
    let shared: SharedState
    let receiveBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Lane.receiveBytes, alignment: 16)
    /// The buffer for the answers of the connection that is being served; empty between two connections.
    var output: OutputBuffer
    /// Whether responses ask the client to close the connection.
    private(set) var isStopping = false
    /// Whether the idle grace of the stop has ended.
    private(set) var closesIdle = false
    private(set) var queues: DeadlineQueues
    /// The connections of each address that has any here.
    private(set) var neighbours: [PeerAddress.Network: Neighbours] = [:]
    private var crowds = Crowds()
    private var listeners: [Listener] = []
    private var sweepTimer: TimerID?
    private var whenEmpty: [CheckedContinuation<Void, Never>] = []

    init(worker: Worker, shared: SharedState) {
        self.worker = worker
        self.shared = shared
        output = OutputBuffer(shared.contentFields)
        queues = DeadlineQueues(shared.configuration.deadlines)
    }

    deinit { receiveBuffer.deallocate() }

    // MARK: Connections

    /// Listens on the sockets, which it takes over.
    /// - Returns: The error, if there was one; then the sockets are closed.
    func listen(on sockets: [Int32]) -> EventLoopError? {
        var problem: EventLoopError?
        for socket in sockets {
            do throws(EventLoopError) {
                listeners.append(try Listener(socket, lane: self))
            } catch {
                problem = error
                close(socket)
            }
        }
        return problem
    }

    /// Takes over an accepted descriptor, for which a place was reserved.
    func open(_ descriptor: Int32, peer: PeerAddress) {
        let isLimited = shared.isLimited(peer)
        guard !isLimited || admit(peer) else {
            close(descriptor)
            return shared.releaseConnection()
        }
        let connection: Connection
        if let certificate = shared.configuration.certificate {
            guard let session = TLSSession(certificate.context, descriptor: descriptor) else {
                close(descriptor)
                if isLimited { shared.leave(peer) }
                return shared.releaseConnection()
            }
            connection = Connection(descriptor, peer: peer, lane: self, tls: session)
        } else {
            connection = Connection(descriptor, peer: peer, lane: self, tls: nil)
        }
        do {
            connection.watch = try worker.watch(
                descriptor, for: [.read, .write, .peerClosed, .edgeTriggered], connection)
        } catch {
            shared.logger.warning("a connection was dropped: \(error)")
            close(descriptor)
            if isLimited { shared.leave(peer) }
            return shared.releaseConnection()
        }
        let neighbours = neighbours[peer.network] ?? Neighbours(isLimited: isLimited)
        neighbours.join(connection)
        self.neighbours[peer.network] = neighbours
        crowds.move(neighbours, from: neighbours.count - 1)
        enter(connection, .head)
    }

    /// At the limit of its address a newcomer takes the place of a connection that this worker has of it; without one that
    /// makes room it is not admitted. No worker knows another's connections, but the kernel shares them out evenly.
    private func admit(_ peer: PeerAddress) -> Bool {
        while !shared.admit(peer) {
            guard let neighbours = neighbours[peer.network], neighbours.makeRoom(isStuck) else { return false }
        }
        return true
    }

    func enter(_ connection: Connection, _ stage: Stage) {
        queues.enter(connection, stage, at: worker.now)
        connection.neighbours?.enter(connection, stage, at: worker.now)
        if sweepTimer == nil { scheduleSweep() }
    }

    func forget(_ connection: Connection) {
        queues.leave(connection)
        if let neighbours = connection.neighbours {
            neighbours.leave(connection)
            crowds.move(neighbours, from: neighbours.count + 1)
            if neighbours.count == 0 { self.neighbours[connection.peer.network] = nil }
            if neighbours.isLimited { shared.leave(connection.peer) }
        }
        shared.releaseConnection()
        if queues.count == 0 { resumeWaiters() }
    }

    /// Makes room for another connection of any address: one of the address that has most here goes. Otherwise a few
    /// addresses could fill the server, each below its own limit.
    /// - Returns: Whether one was closed.
    func makeRoom() -> Bool {
        crowds.largest().contains { $0.makeRoomForAnyone(isStuck) } || closeLongestIdle()
    }

    /// Whether a connection's client has not taken enough of a response for a while.
    private func isStuck(_ connection: Connection) -> Bool {
        worker.now - connection.tookEnough >= shared.configuration.deadlines.unread
    }

    /// Closes the connection that has been idle longest; false when none is idle.
    func closeLongestIdle() -> Bool {
        guard let connection = queues.first(in: .idle) else { return false }
        connection.close()
        return true
    }

    /// Closes all idle connections and returns in the next batch, when their descriptors are closed.
    func closeIdle() async {
        await withCheckedContinuation { continuation in
            worker.submit {
                while self.closeLongestIdle() {}
                self.worker.atBatchEnd { self.worker.submit { continuation.resume() } }
            }
        }
    }

    // MARK: Deadlines

    private func scheduleSweep() {
        sweepTimer = worker.addTimer(after: queues.sweepInterval) { [weak self] in self?.sweep() }
    }

    private func sweep() {
        sweepTimer = nil
        for stage in Stage.allCases {
            while let connection = queues.expired(in: stage, at: worker.now) { connection.deadlineHasPassed() }
        }
        if queues.count > 0 { scheduleSweep() }
    }

    // MARK: The end

    /// Closes each connection after its response from now on, while new ones are accepted.
    func announceStop() async { await worker.perform { _ in self.isStopping = true } }

    /// Stops listening, closes what is idle after `idleGrace`, lets requests under way finish for `grace`, then cuts them.
    func stop(grace: Duration, idleGrace: Duration = .zero) async {
        await withCheckedContinuation { continuation in
            worker.submit { self.stop(grace: grace, idleGrace: idleGrace, then: continuation) }
        }
    }

    private func stop(grace: Duration, idleGrace: Duration, then continuation: CheckedContinuation<Void, Never>) {
        isStopping = true
        for listener in listeners { listener.stop() }
        listeners = []
        if idleGrace > .zero, idleGrace < grace {
            // A client that still sends gets its answer, and is asked to close the connection.
            _ = worker.addTimer(after: idleGrace) { self.finishUp() }
        } else {
            finishUp()
        }
        guard queues.count > 0 else { return continuation.resume() }
        whenEmpty.append(continuation)
        _ = worker.addTimer(after: grace) {
            for connection in self.queues.all() { connection.close() }
        }
    }

    private func finishUp() {
        closesIdle = true
        for connection in queues.all() { connection.finishUp() }
    }

    private func resumeWaiters() {
        let waiters = whenEmpty
        whenEmpty = []
        for waiter in waiters { waiter.resume() }
    }
}
