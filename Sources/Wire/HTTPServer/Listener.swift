import CLinux
import EventLoop
import Foundation
import Logging

/// Accepts the connections of one listening socket on one worker.
///
/// At the connection limit a connection on which the server waits for its client is closed to make room
/// (``Lane/makeRoom()``); when the process or the machine has no descriptor left (EMFILE, ENFILE), which the limit
/// prevents unless others take them, the one that has been idle longest. If there is none, accepting pauses: the listener
/// is removed from epoll, so that nothing spins, new clients wait in the kernel's queue, and a timer tries again.
final class Listener: ReadinessHandler {
    /// The number of connections accepted in one go; then the worker's connections have their turn. The listener is
    /// level-triggered.
    private static let batch = 64
    private static let pause = Duration.milliseconds(50)
    private static let secondsBetweenWarnings = Duration.seconds(10)

    private let socket: Int32
    /// A reference cycle, until `stop()`.
    private let lane: Lane
    private var watch: Watch?
    private var retry: TimerID?
    private var lastWarning: MonotonicTime?

    /// Takes over the listening socket.
    init(_ socket: Int32, lane: Lane) throws(EventLoopError) {
        self.socket = socket
        self.lane = lane
        watch = try lane.worker.watch(socket, for: .read, self)
    }

    func ready(_ readiness: Readiness, on worker: Worker) {
        // One connection is certainly waiting; only accepting shows whether there are more.
        guard acceptOne(makingRoom: true) else { return }
        for _ in 1..<Self.batch {
            guard acceptOne(makingRoom: false) else { return }
        }
    }

    /// Accepts the connections in the kernel's queue and stops listening.
    func stop() {
        guard let watch else { return }
        while acceptOne(makingRoom: false) {}
        self.watch = nil
        if let retry { lane.worker.cancelTimer(retry) }
        // An inherited socket stays open elsewhere, so closing it does not remove it from epoll (epoll(7)).
        lane.worker.unwatch(watch)
        close(socket)
    }

    /// Accepts one connection; returns false when no more can be accepted now.
    private func acceptOne(makingRoom: Bool) -> Bool {
        guard retry == nil else { return false }
        if !lane.shared.reserveConnection() {
            guard makingRoom else { return false }
            guard lane.makeRoom(), lane.shared.reserveConnection() else {
                pause(because: "the connection limit is reached")
                return false
            }
        }
        var address = sockaddr_storage()
        let descriptor = clinux_accept(socket, &address)
        if descriptor >= 0, let peer = PeerAddress(&address) {
            lane.open(descriptor, peer: peer)
            return true
        }
        lane.shared.releaseConnection()
        if descriptor >= 0 {
            close(descriptor)
            return true
        }
        return canContinue(after: -descriptor)
    }

    private func canContinue(after code: Int32) -> Bool {
        switch code {
        case EAGAIN:
            return false
        case EMFILE, ENFILE, ENOBUFS, ENOMEM:
            // The descriptor is released at the end of the batch, so the timer makes the next attempt.
            _ = lane.closeLongestIdle()
            pause(because: String(cString: strerror(code)))
            return false
        case EBADF, EINVAL, ENOTSOCK, EOPNOTSUPP, EFAULT, EPERM:
            pause(because: String(cString: strerror(code)))
            return false
        default:
            // The connection failed before it was accepted (ECONNABORTED, ENETDOWN …): accept(2).
            return true
        }
    }

    private func pause(because reason: String) {
        guard let watch, retry == nil else { return }
        lane.worker.update(watch, for: [])
        retry = lane.worker.addTimer(after: Self.pause) { [weak self] in self?.resume() }
        if let lastWarning, lane.worker.now - lastWarning < Self.secondsBetweenWarnings { return }
        lastWarning = lane.worker.now
        lane.shared.logger.warning("accepting is paused: \(reason)")
    }

    private func resume() {
        retry = nil
        guard let watch else { return }
        lane.worker.update(watch, for: .read)
    }
}
