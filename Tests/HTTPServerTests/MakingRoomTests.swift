import EventLoop
import Foundation
import HTTPWire
import Logging
import Synchronization
import TestSupport
import Testing

@testable import HTTPServer

/// Which connection of an address ends when the address has all that it may have, and others come.
struct MakingRoom: Sendable, CustomTestStringConvertible {
    enum Step: Sendable {
        case open(from: UInt32 = own, receiveBuffer: Int32? = nil)
        case send(String)
        case read(Int)
        case waitForHandler
        /// Until the server sends; it never gets to the end.
        case waitForOutput
    }

    /// The end that a newcomer's sign-in comes to.
    enum Gone: Sendable {
        case connection(Int)
        case newcomer
        case nobody
    }

    /// The newcomers' address, another, and one without a limit.
    static let own: UInt32 = 0x7F00_0001
    static let other: UInt32 = 0x7F00_0002
    static let free: UInt32 = 0x7F00_0003

    let testDescription: String
    /// The connection's number, in the order in which they are opened, and what happens there next.
    let steps: [(Int, [Step])]
    let limit: Int
    /// The time for which an answer that nobody reads holds its place.
    let unread: Duration
    /// For each newcomer in turn; those who were let in are answered and stay.
    let gone: [Gone]

    init(
        _ description: String, _ steps: [(Int, [Step])], limit: Int? = nil, unread: Duration = .seconds(600),
        gone: [Gone]
    ) {
        testDescription = description
        self.steps = steps
        self.unread = unread
        self.limit = limit ?? Set(steps.map(\.0)).count
        self.gone = gone
    }

    init(_ description: String, _ steps: [(Int, [Step])], unread: Duration = .seconds(600), gone: Int...) {
        self.init(description, steps, unread: unread, gone: gone.map { .connection($0) })
    }

    static let hello = [Step.send(Transition.hello), .read(200)]
    static let silent = [Step.open()]
    static let idle = silent + hello
    static let part = "GET /he"
    static let body = Transition.post("/echo") + "ab"
    static let yielding = [Step.send("GET /yielding HTTP/1.1\r\nHost: a\r\n\r\n"), .read(200)]
    static let handling = [Step.open(), .send(Transition.gate), .waitForHandler]
    static let writing = [
        Step.open(receiveBuffer: 4096), .send("GET /big HTTP/1.1\r\nHost: a\r\n\r\n"), .waitForOutput,
    ]
    static let lingering = [Step.open(), .send("nonsense\r\n\r\n"), .read(400)]

    static let all: [MakingRoom] = [
        .init("all are silent", [(0, silent), (1, silent), (2, silent)], gone: 0, 1, 2),
        .init("idle ones are older than a silent one", [(0, idle), (1, idle), (2, silent)], gone: 2, 0, 1),
        .init("one leaves the midst", [(0, silent), (1, silent), (2, silent), (1, hello)], gone: 0, 2, 1),
        .init("the last leaves the silent", [(0, silent), (1, silent), (1, hello)], gone: 0, 1),
        .init("a byte is no more than silence", [(0, idle), (1, silent + [.send("G")]), (2, silent)], gone: 1, 2, 0),
        .init("nor is a head without its body", [(0, idle), (1, silent + [.send(body)]), (2, idle)], gone: 1, 0, 2),
        .init("all are idle", [(0, idle), (1, idle), (2, idle)], gone: 0, 1, 2),
        .init("the oldest has just been answered", [(0, idle), (1, idle), (2, idle), (0, hello)], gone: 1, 2, 0),
        .init("the oldest has just had a handler", [(0, idle), (1, idle), (2, idle), (0, yielding)], gone: 1, 2, 0),
        .init("the newest is answered again", [(0, idle), (1, idle), (1, hello)], gone: 0, 1),
        .init("a part of the next request has come", [(0, idle), (1, idle), (0, [.send(part)])], gone: 1, 0),
        .init("a part of the next body has come", [(0, idle), (1, idle), (0, [.send(body)])], gone: 1, 0),
        .init("a part of a request holds no place", [(0, handling), (1, idle + [.send(part)])], gone: 1),
        .init("a part of a body holds no place", [(0, handling), (1, idle + [.send(body)])], gone: 1),
        .init("a handler holds its place", [(0, handling), (1, idle)], gone: 1),
        .init("handlers hold all places", [(0, handling), (1, handling)], gone: [.newcomer, .newcomer]),
        .init(
            "the handlers of connections that were idle hold all places",
            [(0, idle + handling.dropFirst()), (1, idle + handling.dropFirst())], gone: [.newcomer]),
        .init("an answer on its way holds its place", [(0, writing), (1, idle)], gone: 1),
        .init("answers on their way hold all places", [(0, writing), (1, writing)], gone: [.newcomer]),
        // The newcomer is idle afterwards, and would go before the others.
        .init("nobody reads the answers", [(0, writing), (1, writing), (2, writing)], unread: .zero, gone: 0),
        .init("an answer that nobody reads is behind the idle", [(0, writing), (1, idle)], unread: .zero, gone: 1),
        .init("what was no request goes before an idle one", [(0, idle), (1, lingering)], gone: 1, 0),
        .init("nothing was a request", [(0, lingering), (1, lingering)], gone: 0, 1),
        .init(
            "older ones of another address stay",
            [(0, [.open(from: other)]), (1, [.open(from: other)]), (2, idle), (3, idle)], limit: 2,
            gone: [.connection(2), .connection(3)]),
        .init(
            "another address is at its limit", [(0, [.open(from: other)]), (1, [.open(from: other)]), (2, silent)],
            limit: 2, gone: [.nobody, .connection(2)]),
        .init(
            "older ones without a limit stay and are not counted",
            [(0, [.open(from: free)]), (1, [.open(from: free)]), (2, silent)], limit: 2,
            gone: [.nobody, .connection(2)]),
    ]
}

