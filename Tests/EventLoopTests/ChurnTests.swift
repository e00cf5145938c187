import CLinux
import Foundation
import TestSupport
import Testing

@testable import EventLoop

@Suite(.timeLimit(.minutes(5))) struct ChurnTests {
    /// In a process of its own, so that its descriptors can be counted.
    @Test(.needsTime("forty thousand connections"))
    func `40,000 connections of 8 clients, rude ones among them, get every answer and leak nothing`() async {
        await #expect(processExitsWith: .success) {
            let group = try WorkerGroup(count: 2)
            for worker in group.workers { await worker.perform { _ in } }
            let server = try EchoServer(group: group)
            let clients = 8
            let rounds = 5_000
            _ = await churn(server, clients: clients, rounds: 20)
            #expect(await eventually { await server.liveConnections() == 0 })
            // The runtime has opened by now all that it opens once.
            let before = openDescriptors()
            // Two of every four connections ask for an answer.
            #expect(await churn(server, clients: clients, rounds: rounds) == clients * rounds / 2)
            #expect(await eventually { await server.liveConnections() == 0 })
            #expect(await eventually { openDescriptors() <= before })
            for worker in group.workers {
                await worker.perform { worker in
                    #expect(worker.watches.count == 1)
                    #expect(worker.timers.count == 0)
                }
            }
            #expect(runClient(address: 0x7F00_0001, port: server.port, 4) == 2)
            await group.shutdown()
        }
    }
}

/// One listener, watched by every worker; each connection stays with the worker that accepted it, has a deadline
/// timer, sends back what it gets, and goes when the client goes.
private final class EchoServer: Sendable {
    let port: UInt16
    private let group: WorkerGroup
    private let listener: Descriptor

    init(group: WorkerGroup) throws {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let listener = try Descriptor(socket(AF_INET, kind, 0), from: "socket")
        var address = internetAddress(INADDR_ANY, 0)
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withSocketAddress(&address) { bind(listener.rawValue, $0, length) }
        guard bound == 0, listen(listener.rawValue, 1024) == 0 else {
            throw EventLoopError.system(operation: "bind", code: errno)
        }
        var actual = length
        _ = withSocketAddress(&address) { getsockname(listener.rawValue, $0, &actual) }
        port = UInt16(bigEndian: address.sin_port)
        self.listener = listener
        self.group = group
        let fd = self.listener.rawValue
        for worker in group.workers {
            worker.submit {
                _ = try? worker.watch(fd, for: .read, Acceptor(listener: fd))
            }
        }
    }

    func liveConnections() async -> Int {
        var count = 0
        for worker in group.workers { count += await worker.perform { $0.watches.count - 1 } }
        return count
    }
}

private final class Acceptor: ReadinessHandler {
    private let listener: Int32
    init(listener: Int32) { self.listener = listener }

    func ready(_ readiness: Readiness, on worker: Worker) {
        for _ in 0..<64 {
            let fd = clinux_accept(listener, nil)
            guard fd >= 0 else { return }
            Echo.start(fd, on: worker)
        }
    }
}

private final class Echo: ReadinessHandler {
    private let fd: Int32
    private var watch: Watch?
    private var deadline: TimerID?

    private init(fd: Int32) { self.fd = fd }

    static func start(_ fd: Int32, on worker: Worker) {
        let echo = Echo(fd: fd)
        echo.watch = try? worker.watch(fd, for: [.read, .write, .edgeTriggered], echo)
        echo.startDeadline(on: worker)
        if echo.watch == nil { close(fd) }
    }

    private func startDeadline(on worker: Worker) {
        deadline.map { _ = worker.cancelTimer($0) }
        deadline = worker.addTimer(after: .seconds(30)) { [weak self] in self?.end(on: worker) }
    }

    func ready(_ readiness: Readiness, on worker: Worker) {
        var buffer = [UInt8](repeating: 0, count: 256)
        while true {
            let count = recv(fd, &buffer, buffer.count, 0)
            if count > 0 {
                _ = Foundation.send(fd, buffer, count, Int32(MSG_NOSIGNAL))
                startDeadline(on: worker)
            } else if count == 0 || errno != EAGAIN {
                return end(on: worker)
            } else {
                return
            }
        }
    }

    private func end(on worker: Worker) {
        deadline.map { _ = worker.cancelTimer($0) }
        watch.map { worker.unwatchAndClose($0) }
    }
}

/// Clients at the same time. Returns how many answers came.
private func churn(_ server: EchoServer, clients: Int, rounds: Int) async -> Int {
    await withTaskGroup(of: Int.self) { tasks in
        for client in 0..<clients {
            tasks.addTask {
                await withCheckedContinuation { continuation in
                    Thread.detachNewThread {
                        // An address each, so that the ports in TIME_WAIT do not run out.
                        let address = 0x7F00_0001 + UInt32(client)
                        continuation.resume(returning: runClient(address: address, port: server.port, rounds))
                    }
                }
            }
        }
        return await tasks.reduce(0, +)
    }
}

/// Connects again and again: asks and closes, asks and resets, closes at once, resets at once. Returns how many
/// answers came.
private func runClient(address: UInt32, port: UInt16, _ rounds: Int) -> Int {
    var answered = 0
    for round in 0..<rounds {
        let fd = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard fd >= 0 else { continue }
        defer { close(fd) }
        // An answer that does not come is missing in the count.
        var longest = timeval(tv_sec: Int(patience), tv_usec: 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &longest, socklen_t(MemoryLayout<timeval>.size))
        var there = internetAddress(address, port)
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        guard withSocketAddress(&there, { connect(fd, $0, size) }) == 0 else { continue }
        if round % 4 < 2 {
            var bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: round), count: 64)
            _ = Foundation.send(fd, bytes, bytes.count, Int32(MSG_NOSIGNAL))
            if recv(fd, &bytes, bytes.count, Int32(MSG_WAITALL)) == 64 { answered += 1 }
        }
        if round % 2 == 1 {
            var abrupt = linger(l_onoff: 1, l_linger: 0)
            setsockopt(fd, SOL_SOCKET, SO_LINGER, &abrupt, socklen_t(MemoryLayout<linger>.size))
        }
    }
    return answered
}

private func internetAddress(_ address: UInt32, _ port: UInt16) -> sockaddr_in {
    var internet = sockaddr_in()
    internet.sin_family = sa_family_t(AF_INET)
    internet.sin_port = port.bigEndian
    internet.sin_addr.s_addr = address.bigEndian
    return internet
}

private func withSocketAddress<Answer>(
    _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>) -> Answer
) -> Answer {
    withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0) }
    }
}
