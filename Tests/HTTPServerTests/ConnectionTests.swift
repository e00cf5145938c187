import Dispatch
import EventLoop
import Foundation
import HTTPServer
import Logging
import TestSupport
import Testing

/// The life and end of connections, apart from the requests themselves.
@Suite(.timeLimit(.minutes(5)), .onBothTransports) struct ConnectionTests {
    @Test(arguments: ["/hello", "/yielding"])
    func `a client that ends its half still gets its answer`(_ path: String) async throws {
        try await withServer { port, server in
            let (answer, rest) = try await blocking {
                let client = try RawClient(port: port)
                try client.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
                client.endOutput()
                return (try client.answer(), client.rest())
            }
            #expect(answer.status == 200)
            #expect(rest.end == .closed)
            #expect(await eventually { server.connectionCount == 0 })
        }
    }

    @Test func `a client that ends its half while a handler runs still gets its answer`() async throws {
        let responder = TestResponder()
        try await withServer(responder) { port, _ in
            let client = try RawClient(port: port)
            try client.send("GET /gate HTTP/1.1\r\nHost: a\r\n\r\n")
            client.endOutput()
            #expect(await eventually { responder.gate.waiting == 1 })
            responder.gate.open()
            let answer = try await blocking { try client.answer() }
            #expect(answer.body == "passed")
        }
    }

    @Test func `a reset cancels the handler`() async throws {
        let responder = TestResponder()
        try await withServer(responder) { port, server in
            let client = try RawClient(port: port)
            try client.send("GET /gate HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(await eventually { responder.gate.waiting == 1 })
            client.reset()
            #expect(await eventually { responder.gate.cancelled == 1 && server.connectionCount == 0 })
        }
    }

    @Test(arguments: ["", "GET /he", "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab"])
    func `a client that leaves in the middle of a request is forgotten`(_ begun: String) async throws {
        try await withServer { port, server in
            let client = try RawClient(port: port)
            try client.send(begun)
            client.endOutput()
            let rest = try await blocking { client.rest() }
            #expect(rest.text.isEmpty)
            #expect(await eventually { server.connectionCount == 0 })
        }
    }

    @Test func `the server stops reading from a client that sends and never reads`() async throws {
        try await withServer { port, _ in
            let request = Array("GET /big HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
            let answers = try await blocking {
                let client = try RawClient(port: port, receiveBuffer: 16 * 1024)
                // Eighty answers would be 640 MB; they wait in the client's requests, not in our memory.
                for _ in 0..<80 { try client.send(request) }
                return client.countToEnd(bytes: 3 * (8 << 20), pauseMicroseconds: 0)
            }
            #expect(answers >= 3 * (8 << 20))
        }
    }

    @Test func `a client that goes on sending while its answers wait has to wait itself`() async throws {
        try await withServer { port, _ in
            let hasToWait = try await blocking {
                let client = try RawClient(port: port, receiveBuffer: 16 * 1024)
                try client.send("GET /big HTTP/1.1\r\nHost: a\r\n\r\n")
                let head = "POST /sink HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n"
                let request = Array(head.utf8) + [UInt8](repeating: 0x78, count: 1_000_000)
                var sent = 0
                // Many times what the kernels' buffers hold.
                while sent < 64 << 20 {
                    let count = client.offer(Array(request[(sent % request.count)...]))
                    sent += count
                    if count == 0, !client.hasRoom(withinMilliseconds: 1000) { return true }
                }
                return false
            }
            #expect(hasToWait)
        }
    }

    @Test func `many pipelined requests are answered in order`() async throws {
        try await withServer { port, _ in
            let bodies = try await blocking {
                let client = try RawClient(port: port)
                let requests = (0..<2000).map { "GET /yielding?\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }
                try client.send(requests.joined())
                return try (0..<2000).map { _ in try client.answer().body }
            }
            #expect(bodies == (0..<2000).map { "yielded \($0)" })
        }
    }

    @Test func `at the limit of connections the one that has been idle longest makes room`() async throws {
        try await withServer(workers: 1, configure: { $0.limits.maxConnections = 2 }) { port, server in
            let count = try await blocking {
                let request = "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"
                let clients = try (0..<2).map { _ in try RawClient(port: port) }
                for client in clients {
                    try client.send(request)
                    _ = try client.answer()
                }
                let third = try RawClient(port: port)
                try third.send(request)
                let thirdAnswer = try third.answer()
                #expect(thirdAnswer.status == 200)
                #expect(clients[0].rest().end == .closed)
                try clients[1].send(request)
                let secondAnswer = try clients[1].answer()
                #expect(secondAnswer.status == 200)
                return withExtendedLifetime(third) { server.connectionCount }
            }
            #expect(count == 2)
        }
    }

    @Test func `at the limit of connections new ones wait while all are busy`() async throws {
        // Its handshake would wait for the server, and the test with it.
        guard !Transport.isTLS else { return }
        let responder = TestResponder()
        try await withServer(responder, configure: { $0.limits.maxConnections = 2 }) { port, server in
            let busy = try (0..<2).map { _ in try RawClient(port: port) }
            for client in busy { try client.send("GET /gate HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n") }
            #expect(await eventually { responder.gate.waiting == 2 })
            let third = try RawClient(port: port)
            try third.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(!third.hasInput(withinMilliseconds: 200))
            #expect(server.connectionCount == 2)
            responder.gate.open()
            let answer = try await blocking { try third.answer() }
            #expect(answer.body == "hello")
        }
    }

    @Test(arguments: ["/hello", "/big"])
    func `an answer that needs no body still waits for the body`(_ path: String) async throws {
        try await withServer { port, _ in
            let client = try RawClient(port: port)
            try client.send("POST \(path) HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab")
            #expect(!client.hasInput(withinMilliseconds: 100))
            let answers = try await blocking {
                try client.send("cdeGET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
                return [try client.answer(), try client.answer()]
            }
            #expect(answers.map(\.status) == [path == "/hello" ? 200 : 405, 200])
        }
    }

    @Test func `stopping closes idle connections and finishes requests under way`() async throws {
        let responder = TestResponder()
        try await withServer(responder) { port, server in
            let idle = try RawClient(port: port)
            let fresh = try RawClient(port: port)
            let busy = try RawClient(port: port)
            try await blocking {
                try idle.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
                _ = try idle.answer()
                try busy.send("GET /gate HTTP/1.1\r\nHost: a\r\n\r\nGET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
            }
            #expect(await eventually { responder.gate.waiting == 1 })
            #expect(await eventually { server.connectionCount == 3 }, "\(server.connectionCount) connections")
            async let stopped: Void = server.stop(grace: .seconds(10))
            let ends = try await blocking { [idle.rest().end, fresh.rest().end] }
            #expect(ends == [.closed, .closed])
            // The other worker may be a moment later.
            #expect(await eventually { (try? RawClient(port: port)) == nil })
            responder.gate.open()
            let (answer, rest) = try await blocking { (try busy.answer(), busy.rest()) }
            #expect(answer.body == "passed")
            #expect(answer.fields["connection"] == "close")
            #expect(rest.text.isEmpty)
            busy.close()
            await stopped
        }
    }

    @Test func `after a stop was announced all are served, and each answer ends its connection`() async throws {
        try await withServer { port, server in
            let kept = try RawClient(port: port)
            try await blocking {
                try kept.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try kept.answer().fields["connection"] == nil)
            }
            await server.announceStop()
            try await blocking {
                for client in try [kept] + (0..<4).map({ _ in try RawClient(port: port) }) {
                    try client.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
                    let answer = try client.answer()
                    #expect(answer.body == "hello")
                    #expect(answer.fields["connection"] == "close")
                    #expect(client.rest().end == .closed)
                }
            }
        }
    }

    @Test func `stopping still answers an idle connection that sends within the idle grace`() async throws {
        try await withServer { port, server in
            let used = try RawClient(port: port)
            try await blocking {
                try used.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
                _ = try used.answer()
            }
            async let stopped: Void = server.stop(grace: .seconds(60), idleGrace: .seconds(30))
            #expect(await eventually { (try? RawClient(port: port)) == nil })
            let answer = try await blocking {
                try used.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
                return try used.answer()
            }
            #expect(answer.body == "hello")
            #expect(answer.fields["connection"] == "close")
            used.close()
            await stopped
        }
    }

    @Test func `stopping closes a connection that is idle until the idle grace is over`() async throws {
        try await withServer { port, server in
            let unused = try RawClient(port: port)
            try await blocking {
                try unused.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
                _ = try unused.answer()
            }
            async let stopped: Void = server.stop(grace: .seconds(60), idleGrace: .milliseconds(50))
            let end = try await blocking { unused.rest().end }
            #expect(end == .closed)
            await stopped
        }
    }

    @Test func `stopping still answers a connection that was accepted in the same moment`() async throws {
        // Its handshake would wait for the server, and the test with it.
        guard !Transport.isTLS else { return }
        try await withServer(workers: 1) { port, server in
            let worker = try SharedWorkers.group(of: 1).workers[0]
            let isHeld = DispatchSemaphore(value: 0)
            // While the worker is held, the client connects and the stop is asked for: one batch sees both, and the
            // connection's first event, that it can be written to, comes after the stop.
            worker.submit { isHeld.holdThread("the worker") }
            let client = try RawClient(port: port)
            let stopped = Task(executorPreference: worker) {
                await server.stop(grace: .seconds(10), idleGrace: .seconds(5))
            }
            isHeld.signal()
            #expect(await eventually { (try? RawClient(port: port)) == nil })
            _ = await worker.perform { _ in }
            let answer = try await blocking {
                try client.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
                return try client.answer()
            }
            #expect(answer.body == "hello")
            client.close()
            await stopped.value
        }
    }

    @Test func `a server takes over listening sockets that outlive it`() async throws {
        let socket = try listeningSocket()
        defer { close(socket) }
        let group = try WorkerGroup(count: 2)
        for round in 1...3 {
            let server = HTTPServer(
                configuration: ServerConfiguration(), workers: group, responder: TestResponder(),
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            let port = try await server.start(inheriting: [dup(socket)])
            let client = try RawClient(port: port)
            let answer = try await blocking {
                try client.send("GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                return try client.answer()
            }
            #expect(answer.body == "hello", "round \(round)")
            await server.stop(grace: .seconds(1))
            // Nobody serves, and nobody is refused.
            _ = try RawClient(port: port)
        }
        await #expect(throws: ServerError.self) {
            _ = try await HTTPServer(
                configuration: ServerConfiguration(), workers: group, responder: TestResponder(),
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            ).start(inheriting: [dup(0)])
        }
        await group.shutdown()
    }

    @Test func `stopping cuts requests that do not finish within the grace`() async throws {
        let responder = TestResponder()
        try await withServer(responder) { port, server in
            let busy = try RawClient(port: port)
            try busy.send("GET /gate HTTP/1.1\r\nHost: a\r\n\r\n")
            let halfway = try RawClient(port: port)
            try halfway.send("GET /hel")
            #expect(await eventually { responder.gate.waiting == 1 })
            #expect(await eventually { server.connectionCount == 2 }, "\(server.connectionCount) connections")
            await server.stop(grace: .milliseconds(20))
            #expect(await eventually { responder.gate.cancelled == 1 })
            let rests = try await blocking { [busy.rest(), halfway.rest()] }
            #expect(rests.map(\.text) == ["", ""])
        }
    }

    @Test func `a port in use is refused, and a stopped server's port is free`() async throws {
        let ports = try HeldPorts()
        try await withServer(configure: { $0.port = ports.first }) { port, server in
            await #expect(
                throws: ServerError.cannotListen(
                    address: "127.0.0.1:\(port)",
                    reason: "Address already in use; stop what uses it or choose another port")
            ) {
                try await withServer(configure: { $0.port = port }) { _, _ in }
            }
            await server.stop(grace: .zero)
            try await withServer(configure: { $0.port = port }) { again, _ in #expect(again == port) }
        }
    }

    @Test func `a held port refuses connections and is nobody else's, until a server listens there`() async throws {
        let ports = try HeldPorts()
        func isFree() -> Bool {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(descriptor) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = in_port_t(ports.first).bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            return withUnsafeBytes(of: &address) { raw in
                raw.withMemoryRebound(to: sockaddr.self) { bind(descriptor, $0.baseAddress, socklen_t(raw.count)) == 0 }
            }
        }
        #expect(throws: (any Error).self) { _ = try RawClient(port: ports.first) }
        #expect(!isFree())
        try await withServer(workers: 2, configure: { $0.port = ports.first }) { port, server in
            _ = try RawClient(port: port)
            await server.stop(grace: .zero)
        }
        #expect(throws: (any Error).self) { _ = try RawClient(port: ports.first) }
        #expect(!isFree())
    }

    @Test(arguments: [
        ("no.such.host.invalid", 0), ("127.0.0.1", 65536), ("127.0.0.1", -1), ("203.0.113.1", 0),
    ])
    func `a host or port that is not ours is refused`(_ host: String, _ port: Int) async throws {
        await #expect(throws: ServerError.self) {
            try await withServer(configure: { ($0.host, $0.port) = (host, port) }) { _, _ in }
        }
    }

    @Test(arguments: ["127.0.0.1", "localhost", "0.0.0.0", "::"])
    func `the host may be an address, localhost or all addresses`(_ host: String) async throws {
        try await withServer(configure: { $0.host = host }) { port, _ in
            let status = try await blocking {
                let client = try RawClient(port: port)
                try client.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
                return try client.answer().status
            }
            #expect(status == 200)
        }
    }
}
