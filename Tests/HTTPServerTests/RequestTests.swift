import HTTPServer
import TestSupport
import Testing

/// A client's requests and the answers that it reads, however the bytes are cut on their way.
struct RequestCase: Sendable, CustomTestStringConvertible {
    let name: String
    let input: String
    /// Status and body of each answer.
    let answers: [String]
    /// Whether the server then ends the connection by itself.
    var closes = false
    var answersHead = false

    var testDescription: String { name }

    static let all: [RequestCase] = [
        .init(name: "a request", input: "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n", answers: ["200 hello"]),
        .init(
            name: "an empty line before the request", input: "\r\nGET /hello HTTP/1.1\r\nHost: a\r\n\r\n",
            answers: ["200 hello"]),
        .init(
            name: "three pipelined requests are answered in order",
            input: "GET /yielding?1 HTTP/1.1\r\nHost: a\r\n\r\nGET /hello HTTP/1.1\r\nHost: a\r\n\r\n"
                + "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc",
            answers: ["200 yielded 1", "200 hello", "200 abc"]),
        .init(
            name: "HEAD has the length and no body", input: "HEAD /hello HTTP/1.1\r\nHost: a\r\n\r\n",
            answers: ["200 "], answersHead: true),
        .init(
            name: "HEAD of what a handler answers", input: "HEAD /yielding HTTP/1.1\r\nHost: a\r\n\r\n",
            answers: ["200 "], answersHead: true),
        .init(
            name: "a body with a length",
            input: "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nworld", answers: ["200 world"]),
        .init(
            name: "an empty body", input: "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
            answers: ["200 "]),
        .init(
            name: "a chunked body with trailers",
            input: "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "3;ext=1\r\nwor\r\n2\r\nld\r\n0\r\nExpires: never\r\n\r\n",
            answers: ["200 world"]),
        .init(
            name: "a body as large as allowed",
            input: "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n" + String(repeating: "x", count: 100),
            answers: ["200 " + String(repeating: "x", count: 100)]),
        .init(
            name: "a body that is too large is refused",
            input: "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 101\r\n\r\n" + String(repeating: "x", count: 101),
            answers: ["413"], closes: true),
        .init(
            name: "a chunked body that is too large is refused",
            input: "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n60\r\n"
                + String(repeating: "x", count: 96) + "\r\n60\r\n" + String(repeating: "x", count: 96)
                + "\r\n0\r\n\r\n",
            answers: ["413"], closes: true),
        .init(
            name: "a body that no one asked for is skipped",
            input: "POST /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 27\r\n\r\nGET / HTTP/1.1\r\nHost: b\r\n\r\n"
                + "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n",
            answers: ["200 hello", "200 hello"]),
        .init(
            name: "a chunked body that no one asked for ends the connection",
            input: "POST /hello HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
            answers: ["200 hello"], closes: true),
        .init(
            name: "HTTP/1.0 ends after the answer", input: "GET /hello HTTP/1.0\r\n\r\n", answers: ["200 hello"],
            closes: true),
        .init(
            name: "HTTP/1.0 with keep-alive does not",
            input: "GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET /hello HTTP/1.1\r\nHost: a\r\n\r\n",
            answers: ["200 hello", "200 hello"]),
        .init(
            name: "a handler runs on a worker", input: "GET /worker HTTP/1.1\r\nHost: a\r\n\r\n",
            answers: ["200 on a worker"]),
        .init(
            name: "204 has no body", input: "GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n", answers: ["204 "]),
        .init(
            name: "an interim status from a handler is the server's mistake",
            input: "GET /status-100 HTTP/1.1\r\nHost: a\r\n\r\n", answers: ["500"]),
        .init(name: "no Host", input: "GET /hello HTTP/1.1\r\n\r\n", answers: ["400"], closes: true),
        .init(
            name: "both lengths",
            input: "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc",
            answers: ["400"], closes: true),
        .init(
            name: "a good request, then nonsense", input: "GET /hello HTTP/1.1\r\nHost: a\r\n\r\nnonsense\r\n\r\n",
            answers: ["200 hello", "400"], closes: true),
        .init(
            name: "a bad chunk", input: "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            answers: ["400"], closes: true),
        .init(
            name: "another version", input: "GET /hello HTTP/2.0\r\nHost: a\r\n\r\n", answers: ["505"], closes: true),
        .init(
            name: "a head that is too large",
            input: "GET /hello HTTP/1.1\r\nHost: a\r\nX: " + String(repeating: "x", count: 17_000) + "\r\n\r\n",
            answers: ["431"], closes: true),
        .init(
            name: "too many fields",
            input: "GET /hello HTTP/1.1\r\nHost: a\r\n" + String(repeating: "X: y\r\n", count: 101) + "\r\n",
            answers: ["431"], closes: true),
    ]
}

enum Cut: CaseIterable, Sendable, CustomTestStringConvertible {
    case whole, bytes, seeded, withTrailingBytes

    var testDescription: String { "\(self)" }

