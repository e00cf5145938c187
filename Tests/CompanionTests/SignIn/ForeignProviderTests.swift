import EventLoop
import Foundation
import HTTPClient
import HTTPTypes
import HTTPWire
import OpenIDConnect
import TestSupport
import Testing
import WebFormats

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn

/// Providers of the kind oidc that read their specifications otherwise than Microsoft's platforms.
@Suite struct ForeignProviderTests {
    private static let force = #"{"force_refresh":true}"#
    /// A provider that knows `offline_access`.
    private static let offline: [String: JSONValue] = ["scopes_supported": ["openid", "profile", "offline_access"]]

    /// Signs in, through all that the provider makes the browser do, and returns the page at which it ends.
    @discardableResult
    private func signIn(_ visitor: Visitor, query: String = "") async throws -> String {
        let answer = try await visitor.get("/auth/provider/sign-in" + query)
        let location = try #require(answer.location, "\(answer.text)")
        guard !location.hasPrefix("/") else { return location }
        return try #require(try await visitor.follow(location, username: "diana").location)
    }

    private func failure(_ visitor: Visitor) async throws -> [String: Any] {
        try #require(
            try await visitor.api(.get, "/api/provider/sign-in-failure").json["failure"] as? [String: Any])
    }

    // MARK: Consent

    /// A refusal of requests for `offline_access` without consent.
    private static let wantsConsent: @Sendable (FormFields) -> [(name: String, value: String)]? = { fields in
        let isOffline = fields["scope"]?.contains("offline_access") ?? false
        let asks = fields["prompt"]?.contains("consent") ?? false
        return isOffline && !asks
            ? [("error", "invalid_request"), ("error_description", "consent in prompt")] : nil
    }

    @Test(arguments: [("", "consent"), ("?prompt=login&max_age=60&login_hint=diana&scope=email", "login consent")])
    func `a provider that wants consent with offline_access gets it at the second try, and then at the first`(
        query: String, prompt: String
    ) async throws {
        let provider = StandInProvider(.init(metadata: Self.offline, refusal: Self.wantsConsent))
        try await provider.run { site in
            let end = try await signIn(Visitor(site), query: query)
            #expect(end == "/provider")
            #expect(provider.authorizations.count == 2)
            let (first, second) = (provider.authorizations[0], provider.authorizations[1])
            #expect(second["prompt"] == prompt)
            for name in ["scope", "max_age", "login_hint", "claims", "redirect_uri", "client_id"] {
                #expect(second[name] == first[name], "\(name)")
            }
            for name in ["state", "nonce", "code_challenge"] { #expect(second[name] != first[name], "\(name)") }
            #expect(try await signIn(Visitor(site)) == "/provider")
            #expect(provider.authorizations.count == 3 && provider.authorizations[2]["prompt"] == "consent")
            site.clock.advance(86_500)
            #expect(try await signIn(Visitor(site)) == "/provider")
            #expect(provider.authorizations.count == 5, "after a day it is asked again")
        }
    }

    struct Refusal: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var scopes: [String] = ["openid", "offline_access"]
        var query = ""
        var error = "invalid_request"
        let requests: Int
        var code = "provider_rejected_request"
    }

    @Test(arguments: [
        Refusal(testDescription: "a provider that refuses consent, too", requests: 2),
        Refusal(testDescription: "a request that asked for consent", query: "?prompt=consent", requests: 1),
        Refusal(testDescription: "a request without a page", query: "?prompt=none", requests: 1),
        Refusal(testDescription: "another error", error: "invalid_scope", requests: 1),
        Refusal(testDescription: "a request without offline_access", scopes: ["openid"], requests: 1),
    ])
    func `a refused request is repeated at most once, and nothing is remembered of it`(row: Refusal) async throws {
        let provider = StandInProvider(
            .init(metadata: ["scopes_supported": .list(row.scopes)], refusal: { _ in [("error", row.error)] }))
        try await provider.run { site in
            let end = try await signIn(Visitor(site), query: row.query)
            #expect(end.hasPrefix("/provider?sign_in_error=\(row.code)"), "\(end)")
            #expect(provider.authorizations.count == row.requests)
            provider.change { $0.refusal = { _ in nil } }
            #expect(try await signIn(Visitor(site)) == "/provider")
            #expect(provider.authorizations.last?["prompt"] == nil)
        }
    }

    @Test func `a refused code is no refused request`() async throws {
        let provider = StandInProvider(
            .init(
                metadata: Self.offline,
                answer: { _ in
                    .json(["error": "invalid_request"], status: .badRequest)
                }))
        try await provider.run { site in
            let end = try await signIn(Visitor(site))
            #expect(end.contains("sign_in_error=provider_rejected_request"))
            #expect(provider.authorizations.count == 1)
        }
    }

    // MARK: Scopes

    @Test(
        arguments: [
            (nil, ["openid", "profile"], "openid profile"),
            (nil, ["openid", "offline_access"], "openid profile offline_access"),
            ([], ["openid", "offline_access"], "openid"), (["email"], ["openid"], "email openid"),
        ] as [([String]?, [String], String)])
    func `a provider without offline_access lets people in, and what the operator writes is the whole list`(
        written: [String]?, supported: [String], scope: String
    ) async throws {
        let known = Set(supported + ["profile", "email"])
        let provider = StandInProvider(
            .init(
                metadata: ["scopes_supported": .list(supported)],
                refusal: { fields in
                    let asked = Set((fields["scope"] ?? "").split(separator: " ").map(String.init))
                    return asked.isSubset(of: known) ? nil : [("error", "invalid_scope")]
                }))
        try await provider.run({ application in
            application.registration = ClientRegistration(
                clientID: application.registration.clientID, redirectURI: application.registration.redirectURI,
                scopes: written ?? [], scopesAreComplete: written != nil)
        }) { site in
            let end = try await signIn(Visitor(site))
            #expect(end == "/provider")
            #expect(provider.authorizations.last?["scope"] == scope)
            #expect(provider.posted.last?.fields["scope"] == scope)
        }
    }

    // MARK: The client's secret

    private static let bothMethods: [String: JSONValue] = [
        "token_endpoint_auth_methods_supported": ["client_secret_post", "client_secret_basic"]
    ]

    @Test(arguments: ["basic", "post"])
    func `a secret goes by the method that the provider accepts, which is remembered`(accepted: String) async throws {
        let provider = StandInProvider(
            .init(
                metadata: Self.bothMethods,
                answer: { posted in
                    posted.method == accepted ? nil : .json(["error": "invalid_client"], status: .unauthorized)
                }))
        try await provider.run { site in
            let visitor = Visitor(site)
            #expect(try await signIn(visitor) == "/provider")
            let renewed = try await visitor.api(.post, "/api/provider/token", body: Self.force)
            #expect(renewed.json["source"] as? String == "refreshed", "\(renewed.text)")
            let expected = accepted == "basic" ? ["basic", "basic"] : ["basic", "post", "post"]
            #expect(provider.posted.map(\.method) == expected)
        }
    }

    @Test func `a wrong secret is reported as such after both methods`() async throws {
        let provider = StandInProvider(
            .init(
                metadata: Self.bothMethods,
                answer: { posted in
                    .json(
                        ["error": "invalid_client", "error_description": .string("by \(posted.method)")],
                        status: .unauthorized)
                }))
        try await provider.run { site in
            let visitor = Visitor(site)
            let end = try await signIn(visitor)
            #expect(end.contains("sign_in_error=provider_rejected_client"))
            #expect(provider.posted.map(\.method) == ["basic", "post"])
            #expect(try await failure(visitor)["provider_words"] as? String == "by basic")
        }
    }

    // MARK: A refused refresh

    @Test(arguments: ["invalid_request", "invalid_token", "access_denied"])
    func `a refresh refused with an unusual word leads to a sign-in once the token has run out`(
        word: String
    ) async throws {
        let provider = StandInProvider()
        try await provider.run { site in
            let visitor = Visitor(site)
            try await signIn(visitor)
            provider.change {
                $0.answer = { posted in
                    posted.fields["grant_type"] != "refresh_token"
                        ? nil
                        : .json(["error": .string(word), "error_description": "token inactive"], status: .badRequest)
                }
            }
            func token(_ body: String = "{}") async throws -> Visitor.Answer {
                try await visitor.api(.post, "/api/provider/token", body: body)
            }
            func needs() async throws -> Any? {
                try await visitor.api(.get, "/api/provider/account").json["needs_sign_in"]
            }
            let forced = try await token(Self.force)
            #expect(forced.json["action"] == nil || forced.json["action"] is NSNull, "\(forced.text)")
            #expect(try await token().json["source"] as? String == "cache", "a good token is served")
            site.clock.advance(1000)
            #expect(try await token().json["source"] as? String == "cache", "and in its last minutes")
            #expect(try await needs() is NSNull)
            site.clock.advance(200)
            let refused = try await token()
            #expect(refused.status == 401 && refused.code == "interaction_required", "\(refused.text)")
            let action = refused.json["action"] as? [String: Any]
            #expect((action?["url"] as? String)?.hasPrefix("/auth/provider/sign-in") == true)
            #expect(try await needs() as? String == "interaction_required")
            #expect(try await visitor.api(.get, "/api/provider/account").json["account"] is [String: Any])
            // The refresh token is still there: what the provider accepts again, works again.
            provider.change { $0.answer = { _ in nil } }
            site.clock.advance(121)
            #expect(try await token().json["source"] as? String == "refreshed")
        }
    }

    @Test(arguments: ["invalid_client", "unauthorized_client", "unsupported_grant_type", "invalid_scope"])
    func `a refresh refused for the client's fault asks nobody to sign in`(word: String) async throws {
        let provider = StandInProvider()
        try await provider.run { site in
            let visitor = Visitor(site)
            try await signIn(visitor)
            provider.change { $0.answer = { _ in .json(["error": .string(word)], status: .badRequest) } }
            site.clock.advance(1300)
            let refused = try await visitor.api(.post, "/api/provider/token")
            #expect(refused.status == 502, "\(refused.text)")
            #expect(try await visitor.api(.get, "/api/provider/account").json["needs_sign_in"] is NSNull)
        }
    }

    // MARK: Words

    @Test func `the provider's words reach the page, the attempts and the error, without what was sent`() async throws {
        let provider = StandInProvider(
            .init(refusal: { fields in
                let all = fields.fields.map { "\($0.name)=\($0.value)" }.joined(separator: "\r\n")
                return [("error", "invalid_request"), ("error_description", "You sent " + all)]
            }))
        try await provider.run { site in
            let visitor = Visitor(site)
            let end = try await signIn(visitor, query: "?login_hint=diana.prince")
            #expect(end.contains("sign_in_error=provider_rejected_request"))
            let failure = try await failure(visitor)
            #expect(failure["provider_error"] as? String == "invalid_request")
            let words = try #require(failure["provider_words"] as? String)
            #expect(words.hasPrefix("You sent ") && words.contains("response_type=code"), "\(words)")
            let sent = try #require(provider.authorizations.last)
            let secrets = ["state", "nonce", "login_hint"].compactMap { sent[$0] }
            #expect(secrets.count == 3)
            for secret in secrets { #expect(!words.contains(secret), "\(words)") }
            let attempts = try await visitor.api(.get, "/api/attempts").json["attempts"] as? [[String: Any]]
            let problem = attempts?.first?["problem"] as? [String: Any]
            #expect(problem?["provider_words"] as? String == words)
            #expect(!site.log.all.contains { $0.contains("You sent") }, "the log has numbers and codes")
        }
    }

    @Test(arguments: ["code", "refresh"])
    func `a token endpoint that quotes everything says nothing secret`(grant: String) async throws {
        let echo: @Sendable (StandInProvider.Posted) -> Response? = { posted in
            let all = posted.fields.fields.map { "\($0.name)=\($0.value)" } + [posted.authorization ?? "-"]
            let secret = "the-client-secret-of-the-test"
            return .json(
                [
                    "error": "invalid_request",
                    "error_description": .string("\(all.joined(separator: " ")) \(secret)"),
                ], status: .badRequest)
        }
        let provider = StandInProvider(.init(metadata: Self.bothMethods))
        try await provider.run { site in
            let visitor = Visitor(site)
            if grant == "refresh" { try await signIn(visitor) }
            provider.change { $0.answer = echo }
            let problem: [String: Any]
            if grant == "refresh" {
                site.clock.advance(1300)
                problem = try await visitor.api(.post, "/api/provider/token").json
            } else {
                try await signIn(visitor)
                problem = try await failure(visitor)
            }
            let words = try #require(problem["provider_words"] as? String)
            let sent = try #require(provider.posted.last)
            let secrets =
                ["code", "code_verifier", "refresh_token"].compactMap { sent.fields[$0] }
                + ["the-client-secret-of-the-test", String((sent.authorization ?? "Basic none").dropFirst(6))]
            #expect(secrets.count >= 3)
            for secret in secrets {
                #expect(!words.contains(secret), "\(words)")
                for answer in visitor.everything where answer.url.hasPrefix(site.origin) {
                    #expect(!answer.text.contains(secret))
                }
                #expect(!site.log.all.contains { $0.contains(secret) })
            }
        }
    }

    // MARK: Others

    @Test(arguments: [true, false])
    func `a provider whose certificate comes from a private authority is trusted where that is configured`(
        isConfigured: Bool
    ) async throws {
        let folder = TemporaryFolder.ofProcess.appendingPathComponent("authority-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let authority = try OwnCertificate(in: folder, "authority", for: "DNS:authority.example")
        let provider = StandInProvider()
        try await provider.run(
            certificate: try OwnCertificate(in: folder, by: authority),
            all: { if isConfigured { $0.authorityFile = authority.files.certificate } }
        ) { site in
            let workers = try WorkerGroup(count: 1)
            let client = HTTPClient(
                workers: workers, configuration: .init(certificateAuthorityFile: authority.files.certificate))
            let visitor = Visitor(origin: site.origin, client: client)
            let end = try? await signIn(visitor)
            await client.shutdown()
            await workers.shutdown()
            #expect(end?.hasPrefix("/provider?sign_in_error=provider_unavailable") == !isConfigured, "\(end ?? "-")")
            #expect((end == "/provider") == isConfigured)
        }
    }

    @Test(
        arguments: [
            (
                ["email": "diana@id.example", "preferred_username": nil, "name": nil],
                ["sub": "diana", "name": "Diana Krall"], "diana@id.example", "Diana Krall", 1
            ),
            (
                ["preferred_username": "diana", "name": "Diana"], ["sub": "diana", "name": "Another"], "diana", "Diana",
                0
            ),
        ] as [([String: JSONValue?], JSONValue, String, String, Int)])
    func `UserInfo completes a missing name`(
        claims: [String: JSONValue?], userInfo: JSONValue, username: String, name: String, count: Int
    ) async throws {
        let provider = StandInProvider(.init(claims: claims, userInfo: userInfo))
        try await provider.run { site in
            let visitor = Visitor(site)
            try await signIn(visitor)
            let account = try await visitor.api(.get, "/api/provider/account").json["account"] as? [String: Any]
            #expect(account?["username"] as? String == username && account?["name"] as? String == name)
            #expect(provider.userInfos == count)
        }
    }

    @Test func `an error without the promised issuer is refused, and named`() async throws {
        let provider = StandInProvider(
            .init(
                metadata: ["authorization_response_iss_parameter_supported": true],
                refusal: { _ in [("error", "invalid_scope"), ("error_description", "no such scope")] }))
        try await provider.run { site in
            let visitor = Visitor(site)
            #expect(try await signIn(visitor).contains("sign_in_error=issuer_mismatch"))
            let failure = try await failure(visitor)
            #expect(failure["provider_error"] as? String == "invalid_scope")
            #expect(failure["provider_words"] is NSNull || failure["provider_words"] == nil)
        }
    }

    @Test func `the page names the claim that an ID token lacks`() async throws {
        let provider = StandInProvider(.init(claims: ["iss": nil]))
        try await provider.run { site in
            let visitor = Visitor(site)
            let end = try await signIn(visitor)
            #expect(end.contains("sign_in_error=invalid_id_token"))
            #expect((try await failure(visitor)["detail"] as? String)?.contains("no usable claim “iss”") == true)
        }
    }
}
