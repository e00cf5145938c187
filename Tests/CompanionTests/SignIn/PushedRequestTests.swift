import EventLoop
import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import Logging
import OpenIDConnect
import Synchronization
import Testing
import WebFormats

@testable import Companion
@testable import CompanionCore

/// Authorization requests that are sent to the provider in advance (RFC 9126).
@Suite struct PushedRequestTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var isRequired = false
        var isPublic = false
        let status: Int
        let body: String
        /// The error at the page; nil if the browser leaves with the request's URI, “plain” if it leaves without one, and
        /// the error page's words of the provider in quotation marks.
        let outcome: String?
    }

    private static let good =
        #"{"request_uri":"urn:ietf:params:oauth:request_uri:6esc_11ACC5bwc014ltc14eY22c","expires_in":60}"#

    @Test(arguments: [
        Row(testDescription: "an accepted request", status: 201, body: good, outcome: nil),
        Row(
            testDescription: "an accepted request that is required", isRequired: true, status: 201, body: good,
            outcome: nil),
        Row(testDescription: "a public client's request", isPublic: true, status: 201, body: good, outcome: nil),
        Row(testDescription: "a provider that answers 200", status: 200, body: good, outcome: nil),
        Row(
            testDescription: "an endpoint that is down, where others are accepted", status: 503, body: "",
            outcome: "plain"),
        Row(
            testDescription: "an endpoint that is down, where none are accepted", isRequired: true, status: 503,
            body: "", outcome: "provider_unavailable"),
        Row(
            testDescription: "too many requests, where none are accepted", isRequired: true, status: 429, body: "",
            outcome: "throttled"),
        Row(
            testDescription: "a request that is refused", status: 400, body: #"{"error":"invalid_request"}"#,
            outcome: "provider_rejected_request"),
        Row(
            testDescription: "a request that is refused in words", status: 400,
            body: #"{"error":"invalid_request","error_description":"unknown scope calendar"}"#,
            outcome: "“unknown scope calendar”"),
        Row(
            testDescription: "a client that is refused", status: 401, body: #"{"error":"invalid_client"}"#,
            outcome: "provider_rejected_client"),
        Row(
            testDescription: "an answer without a URI", isRequired: true, status: 201, body: "{}",
            outcome: "provider_unavailable"),
        Row(
            testDescription: "a URI with a line break", isRequired: true, status: 201,
            body: #"{"request_uri":"urn:a\nb"}"#, outcome: "provider_unavailable"),
        Row(
            testDescription: "a URI of another type", isRequired: true, status: 201, body: #"{"request_uri":7}"#,
            outcome: "provider_unavailable"),
    ])
    func `the browser leaves with the request's URI, and what every request must have`(row: Row) async throws {
        let provider = PushProvider(row)
        let workers = try WorkerGroup(count: 1)
        let server = HTTPServer(
            configuration: ServerConfiguration(), workers: workers, responder: provider,
            logger: Logger(label: "provider"))
        let origin = "http://localhost:\(try await server.start())"
        provider.origin.withLock { $0 = origin }
        try await Site.run(configured: { configuration in
            var application = try #require(configuration.applications.last)
            #expect(application.kind == .oidc)
            application.authority = try Authority(origin, kind: .oidc)
            if row.isPublic { application.credential = .fixed(.publicClient) }
            configuration.applications[configuration.applications.count - 1] = application
        }) { site in
            let answer = try await Visitor(site).get("/auth/provider/sign-in")
            if let words = row.outcome, words.hasPrefix("“") {
                #expect(answer.text.contains(words) && answer.text.contains("provider_rejected_request"))
                return
            }
            let location = try #require(answer.location, "\(answer.text)")
            let query = URLComponents(string: location)?.queryItems ?? []
            if let outcome = row.outcome, outcome != "plain" {
                #expect(location.contains("sign_in_error=\(outcome)"), "\(location)")
                return
            }
            #expect(location.hasPrefix(origin + "/authorize?"))
            #expect(query.map(\.name).contains("state") == (row.outcome == "plain"))
            guard row.outcome == nil else { return }
            #expect(query.map(\.name) == ["client_id", "response_type", "redirect_uri", "scope", "request_uri"])
            #expect(query[1].value == "code" && query[3].value == "openid")
            let pushed = try #require(provider.pushed.withLock { $0 })
            let form = try FormFields(body: pushed.body)
            #expect(form["code_challenge_method"] == "S256" && form["response_type"] == "code" && form["nonce"] != nil)
            #expect(form.values(for: "client_id").count == 1 && !form.hasRepeatedNames)
            let proof = form["client_secret"] ?? pushed.head[.authorization]
            #expect((proof == nil) == row.isPublic)
            let state = try #require(form["state"])
            #expect(!answer.text.contains(state) && !site.log.all.contains { $0.contains(state) })
        }
        await server.stop(grace: .zero)
        await workers.shutdown()
    }

    // MARK: With a whole provider

    private static func metadata(isRequired: Bool = false) -> [String: JSONValue] {
        [
            "pushed_authorization_request_endpoint": "{origin}/par",
            "require_pushed_authorization_requests": .bool(isRequired),
            "scopes_supported": ["openid", "offline_access"],
        ]
    }

    @Test func `nothing is sent in advance where that is switched off`() async throws {
        let provider = StandInProvider(.init(metadata: Self.metadata(isRequired: true)))
        try await provider.run({ $0.pushedAuthorization = .off }) { site in
            let location = try #require(try await Visitor(site).get("/auth/provider/sign-in").location)
            #expect(location.contains("nonce=") && provider.posted.isEmpty)
        }
    }

    @Test(arguments: [false, true])
    func `a provider that wants consent in advance is asked again at once, and remembered`(isHopeless: Bool)
        async throws
    {
        let provider = StandInProvider(
            .init(
                metadata: Self.metadata(),
                answer: { posted in
                    posted.path != "/par" || !isHopeless && posted.fields["prompt"] == "consent"
                        ? nil : .json(["error": "invalid_request"], status: .badRequest)
                }))
        try await provider.run { site in
            for count in [2, isHopeless ? 4 : 3] {
                let visitor = Visitor(site)
                let location = try #require(try await visitor.get("/auth/provider/sign-in").location)
                #expect(location.contains("request_uri=") != isHopeless, "\(location)")
                #expect(location.contains("sign_in_error=provider_rejected_request") == isHopeless)
                #expect(provider.posted.count == count)
                guard !isHopeless else { continue }
                let end = try await visitor.get(try #require(try await visitor.get(location).location))
                #expect(end.location == "/provider")
                #expect(provider.posted.last?.path == "/token")
                provider.forgetTokens()
            }
        }
    }

    @Test(arguments: [false, true])
    func `an endpoint that fails is passed over for ten seconds, unless every request must go there`(isRequired: Bool)
        async throws
    {
        let provider = StandInProvider(
            .init(
                metadata: Self.metadata(isRequired: isRequired),
                answer: { $0.path == "/par" ? .json(["error": "server_error"], status: .serviceUnavailable) : nil }))
        try await provider.run { site in
            func begin() async throws -> String {
                try #require(try await Visitor(site).get("/auth/provider/sign-in").location)
            }
            for _ in 0..<3 {
                let address = try await begin()
                #expect(address.contains(isRequired ? "sign_in_error=provider_unavailable" : "nonce="))
            }
            #expect(provider.posted.count == (isRequired ? 3 : 1))
            provider.change { $0.answer = { _ in nil } }
            site.clock.advance(9)
            let paused = try await begin()
            #expect(paused.contains("request_uri=") == isRequired)
            site.clock.advance(1)
            let asked = try await begin()
            #expect(asked.contains("request_uri="))
        }
    }

    @Test(arguments: [false, true])
    func `strangers push a bounded number of requests, each address its own, and people are not affected`(
        isRequired: Bool
    ) async throws {
        let provider = StandInProvider(.init(metadata: Self.metadata(isRequired: isRequired)))
        try await provider.run(all: { $0.trustedProxies = ["127.0.0.1"].compactMap(AddressRange.init) }) { site in
            func begin(_ visitor: Visitor, from address: String) async throws -> Visitor.Answer {
                try await visitor.send(
                    .get, "/auth/provider/sign-in", headers: [.xForwardedFor: address, .accept: "text/html"])
            }
            let adele = Visitor(site)
            try await adele.signIn()
            var pushed = 0
            let start = site.clock.now()
            for _ in 0..<80 {
                let answer = try await begin(Visitor(site), from: "203.0.113.1")
                if answer.location?.contains("request_uri=") == true {
                    pushed += 1
                } else if isRequired {
                    #expect(answer.location?.contains("sign_in_error=throttled") == true || answer.status == 429)
                } else {
                    #expect(answer.location?.contains("nonce=") == true, "the ordinary address")
                }
            }
            // Two more for each second that this took.
            let most = 61 + Int(site.clock.now().timeIntervalSince(start) * 2)
            #expect((60...most).contains(pushed), "\(pushed) of at most \(most)")
            for (visitor, address) in [(adele, "203.0.113.1"), (Visitor(site), "203.0.113.2")] {
                #expect(try await begin(visitor, from: address).location?.contains("request_uri=") == true)
            }
            site.clock.advance(1)
            #expect(try await begin(Visitor(site), from: "203.0.113.1").location?.contains("request_uri=") == true)
        }
    }
}

/// A provider that takes requests in advance.
private final class PushProvider: Responder {
    let origin = Mutex("")
    let pushed = Mutex<Request?>(nil)
    private let row: PushedRequestTests.Row

    init(_ row: PushedRequestTests.Row) { self.row = row }

    func reply(to head: RequestHead, from peer: PeerAddress, mark: inout RequestMark) -> Reply {
        guard head.path == "/par" else {
            let origin = origin.withLock { $0 }
            return .response(
                .json([
                    "issuer": .string(origin), "authorization_endpoint": .string(origin + "/authorize"),
                    "token_endpoint": .string(origin + "/token"), "jwks_uri": .string(origin + "/keys"),
                    "pushed_authorization_request_endpoint": .string(origin + "/par"),
                    "require_pushed_authorization_requests": .bool(row.isRequired),
                ]))
        }
        return .handler(maxBodyBytes: 1 << 16) { [self] request in
            pushed.withLock { $0 = request }
            return Response(
                status: .init(code: row.status), headerFields: [.contentType: "application/json"],
                body: Array(row.body.utf8))
        }
    }
}
