import EventLoop
import Foundation
import HTTPServer
import TestSupport
import Testing

/// Many clients, and too few descriptors. Each test has a process to itself: what it exhausts and counts is the
/// process's.
@Suite(.timeLimit(.minutes(5))) struct OverloadTests {
    @Test(.needsTime("two thousand connections at once"))
    func `slow clients do not hurt a quick one`() async {
        await #expect(processExitsWith: .success) {
            raiseDescriptorLimit()
            try await withServer(configure: { $0.deadlines.head = .seconds(10) }) { port, server in
                let slow = try (0..<2000).map { _ in try RawClient(port: port) }
                for client in slow { try client.send("GET /hello HTTP/1.1\r\nX: ") }
                try require(await eventually { server.connectionCount == 2000 })
                // All of these are answered while the others go on: the client gives up where one is not.
                try await blocking {
                    let quick = try RawClient(port: port)
                    for number in 0..<1000 {
                        // All slow clients send on, a byte each in turn.
                        _ = slow[number * 2].offer([0x78])
                        _ = slow[number * 2 + 1].offer([0x78])
                        try quick.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
                        try require(try quick.answer().body == "hello")
                    }
                }
                let rests = try await blocking { slow.map { $0.rest().text } }
                try require(rests.allSatisfy { $0.hasPrefix("HTTP/1.1 408") })
                for client in slow { client.close() }
                try require(await eventually { server.connectionCount == 0 })
            }
        }
    }

    @Test(.needsTime("two thousand connections at once"))
    func `handshakes that come slowly do not hurt a quick one`() async {
        await #expect(processExitsWith: .success) {
            raiseDescriptorLimit()
            let certificate = try TestCertificate.server()
            try await withServer(
                configure: {
                    $0.certificate = certificate
                    $0.deadlines.head = .seconds(10)
                }
            ) { port, server in
                let slow = try (0..<2000).map { _ in try RawClient(port: port, handshake: nil) }
                let hello = try RawClient.hello()
                for client in slow { try client.send(Array(hello[..<5])) }
                try require(await eventually { server.connectionCount == 2000 })
                try await blocking {
                    for number in 0..<200 {
                        // All slow clients send on, a byte each in turn.
                        for client in slow[(number * 10)..<(number * 10 + 10)] { _ = client.offer([hello[5]]) }
                        let quick = try RawClient(port: port)
                        try require(try quick.isAnswered())
                    }
                }
                let rests = try await blocking { slow.map { $0.rest() } }
                try require(rests.allSatisfy { $0 == ("", .closed) })
                for client in slow { client.close() }
                try require(await eventually { server.connectionCount == 0 })
            }
        }
    }

    @Test(.needsTime("a share of the processor"))
    func `a client that floods the server leaves others their turn`() async {
        await #expect(processExitsWith: .success) {
            try await withServer(workers: 1) { port, _ in
                let flood = try RawClient(port: port)
                let reading = Task { try await blocking { flood.countToEnd(pauseMicroseconds: 0) } }
                let sending = Task {
                    try await blocking {
                        let requests = Array(repeating: "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n", count: 2000).joined()
                        let bytes = Array(requests.utf8)
                        while (try? flood.send(bytes)) != nil {}
                    }
                }
                // All of these are answered while the others go on: the client gives up where one is not.
                try await blocking {
                    let quick = try RawClient(port: port)
                    for _ in 0..<60 {
                        try quick.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
                        try require(try quick.answer().body == "hello")
                    }
                }
                _ = shutdown(flood.descriptor, Int32(SHUT_RDWR))
                try require(await reading.value > 1 << 20)
                try await sending.value
            }
        }
    }

    @Test func `512 silent connections of an address keep none of its others out, on one worker and on several`() async
    {
        await #expect(processExitsWith: .success) {
            raiseDescriptorLimit()
            for workers in 1...2 {
                let closed = Gathered<String>()
                try await withServer(
                    workers: workers,
                    configure: {
                        $0.addressLimit = .init(maxConnections: 512, onRefusal: { closed.add($0.ip) })
                        // Nobody leaves by himself.
                        $0.deadlines.head = .seconds(600)
                    }
                ) { port, server in
                    let silent = try SilentClients(port: port, count: 512)
                    try require(await eventually { server.connectionCount == 512 })
                    let firsts = try await blocking { try answered(20, port) }
                    try require(closed.all.count == 20)
                    try require(await eventually { server.connectionCount == 512 })
                    // Those that were closed come again before each of the next, and push out each other.
                    let others = try await blocking {
                        try (0..<20).flatMap { _ in
                            try silent.reopen()
                            return try answered(1, port)
                        }
                    }
                    try await blocking { for client in firsts + others { try require(client.isAnswered()) } }
                    try require(closed.all.count > 60)
                }
            }
        }
    }

    @Test func `a server without descriptors waits and recovers`() async {
        await #expect(processExitsWith: .success) {
            // More connections are configured than there are descriptors for, so that the kernel refuses first.
            try await withServer { port, server in
                let first = try (0..<4).map { _ in try RawClient(port: port) }
                try require(await eventually { server.connectionCount == 4 })
                // On one thread, while no task waits for another: once a second, where one does, Dispatch looks at its
                // threads' states, and ends a process that has no descriptor for that (workqueue.c of libdispatch).
                let clients = try await blocking {
                    var held = takeAllDescriptors()
                    // One is given back at a time, until so many clients have got one. None is left for the server to
                    // accept the last of them with.
                    var more: [RawClient] = []
                    while more.count < 20 {
                        try require(!held.isEmpty)
                        close(held.removeLast())
                        if let client = try? RawClient(port: port) { more.append(client) }
                    }
                    let clients = first + more
                    // Every request of a client that was accepted is answered, and of those which wait once there is
                    // room.
                    let (before, start) = (processorTime(), ContinuousClock.now)
                    for client in clients { try client.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n") }
                    usleep(500_000)
                    // Waiting costs nothing to speak of: it does not spin, however long it took.
                    try require(processorTime() - before < 0.5 * (start.duration(to: .now) / .seconds(1)))
                    for descriptor in held { close(descriptor) }
                    let statuses = try clients.map { try $0.answer().status }
                    try require(statuses.allSatisfy { $0 == 200 })
                    return clients
                }
                for client in clients { client.close() }
                try require(await eventually { server.connectionCount == 0 })
            }
        }
    }

    @Test(.needsTime("thousands of connections"))
    func `many short connections leak nothing`() async {
        await #expect(processExitsWith: .success) {
            raiseDescriptorLimit()
            try await withServer(configure: { $0.deadlines.linger = .milliseconds(200) }) { port, server in
                // The runtime has opened by now all that it opens once.
                try require(await churnFromFourThreads(port, each: 60) == 0)
                try require(await eventually { server.connectionCount == 0 })
                let before = openDescriptors()
                try require(await churnFromFourThreads(port, each: 5000) == 0)
                try require(await eventually { server.connectionCount == 0 })
                try require(await eventually { openDescriptors() <= before })
            }
        }
    }
}

