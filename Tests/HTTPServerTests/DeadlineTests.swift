import HTTPServer
import HTTPWire
import Synchronization
import TestSupport
import Testing

/// Each stage of a connection ends at its deadline. The tests wait for the end, not for a time.
@Suite(.timeLimit(.minutes(5)), .onBothTransports) struct DeadlineTests {
    /// Returns the first outcome. On a machine that stalls, a deadline passes in the handshake already, which says nothing.
    private static func untilConnected<Value>(_ attempt: () throws -> Value?) throws -> Value {
        for _ in 0..<60 { if let value = try? attempt() { return value } }
        return try #require(try attempt())
    }

    @Test func `a connection that sends nothing is closed`() async throws {
        try await withServer(configure: { $0.deadlines.head = .seconds(1) }) { port, _ in
            let rest = try await blocking { try Self.untilConnected { try RawClient(port: port).rest() } }
            #expect(rest.text.isEmpty)
            #expect(rest.end == .closed)
        }
    }

    @Test func `a slow head is refused, however steadily it trickles`() async throws {
        try await withServer(configure: { $0.deadlines.head = .seconds(1) }) { port, _ in
            let rest = try await blocking {
                try Self.untilConnected {
                    let client = try RawClient(port: port)
                    try client.send("GET /hello HTTP/1.1\r\nX: ")
                    // Trickles until the server has had enough.
                    while client.offer([0x78]) == 1, !client.hasInput(withinMilliseconds: 5) {}
                    let rest = client.rest()
                    return rest.text.isEmpty ? nil : rest
                }
            }
            #expect(rest.text.hasPrefix("HTTP/1.1 408 Request Timeout\r\n"))
        }
    }

    @Test(
        arguments: [
            ("POST /sink HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n"),
            ("POST /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n", "x"),
        ])
    func `a slow body is refused, however steadily it trickles, even where no handler wants it`(
        _ head: String, _ piece: String
    ) async throws {
        try await withServer(configure: { $0.deadlines.body = .milliseconds(50) }) { port, _ in
            let rest = try await blocking {
                let client = try RawClient(port: port)
                try client.send(head)
                while client.offer(Array(piece.utf8)) == piece.utf8.count, !client.hasInput(withinMilliseconds: 5) {}
                return client.rest()
            }
            #expect(rest.text.hasPrefix("HTTP/1.1 408 Request Timeout\r\n"))
            #expect(rest.text.contains("body did not arrive in time"))
        }
    }

    @Test func `an idle connection is closed without an answer`() async throws {
        try await withServer(configure: { $0.deadlines.idle = .milliseconds(50) }) { port, _ in
            let rest = try await blocking {
                let client = try RawClient(port: port)
                try client.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
                _ = try client.answer()
                return client.rest()
            }
            #expect(rest.text.isEmpty)
            #expect(rest.end == .closed)
        }
    }

    @Test func `a connection in use outlives the idle deadline`() async throws {
        let idle = Duration.seconds(1)
        try await withServer(configure: { $0.deadlines.idle = idle }) { port, _ in
            // Twice the deadline in short pauses. On a machine that stalls, a pause is as long as the deadline, and the
            // connection's end says nothing.
            let isOutlived = try await blocking {
                while true {
                    let client = try RawClient(port: port)
                    let start = ContinuousClock.now
                    var (last, longest) = (start, Duration.zero)
                    do {
                        repeat {
                            try client.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
                            guard try client.answer().status == 200 else { return false }
                            _ = client.hasInput(withinMilliseconds: 50)
                            longest = max(longest, last.duration(to: .now))
                            last = .now
                        } while start.duration(to: last) < idle * 2
                        return true
                    } catch {
                        guard max(longest, last.duration(to: .now)) > idle / 2 else { return false }
                    }
                }
            }
            #expect(isOutlived)
        }
    }

    @Test func `a late handler is cancelled, and its client gets a 503`() async throws {
        let responder = TestResponder()
        try await withServer(responder, configure: { $0.deadlines.handler = .milliseconds(50) }) { port, _ in
            let (answer, end) = try await blocking {
                let client = try RawClient(port: port)
                try client.send("GET /gate HTTP/1.1\r\nHost: a\r\n\r\n")
                return (try client.answer(), client.rest())
            }
            #expect(answer.status == 503)
            #expect(answer.fields["connection"] == "close")
            #expect(end.end == .closed)
            #expect(responder.gate.cancelled == 1)
        }
    }

    @Test func `a late answer is neither sent nor reported`() async throws {
        let responder = StubbornResponder()
        let reported = Gathered<Int>()
        try await withServer(
            responder,
            configure: { configuration in
                configuration.deadlines.handler = .milliseconds(50)
                configuration.onRequestEnd = { reported.add($0.status.code) }
            }
        ) { port, _ in
            // Without an answer, too, the handler ends.
            defer { responder.open() }
            let client = try RawClient(port: port)
            // A second request waits behind the first.
            try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n")
            let answer = try await blocking { try client.answer() }
            #expect(answer.status == 503)
            responder.open()
            #expect(await eventually { responder.hasFinished })
            let rest = try await blocking { client.rest() }
            #expect(rest.text.isEmpty)
            #expect(rest.end == .closed)
            #expect(reported.all == [503])
        }
    }

    @Test func `a client that never reads is cut off`() async throws {
        try await withServer(configure: { $0.deadlines.write = .milliseconds(50) }) { port, server in
            let client = try RawClient(port: port, receiveBuffer: 4096)
            try client.send("GET /big HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(await eventually { client.hasInput(withinMilliseconds: 0) })
            #expect(await eventually { server.connectionCount == 0 })
            let received = try await blocking { client.rest().text.utf8.count }
            #expect(received < 8 << 20)
        }
    }

    @Test func `a client that reads slowly gets everything`() async throws {
        let write = Duration.seconds(1)
        try await withServer(configure: { $0.deadlines.write = write }) { port, _ in
            // Longer than the deadline in short pauses. On a machine that stalls, a pause is as long as the deadline, and an
            // answer that was cut says nothing.
            let isWhole = try await blocking {
                while true {
                    // Less than a few of loopback's 64 KiB segments would have the kernels wait for each other.
                    let client = try RawClient(port: port, receiveBuffer: 512 * 1024)
                    try client.send("GET /big HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                    var (bytes, last, longest) = (0, ContinuousClock.now, Duration.zero)
                    while case let count = client.countToEnd(bytes: 1, pauseMicroseconds: 10_000), count > 0 {
                        bytes += count
                        longest = max(longest, last.duration(to: .now))
                        last = .now
                    }
                    if bytes > 8 << 20 { return true }
                    guard max(longest, last.duration(to: .now)) > write / 2 else { return false }
                }
            }
            #expect(isWhole)
        }
    }
}

/// A responder whose handler ignores cancellation, and answers when the test lets it.
private final class StubbornResponder: Responder {
    private struct State {
        var isOpen = false
        var finished = 0
    }
    private let state = Mutex(State())

    var hasFinished: Bool { state.withLock { $0.finished > 0 } }

    func open() { state.withLock { $0.isOpen = true } }

    func reply(to head: RequestHead, from peer: PeerAddress, mark: inout RequestMark) -> Reply {
        .handler(maxBodyBytes: 0) { [self] _ in
            while !state.withLock({ $0.isOpen }) { await Task.yield() }
            defer { state.withLock { $0.finished += 1 } }
            return text("too late")
        }
    }
}
