import EventLoop
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import HTTPClient

/// Which connection a request goes out on, and what becomes of it afterwards.
@Suite(.timeLimit(.minutes(5))) struct KeptConnectionTests {
    @Test func `GET and HEAD of one origin use one connection, one after the other`() async throws {
        try await withClient(answer: { ok($0.firstLine) }) { client, server in
            let prepared = try client.prepare(request(server.port, "/a"))
            for _ in 0..<50 {
                let text = try await client.send(prepared).text
                #expect(text == "GET /a HTTP/1.1")
            }
            let other = try await client.send(request(server.port, "/b")).text
            #expect(other == "GET /b HTTP/1.1")
            #expect(server.acceptCount == 1)
        }
    }

    @Test(arguments: [HTTPRequest.Method.post, .put, .patch, .delete])
    func `any other request has a connection of its own`(_ method: HTTPRequest.Method) async throws {
        try await withClient(answer: { ok($0.firstLine) }) { client, server in
            for number in 1...3 {
                _ = try await client.send(request(server.port))
                let text = try await client.send(request(server.port, method: method)).text
                #expect(text == "\(method) / HTTP/1.1")
                #expect(server.acceptCount == 1 + number, "the GETs go on with theirs")
            }
            #expect(await eventually { server.endCount == 3 })
        }
    }

    @Test func `an unused connection is closed after its time`() async throws {
        var configuration = HTTPClient.Configuration()
        configuration.keptFor = .milliseconds(20)
        try await withClient(configuration, answer: { _ in ok("") }) { client, server in
            _ = try await client.send(request(server.port))
            #expect(await eventually { server.endCount == 1 })
            _ = try await client.send(request(server.port))
            #expect(server.acceptCount == 2)
        }
    }

    @Test func `a connection that is too old is not kept, however busy it is`() async throws {
        var configuration = HTTPClient.Configuration()
        configuration.maxAge = .zero
        try await withClient(configuration, answer: { _ in ok("") }) { client, server in
            for _ in 0..<3 { _ = try await client.send(request(server.port)) }
            #expect(server.acceptCount == 3)
            #expect(await eventually { server.endCount == 3 })
        }
    }

    @Test func `a connection that the server has closed in the meantime is replaced without an error`() async throws {
        try await withClient(answer: { _ in .last(Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8)) }) {
            client, server in
            for _ in 0..<20 { _ = try await client.send(request(server.port)) }
            #expect(server.acceptCount == 20 && server.requests.count == 20)
        }
    }

    /// Answers the first request, and then these one after the other.
    private static func answers(_ answers: RawServer.Answer...) -> @Sendable (String) -> RawServer.Answer {
        let rest = Mutex([ok("first")] + answers)
        return { _ in rest.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] } }
    }

    @Test(arguments: [HTTPRequest.Method.get, .head], [RawServer.Answer.last([]), .reset([])])
    func `a GET or HEAD that crosses the end of a kept connection is sent once more`(
        method: HTTPRequest.Method, end: RawServer.Answer
    ) async throws {
        try await withClient(answer: Self.answers(end, ok("again"))) { client, server in
            _ = try await client.send(request(server.port))
            let response = try await client.send(request(server.port, method: method))
            #expect(response.status == .ok && response.text == (method == .get ? "again" : ""))
            #expect(server.requests.count == 3 && server.acceptCount == 2)
        }
    }

    @Test(arguments: [
        // A new connection that ends is the server's word.
        (RawServer.Answer.last([]), 3), (.last([UInt8(ascii: "H")]), 2),
    ])
    func `a GET or HEAD is sent at most twice, and only once when the response had begun`(
        end: RawServer.Answer, requests: Int
    ) async throws {
        try await withClient(answer: Self.answers(end)) { client, server in
            _ = try await client.send(request(server.port))
            #expect(await client.failure(request(server.port))?.kind == .connectionClosed)
            #expect(server.requests.count == requests)
        }
    }

    @Test(arguments: [RawServer.Answer.last([]), .reset([]), .stall([]), .last([UInt8(ascii: "H")])])
    func `a request that is neither GET nor HEAD is sent once, whatever happens`(_ answer: RawServer.Answer)
        async throws
    {
        try await withClient(answer: Self.answers(answer)) { client, server in
            _ = try await client.send(request(server.port))
            let error = await client.failure(
                request(server.port, method: .post), body: Array("code=c".utf8), timeout: .milliseconds(200))
            #expect(error?.isTransient == true)
            #expect(server.requests.count == 2)
        }
    }

    @Test(arguments: ["HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret", "x", "\r\n"])
    func `bytes behind a response are dropped, and its connection is not used again`(_ more: String) async throws {
        let answers = Mutex(["one\(more)", "two"])
        try await withClient(answer: { _ in
            .text("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n\(answers.withLock { $0.removeFirst() })")
        }) { client, server in
            for expected in ["one", "two"] {
                let text = try await client.send(request(server.port)).text
                #expect(text == expected)
            }
            #expect(server.acceptCount == 2)
        }
    }

    @Test(arguments: [
        "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na",
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\na",
    ])
    func `a connection that does not stay is not used again`(_ wire: String) async throws {
        try await withClient(answer: { _ in .text(wire) }) { client, server in
            for _ in 0..<3 {
                let text = try await client.send(request(server.port)).text
                #expect(text == "a")
            }
            #expect(server.acceptCount == 3)
        }
    }

    @Test func `a response that trickles is put together, and one that trickles too long ends at the deadline`()
        async throws
    {
        let wire = Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n".utf8)
        try await withClient(
            answer: { .trickle(wire, every: .milliseconds($0.hasPrefix("GET /slow") ? 400 : 1)) }
        ) { client, server in
            let first = try await client.send(request(server.port)).text
            #expect(first == "abc")
            let error = await client.failure(request(server.port, "/slow"), timeout: .seconds(1))
            #expect(
                error
                    == HTTPClientError(
                        kind: .timedOut, reason: "127.0.0.1:\(server.port): the rest of the answer took too long"))
            // The connection is gone with it: the next response is not what was left of the last.
            let next = try await client.send(request(server.port)).text
            #expect(next == "abc")
        }
    }

    @Test func `a short deadline behind a long one is kept`() async throws {
        try await withClient(answer: { $0.hasPrefix("GET /never") ? .stall([]) : ok("x") }) { client, server in
            _ = try await client.send(request(server.port), timeout: .seconds(30))
            let error = await client.failure(request(server.port, "/never"), timeout: .milliseconds(100))
            #expect(error?.kind == .timedOut)
        }
    }

    @Test func `an answer within a second after a pause of the process counts, even if its deadline has passed`()
        async throws
    {
        var text: String?
        // Where the machine stalls, the deadline passes before the pause, or the second after it: both say nothing.
        for _ in 0..<20 where text == nil { text = try await Self.answerAfterPause() }
        #expect(text == "late")
    }

    /// The answer to a request whose deadline has passed in a pause of the process; nil where there is none.
    private static func answerAfterPause() async throws -> String? {
        let clients = try WorkerGroup(count: 1)
        let servers = try WorkerGroup(count: 1)
        let client = HTTPClient(workers: clients)
        let pauseIsOver = DispatchSemaphore(value: 0)
        let server = try await RawServer(on: servers.workers[0]) { _ in
            pauseIsOver.holdThread("the answer after a pause")
            return ok("late")
        }
        let response = Task {
            try? await client.send(request(server.port, method: .post), timeout: .seconds(1)).text
        }
        let hasCome = await eventually { !server.requests.isEmpty }
        // The worker stands still, as in a process that is stopped.
        await clients.workers[0].perform { _ in _ = usleep(2_200_000) }
        // The answer comes when the timers that were due in the pause have fired.
        await clients.workers[0].perform { _ in }
        pauseIsOver.signal()
        let text = await response.value
        await client.shutdown()
        await clients.shutdown()
        await servers.shutdown()
        return hasCome ? text : nil
    }

    @Test func `a request beyond the bound waits in order, and ends at its deadline or when it is cancelled`()
        async throws
    {
        var configuration = HTTPClient.Configuration()
        configuration.maxConnections = 2
        try await withClient(configuration, answer: { $0.hasPrefix("GET /never") ? .stall([]) : ok($0.firstLine) }) {
            client, server in
            let stuck = (0..<2).map { _ in
                Task { await client.failure(request(server.port, "/never"), timeout: .seconds(20)) }
            }
            try #require(await eventually { server.requests.count == 2 })
            let error = await client.failure(request(server.port, "/late"), timeout: .milliseconds(100))
            #expect(
                error
                    == HTTPClientError(
                        kind: .timedOut, reason: "127.0.0.1:\(server.port): waiting for a connection took too long"))
            let given = Task { await client.failure(request(server.port, "/given-up"), timeout: .seconds(20)) }
            let waiting = ["GET", "POST", "GET"].map { method in
                Task {
                    try await client.send(
                        request(server.port, "/waiting", method: method == "GET" ? .get : .post), timeout: .seconds(20)
                    ).text
                }
            }
            given.cancel()
            #expect(await given.value?.kind == .cancelled)
            #expect(server.acceptCount == 2)
            stuck[0].cancel()
            for (task, method) in zip(waiting, ["GET", "POST", "GET"]) {
                let text = try await task.value
                #expect(text == "\(method) /waiting HTTP/1.1")
            }
            #expect(server.acceptCount - server.endCount <= 2)
            stuck[1].cancel()
            #expect(!server.requests.contains { $0.contains("/late") || $0.contains("/given-up") })
        }
    }

    @Test func `a hanging server delays only its own requests`() async throws {
        var configuration = HTTPClient.Configuration()
        configuration.maxConnections = 2
        try await withClient(configuration, answer: { _ in .stall([]) }) { client, hanging in
            let stuck = (0..<5).map { _ in Task { await client.failure(request(hanging.port), timeout: .seconds(20)) } }
            try #require(await eventually { hanging.requests.count == 2 })
            let group = try WorkerGroup(count: 1)
            let other = try await RawServer(on: group.workers[0]) { _ in ok("quick") }
            let text = try await client.send(request(other.port)).text
            #expect(text == "quick")
            for task in stuck { task.cancel() }
            await group.shutdown()
        }
    }

    @Test func `shutdown ends requests as cancelled, waiting ones too, and leaves no descriptor open`() async throws {
        var configuration = HTTPClient.Configuration()
        configuration.maxConnections = 1
        // The first round opens what the runtime and libcurl open once.
        var before = 0
        for _ in 0..<2 {
            before = openDescriptors()
            try await withClient(configuration, answer: { $0.hasPrefix("GET /slow") ? .stall([]) : ok("") }) {
                client, server in
                _ = try await client.send(request(server.port))
                async let waiting = client.failure(request(server.port, "/slow"), timeout: .seconds(10))
                try #require(await eventually { server.requests.count == 2 })
                async let behind = client.failure(request(server.port, "/slow"), timeout: .seconds(10))
                await client.shutdown()
                let ended = HTTPClientError(kind: .cancelled, reason: "the client has been shut down")
                #expect(await waiting == ended)
                #expect(await behind == ended)
                #expect(await client.failure(request(server.port)) == ended)
            }
        }
        let most = before + 1
        #expect(await eventually { openDescriptors() <= most })
    }
}
