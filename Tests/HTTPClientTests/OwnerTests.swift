import EventLoop
import HTTPTypes
import TestSupport
import Testing

@testable import HTTPClient

/// A response belongs to the person who asked, whatever a server sends, and when.
@Suite(.timeLimit(.minutes(5))) struct OwnerTests {
    /// One misbehaviour of an upstream. Its response to a request is `own`; `earlier` is the one to the request before on
    /// the same connection. A pause stands before each piece.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// Sent as soon as a connection stands.
        var greeting = ""
        /// Whether each response is behind its time by one, so that nobody gets any with an identifier.
        var isShifted = false
        let pieces: @Sendable (_ own: String, _ earlier: String) -> [(Duration, String)]

        init(
            _ name: String, greeting: String = "", isShifted: Bool = false,
            _ pieces: @escaping @Sendable (String, String) -> [(Duration, String)]
        ) {
            testDescription = name
            self.greeting = greeting
            self.isShifted = isShifted || !greeting.isEmpty
            self.pieces = pieces
        }
    }

    private static let nobodys = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nnobody"
    private static let expired = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

    private static func later(_ milliseconds: Int) -> Row {
        Row("an earlier response \(milliseconds) ms after it") { [(.zero, $0), (.milliseconds(milliseconds), $1)] }
    }

    static let rows: [Row] = [
        Row("none") { own, _ in [(.zero, own)] },
        Row("an earlier response in one piece with it") { [(.zero, $0 + $1)] },
        Row("an earlier response in a piece of its own") { [(.zero, $0), (.zero, $1)] },
        later(1), later(2), later(5), later(10), later(20),
        Row("half of an earlier one behind it, the rest later") {
            [(.zero, $0 + $1.prefix(20)), (.milliseconds(1), String($1.dropFirst(20)))]
        },
        Row("its last byte comes late, and an earlier one with it") {
            [(.zero, String($0.dropLast())), (.milliseconds(1), String($0.suffix(1)) + $1)]
        },
        Row("its last byte comes late, an earlier one later") {
            [(.zero, String($0.dropLast())), (.milliseconds(1), String($0.suffix(1))), (.milliseconds(1), $1)]
        },
        Row("it comes twice") { own, _ in [(.zero, own + own)] },
        Row("it comes twice, the second time later") { own, _ in [(.zero, own), (.milliseconds(1), own)] },
        Row("it comes again and again") { own, _ in [(.zero, own)] + (0..<3).map { _ in (.milliseconds(1), own) } },
        Row("a response to nobody when the connection stands", greeting: nobodys) { own, _ in [(.zero, own)] },
        Row("two of them", greeting: nobodys + nobodys) { own, _ in [(.zero, own)] },
        Row("one of them, and an earlier one later", greeting: nobodys) { [(.zero, $0), (.milliseconds(1), $1)] },
        Row("a response to nobody before it", isShifted: true) { own, _ in [(.zero, nobodys + own)] },
        Row("a response to nobody before it, and it later", isShifted: true) { own, _ in
            [(.zero, nobodys), (.milliseconds(1), own)]
        },
        Row("an interim response before it, an earlier one later") {
            [(.zero, "HTTP/1.1 103 Early Hints\r\n\r\n" + $0), (.milliseconds(1), $1)]
        },
        Row("a time-out behind it, and an earlier one") { [(.zero, $0), (.milliseconds(1), expired), (.zero, $1)] },
        Row("an earlier body without a head behind it") { [(.zero, $0), (.milliseconds(1), String($1.suffix(9)))] },
    ]

    @Test(arguments: rows, [Echo.never, .always])
    func `no caller gets a response that was meant for another`(_ row: Row, echo: Echo) async throws {
        let responses = try await Self.run(row, echo, requests: 350)
        #expect(responses.own > 0 || row.isShifted)
        #expect(responses.foreign == 0)
    }

    @Test(arguments: [Echo.sometimes, .upperCase, .twice])
    func `no caller gets another's response where a server returns identifiers in its own way`(_ echo: Echo)
        async throws
    {
        for row in Self.rows where ["none", Self.later(1).testDescription].contains(row.testDescription) {
            let responses = try await Self.run(row, echo, requests: 700)
            #expect(responses.own > 0 && (responses.own == 696 || row.testDescription != "none"))
            #expect(responses.foreign == 0)
        }
    }

    @Test func `a response with another identifier is refused, and its connection closed`() async throws {
        try await withClient(answer: { _ in ok("x", fields: "Client-Request-ID: other\r\n") }) { client, server in
            let prepared = try client.prepare(request(server.port))
            for number in 1...3 {
                let error = await #expect(throws: HTTPClientError.self) {
                    try await client.send(prepared, for: RequestOwner(account: "a", requestID: "mine"))
                }
                #expect(
                    error
                        == HTTPClientError(
                            kind: .other, reason: "127.0.0.1:\(server.port): the answer is another request's"))
                #expect(await eventually { server.endCount == number })
            }
            #expect(server.acceptCount == 3)
        }
    }

    @Test func `connections are shared by people only where identifiers come back`() async throws {
        for (echo, connections) in [(Echo.never, 3), (.always, 1)] {
            try await withClient(answer: { .pieces([(.zero, Self.response(to: $0, echo))]) }) { client, server in
                let prepared = try client.prepare(request(server.port))
                for person in ["a", "b", "c", "a", "b", "c"] {
                    let owner = RequestOwner(account: person, requestID: "\(person)-1")
                    let text = try await client.send(prepared, adding: Self.token(person), for: owner).text
                    #expect(text == "for \(person)")
                }
                #expect(server.acceptCount == connections, "\(echo)")
                // A request without an owner is on a connection of its own.
                _ = try await client.send(prepared, adding: Self.token("d"))
                #expect(server.acceptCount == connections + 1, "\(echo)")
            }
        }
    }

    // MARK: The upstream

    enum Echo: Sendable { case never, always, sometimes, upperCase, twice }

    private static func token(_ person: String) -> HTTPFields { [.authorization: "Bearer \(person)"] }

    private static func field(_ name: String, of request: String) -> Substring {
        let line = request.split(separator: "\r\n").first { $0.hasPrefix("\(name): ") }
        return line?.dropFirst(name.count + 2) ?? ""
    }

    private static func person(of request: String) -> Substring {
        field("Authorization", of: request).dropFirst("Bearer ".count)
    }

    private static func response(to request: String, _ echo: Echo) -> String {
        let body = "for \(person(of: request))"
        let id = field("client-request-id", of: request)
        let line = "client-request-id: \(echo == .upperCase ? id.uppercased() : String(id))\r\n"
        let count =
            switch echo {
            case .never: 0
            case .always, .upperCase: 1
            case .sometimes: id.utf8.last.map { Int($0 % 2) } ?? 0
            case .twice: 2
            }
        return
            "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\(String(repeating: line, count: count))\r\n\(body)"
    }

    /// Sends requests of eight people at once, and counts whose responses they got.
    private static func run(_ row: Row, _ echo: Echo, requests: Int) async throws -> (own: Int, foreign: Int) {
        let people = 8
        let texts = Set((0..<people).map { "for p\($0)" })
        let clients = try WorkerGroup(count: 1)
        let servers = try WorkerGroup(count: 1)
        let client = HTTPClient(workers: clients)
        let server = try await RawServer(on: servers.workers[0], greeting: row.greeting) { request in
            .mixed(own: response(to: request, echo), row.pieces)
        }
        let prepared = try client.prepare(request(server.port))
        let counts = await withTaskGroup(of: (own: Int, foreign: Int).self) { tasks in
            for person in 0..<people {
                tasks.addTask {
                    var (own, foreign) = (0, 0)
                    for number in 0..<(requests / people) {
                        let owner = RequestOwner(account: "p\(person)", requestID: "p\(person)-\(number)")
                        let text = try? await client.send(
                            prepared, adding: token("p\(person)"), for: owner, timeout: .seconds(5)
                        ).text
                        if text == "for p\(person)" {
                            own += 1
                        } else if let text, texts.contains(text) {
                            foreign += 1
                        }
                    }
                    return (own, foreign)
                }
            }
            return await tasks.reduce((0, 0)) { ($0.0 + $1.0, $0.1 + $1.1) }
        }
        await client.shutdown()
        await clients.shutdown()
        await servers.shutdown()
        return counts
    }
}
