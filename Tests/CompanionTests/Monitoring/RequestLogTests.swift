import EventLoop
import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import Logging
import OpenIDConnect
import Synchronization
import TestSupport
import Testing

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn

/// One line for a request, its identifiers, and the trace that goes on to what we call.
@Suite struct RequestLogTests {
    private static let trace = "0af7651916cd43dd8448eb211c80319c"

    /// The fields of a line, read as a program reads them: one word, or what stands in quotes.
    private func fields(_ line: String) -> [String: String] {
        var fields: [String: String] = [:]
        for match in line.matches(of: /(?: |^)([a-z_]+)=(?:"((?:[^"\\]|\\.)*)"|([^ "]*))(?= |$)/) {
            fields[String(match.output.1)] = String(match.output.2 ?? match.output.3 ?? "")
        }
        return fields
    }

    @Test(
        arguments: [
            ("a", "a"), ("two words", #""two words""#), ("", #""""#), (#"say "no""#, #""say \"no\"""#),
            (#"C:\x"#, #""C:\\x""#), ("a=b", #""a=b""#), ("a\nWARNING companion: b", #""a\u{a}WARNING companion: b""#),
            ("x status=200", #""x status=200""#), (#"x" status="200"#, #""x\" status=\"200""#),
            ("\u{1B}[31m", #""\u{1b}[31m""#), ("a\u{2028}b", #""a\u{2028}b""#), ("a\u{202E}b", #""a\u{202e}b""#),
            ("a\u{A0}b", #""a\u{a0}b""#), ("a\u{85}b", #""a\u{85}b""#), ("é/{app}", "é/{app}"), ("\t", #""\u{9}""#),
        ])
    func `a value in a log line is one word or stands in quotes, and forges neither a field nor a line`(
        value: String, text: String
    ) {
        let line = LogText.line("request", ["cause": "\(value)", "status": "503"])
        #expect(line == "request cause=\(text) status=503")
        #expect(fields(line).keys.sorted() == ["cause", "status"])
        #expect(fields(line)["status"] == "503")
        #expect(line.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
    }

    @Test func `a message is logged as it is, unless it could pass for a field or a line`() {
        #expect(
            LogText.line("The server listens on http://localhost:8080.", [:])
                == "The server listens on http://localhost:8080.")
        #expect(LogText.line("x status=200", ["status": "503"]) == #""x status=200" status=503"#)
        #expect(LogText.line("x\ny", [:]) == #""x\u{a}y""#)
    }

    @Test(
        arguments: [
            ("sampled", "00-\(trace)-b7ad6b7169203331-01", true),
            ("not sampled", "00-\(trace)-b7ad6b7169203331-00", false),
            ("further flags", "00-\(trace)-b7ad6b7169203331-ff", true),
            ("a later version", "cc-\(trace)-b7ad6b7169203331-01", true),
            ("a later version with more", "cc-\(trace)-b7ad6b7169203331-01-what-comes", true),
            ("this version with more", "00-\(trace)-b7ad6b7169203331-01-what-comes", nil),
            ("a later version that does not go on with a dash", "cc-\(trace)-b7ad6b7169203331-01.", nil),
            ("the version that there must not be", "ff-\(trace)-b7ad6b7169203331-01", nil),
            ("no trace", "00-00000000000000000000000000000000-b7ad6b7169203331-01", nil),
            ("no span", "00-\(trace)-0000000000000000-01", nil),
            ("upper case", "00-\(trace.uppercased())-b7ad6b7169203331-01", nil),
            ("other characters", "00-0af7651916cd43dd8448eb211c80319g-b7ad6b7169203331-01", nil),
            ("a short span", "00-\(trace)-b7ad6b716920333-01", nil),
            ("short flags", "00-\(trace)-b7ad6b7169203331-1", nil),
            ("another separator", "00_\(trace)_b7ad6b7169203331_01", nil), ("nothing", "", nil),
            ("characters beyond ASCII", "00-\(trace)-b7ad6b716920333é-01", nil),
        ] as [(String, String, Bool?)])
    func `a traceparent is accepted as the specification says, or ignored`(row: String, text: String, isSampled: Bool?)
    {
        let parent = TraceParent(text)
        #expect(parent?.isSampled == isSampled, "\(row)")
        if isSampled != nil { #expect(parent?.traceID == Self.trace) }
    }

    @Test func `a request of ours is a new span of the same trace`() throws {
        let parent = try #require(TraceParent("00-\(Self.trace)-b7ad6b7169203331-01"))
        let children = (0..<100).map { _ in parent.child() }
        #expect(Set(children).count == 100)
        for child in children {
            #expect(TraceParent(child) == parent, "\(child)")
            #expect(child.count == 55)
        }
    }

    @Test func `providers and APIs get the trace, and two traceparent fields count as none`() async throws {
        let recorder = Recorder()
        let workers = try WorkerGroup(count: 1)
        var logger = Logger(label: "recorder")
        logger.logLevel = .critical
        let server = HTTPServer(
            configuration: ServerConfiguration(), workers: workers, responder: recorder, logger: logger)
        let port = try await server.start()
        let url = "http://localhost:\(port)"
        try await Site.run(configured: { configuration in
            configuration.applications[0].api = Endpoint(url + "/api")
            if let authority = try? Authority(url, kind: .oidc) { configuration.applications[1].authority = authority }
        }) { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            let sent = "00-\(Self.trace)-b7ad6b7169203331-01"
            let once = HTTPField(name: .traceparent, value: sent)
            let rows: [HTTPFields] = [[.traceparent: sent], HTTPFields([once, once]), [:]]
            for fields in rows {
                var fields = fields
                fields[.accept] = "application/json"
                fields[.tracestate] = "vendor=value"
                #expect(try await visitor.send(.get, "/api/ios/me", headers: fields).status == 200)
            }
            _ = try await visitor.send(
                .get, "/auth/macos/sign-in", headers: [.traceparent: sent, .accept: "application/json"])
            let all = recorder.all
            let parents = all.map { TraceParent($0.traceparent) }
            #expect(all.map(\.path).prefix(3) == ["/api", "/api", "/api"])
            #expect(all.last?.path == "/.well-known/openid-configuration")
            #expect(!all.contains { $0.traceparent == sent }, "a span of our own")
            #expect(!all.contains { $0.hasState }, "whatever it holds, it belongs to others")
            #expect(parents.first??.traceID == Self.trace && parents.first??.isSampled == true)
            #expect(parents.last??.traceID == Self.trace, "a fetch that others may wait for, too")
            for parent in parents.dropFirst().prefix(2) {
                let parent = try #require(parent)
                #expect(parent.traceID != Self.trace && !parent.isSampled)
                let line = try #require(await site.log.request { $0.contains("trace_id\": \(parent.traceID)") })
                let id = try #require(line.firstMatch(of: /request_id": ([0-9a-f-]{36})/)).output.1
                #expect(id.filter { $0 != "-" } == parent.traceID, "either leads to the other")
            }
        }
        await server.stop(grace: .zero)
        await workers.shutdown()
    }

    @Test func `a request is one log line that names its route and no person`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            let account = try await visitor.api(.get, "/api/ios/account").json["account"] as? [String: Any]
            let id = try #require(account?["id"] as? String)
            let before = site.log.all.count
            _ = try await visitor.api(.delete, "/api/ios/accounts/\(id)")
            let lines = site.log.all.dropFirst(before).filter { $0.contains("/api/") }
            #expect(lines.count == 1)
            let line = try #require(lines.first)
            #expect(line.hasPrefix("debug request "))
            for part in [#""route": /api/{app}/accounts/{id}"#, #""method": DELETE"#, #""status": 2"#, "request_id"] {
                #expect(line.contains(part), "\(part) in \(line)")
            }
            let log = site.log.all.joined(separator: "\n").lowercased()
            for word in [id, "adele", "contoso", "127.0.0.1"] { #expect(!log.contains(word.lowercased()), "\(word)") }
        }
    }

    @Test(arguments: [
        ("as configured by default", false, "debug request "), ("when the operator wants it", true, "info request "),
    ])
    func `a request that goes well is logged at a level that the operator chooses`(
        row: String, isWanted: Bool, prefix: String
    ) async throws {
        try await Site.run(configured: { $0.logRequests = isWanted }) { site in
            _ = try await Visitor(site).get("/ios")
            #expect(await site.log.request()?.hasPrefix(prefix) == true, "\(row)")
            #expect(site.log.requests.count == 1)
        }
    }

    @Test func `a provider that is down is one warning with the cause, also where the browser gets a redirect`()
        async throws
    {
        try await Site.run { site in
            await site.stopTenant()
            let answer = try await Visitor(site).get("/auth/ios/sign-in?return_to=%2Fios")
            #expect(answer.status == 303)
            let line = try #require(await site.log.request())
            #expect(site.log.requests.count == 1)
            // A machine that allows few open files is another, at the start.
            let warnings = site.log.all.filter { $0.hasPrefix("warning") && !$0.contains("the descriptor limit") }
            #expect(warnings.count == 1)
            for part in ["warning request ", "provider_unavailable", "connectionRefused: localhost:\(site.tenantPort)"]
            {
                #expect(line.contains(part), "\(part) in \(line)")
            }
            let id = try #require(answer.location?.firstMatch(of: /correlation_id=([0-9a-f-]{36})/)).output.1
            #expect(line.contains(id), "the person's page names the same request")
        }
    }

    @Test(arguments: [
        (
            "a provider that is out of order", #"{"token_error":{"status":503,"body":{"error":"server_error"}}}"#,
            "/api/ios/token", "provider_unavailable", "the provider answered 503"
        ),
        (
            "a provider that wants a pause",
            #"{"token_error":{"status":429,"body":{},"headers":{"Retry-After":"7"}}}"#,
            "/api/ios/token", "throttled", "the provider answered 429, Retry-After: 7"
        ),
        (
            "an API that is out of order", #"{"graph_error":{"status":500,"body":{"error":{}}}}"#,
            "/api/ios/me", "api_unavailable", "the API answered 500"
        ),
        (
            "an API that wants a pause", #"{"graph_error":{"status":429,"body":{},"headers":{"Retry-After":"7"}}}"#,
            "/api/ios/me", "throttled", "the API answered 429, Retry-After: 7"
        ),
    ])
    func `a failure of a provider or an API is a warning with code and cause, even if it is passed on`(
        row: String, control: String, path: String, code: String, cause: String
    ) async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            try await site.control(control)
            _ = try await visitor.api(path.hasSuffix("me") ? .get : .post, path, body: #"{"force_refresh":true}"#)
            let line = try #require(await site.log.request { $0.hasPrefix("warning request ") }, "\(row)")
            #expect(line.contains(#""code": \#(code)"#), "\(line)")
            #expect(line.contains(#""cause": \#(cause)"#), "\(line)")
        }
    }

    @Test func `an ID token that cannot be verified is a warning, and a person who cancels is not`() async throws {
        try await Site.run { site in
            try await site.control(#"{"bad_id_token": "not_yet_valid"}"#)
            _ = try await Visitor(site).signIn()
            let line = try #require(await site.log.request { $0.contains("/auth/callback") })
            #expect(line.hasPrefix("warning request "), "\(line)")
            #expect(line.contains("invalid_id_token") && line.contains("check this machine's clock"), "\(line)")
            #expect(!Problem(.cancelled, "").isFault && !Problem(.throttled, "").isFault)
        }
    }

    @Test func `a shared device also logs and counts a provider that is away`() async throws {
        try await Site.run(configured: { $0.deviceMode = .shared }) { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            await site.stopTenant()
            #expect(try await visitor.api(.post, "/auth/ios/sign-out", body: #"{"browser":true}"#).status == 200)
            // It went on without the provider, and says so.
            let line = try #require(await site.log.request { $0.hasPrefix("warning request ") })
            #expect(line.contains("sign-out at the provider is not possible"))
            let series =
                #"companion_provider_requests_total{provider="localhost:\#(site.tenantPort)",outcome="unreachable"}"#
            #expect(try await visitor.metrics()[series] == 1)
        }
    }
}

extension LogLines {
    /// The lines of requests.
    fileprivate var requests: [String] { all.filter { $0.contains(" request [") } }

    /// The first of them for which this holds. A line is written after the last byte of its response, so that it can be
    /// behind the client.
    fileprivate func request(where holds: (String) -> Bool = { _ in true }) async -> String? {
        _ = await eventually { requests.contains(where: holds) }
        return requests.first(where: holds)
    }
}

/// Answers everything, and keeps which trace it came with.
private final class Recorder: Responder {
    private let seen = Mutex<[(path: String, traceparent: String, hasState: Bool)]>([])
    var all: [(path: String, traceparent: String, hasState: Bool)] { seen.withLock { $0 } }

    func reply(to head: RequestHead, from peer: PeerAddress, mark: inout RequestMark) -> Reply {
        seen.withLock { $0.append((head.path, head[.traceparent] ?? "", head.contains(.tracestate))) }
        return .response(.json(["answer": "yes"]))
    }
}

extension HTTPField.Name {
    fileprivate static let tracestate = literal("tracestate")
}