/// On one worker, where it is certain which connections it has; `OverloadTests` has several.
@Suite(.timeLimit(.minutes(5))) struct MakingRoomTests {
    @Test(arguments: MakingRoom.all)
    func `at the limit of an address a newcomer takes the place of the one that has waited longest`(
        _ row: MakingRoom
    ) async throws {
        let (responder, closed) = (TestResponder(), Gathered<String>())
        try await withServer(
            responder, workers: 1,
            configure: {
                $0.addressLimit = .init(
                    maxConnections: row.limit, isExempt: { $0.ip == "127.0.0.3" }, onRefusal: { closed.add($0.ip) })
                $0.deadlines.unread = row.unread
                // Nobody leaves by himself.
                $0.deadlines.linger = .seconds(600)
            }
        ) { port, _ in
            let probe = try RawClient(port: port, from: MakingRoom.free)
            var clients: [RawClient] = []
            var handlers = 0
            for (number, steps) in row.steps {
                for step in steps {
                    switch step {
                    case .open(let source, let buffer):
                        clients.append(try RawClient(port: port, receiveBuffer: buffer, from: source))
                    case .send(let text): try clients[number].send(text)
                    case .read(let status):
                        let client = clients[number]
                        #expect(try await blocking { try client.answer().status } == status)
                    case .waitForHandler:
                        handlers += 1
                        try #require(await eventually { responder.gate.waiting == handlers })
                    case .waitForOutput:
                        let client = clients[number]
                        try #require(await eventually { client.hasInput(withinMilliseconds: 0) })
                    }
                }
                // The worker serves in order what comes: once this is answered, it knows all that was before.
                try await Self.expectHello(probe)
            }

            var newcomers: [RawClient] = []
            var gone: Set<Int> = []
            for end in row.gone {
                let newcomer = try RawClient(port: port)
                switch end {
                case .connection(let number):
                    gone.insert(number)
                    newcomers.append(newcomer)
                    try await Self.expectHello(newcomer)
                    let last = row.steps.last { $0.0 == number }?.1.last
                    let isCut = if case .waitForOutput = last { true } else { false }
                    try await Self.expectEnd(clients[number], cutting: isCut)
                case .nobody:
                    newcomers.append(newcomer)
                    try await Self.expectHello(newcomer)
                case .newcomer: try await Self.expectEnd(newcomer)
                }
            }
            let ends = row.gone.count { if case .nobody = $0 { false } else { true } }
            #expect(closed.all == Array(repeating: "127.0.0.1", count: ends))

            for newcomer in newcomers { try await Self.expectHello(newcomer) }
            responder.gate.open()
            for (number, client) in clients.enumerated() where !gone.contains(number) {
                let last = row.steps.last { $0.0 == number }?.1.last
                switch last {
                case .waitForHandler, .waitForOutput:
                    #expect(try await blocking { try client.answer().status } == 200, "connection \(number)")
                case .read(400): break
                default: try await Self.expectHello(client)
                }
            }
        }
    }

    @Test func `a connection whose request waits in the kernel is answered instead of closed`() async throws {
        let (responder, closed) = (BlockingResponder(), Gathered<String>())
        try await withServer(
            responder, workers: 1,
            configure: { $0.addressLimit = .init(maxConnections: 3, onRefusal: { closed.add($0.ip) }) }
        ) { port, server in
            let clients = try (0..<3).map { _ in try RawClient(port: port) }
            try #require(await eventually { server.connectionCount == 3 })
            try clients[0].send("GET /block HTTP/1.1\r\nHost: a\r\n\r\n")
            try #require(await eventually { responder.isBlocking })
            // The worker sees the newcomer first, and then the request of the one that has waited longest.
            let newcomer = try RawClient(port: port)
            try clients[1].send(Transition.hello)
            responder.unblock()
            for client in clients[...1] { #expect(try await blocking { try client.answer().status } == 200) }
            try await Self.expectHello(newcomer)
            try await Self.expectEnd(clients[2])
            for client in clients[...1] { try await Self.expectHello(client) }
            #expect(closed.all.count == 1)
        }
    }

    @Test func `a connection that its client has ended leaves its place, and no other is closed for the next`()
        async throws
    {
        let closed = Gathered<String>()
        try await withServer(
            workers: 1, configure: { $0.addressLimit = .init(maxConnections: 3, onRefusal: { closed.add($0.ip) }) }
        ) { port, server in
            let clients = try (0..<3).map { _ in try RawClient(port: port) }
            try #require(await eventually { server.connectionCount == 3 })
            for client in clients[1...] { client.close() }
            try #require(await eventually { server.connectionCount == 1 })
            let others = try (0..<2).map { _ in try RawClient(port: port) }
            try #require(await eventually { server.connectionCount == 3 })
            #expect(closed.all.isEmpty)
            let newcomer = try RawClient(port: port)
            try await Self.expectHello(newcomer)
            try await Self.expectEnd(clients[0])
            for client in others { try await Self.expectHello(client) }
            #expect(closed.all.count == 1)
        }
    }

    /// The loopback has no two addresses of one /64, so the peers are made up and only their sockets are real.
    @Test func `an IPv6 newcomer takes a place of its own network, and a network without connections is forgotten`()
        async throws
    {
        var configuration = ServerConfiguration()
        configuration.addressLimit = .init(maxConnections: 2)
        let shared = SharedState(
            configuration: configuration, maxConnections: 100, responder: TestResponder(),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let lane = Lane(worker: try SharedWorkers.group(of: 1).workers[0], shared: shared)
        let addresses = ["2001:db8:1:3::1", "2001:db8:1:2::1", "2001:db8:1:2:ffff::1", "2001:db8:1:2::2"]
        let peers = try addresses.map { try #require(PeerAddress(forwarded: $0[...])) }
        let pairs = peers.map { _ in
            var pair: [Int32] = [-1, -1]
            socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &pair)
            return (ours: pair[0], theirs: pair[1])
        }
        defer { for pair in pairs { close(pair.theirs) } }
        await lane.worker.perform { _ in
            for (peer, pair) in zip(peers, pairs) {
                _ = shared.reserveConnection()
                lane.open(pair.ours, peer: peer)
            }
        }
        func ended() -> [Bool] {
            pairs.map { pair in
                var byte: UInt8 = 0
                return recv(pair.theirs, &byte, 1, 0) == 0
            }
        }
        #expect(await eventually { ended() == [false, true, false, false] })
        #expect(await lane.worker.perform { _ in lane.neighbours.count } == 2)
        await lane.stop(grace: .zero)
        #expect(await eventually { ended() == [true, true, true, true] })
        #expect(await lane.worker.perform { _ in lane.neighbours.count } == 0)
        #expect(shared.connectionCount == 0)
    }

    private static func expectHello(_ client: RawClient, at location: SourceLocation = #_sourceLocation) async throws {
        let body = try await blocking {
            try client.send(Transition.hello)
            return try client.answer().body
        }
        #expect(body == "hello", sourceLocation: location)
    }

    /// The connection was closed without a word.
    ///
    /// - Parameter isCut: whether it ended within an answer.
    private static func expectEnd(
        _ client: RawClient, cutting isCut: Bool = false, at location: SourceLocation = #_sourceLocation
    ) async throws {
        let rest = try await blocking { client.rest() }
        #expect(rest.text.isEmpty != isCut && rest.end != .open, "\(rest.end)", sourceLocation: location)
    }
}

/// Its worker stands still in one request until the test lets it go on.
private final class BlockingResponder: Responder {
    private let state = Mutex(false)
    private let semaphore = DispatchSemaphore(value: 0)

    var isBlocking: Bool { state.withLock { $0 } }

    func unblock() { semaphore.signal() }

    func reply(to head: RequestHead, from peer: PeerAddress, mark: inout RequestMark) -> Reply {
        if head.path == "/block" {
            state.withLock { $0 = true }
            semaphore.holdThread("the worker in a request")
        }
        return .response(text("hello"))
    }
}
