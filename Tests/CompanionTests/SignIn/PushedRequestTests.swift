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
        /// The error at the page; nil if the browser leaves with the request's URI, “plain” if it leaves without one.
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
            testDescription: "a request that is refused", status: 400,
            body: #"{"error":"invalid_request","error_description":"no"}"#, outcome: "provider_rejected_request"),
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
    func `the browser leaves with nothing but the request's URI`(row: Row) async throws {
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
            let location = try #require(answer.location, "\(answer.text)")
            let query = URLComponents(string: location)?.queryItems ?? []
            if let outcome = row.outcome, outcome != "plain" {
                #expect(location.contains("sign_in_error=\(outcome)"), "\(location)")
                return
            }
            #expect(location.hasPrefix(origin + "/authorize?"))
            #expect(query.map(\.name).contains("state") == (row.outcome == "plain"))
            guard row.outcome == nil else { return }
            #expect(query.map(\.name) == ["client_id", "request_uri"])
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
