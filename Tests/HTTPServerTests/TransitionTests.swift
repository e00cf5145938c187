import Foundation
import HTTPServer
import HTTPWire
import TestSupport
import Testing

/// A way into a phase of a connection, as the table at the top of `Connection` has it.
struct Transition: Sendable, CustomTestStringConvertible {
    enum Step: Sendable {
        case send(String)
        /// Reads an answer, so many times.
        case read(String, times: Int = 1)
        case endOutput
        /// Sends more than a lingering connection takes.
        case flood
        case waitForHandler
        case letHandlerReturn
    }

    /// The phase to which the script leads. Only this phase's deadline is short, and each phase ends in its own way.
    enum Phase: Sendable {
        case beginning, idle, head, body, handling, writing, lingering
        /// No deadline is short.
        case closed

        func shorten(_ deadlines: inout ServerConfiguration.Deadlines, to short: Duration) {
            switch self {
            case .beginning, .head: deadlines.head = short
            case .idle: deadlines.idle = short
            case .body: deadlines.body = short
            case .handling: deadlines.handler = short
            case .writing: deadlines.write = short
            case .lingering: deadlines.linger = short
            case .closed: break
            }
        }

        /// Whether the client then reads the end and nothing else.
        var endsInSilence: Bool {
            switch self {
            case .beginning, .idle, .lingering, .closed: true
            case .head, .body, .handling, .writing: false
            }
        }

        /// The answer that the client reads at the deadline of a phase that ends with one.
        var refusal: (status: String, sentence: String)? {
            switch self {
            case .head: ("408", "head did not arrive in time")
            case .body: ("408", "body did not arrive in time")
            case .handling: ("503", "did not finish in time")
            case .beginning, .idle, .writing, .lingering, .closed: nil
            }
        }
    }

    let testDescription: String
    let steps: [Step]
    let phase: Phase

    init(_ description: String, _ steps: [Step], _ phase: Phase) {
        testDescription = description
        self.steps = steps
        self.phase = phase
    }

    static let hello = "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"
    static let gate = "GET /gate HTTP/1.1\r\nHost: a\r\n\r\n"
    static let page = "GET /page HTTP/1.1\r\nHost: a\r\n\r\n"
    /// Their answers fit into one output, and into no kernel's buffers as small as the test makes them.
    static let many = 400
    static let hellos = String(repeating: hello, count: many)

    static func post(_ path: String, _ framing: String = "Content-Length: 5\r\n") -> String {
        "POST \(path) HTTP/1.1\r\nHost: a\r\n\(framing)\r\n"
    }

    static let all: [Transition] = [
        .init("a connection begins", [], .beginning),
        .init("a part of the first head comes", [.send("GET /he")], .head),
        .init("a carriage return may be a part of a head", [.send("\r")], .head),
        .init(
            "the rest of the head comes",
            [.send("GET /he"), .send("llo HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")]
                + [.read("200 hello")], .idle),
        .init("a part of a later head comes", [.send(hello), .read("200 hello"), .send("GET /he")], .head),
        .init(
            "an answered head has a part of another behind it", [.send(hello + "GET /he"), .read("200 hello")], .head),
        .init("an empty line is no part of a head", [.send(hello), .read("200 hello"), .send("\r\n")], .idle),

        .init("a head comes whose body a handler wants", [.send(post("/echo") + "ab")], .body),
        .init(
            "a head comes whose chunks a handler wants", [.send(post("/echo", "Transfer-Encoding: chunked\r\n"))], .body
        ),
        .init("a head comes whose body is skipped", [.send(post("/hello") + "ab")], .body),
        .init("the body for a handler ends", [.send(post("/echo") + "ab"), .send("cde"), .read("200 abcde")], .idle),
        .init("the skipped body ends", [.send(post("/hello") + "ab"), .send("cde"), .read("200 hello")], .idle),
        .init(
            "a body follows its 100 Continue",
            [.send(post("/echo", "Content-Length: 5\r\nExpect: 100-continue\r\n")), .read("100 ")], .body),

        .init("a handler has to wait", [.send(gate), .waitForHandler], .handling),
        .init(
            "a handler returns after a while", [.send(gate), .waitForHandler, .letHandlerReturn, .read("200 passed")],
            .idle),
        .init(
            "a part of another head came while the handler waited",
            [.send(gate + "GET /he"), .waitForHandler, .letHandlerReturn, .read("200 passed")], .head),
        .init(
            "a body came in part while the handler waited",
            [.send(gate + post("/echo") + "ab"), .waitForHandler, .letHandlerReturn, .read("200 passed")], .body),

        .init("the kernel takes a part of a page", [.send(page)], .writing),
        .init("the rest of a page is sent", [.send(page), .read("200 page")], .idle),
        .init("a part of a head waited behind a page", [.send(page + "GET /he"), .read("200 page")], .head),
        .init("a request waited behind a page", [.send(page + hello), .read("200 page"), .read("200 hello")], .idle),
        .init(
            "a handler waits, and earlier answers do too", [.send(hellos + gate), .waitForHandler], .writing),
        .init(
            "the answers before a handler's are sent",
            [.send(hellos + gate), .waitForHandler, .read("200 hello", times: many)], .handling),
        .init(
            "a handler returns while earlier answers wait",
            [.send(hellos + gate), .waitForHandler, .letHandlerReturn, .read("200 hello", times: many)]
                + [.read("200 passed")], .idle),
        .init(
            "the answers before a 100 Continue are sent",
            [.send(hellos + post("/echo", "Content-Length: 5\r\nExpect: 100-continue\r\n"))]
                + [.read("200 hello", times: many), .read("100 ")], .body),
        .init(
            "the last answers have to wait",
            [.send(hellos + "GET /hello HTTP/1.0\r\n\r\n"), .read("200 hello", times: many + 1)], .closed),
        .init(
            "the client ends its half while answers wait",
            [.send(hellos), .endOutput, .read("200 hello", times: many)], .closed),

        .init("the client ends its half before a request", [.endOutput], .closed),
        .init("the client ends its half between requests", [.send(hello), .read("200 hello"), .endOutput], .closed),
        .init("the client ends its half within a head", [.send("GET /he"), .endOutput], .closed),
        .init("the client ends its half within a body", [.send(post("/echo") + "ab"), .endOutput], .closed),
        .init(
            "the client ends its half while a handler waits",
            [.send(gate), .waitForHandler, .endOutput, .letHandlerReturn, .read("200 passed")], .closed),
        .init("the client wants no other answer", [.send("GET /hello HTTP/1.0\r\n\r\n"), .read("200 hello")], .closed),
        .init(
            "the client wants no other answer than a handler's",
            [.send("GET /gate HTTP/1.0\r\n\r\n"), .waitForHandler, .letHandlerReturn, .read("200 passed")], .closed),

        .init(
            "the client sends more than it wants answered",
            [.send("GET /hello HTTP/1.0\r\n\r\n" + hello), .read("200 hello")], .lingering),
        .init("the bytes are no request", [.send("nonsense\r\n\r\n"), .read("400")], .lingering),
        .init(
            "a body breaks off in nonsense",
            [.send(post("/echo", "Transfer-Encoding: chunked\r\n") + "no size\r\n"), .read("400")], .lingering),
        .init(
            "an answer comes before a body that nobody reads",
            [.send(post("/hello", "Transfer-Encoding: chunked\r\n")), .read("200 hello")], .lingering),
        .init("the client ends its half at last", [.send("nonsense\r\n\r\n"), .read("400"), .endOutput], .closed),
        .init("the client sends too much at last", [.send("nonsense\r\n\r\n"), .read("400"), .flood], .closed),
    ]
}

