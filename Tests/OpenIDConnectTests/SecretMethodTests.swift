import Foundation
import HTTPTypes
import Synchronization
import Testing
import WebFormats

@testable import OpenIDConnect

/// The method of a client whose provider announces two.
@Suite("Methods for a secret")
struct SecretMethodTests {
    /// The answers of a provider to each method, and what comes of two requests.
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let basic: String
        let post: String
        /// The methods of the first request's tries, and of the second's.
        let tries: [[String]]
        /// The outcome of both requests.
        let outcomes: [String]
    }

    static let rows = [
        Row(
            testDescription: "both accepted", basic: "ok", post: "ok", tries: [["basic"], ["basic"]],
            outcomes: ["ok", "ok"]),
        Row(
            testDescription: "the form alone is accepted, and that is remembered", basic: "invalid_client", post: "ok",
            tries: [["basic", "post"], ["post"]], outcomes: ["ok", "ok"]),
        Row(
            testDescription: "the field is refused with the wrong word, as Glewlwyd does", basic: "unauthorized_client",
            post: "ok",
            tries: [["basic", "post"], ["post"]], outcomes: ["ok", "ok"]),
        Row(
            testDescription: "both are refused, and the second request has one try", basic: "invalid_client",
            post: "invalid_client", tries: [["basic", "post"], ["basic"]],
            outcomes: ["invalid_client by basic", "invalid_client by basic"]),
        Row(
            testDescription: "the second try finds the code spent", basic: "invalid_client", post: "invalid_grant",
            tries: [["basic", "post"], ["post"]], outcomes: ["invalid_client by basic", "invalid_grant by post"]),
        Row(
            testDescription: "the second try has no answer", basic: "invalid_client", post: "unreachable",
            tries: [["basic", "post"], ["basic", "post"]],
            outcomes: ["invalid_client by basic", "invalid_client by basic"]),
        Row(
            testDescription: "the second try is too much", basic: "invalid_client", post: "429",
            tries: [["basic", "post"], ["basic", "post"]],
            outcomes: ["invalid_client by basic", "invalid_client by basic"]),
        Row(
            testDescription: "another error is no reason", basic: "invalid_grant", post: "ok",
            tries: [["basic"], ["basic"]], outcomes: ["invalid_grant by basic", "invalid_grant by basic"]),
        Row(
            testDescription: "an outage is no reason", basic: "503", post: "ok", tries: [["basic"], ["basic"]],
            outcomes: ["503 by basic", "503 by basic"]),
    ]

    private static let both = ["client_secret_basic", "client_secret_post"]

    private struct Unreachable: Error {}

    private func request(
        _ kind: Authority.Kind = .oidc, method: ClientAuthentication.SecretMethod? = nil,
        announcing methods: [String]? = both
    ) async throws -> ProviderRequest {
        let provider = try TestProvider(
            kind == .oidc ? KindTests.provider : "\(origin)/common", kind: kind,
            discovery: methods.map { ["token_endpoint_auth_methods_supported": $0] } ?? [:])
        return try await RefreshRequest(
            refreshToken: "r", account: KnownIdentity(issuer: "i", subject: "s", tenantID: nil),
            metadata: provider.directory().metadata(for: provider.authority),
            client: client(.secret("the-secret", method: method))
        ).providerRequest
    }

    /// Sends a request to a provider with these answers: the tries, and the outcome.
    private func send(
        _ request: ProviderRequest, _ row: Row, by methods: SecretMethods, at time: Date = testTime
    ) async throws -> (tries: [String], outcome: String) {
        var tries: [String] = []
        let answer = try await methods.send(request, now: time) { request throws(Unreachable) in
            let form = try? FormFields(body: request.body)
            let method = request.head.headerFields[.authorization] == nil ? "post" : "basic"
            tries.append(method)
            // The secret is in one place.
            guard (form?["client_secret"] == "the-secret") == (method == "post") else { throw Unreachable() }
            switch method == "basic" ? row.basic : row.post {
            case "ok": return response("{}")
            case "unreachable": throw Unreachable()
            case let number where Int(number) != nil: return response("by \(method)", status: Int(number) ?? 0)
            case let error: return response(#"{"error":"\#(error)","by":"\#(method)"}"#, status: 401)
            }
        }
        let json = JSONValue(parsing: answer.body)
        let text = String(decoding: answer.body, as: UTF8.self)
        let outcome =
            json?["error"]?.string.map { "\($0) by \(json?["by"]?.string ?? "")" }
            ?? (answer.head.status == .ok ? "ok" : "\(answer.head.status.code) \(text)")
        return (tries, outcome)
    }

    @Test(arguments: rows)
    func `a refused client is tried once by the other announced method`(_ row: Row) async throws {
        let (methods, request) = (SecretMethods(), try await request())
        for (tries, outcome) in zip(row.tries, row.outcomes) {
            let sent = try await send(request, row, by: methods)
            #expect(sent.tries == tries)
            #expect(sent.outcome == outcome)
        }
    }

    @Test
    func `a method that no longer works is replaced by the other one, and a hopeless client is tried again later`()
        async throws
    {
        let (methods, request) = (SecretMethods(), try await request())
        func row(_ basic: String, _ post: String) -> Row {
            Row(testDescription: "", basic: basic, post: post, tries: [], outcomes: [])
        }
        #expect(try await send(request, row("invalid_client", "ok"), by: methods).tries == ["basic", "post"])
        #expect(try await send(request, row("ok", "invalid_client"), by: methods).tries == ["post", "basic"])
        #expect(try await send(request, row("ok", "invalid_client"), by: methods).tries == ["basic"])
        let neither = row("invalid_client", "invalid_client")
        #expect(try await send(request, neither, by: methods).tries == ["basic", "post"])
        #expect(try await send(request, neither, by: methods, at: testTime + 59).tries == ["basic"])
        #expect(try await send(request, neither, by: methods, at: testTime + 61).tries == ["basic", "post"])
    }

    @Test(
        arguments: [
            (.workforce, nil, both), (.oidc, .basic, both), (.oidc, .post, both),
            (.oidc, nil, nil), (.oidc, nil, ["client_secret_basic"]), (.oidc, nil, ["client_secret_post"]),
        ] as [(Authority.Kind, ClientAuthentication.SecretMethod?, [String]?)])
    func `there is one try at Microsoft's platforms, by a configured method, and where one is announced`(
        _ kind: Authority.Kind, _ configured: ClientAuthentication.SecretMethod?, _ announced: [String]?
    ) async throws {
        let request = try await request(kind, method: configured, announcing: announced)
        let refusing = Row(
            testDescription: "", basic: "invalid_client", post: "invalid_client", tries: [], outcomes: [])
        #expect(try await send(request, refusing, by: SecretMethods()).tries.count == 1)
    }
}