    func pieces(of input: String) -> [[UInt8]] {
        let bytes = Array(input.utf8)
        switch self {
        case .whole: return [bytes]
        case .bytes: return bytes.map { [$0] }
        case .withTrailingBytes: return [bytes + Array("GET /hel".utf8)]
        case .seeded:
            var numbers = SeededGenerator(seed: UInt64(bytes.count))
            var pieces: [[UInt8]] = []
            var rest = bytes[...]
            while !rest.isEmpty {
                let piece = rest.prefix(Int.random(in: 1...40, using: &numbers))
                pieces.append(Array(piece))
                rest = rest.dropFirst(piece.count)
            }
            return pieces
        }
    }
}

@Suite(.timeLimit(.minutes(5)), .onBothTransports) struct RequestTests {
    @Test(arguments: RequestCase.all, Cut.allCases)
    func `each request gets its answers, however it is cut`(_ row: RequestCase, _ cut: Cut) async throws {
        try await withServer { port, _ in
            let (answers, end) = try await blocking {
                let client = try RawClient(port: port)
                // The server may have answered and ended before everything is sent.
                for piece in cut.pieces(of: row.input) { guard (try? client.send(piece)) != nil else { break } }
                var answers: [String] = []
                for expected in row.answers {
                    let answer = try client.answer(toHead: row.answersHead)
                    // An expectation without a body is about an error of the server's own.
                    if expected.contains(" ") {
                        answers.append("\(answer.status) \(answer.body)")
                    } else {
                        answers.append("\(answer.status)")
                        #expect(answer.fields["content-type"] == "application/problem+json")
                    }
                }
                if row.closes { return (answers, client.rest()) }
                // The connection is as good as new; of a request that was begun, the rest is sent.
                try client.send(
                    cut == .withTrailingBytes
                        ? "lo HTTP/1.1\r\nHost: a\r\n\r\n" : "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
                let last = try client.answer()
                #expect(last.body == "hello")
                return (answers, (text: "", end: .closed))
            }
            #expect(answers == row.answers)
            #expect(end.text.isEmpty)
            #expect(end.end == .closed)
        }
    }

    @Test func `an error has its reason and the fields of every response`() async throws {
        try await withServer(configure: { $0.responseFields = [.xContentTypeOptions: "nosniff"] }) { port, _ in
            let answer = try await blocking {
                let client = try RawClient(port: port)
                try client.send("GET /hello HTTP/1.1\r\n\r\n")
                return try client.answer()
            }
            #expect(answer.status == 400)
            #expect(answer.fields["x-content-type-options"] == "nosniff")
            #expect(answer.fields["connection"] == "close")
            #expect(answer.body.contains("needs a Host field"))
        }
    }

    @Test func `the application gives errors their body`() async throws {
        try await withServer(configure: { configuration in
            configuration.errorBody = { status, detail in text("\(status.code): \(detail)") }
        }) { port, _ in
            let answer = try await blocking {
                let client = try RawClient(port: port)
                try client.send("GET /hello HTTP/3.0\r\n\r\n")
                return try client.answer()
            }
            #expect(answer.status == 505)
            #expect(answer.body == "505: This server speaks HTTP/1.1 and HTTP/1.0.")
        }
    }

    @Test func `100 Continue is sent only for a body that is wanted`() async throws {
        try await withServer { port, _ in
            let statuses = try await blocking {
                let client = try RawClient(port: port)
                try client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
                let interim = try client.answer()
                try client.send("hi")
                let final = try client.answer()
                #expect(final.body == "hi")
                let refused = try RawClient(port: port)
                try refused.send(
                    "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 200\r\nExpect: 100-continue\r\n\r\n")
                let unread = try RawClient(port: port)
                try unread.send("POST /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
                let unreadAnswer = try unread.answer()
                #expect(unreadAnswer.fields["connection"] == "close")
                return [interim.status, final.status, try refused.answer().status, unreadAnswer.status]
            }
            #expect(statuses == [100, 200, 413, 200])
        }
    }

    @Test func `the answer to a refused body arrives while the client is still sending`() async throws {
        try await withServer { port, _ in
            let answer = try await blocking {
                let client = try RawClient(port: port)
                try client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n")
                // Closed with unread input, the kernel would answer this with a reset and drop the answer.
                try client.send([UInt8](repeating: 0x78, count: 200_000))
                return try client.answer()
            }
            #expect(answer.status == 413)
        }
    }

    @Test func `every request is reported once`() async throws {
        let log = Gathered<String>()
        try await withServer(configure: { configuration in
            configuration.onRequestEnd = {
                log.add("\($0.method?.rawValue ?? "-") \($0.path ?? "-") \($0.status.code) \($0.bodyBytes)")
            }
        }) { port, _ in
            try await blocking {
                let client = try RawClient(port: port)
                try client.send(
                    "GET /hello?secret HTTP/1.1\r\nHost: a\r\n\r\nHEAD /hello HTTP/1.1\r\nHost: a\r\n\r\nGET /yielding HTTP/1.1\r\nHost: a\r\n\r\nbad\r\n\r\n"
                )
                _ = client.rest()
            }
            #expect(log.all.prefix(3) == ["GET /hello 200 5", "HEAD /hello 200 0", "GET /yielding 200 8"])
            #expect(log.all.count == 4)
            #expect(log.all.last?.hasPrefix("- - 400 ") == true)
        }
    }

    @Test func `nothing is read after Connection: close`() async throws {
        try await withServer { port, _ in
            let rest = try await blocking {
                let client = try RawClient(port: port)
                let request = "GET /hello HTTP/1.1\r\nHost: a\r\n"
                try client.send("\(request)Connection: close\r\n\r\n\(request)\r\n")
                let answer = try client.answer()
                #expect(answer.body == "hello")
                #expect(answer.fields["connection"] == "close")
                return client.rest()
            }
            #expect(rest.text.isEmpty)
            #expect(rest.end == .closed)
        }
    }

    @Test func `the peer is the other end of the connection`() async throws {
        try await withServer { port, _ in
            let answer = try await blocking {
                let client = try RawClient(port: port)
                try client.send("GET /peer HTTP/1.1\r\nHost: a\r\n\r\n")
                return try client.answer()
            }
            #expect(answer.body == "127.0.0.1")
        }
    }
}