/// Clients, one after the other, each of which was answered and stays.
private func answered(_ count: Int, _ port: Int) throws -> [RawClient] {
    try (0..<count).map { _ in
        let client = try RawClient(port: port)
        try require(client.isAnswered())
        return client
    }
}

extension RawClient {
    fileprivate func isAnswered() throws -> Bool {
        try send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
        return try answer().body == "hello"
    }
}

/// A stranger's connections, on which nothing is sent.
///
/// `@unchecked Sendable`: one thread at a time uses it.
private final class SilentClients: @unchecked Sendable {
    private let port: Int
    private var clients: [RawClient]

    init(port: Int, count: Int) throws {
        self.port = port
        clients = try (0..<count).map { _ in try RawClient(port: port) }
    }

    /// Opens again what was closed.
    func reopen() throws {
        for place in clients.indices where clients[place].hasInput(withinMilliseconds: 0) {
            clients[place] = try RawClient(port: port)
        }
    }
}

/// Short-lived connections, so many from each thread; answers how many were not answered as they should.
private func churnFromFourThreads(_ port: Int, each count: Int) async throws -> Int {
    try await withThrowingTaskGroup(of: Int.self) { group in
        for thread in 0..<4 {
            group.addTask {
                try await blocking { (0..<count).count { !churn(port, kind: (thread + $0) % 6) } }
            }
        }
        return try await group.reduce(0, +)
    }
}

/// One short-lived connection; false when it was not answered as it should.
private func churn(_ port: Int, kind: Int) -> Bool {
    guard let client = try? RawClient(port: port) else { return false }
    let request = "GET /\(kind % 2 == 0 ? "hello" : "yielding") HTTP/1.1\r\nHost: a\r\n"
    switch kind {
    case 0, 1:
        guard (try? client.send(request + "Connection: close\r\n\r\n")) != nil,
            (try? client.answer().status) == 200
        else { return false }
        return client.rest().end == .closed
    case 2:
        guard (try? client.send(request + "\r\n")) != nil else { return false }
        client.reset()
    case 3:
        guard (try? client.send(request + "\r\n")) != nil, (try? client.answer().status) == 200 else { return false }
        client.close()
    case 4:
        guard (try? client.send("nonsense\r\n\r\n")) != nil, (try? client.answer().status) == 400 else { return false }
        client.reset()
    default:
        client.close()
    }
    return true
}

private struct RequirementFailed: Error {}

/// In a process of its own `#require` has no test to report to; what is thrown makes the process fail.
private func require(_ condition: Bool, line: Int = #line) throws {
    guard !condition else { return }
    print("not fulfilled: OverloadTests.swift line \(line)")
    throw RequirementFailed()
}

/// Lowers the limit and fills the table up to it.
private func takeAllDescriptors() -> [Int32] {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = 256
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    var held: [Int32] = []
    while case let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC), descriptor >= 0 { held.append(descriptor) }
    return held
}

/// Seconds of CPU that this process has used.
private func processorTime() -> Double {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
}
