import Foundation
import TestSupport
import Testing

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn

/// When a token is not enough: claims challenges, missing and declined scopes, administrators, client credentials.
@Suite struct StepUpTests {
    @Test func `a claims challenge is met silently, once for all who wait`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            try await site.control(#"{"claims_challenge": true}"#)
            async let first = visitor.api(.get, "/api/ios/me")
            async let second = visitor.api(.get, "/api/ios/me")
            #expect(try await [first.status, second.status] == [200, 200])
            #expect(try await site.count("token_refresh") == 1)
            #expect(try await site.count("authorize") == 1)
        }
    }

    @Test func `a claims challenge that needs the person carries its claims to the sign-in`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            try await site.control(#"{"claims_challenge": true, "token_platform_error": 50173}"#)
            let answer = try await visitor.api(.get, "/api/ios/me")
            #expect(answer.code == "interaction_required")
            let url = try #require((answer.json["action"] as? [String: String])?["url"])
            #expect(url.contains("claims=%7B%22access_token%22%3A%7B%22nbf%22"), "\(url)")
            let query = String(url.drop { $0 != "?" }.dropFirst())
            #expect(try await visitor.signIn(query: query).location == "/ios")
            #expect(try await visitor.api(.get, "/api/ios/me").status == 200)
        }
    }

    @Test func `a revocation is a claims challenge of Graph, which only the person meets`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            try await site.control(#"{"revoke": "adele@contoso.example"}"#)
            #expect(try await visitor.api(.post, "/api/ios/token").json["source"] as? String == "cache")
            let answer = try await visitor.api(.get, "/api/ios/me")
            #expect(answer.status == 401 && answer.code == "interaction_required", "\(answer.text)")
            #expect(answer.json["title"] as? String == "Sign in again")
            let url = try #require((answer.json["action"] as? [String: String])?["url"])
            #expect(url.contains("claims=%7B%22access_token%22%3A%7B%22nbf%22"), "\(url)")
            let query = String(url.drop { $0 != "?" }.dropFirst())
            #expect(try await visitor.signIn(query: query).location == "/ios")
            #expect(try await visitor.api(.get, "/api/ios/me").status == 200)
        }
    }

    /// The claims that the browser is sent to the provider with.
    private func claims(_ begun: Visitor.Answer) throws -> String {
        let location = try #require(begun.location)
        let query = try #require(URLComponents(string: location)?.queryItems)
        return query.first { $0.name == "claims" }?.value ?? ""
    }

    @Test(arguments: [false, true])
    func `a claims challenge of a call goes with the next sign-in that the page begins`(
        isRestarted: Bool
    ) async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            #expect(try claims(try await visitor.get("/auth/ios/sign-in")).contains("nbf") == false)
            try await site.control(#"{"claims_challenge": true, "token_platform_error": 50173}"#)
            #expect(try await visitor.api(.get, "/api/ios/me").code == "interaction_required")
            if isRestarted { try await site.restart() }
            for query in [
                "", "?prompt=login", "?login_hint=Adele@contoso.example", "?claims=%7B%22id_token%22%3A%7B%7D%7D",
            ] {
                let sent = try claims(try await visitor.get("/auth/ios/sign-in" + query))
                #expect(sent.contains(#""nbf":{"essential":true"#), "\(query): \(sent)")
                #expect(sent.contains(#""xms_cc""#), "\(query): \(sent)")
                #expect(sent.contains("id_token") == query.contains("id_token"), "\(query): \(sent)")
            }
            // Somebody else is not asked for it, and neither is another application.
            for path in [
                "/auth/ios/sign-in?prompt=select_account", "/auth/ios/sign-in?login_hint=megan@contoso.example",
                "/auth/macos/sign-in",
            ] {
                #expect(try claims(try await visitor.get(path)).contains("nbf") == false, "\(path)")
            }
            let other = try await visitor.send(.get, "/auth/ios/sign-in", headers: [.secFetchSite: "cross-site"])
            #expect(try claims(other).contains("nbf") == false)
            #expect(try await visitor.signIn().location == "/ios")
            #expect(try await visitor.api(.get, "/api/ios/me").status == 200)
            #expect(try claims(try await visitor.get("/auth/ios/sign-in")).contains("nbf") == false, "it was met")
        }
    }

    @Test func `claims that the API asks for again after a renewal are remembered as well`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            let encoded = Data(#"{"access_token":{"nbf":{"essential":true,"value":"17"}}}"#.utf8).base64EncodedString()
            let challenge = #"Bearer error=\"insufficient_claims\", claims=\"\#(encoded)\""#
            try await site.control(
                #"{"graph_error":{"status":401,"body":{},"times":2,"headers":{"WWW-Authenticate":"\#(challenge)"}}}"#)
            let answer = try await visitor.api(.get, "/api/ios/me")
            #expect(answer.code == "interaction_required", "\(answer.text)")
            #expect(try await site.count("token_refresh") == 1, "it was tried silently")
            let account = try await visitor.api(.get, "/api/ios/account").json
            #expect(account["needs_sign_in"] as? String == "interaction_required")
            #expect(try claims(try await visitor.get("/auth/ios/sign-in")).contains(#""value":"17""#))
        }
    }

    @Test func `a scope that the API misses is offered for consent, and works after that`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            try await site.control(#"{"missing_scope": "Mail.Read"}"#)
            let answer = try await visitor.api(.get, "/api/ios/me")
            #expect(answer.status == 401)
            #expect(answer.code == "consent_required")
            let url = try #require((answer.json["action"] as? [String: String])?["url"])
            #expect(url.contains("scope=mail.read"), "\(url)")
            let query = String(url.drop { $0 != "?" }.dropFirst())
            #expect(try await visitor.signIn(query: query).location == "/ios")
            #expect(try await visitor.api(.get, "/api/ios/me").status == 200)
        }
    }

    @Test func `scopes that were declined are reported, at sign-in and from the store`() async throws {
        try await Site.run { site in
            try await site.control(#"{"declined_scope": "Mail.Read"}"#)
            let visitor = Visitor(site)
            try await visitor.signIn(query: "scope=Mail.Read%20Files.Read")
            let body = #"{"scopes":["user.read","Mail.Read","Files.Read"]}"#
            let token = try await visitor.api(.post, "/api/ios/token", body: body).json
            #expect(token["declined_scopes"] as? [String] == ["Mail.Read"])
            #expect(token["scopes"] as? [String] == ["files.read", "user.read"])
        }
    }

    @Test func `an administrator agrees for everyone, and only then can the user sign in`() async throws {
        try await Site.run { site in
            let nevena = Visitor(site)
            let refused = try await nevena.signIn(username: "nevena@contoso.example", consent: "cancel")
            #expect(refused.location?.hasPrefix("/ios?sign_in_error=admin_consent_required&") == true)
            let administrator = Visitor(site)
            let begun = try await administrator.get("/auth/ios/admin-consent?tenant=contoso.example")
            #expect(begun.location?.contains("/contoso.example/v2.0/adminconsent?") == true, "\(begun.location ?? "-")")
            let answer = try await administrator.follow(
                try #require(begun.location), username: "adele@contoso.example")
            #expect(answer.location == "/ios?admin_consent=granted")
            #expect(try await nevena.signIn(username: "nevena@contoso.example").location == "/ios")
        }
    }

    @Test(arguments: ["common", "a%2Fb", "..", "consumers"])
    func `admin consent is for one tenant`(tenant: String) async throws {
        try await Site.run { site in
            let answer = try await Visitor(site).api(.get, "/auth/ios/admin-consent?tenant=\(tenant)")
            #expect(answer.code == "bad_request")
        }
    }

    @Test func `a secret's file is read again when it changes`() async throws {
        let file = TemporaryFolder.ofProcess.appendingPathComponent("secret-\(UUID().uuidString)").path
        try Data("the wrong one\n".utf8).write(to: URL(fileURLWithPath: file))
        try await Site.run(configured: { configuration in
            configuration.applications[0].credential = .secretFile(file, method: nil)
        }) { site in
            let visitor = Visitor(site)
            let refused = try await visitor.signIn()
            #expect(refused.location?.hasPrefix("/ios?sign_in_error=provider_rejected_client&") == true)
            try Data("the-client-secret-of-the-test\n".utf8).write(to: URL(fileURLWithPath: file))
            #expect(try await visitor.signIn().location == "/ios")
            // A file that is away for a moment is no reason to fail.
            try FileManager.default.removeItem(atPath: file)
            #expect(try await visitor.api(.post, "/api/ios/token", body: #"{"force_refresh":true}"#).status == 200)
        }
    }

    @Test func `a secret's file that was never there is the operator's fault and signs nobody out`() async throws {
        try await Site.run(configured: { configuration in
            configuration.applications[0].credential = .secretFile("/does/not/exist", method: nil)
        }) { site in
            let answer = try await Visitor(site).signIn()
            #expect(answer.location?.hasPrefix("/ios?sign_in_error=provider_rejected_client&") == true)
        }
    }

    @Test func `a forced refresh is not answered by an ordinary one that is under way`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            async let ordinary = visitor.api(.post, "/api/ios/token")
            async let forced = visitor.api(.post, "/api/ios/token", body: #"{"force_refresh":true}"#)
            let sources = try await [ordinary.json["source"] as? String, forced.json["source"] as? String]
            #expect(sources[1] == "refreshed")
        }
    }
}
