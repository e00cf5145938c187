import EventLoop
import HTTPTypes
import TestSupport
import Testing

@testable import HTTPClient

/// One row for each way in which there can be no response.
struct Failing: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let kind: HTTPClientError.Kind
    let reason: String
    var host = "127.0.0.1"
    var scheme = "http"
    var path = "/"
    var method = HTTPRequest.Method.get
    var answer = RawServer.Answer.stall([])
    var timeout: Duration?
    var maxBytes: Int?

    init(
        _ name: String, _ kind: HTTPClientError.Kind, _ reason: String, host: String = "127.0.0.1",
        scheme: String = "http", path: String = "/?code=SECRET", method: HTTPRequest.Method = .get,
        answer: RawServer.Answer = .stall([]), timeout: Duration? = nil, maxBytes: Int? = nil
    ) {
        testDescription = name
        (self.kind, self.reason) = (kind, reason)
        (self.host, self.scheme, self.path, self.method) = (host, scheme, path, method)
        (self.answer, self.timeout, self.maxBytes) = (answer, timeout, maxBytes)
    }
}

let failing: [Failing] = [
    Failing(
        "A name that does not resolve", .nameResolution, "no-such-host.invalid:PORT: the name does not resolve",
        host: "no-such-host.invalid"),
    Failing(
        "A server that never answers", .timedOut, "127.0.0.1:PORT: the answer took too long",
        timeout: .seconds(1)),
    Failing(
        "A server that stops in the body", .timedOut, "127.0.0.1:PORT: the rest of the answer took too long",
        answer: .stall(Array("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab".utf8)), timeout: .seconds(1)),
    Failing(
        "A server that closes without an answer", .connectionClosed,
        "127.0.0.1:PORT: the connection ended before the response was complete", answer: .last([])),
    Failing(
        "A server that closes in the body", .connectionClosed,
        "127.0.0.1:PORT: the connection ended before the response was complete",
        answer: .last(Array("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab".utf8))),
    Failing(
        "A server that closes between chunks", .connectionClosed,
        "127.0.0.1:PORT: the connection ended before the response was complete",
        answer: .last(Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n".utf8))),
    Failing(
        "A server that resets the connection", .connectionClosed,
        "127.0.0.1:PORT: the connection ended before the response was complete", answer: .reset([])),
    Failing(
        "A body over the limit, announced", .responseTooLarge,
        "127.0.0.1:PORT: the response's body is larger than its limit", answer: ok("12345678901"), maxBytes: 10),
    Failing(
        "A body over the limit, in chunks", .responseTooLarge,
        "127.0.0.1:PORT: the response's body is larger than its limit",
        answer: .text("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n123456\r\n6\r\n123456\r\n0\r\n\r\n"),
        maxBytes: 10),
    Failing(
        "Fields that never end", .responseTooLarge, "127.0.0.1:PORT: the response's head is larger than its limit",
        answer: .flood(
            Array("HTTP/1.1 200 OK\r\n".utf8) + Array(String(repeating: "X: yyyyyyyyyyyyyyy\r\n", count: 9000).utf8))),
    Failing(
        "Interim responses that never end", .responseTooLarge,
        "127.0.0.1:PORT: the response's head is larger than its limit",
        answer: .flood(Array("HTTP/1.1 103 Early Hints\r\n\r\n".utf8))),
    Failing(
        "An answer that is not HTTP", .other, "127.0.0.1:PORT: the answer is not HTTP",
        answer: .last(Array("220 mail.example ESMTP ready\r\n".utf8))),
    Failing(
        "A coding that was not requested", .other,
        "127.0.0.1:PORT: the answer has a content coding that was not requested",
        answer: ok("12345", fields: "Content-Encoding: br\r\n")),
    Failing(
        "A body that is not the gzip that it claims to be", .other, "127.0.0.1:PORT: the answer cannot be decoded",
        answer: ok("12345", fields: "Content-Encoding: gzip\r\n")),
    Failing(
        "A scheme that is neither http nor https", .invalidRequest, "the scheme must be http or https", scheme: "ftp"),
    Failing(
        "An authority with user information", .invalidRequest,
        "the authority must be a host, with a port where needed, and without user information", host: "me:pw@127.0.0.1"),
    Failing(
        "A path with a space", .invalidRequest,
        "127.0.0.1:PORT: the path must begin with / and be percent-encoded, without a fragment", path: "/a b"),
    Failing(
        "A path that does not begin with a slash", .invalidRequest,
        "127.0.0.1:PORT: the path must begin with / and be percent-encoded, without a fragment", path: "@evil.example/"),
    Failing("CONNECT", .invalidRequest, "127.0.0.1:PORT: the method cannot be sent", method: .connect),
]

@Suite(.timeLimit(.minutes(5))) struct FailureTests {
    @Test(arguments: failing)
    func `each failure has its kind, says what happened, and holds no secret`(row: Failing) async throws {
        try await withClient(answer: { _ in row.answer }) { client, server in
            let fields: HTTPFields = [.authorization: "Bearer SECRET"]
            let reason = row.reason.replacing("PORT", with: "\(server.port)")
            var timeout = row.timeout
            var error: HTTPClientError?
            repeat {
                error = await client.failure(
                    request(
                        server.port, row.path, method: row.method, host: row.host, scheme: row.scheme, fields: fields),
                    timeout: timeout, maxResponseBytes: row.maxBytes)
                // On a machine that stalls, an earlier stage takes as long: a longer time says more.
                timeout = timeout.map { $0 * 4 }
            } while timeout.map { $0 < .seconds(100) && error?.reason != reason } == true
            #expect(error?.kind == row.kind)
            #expect(error?.reason == reason)
            #expect(error.map { "\($0)".contains("SECRET") } == false)
        }
    }

    @Test(arguments: ["127.0.0.1", "localhost"])
    func `a port that nothing listens on refuses the connection`(host: String) async throws {
        try await withClient(answer: { _ in ok("") }) { client, _ in
            let port = try RefusingPort()
            let error = await client.failure(request(port.number, host: host))
            #expect(
                error
                    == HTTPClientError(
                        kind: .connectionRefused, reason: "\(host):\(port.number): Connection refused"))
            #expect(error?.isTransient == true)
        }
    }

    @Test func `an address that does not answer fails at the connect deadline, long before the total one`() async throws
    {
        try await withClient(.init(connectTimeout: .milliseconds(200)), answer: { _ in ok("") }) { client, _ in
            // A listener whose queue is full: the kernel drops what else wants to connect.
            let full = try FullListener()
            let clock = ContinuousClock.now
            let error = await client.failure(request(full.port), timeout: .seconds(30))
            #expect(
                error
                    == HTTPClientError(kind: .timedOut, reason: "127.0.0.1:\(full.port): connecting took too long"))
            #expect(ContinuousClock.now - clock < .seconds(10))
        }
    }

    @Test func `cancelling the task ends the transfer, before and after it has started`() async throws {
        try await withClient(answer: { _ in .stall([]) }) { client, server in
            let waiting = Task { await client.failure(request(server.port), timeout: .seconds(10)) }
            try #require(await eventually { !server.requests.isEmpty })
            waiting.cancel()
            let cancelled = HTTPClientError(kind: .cancelled, reason: "the task was cancelled")
            #expect(await waiting.value == cancelled)

            let early = Task {
                while !Task.isCancelled { await Task.yield() }
                return await client.failure(request(server.port))
            }
            early.cancel()
            #expect(await early.value == cancelled)
        }
    }

    @Test func `a cancelled transfer does not disturb another on the same worker`() async throws {
        try await withClient(
            answer: { $0.hasPrefix("GET /slow") ? .stall([]) : ok("quick") }
        ) { client, server in
            let slow = Task { await client.failure(request(server.port, "/slow"), timeout: .seconds(10)) }
            try #require(await eventually { !server.requests.isEmpty })
            async let first = client.send(request(server.port, "/quick"))
            slow.cancel()
            let text = try await first.text
            #expect(text == "quick")
            let again = try await client.send(request(server.port, "/quick")).text
            #expect(again == "quick")
            #expect(await slow.value?.kind == .cancelled)
        }
    }

    @Test func `shutdown ends transfers as cancelled, and later requests too`() async throws {
        try await withClient(workers: 2, answer: { _ in .stall([]) }) { client, server in
            // A transfer that the shutdown forgets ends too, as one that took too long.
            async let waiting = client.failure(request(server.port), timeout: .seconds(10))
            try #require(await eventually { !server.requests.isEmpty })
            await client.shutdown()
            let ended = HTTPClientError(kind: .cancelled, reason: "the client has been shut down")
            #expect(await waiting == ended)
            #expect(await client.failure(request(server.port)) == ended)
        }
    }

    @Test func `only failures that may pass by themselves are transient`() {
        let transient = HTTPClientError.Kind.allCases.filter { HTTPClientError(kind: $0, reason: "").isTransient }
        #expect(transient == [.nameResolution, .connectionRefused, .connectionFailed, .timedOut, .connectionClosed])
    }
}
