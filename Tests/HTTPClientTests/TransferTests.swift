import EventLoop
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import HTTPClient

@Suite(.timeLimit(.minutes(5))) struct TransferTests {
    @Test func `a response has its status, its body and all fields in order, repeated ones too`() async throws {
        let wire = """
            HTTP/1.1 418 I'm a teapot\r\nContent-Type: text/plain\r\nX-Empty:\r\nSet-Cookie: a=1\r\n\
            Set-Cookie: b=2\r\nContent-Length: 5\r\n\r\nshort
            """
        try await withClient(answer: { _ in .text(wire) }) { client, server in
            let response = try await client.send(request(server.port))
            #expect(response.head.status.code == 418)
            #expect(
                response.head.headerFields.map { "\($0.name.rawName)=\($0.value)" } == [
                    "Content-Type=text/plain", "X-Empty=", "Set-Cookie=a=1", "Set-Cookie=b=2", "Content-Length=5",
                ])
            #expect(response[.contentType] == "text/plain" && response[.location] == nil)
            #expect(response.values(for: .setCookie) == ["a=1", "b=2"])
            #expect(response.text == "short")
        }
    }

    @Test func `interim responses are skipped, trailers dropped, folded lines joined and chunks put together`()
        async throws
    {
        let wire = """
            HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\
            X-Folded: one\r\n  two\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\nX-Trailer: t\r\n\r\n
            """
        try await withClient(answer: { _ in .text(wire) }) { client, server in
            let response = try await client.send(request(server.port))
            #expect(response.head.status == .ok)
            #expect(response.head.headerFields.map { "\($0.name)=\($0.value)" } == ["X-Folded=one    two"])
            #expect(response.text == "abcdefg")
        }
    }

    @Test func `a redirect is returned, not followed`() async throws {
        try await withClient(
            answer: { _ in .text("HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n") }
        ) { client, server in
            let response = try await client.send(request(server.port))
            #expect(response.head.status == .found)
            #expect(response.head.headerFields[.location] == "/other")
            #expect(server.requests.count == 1)
        }
    }

    struct Sent: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let method: HTTPRequest.Method
        var fields: HTTPFields = [:]
        var body = ""
        let wire: String
    }

    @Test(
        arguments: [
            Sent(
                testDescription: "GET", method: .get, fields: [.authorization: "Bearer t"],
                wire: "GET /../p?q=1 HTTP/1.1|User-Agent: companion|Authorization: Bearer t|Cookie: TOKEN||"),
            Sent(
                testDescription: "HEAD", method: .head,
                wire: "HEAD /../p?q=1 HTTP/1.1|User-Agent: companion|Cookie: TOKEN||"),
            Sent(
                testDescription: "POST with a form", method: .post,
                fields: [.contentType: "application/x-www-form-urlencoded"], body: "a=1&b=2",
                wire:
                    "POST /../p?q=1 HTTP/1.1|User-Agent: companion|Content-Type: application/x-www-form-urlencoded|Cookie: TOKEN|Content-Length: 7||a=1&b=2"
            ),
            Sent(
                testDescription: "POST without a body", method: .post,
                wire: "POST /../p?q=1 HTTP/1.1|User-Agent: companion|Cookie: TOKEN|Content-Length: 0||"),
            Sent(
                testDescription: "PATCH with NUL and newline in the body", method: .patch,
                fields: [.contentType: "text/plain"], body: "a\0b\n",
                wire:
                    "PATCH /../p?q=1 HTTP/1.1|User-Agent: companion|Content-Type: text/plain|Cookie: TOKEN|Content-Length: 4||a\0b\n"
            ),
            Sent(
                testDescription: "DELETE", method: .delete,
                wire: "DELETE /../p?q=1 HTTP/1.1|User-Agent: companion|Cookie: TOKEN||"),
            Sent(
                testDescription: "an empty field", method: .get, fields: [.accept: ""],
                wire: "GET /../p?q=1 HTTP/1.1|User-Agent: companion|Accept:|Cookie: TOKEN||"),
        ])
    func `a request has no fields of our own but Host, User-Agent, Accept, Accept-Encoding and the length`(row: Sent)
        async throws
    {
        try await withClient(answer: { _ in ok("") }) { client, server in
            let prepared = try client.prepare(
                request(server.port, "/../p?q=1", method: row.method, fields: row.fields))
            // Twice: nothing of the first may stay.
            for token in ["one", "two"] {
                _ = try await client.send(prepared, adding: [.cookie: token], body: Array(row.body.utf8))
                let sent = server.requests.last.map { text in
                    text.replacing("\r\n", with: "|")
                        .replacing("Host: 127.0.0.1:\(server.port)|", with: "")
                        .replacing("Accept: */*|", with: "")
                        .replacing("Accept-Encoding: identity|", with: "")
                }
                #expect(sent == row.wire.replacing("TOKEN", with: token))
            }
        }
    }

    @Test func `a field that frames the message is refused, and nothing is sent`() async throws {
        try await withClient(answer: { _ in ok("") }) { client, server in
            for name in [HTTPField.Name.contentLength, .transferEncoding, .connection, .expect] {
                let error = await client.failure(request(server.port, fields: [name: "1"]))
                #expect(error?.kind == .invalidRequest)
                #expect(error?.reason == "127.0.0.1:\(server.port): \(name.rawName) is set by the client")
            }
            #expect(server.acceptCount == 0)
        }
    }

    @Test func `the owner's request id is sent, and the server is asked to return it`() async throws {
        try await withClient(answer: { _ in ok("") }) { client, server in
            let owner = RequestOwner(account: "SECRET", requestID: "5")
            _ = try await client.send(client.prepare(request(server.port)), for: owner)
            let sent = try #require(server.requests.first)
            #expect(sent.contains("\r\nclient-request-id: 5\r\nreturn-client-request-id: true\r\n"))
            #expect(!sent.contains("SECRET"))
        }
    }

    @Test func `a compressed body is decoded, loses its fields, and is limited by its decoded size`() async throws {
        // gzip of 100,000 times "a".
        let packed = try gzip(String(repeating: "a", count: 100_000))
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n"
        try await withClient(answer: { _ in .bytes(Array(head.utf8) + packed) }) { client, server in
            let response = try await client.send(request(server.port))
            #expect(response.body.count == 100_000)
            #expect(response.head.headerFields.isEmpty)
            let error = await client.failure(request(server.port), maxResponseBytes: 50_000)
            #expect(packed.count < 1000)
            #expect(error?.kind == .responseTooLarge)
        }
    }

    // Both ends of 2 workers' 256 connections, and some for the process, which is one of its own for the raised limit.
    @Test(
        .enabled(
            if: possibleDescriptors >= 1100,
            "1,100 open files are needed, and the hard limit is \(possibleDescriptors)"))
    func `1,000 transfers at once all get their own answers, even beyond the bound of connections`() async {
        await #expect(processExitsWith: .success) {
            raiseDescriptorLimit()
            try await withClient(
                workers: 2,
                answer: { ok($0.firstLine) }
            ) { client, server in
                for _ in 0..<2 {
                    let right = try await withThrowingTaskGroup(of: Bool.self) { tasks in
                        for number in 0..<1000 {
                            tasks.addTask {
                                let response = try await client.send(
                                    request(server.port, "/\(number)"), timeout: .seconds(30))
                                return response.text == "GET /\(number) HTTP/1.1"
                            }
                        }
                        return try await tasks.reduce(0) { $0 + ($1 ? 1 : 0) }
                    }
                    #expect(right == 1000)
                }
                #expect(server.requests.count == 2000)
            }
        }
    }

    @Test func `a transfer runs on the worker whose task calls it, and the task stays there`() async throws {
        let group = try WorkerGroup(count: 2)
        let client = HTTPClient(workers: group)
        let server = try await RawServer(on: group.workers[1]) { _ in ok("x") }
        for worker in group.workers {
            for _ in 0..<3 {
                let stayed = try await Task(executorPreference: worker) {
                    _ = try await client.send(request(server.port))
                    return worker.isCurrent
                }.value
                #expect(stayed)
            }
        }
        // Each worker has its own connections.
        #expect(server.acceptCount == 2)
        await client.shutdown()
        await group.shutdown()
    }

    @Test func `localhost is reached when only one of its addresses is served`() async throws {
        try await withClient(answer: { _ in ok("x") }) { client, server in
            let response = try await client.send(request(server.port, host: "localhost"))
            #expect(response.text == "x")
        }
    }

    @Test func `the environment's proxy is asked for a tunnel, except for hosts in no_proxy`() async {
        await #expect(processExitsWith: .success) {
            let answer: @Sendable (String) -> RawServer.Answer = { request in
                request.hasPrefix("CONNECT ") ? .text("HTTP/1.1 200 OK\r\n\r\n") : ok("through the proxy")
            }
            try await withClient(answer: answer) { client, server in
                setenv("http_proxy", "http://127.0.0.1:\(server.port)", 1)
                setenv("no_proxy", "127.0.0.1", 1)
                let far = HTTPRequest(method: .get, scheme: "http", authority: "graph.invalid", path: "/v1.0/me")
                for _ in 0..<2 {
                    let text = try await client.send(far).text
                    #expect(text == "through the proxy")
                }
                _ = try await client.send(request(server.port, "/near"))
                let lines = server.requests.map(\.firstLine)
                let get = "GET /v1.0/me HTTP/1.1"
                #expect(lines == ["CONNECT graph.invalid:80 HTTP/1.1", get, get, "GET /near HTTP/1.1"])

                // A tunnel that the proxy refuses is no answer of the server, and the token does not reach the proxy.
                let refusing = try await refusingProxy()
                for scheme in ["http", "https"] {
                    setenv("\(scheme)_proxy", "http://127.0.0.1:\(refusing.server.port)", 1)
                    var refused = far
                    refused.authority = "\(scheme).invalid"
                    refused.scheme = scheme
                    refused.headerFields[.authorization] = "Bearer SECRET"
                    let error = await client.failure(refused)
                    #expect(
                        error
                            == HTTPClientError(
                                kind: .connectionFailed,
                                reason: "\(scheme).invalid: the proxy refused the connection (status 403)"))
                }
                #expect(refusing.server.requests.allSatisfy { !$0.contains("SECRET") })
                await refusing.group.shutdown()
            }
        }
    }
}

private func refusingProxy() async throws -> (server: RawServer, group: WorkerGroup) {
    let group = try WorkerGroup(count: 1)
    let server = try await RawServer(on: group.workers[0]) { _ in
        .text("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
    }
    return (server, group)
}

/// `text` through gzip(1).
func gzip(_ text: String) throws -> [UInt8] {
    let folder = try TemporaryFolder(isMade: true)
    try folder.write(text, to: "text")
    let packed = try runToEnd("/bin/gzip", ["-n", "\(folder.path)/text"], withErrors: true)
    try #require(packed.status == 0, "\(packed.output)")
    return try folder.bytes("text.gz")
}