@Suite(.timeLimit(.minutes(5)), .onBothTransports) struct TransitionTests {
    @Test(arguments: Transition.all)
    func `a connection is in the phase that its table says`(_ row: Transition) async throws {
        // Where a machine takes as long for the steps as the deadline, they say nothing, and have a longer one.
        for short in [Duration.milliseconds(100), .seconds(1)] {
            if try await judges(row, short: short, mayBeLate: row.phase != .closed) { return }
        }
        _ = try await judges(row, short: .seconds(30), mayBeLate: false)
    }

    /// - Returns: false where the phase may have ended before the last step.
    private func judges(_ row: Transition, short: Duration, mayBeLate: Bool) async throws -> Bool {
        let responder = TestResponder()
        // As small as the kernel lets it be; connections get it from their listener.
        let socket = try listeningSocket(sendBuffer: 1)
        return try await withServer(
            responder, inheriting: [socket],
            configure: { configuration in
                let long = Duration.seconds(60)
                configuration.deadlines.head = long
                configuration.deadlines.linger = long
                row.phase.shorten(&configuration.deadlines, to: short)
            }
        ) { port, server in
            let start = ContinuousClock.now
            let client: RawClient
            do {
                client = try RawClient(port: port, receiveBuffer: 8192)
                for step in row.steps { try await perform(step, client, responder) }
            } catch {
                guard mayBeLate, start.duration(to: .now) >= short else { throw error }
                return false
            }
            if mayBeLate, start.duration(to: .now) >= short { return false }
            if let refusal = row.phase.refusal {
                let rest = try await blocking { client.rest() }
                #expect(rest.text.hasPrefix("HTTP/1.1 \(refusal.status) ") && rest.text.contains(refusal.sentence))
                #expect(rest.end == .closed)
                client.close()
            }
            #expect(await eventually { server.connectionCount == 0 })
            // The kernel decides how much of a cut answer a client that does not read may still get.
            if row.phase.endsInSilence {
                let rest = try await blocking { client.rest() }
                #expect(rest.text.isEmpty && rest.end != .open)
            }
            // No handler is left behind by its connection.
            let waited = row.steps.contains { if case .waitForHandler = $0 { true } else { false } }
            let returned = row.steps.contains { if case .letHandlerReturn = $0 { true } else { false } }
            #expect(await eventually { responder.gate.cancelled == (waited && !returned ? 1 : 0) })
            return true
        }
    }

    private func perform(_ step: Transition.Step, _ client: RawClient, _ responder: TestResponder) async throws {
        switch step {
        case .send(let text): try client.send(text)
        case .endOutput: client.endOutput()
        case .waitForHandler:
            guard await eventually({ responder.gate.entered == 1 }) else { throw Unexpected(seen: []) }
        case .letHandlerReturn: responder.gate.open()
        case .read(let expected, let times):
            let answers = try await blocking {
                try (0..<times).map { _ in
                    let answer = try client.answer()
                    return expected.contains(" ") ? "\(answer.status) \(answer.shownBody)" : "\(answer.status)"
                }
            }
            guard answers == Array(repeating: expected, count: times) else { throw Unexpected(seen: answers) }
        case .flood:
            // The server may cut the connection before everything is sent.
            try await blocking { for _ in 0..<64 { try? client.send([UInt8](repeating: 0x78, count: 8192)) } }
        }
    }
}

/// The answers to a step, which were to be others.
private struct Unexpected: Error {
    let seen: [String]
}

extension RawClient.Answer {
    /// The body, or the name of the one that is too long to be shown.
    fileprivate var shownBody: String { body.utf8.elementsEqual(TestResponder.page.body) ? "page" : body }
}
