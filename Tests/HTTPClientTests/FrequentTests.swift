import EventLoop
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import HTTPClient

/// Requests on connections on which we speak HTTP ourselves.
@Suite(.timeLimit(.minutes(1))) struct FrequentTests {
    @Test(arguments: failing)
    func `each failure is the one that libcurl's way has`(row: Failing) async throws {
        try await withClient(answer: { _ in row.answer }) { client, server in
            let asked = request(server.port, row.path, method: row.method, host: row.host, scheme: row.scheme)
            let error = await client.frequentFailure(
                asked, adding: [.authorization: "Bearer SECRET"], timeout: row.timeout, maxResponseBytes: row.maxBytes)
            #expect(error?.kind == row.kind)
            #expect(error?.reason == row.reason.replacing("PORT", with: "\(server.port)"))
            #expect(error.map { "\($0)".contains("SECRET") } == false)
        }
    }

    @Test func `what goes out is the request, written once, with the fields of this time behind it`() async throws {
        try await withClient(answer: { _ in ok("") }) { client, server in
            let frequent = try client.frequent(request(server.port, "/../p?q=1", fields: [.accept: "a/b"]))
            for token in ["one", "two"] {
                _ = try await client.send(frequent, adding: [.authorization: "Bearer \(token)"])
                #expect(
                    server.requests.last?.replacing("\r\n", with: "|")
                        == "GET /../p?q=1 HTTP/1.1|Host: 127.0.0.1:\(server.port)|User-Agent: companion|"
                        + "Accept-Encoding: identity|Accept: a/b|Authorization: Bearer \(token)||")
            }
        }
    }

    @Test func `a response comes with status, fields in order and body, and its fields are found one by one`()
        async throws
    {
        let wire = """
            HTTP/1.1 418 I'm a teapot\r\nContent-Type: text/plain\r\nX-Empty:\r\nWWW-Authenticate: a\r\n\
            WWW-Authenticate: b\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n0\r\nX: t\r\n\r\n
            """
        try await withClient(answer: { _ in .text(wire) }) { client, server in
            let response = try await client.send(client.frequent(request(server.port)))
            #expect(response.status.code == 418 && response.head.status.code == 418)
            #expect(
                response.head.headerFields.map { "\($0.name.rawName)=\($0.value)" } == [
                    "Content-Type=text/plain", "X-Empty=", "WWW-Authenticate=a", "WWW-Authenticate=b",
                ])
            #expect(response[.contentType] == "text/plain" && response[.location] == nil)
            #expect(response.values(for: .wwwAuthenticate) == ["a", "b"])
            #expect(response.text == "short")
            #expect(response.timings.total > .zero && !response.timings.connectionReused)
        }
    }

    @Test(arguments: [HTTPRequest.Method.post, .put, .delete, .options])
    func `only GET and HEAD are frequent`(_ method: HTTPRequest.Method) async throws {
        try await withClient(answer: { _ in ok("") }) { client, server in
            let error = await client.frequentFailure(request(server.port, method: method))
            #expect(error?.kind == .invalidRequest)
            #expect(server.acceptCount == 0)
        }
    }

    @Test func `a field that frames the message is refused, and nothing is sent`() async throws {
        try await withClient(answer: { _ in ok("") }) { client, server in
            for name in [HTTPField.Name.contentLength, .transferEncoding, .connection, .expect] {
                let error = await client.frequentFailure(request(server.port), adding: [name: "1"])
                #expect(error?.kind == .invalidRequest)
                #expect(error?.reason == "127.0.0.1:\(server.port): \(name.rawName) is the client's to send")
            }
            #expect(server.acceptCount == 0)
        }
    }

    @Test func `requests one after the other use one connection`() async throws {
        try await withClient(answer: { ok($0.firstLine) }) { client, server in
            let frequent = try client.frequent(request(server.port, "/a"))
            for number in 0..<50 {
                let response = try await client.send(frequent)
                #expect(response.text == "GET /a HTTP/1.1")
                #expect(response.timings.connectionReused == (number > 0))
            }
            // HEAD and another path of the same origin use it too.
            let head = try client.frequent(request(server.port, "/b", method: .head))
            let other = try await client.send(head)
            #expect(other.body.isEmpty)
            #expect(server.acceptCount == 1 || server.acceptCount == 2)
        }
    }

    @Test func `a connection that nobody uses is closed after its time`() async throws {
        var configuration = HTTPClient.Configuration()
        configuration.keptFor = .milliseconds(20)
        try await withClient(configuration, answer: { _ in ok("") }) { client, server in
            _ = try await client.send(client.frequent(request(server.port)))
            #expect(await eventually { server.endCount == 1 })
            #expect(try await client.send(client.frequent(request(server.port))).timings.connectionReused == false)
        }
    }

    @Test func `a connection that is too old is not kept, however busy it is`() async throws {
        var configuration = HTTPClient.Configuration()
        configuration.maxAge = .zero
        try await withClient(configuration, answer: { _ in ok("") }) { client, server in
            for _ in 0..<3 { _ = try await client.send(client.frequent(request(server.port))) }
            #expect(server.acceptCount == 3)
            #expect(await eventually { server.endCount == 3 })
        }
    }

    @Test func `a connection that the server has closed in the meantime is replaced without an error`() async throws {
        try await withClient(answer: { _ in .last(Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8)) }) {
            client, server in
            let frequent = try client.frequent(request(server.port))
            for _ in 0..<20 { _ = try await client.send(frequent) }
            #expect(server.acceptCount == 20 && server.requests.count == 20)
        }
    }

    /// Answers the first request, and then these one after the other.
    private static func answers(_ answers: RawServer.Answer...) -> @Sendable (String) -> RawServer.Answer {
        let rest = Mutex([ok("first")] + answers)
        return { _ in rest.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] } }
    }

    @Test func `a request that crosses the end of a kept connection is made once more`() async throws {
        try await withClient(answer: Self.answers(.last([]), ok("again"))) { client, server in
            let frequent = try client.frequent(request(server.port))
            _ = try await client.send(frequent)
            let response = try await client.send(frequent)
            #expect(response.text == "again" && !response.timings.connectionReused)
            #expect(server.requests.count == 3 && server.acceptCount == 2)
        }
    }

    @Test func `and so is one whose kept connection is reset`() async throws {
        try await withClient(answer: Self.answers(.reset([]), ok("again"))) { client, server in
            let frequent = try client.frequent(request(server.port))
            _ = try await client.send(frequent)
            let value1 = try await client.send(frequent).text
            #expect(value1 == "again")
            #expect(server.requests.count == 3)
        }
    }

    @Test func `but not twice`() async throws {
        try await withClient(answer: Self.answers(.last([]))) { client, server in
            let frequent = try client.frequent(request(server.port))
            _ = try await client.send(frequent)
            #expect(await client.frequentFailure(request(server.port))?.kind == .connectionClosed)
            #expect(server.requests.count == 3)
        }
    }

    @Test func `and not when the response had begun`() async throws {
        try await withClient(answer: Self.answers(.last([UInt8(ascii: "H")]))) { client, server in
            _ = try await client.send(client.frequent(request(server.port)))
            #expect(await client.frequentFailure(request(server.port))?.kind == .connectionClosed)
            #expect(server.requests.count == 2)
        }
    }

    @Test(arguments: ["HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret", "x", "\r\n"])
    func `what comes behind a response is nobody's, and its connection is not used again`(_ more: String) async throws {
        let first = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none\(more)"
        let answer = Mutex(first)
        try await withClient(answer: { _ in
            answer.withLock { text in
                defer { text = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\ntwo" }
                return .text(text)
            }
        }) { client, server in
            let frequent = try client.frequent(request(server.port))
            let value2 = try await client.send(frequent).text
            #expect(value2 == "one")
            let value3 = try await client.send(frequent).text
            #expect(value3 == "two")
            #expect(server.acceptCount == 2)
        }
    }

    @Test(arguments: [
        "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na",
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\na",
    ])
    func `a connection that does not stay is not used again`(_ wire: String) async throws {
        try await withClient(answer: { _ in .text(wire) }) { client, server in
            let frequent = try client.frequent(request(server.port))
            for _ in 0..<3 {
                let text = try await client.send(frequent).text
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
            answer: { .trickle(wire, every: .milliseconds($0.hasPrefix("GET /slow") ? 100 : 1)) }
        ) { client, server in
            let value4 = try await client.send(client.frequent(request(server.port))).text
            #expect(value4 == "abc")
            let error = await client.frequentFailure(request(server.port, "/slow"), timeout: .milliseconds(250))
            #expect(
                error
                    == HTTPClientError(
                        kind: .timedOut, reason: "127.0.0.1:\(server.port): the rest of the answer took too long"))
            // The connection is gone with it: the next response is not what was left of the last.
            let value5 = try await client.send(client.frequent(request(server.port))).text
            #expect(value5 == "abc")
        }
    }

    @Test func `a short deadline behind a long one is kept`() async throws {
        try await withClient(answer: { $0.hasPrefix("GET /never") ? .stall([]) : ok("x") }) { client, server in
            _ = try await client.send(client.frequent(request(server.port)), timeout: .seconds(30))
            let error = await client.frequentFailure(request(server.port, "/never"), timeout: .milliseconds(100))
            #expect(error?.kind == .timedOut)
        }
    }

    @Test func `an address that does not answer ends at the connect deadline`() async throws {
        try await withClient(.init(connectTimeout: .milliseconds(200)), answer: { _ in ok("") }) { client, _ in
            let full = try FullListener()
            let error = await client.frequentFailure(request(full.port), timeout: .seconds(30))
            #expect(
                error
                    == HTTPClientError(kind: .timedOut, reason: "127.0.0.1:\(full.port): connecting took too long"))
        }
    }

    @Test(arguments: ["127.0.0.1", "localhost"])
    func `a port that nothing listens on is a refusal`(_ host: String) async throws {
        try await withClient(answer: { _ in ok("") }) { client, _ in
            let port = try unusedPort()
            #expect(
                await client.frequentFailure(request(port, host: host))
                    == HTTPClientError(kind: .connectionRefused, reason: "\(host):\(port): Connection refused"))
        }
    }

    @Test func `a coded body comes decoded, and later requests go to libcurl at once`() async throws {
        let packed = try gzip(String(repeating: "a", count: 100_000))
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n"
        try await withClient(answer: { _ in .bytes(Array(head.utf8) + packed) }) { client, server in
            let frequent = try client.frequent(request(server.port))
            let first = try await client.send(frequent, adding: [.authorization: "Bearer t"])
            #expect(first.body.count == 100_000 && first.head.headerFields.isEmpty)
            #expect(server.requests.count == 2)
            #expect(server.requests.allSatisfy { $0.contains("Authorization: Bearer t\r\n") })
            let value6 = try await client.send(frequent).body.count
            #expect(value6 == 100_000)
            #expect(server.requests.count == 3)
        }
    }

    @Test func `cancelling the task ends the request and its connection, and no other`() async throws {
        try await withClient(answer: { $0.hasPrefix("GET /slow") ? .stall([]) : ok("quick") }) { client, server in
            let slow = Task {
                await client.frequentFailure(request(server.port, "/slow"), timeout: .seconds(10))
            }
            try #require(await eventually { !server.requests.isEmpty })
            async let first = client.send(client.frequent(request(server.port, "/quick")))
            slow.cancel()
            let value7 = try await first.text
            #expect(value7 == "quick")
            #expect(await slow.value == HTTPClientError(kind: .cancelled, reason: "the task was cancelled"))
            let value8 = try await client.send(client.frequent(request(server.port, "/quick"))).text
            #expect(value8 == "quick")
        }
    }

    @Test func `shutdown ends requests as cancelled, and leaves no descriptor open`() async throws {
        // One each for what the runtime and libcurl open once.
        try await withClient(answer: { _ in ok("") }) { client, server in
            _ = try await client.send(client.frequent(request(server.port)))
        }
        let before = openDescriptors()
        try await withClient(answer: { $0.hasPrefix("GET /slow") ? .stall([]) : ok("") }) { client, server in
            _ = try await client.send(client.frequent(request(server.port)))
            async let waiting = client.frequentFailure(request(server.port, "/slow"), timeout: .seconds(10))
            try #require(await eventually { server.requests.count == 2 })
            await client.shutdown()
            let ended = HTTPClientError(kind: .cancelled, reason: "the client has been shut down")
            #expect(await waiting == ended)
            #expect(await client.frequentFailure(request(server.port)) == ended)
        }
        #expect(await eventually { openDescriptors() <= before + 1 })
    }

    @Test func `1,000 at once all get their own response, beyond the bound of our connections too`() async throws {
        try await withClient(workers: 2, answer: { ok($0.firstLine) }) { client, server in
            for _ in 0..<2 {
                let right = try await withThrowingTaskGroup(of: Bool.self) { tasks in
                    for number in 0..<1000 {
                        let frequent = try client.frequent(request(server.port, "/\(number)"))
                        tasks.addTask {
                            try await client.send(frequent, timeout: .seconds(30)).text == "GET /\(number) HTTP/1.1"
                        }
                    }
                    return try await tasks.reduce(0) { $0 + ($1 ? 1 : 0) }
                }
                #expect(right == 1000)
            }
            #expect(server.requests.count == 2000)
        }
    }

    @Test func `the proxy of the environment is used`() async {
        await #expect(processExitsWith: .success) {
            try await withClient(answer: { _ in ok("through the proxy") }) { client, server in
                setenv("http_proxy", "http://127.0.0.1:\(server.port)", 1)
                let far = HTTPRequest(method: .get, scheme: "http", authority: "graph.invalid", path: "/v1.0/me")
                let value9 = try await client.send(client.frequent(far)).text
                #expect(value9 == "through the proxy")
                #expect(server.requests.map(\.firstLine) == ["GET http://graph.invalid/v1.0/me HTTP/1.1"])
            }
        }
    }
}

extension HTTPClient {
    /// The failure of a frequent request that must fail.
    func frequentFailure(
        _ request: HTTPRequest, adding fields: HTTPFields = [:], timeout: Duration? = nil, maxResponseBytes: Int? = nil
    ) async -> HTTPClientError? {
        do throws(HTTPClientError) {
            _ = try await send(
                try frequent(request), adding: fields, timeout: timeout, maxResponseBytes: maxResponseBytes)
            return nil
        } catch {
            return error
        }
    }
}
