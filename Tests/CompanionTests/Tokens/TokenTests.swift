import Foundation
import HTTPTypes
import Testing

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn

/// Silent acquisition and the Graph proxy, against the tenant's failures on demand.
@Suite struct TokenTests {
    /// A visitor who is signed in, with an access token that has just expired and a tenant whose counts are 0.
    private static func expired(_ test: @escaping (Site, Visitor) async throws -> Void) async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await site.control(#"{"access_token_seconds": 1200}"#)
            try await visitor.signIn()
            #expect(try await visitor.api(.get, "/api/ios/me").status == 200)
            site.clock.advance(1300)
            try await test(site, visitor)
        }
    }

    @Test func `thirty calls at expiry make one refresh and get thirty answers`() async throws {
        try await Self.expired { site, visitor in
            let before = try await site.count("token_refresh")
            try await site.control(#"{"token_delay_ms": 300}"#)
            let answers = try await withThrowingTaskGroup(of: Visitor.Answer.self) { group in
                for _ in 0..<30 { group.addTask { try await visitor.api(.get, "/api/ios/me") } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.map(\.status) == Array(repeating: 200, count: 30))
            #expect(try await site.count("token_refresh") == before + 1)
        }
    }

    @Test func `a token is used until five minutes before its end, and refreshed from then on`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await site.control(#"{"access_token_seconds": 1200}"#)
            try await visitor.signIn()
            site.clock.advance(880)
            #expect(try await visitor.api(.post, "/api/ios/token").json["source"] as? String == "cache")
            site.clock.advance(30)
            #expect(try await visitor.api(.post, "/api/ios/token").json["source"] as? String == "refreshed")
            #expect(try await visitor.api(.post, "/api/ios/token").json["source"] as? String == "cache")
            let forced = try await visitor.api(.post, "/api/ios/token", body: #"{"force_refresh": true}"#)
            #expect(forced.json["source"] as? String == "refreshed")
        }
    }

    @Test func `a token for which the provider named a time to renew it is renewed from then on`() async throws {
        try await Site.run(configured: { $0.sessionIdle = .seconds(12 * 3600) }) { site in
            let visitor = Visitor(site)
            // The demo tenant names half of a lifetime of two hours or more.
            try await site.control(#"{"access_token_seconds": 14400}"#)
            try await visitor.signIn()
            site.clock.advance(7100)
            #expect(try await visitor.api(.post, "/api/ios/token").json["source"] as? String == "cache")
            site.clock.advance(200)
            #expect(try await visitor.api(.post, "/api/ios/token").json["source"] as? String == "refreshed")
            #expect(try await visitor.api(.post, "/api/ios/token").json["source"] as? String == "cache")
            site.clock.advance(7300)
            // Until its end it serves all the same, when no other can be had.
            try await site.control(#"{"token_error": {"status": 503, "body": "down", "times": 1}}"#)
            #expect(try await visitor.api(.post, "/api/ios/token").json["source"] as? String == "cache")
        }
    }

    @Test(arguments: [
        (#"{"token_error": {"status": 503, "body": "down", "times": 1}}"#, 503, "provider_unavailable"),
        (#"{"token_error": {"status": 500, "body": "{}", "times": 1}}"#, 503, "provider_unavailable"),
        (#"{"token_error": {"status": 200, "body": "<html>hotel</html>", "times": 1}}"#, 503, "provider_unavailable"),
        (
            #"{"token_error": {"status": 429, "body": "{}", "headers": {"Retry-After": "17"}, "times": 1}}"#, 429,
            "throttled"
        ),
        (
            #"{"token_error": {"status": 401, "body": {"error": "invalid_client", "error_codes": [7000222]}, "times": 1}}"#,
            502, "provider_rejected_client"
        ),
    ])
    func `a provider that is out of order signs nobody out`(control: String, status: Int, code: String) async throws {
        try await Self.expired { site, visitor in
            try await site.control(control)
            let answer = try await visitor.api(.get, "/api/ios/me")
            #expect(answer.status == status, "\(answer.text)")
            #expect(answer.code == code)
            #expect(answer.json["action"] == nil)
            if code == "throttled" { #expect(answer.fields[.retryAfter] == "17") }
            let account = try await visitor.api(.get, "/api/ios/account").json
            #expect(account["account"] is [String: Any])
            #expect(account["needs_sign_in"] is NSNull)
            if code == "throttled" {
                // Asking again before then would only prolong it: nobody is asked.
                let asked = try await site.count("token_refresh")
                #expect(try await visitor.api(.get, "/api/ios/me").code == "throttled")
                #expect(try await site.count("token_refresh") == asked)
                site.clock.advance(18)
            }
            #expect(try await visitor.api(.get, "/api/ios/me").status == 200, "as soon as the provider is back")
        }
    }

    @Test func `a token that is still valid is served while the provider is down`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await site.control(#"{"access_token_seconds": 1200}"#)
            try await visitor.signIn()
            site.clock.advance(1000)
            try await site.control(#"{"token_error": {"status": 503, "body": "down", "times": 5}}"#)
            #expect(try await visitor.api(.get, "/api/ios/me").status == 200)
            #expect(try await visitor.api(.post, "/api/ios/token").json["source"] as? String == "cache")
        }
    }

    @Test func `a revoked refresh token needs the same person again, with the account's hint`() async throws {
        try await Self.expired { site, visitor in
            try await site.control(#"{"revoke": "adele@contoso.example"}"#)
            let answer = try await visitor.api(.get, "/api/ios/me")
            #expect(answer.status == 401)
            #expect(answer.code == "interaction_required")
            #expect(answer.json["correlation_id"] is String)
            let action = try #require(answer.json["action"] as? [String: Any])
            #expect(action["kind"] as? String == "sign_in")
            let url = try #require(action["url"] as? String)
            #expect(url == "/auth/ios/sign-in?login_hint=adele%40contoso.example&return_to=%2Fios")
            let account = try await visitor.api(.get, "/api/ios/account").json
            #expect(account["account"] is [String: Any], "nobody is signed out")
            #expect(account["needs_sign_in"] as? String == "interaction_required")

            try await visitor.signIn(query: "login_hint=adele%40contoso.example&return_to=%2Fios", username: "nobody")
            #expect(try await visitor.api(.get, "/api/ios/me").status == 200)
            #expect(try await visitor.api(.get, "/api/ios/account").json["needs_sign_in"] is NSNull)
        }
    }

    @Test func `a second factor asked for on the silent call carries its claims to the sign-in`() async throws {
        try await Self.expired { site, visitor in
            try await site.control(#"{"require_mfa": "adele@contoso.example"}"#)
            let answer = try await visitor.api(.get, "/api/ios/me")
            #expect(answer.code == "interaction_required")
            let url = try #require((answer.json["action"] as? [String: Any])?["url"] as? String)
            #expect(url.contains("&claims="))
            try await visitor.signIn(query: String(url.split(separator: "?")[1]))
            #expect(try await visitor.api(.get, "/api/ios/me").status == 200)
        }
    }

    @Test func `Graph's 401 gets one more try with a new token`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            try await site.control(
                #"{"graph_error": {"status": 401, "body": {"error": {"code": "InvalidAuthenticationToken"}}, "times": 1}}"#
            )
            #expect(try await visitor.api(.get, "/api/ios/me").status == 200)
            #expect(try await site.count("token_refresh") == 1)

            try await site.control(
                #"{"graph_error": {"status": 401, "body": {"error": {"code": "InvalidAuthenticationToken"}}, "times": 2}}"#
            )
            let twice = try await visitor.api(.get, "/api/ios/me")
            #expect(twice.status == 401)
            #expect((twice.json["error"] as? [String: Any])?["code"] as? String == "InvalidAuthenticationToken")
            #expect(try await site.count("token_refresh") == 2)
        }
    }

    @Test func `Graph's error is passed on with its request id and how long to wait`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            try await site.control(
                #"""
                {"graph_error": {"status": 429, "headers": {"Retry-After": "9"}, "times": 1,
                                 "body": {"error": {"code": "TooManyRequests", "message": "slow down"}}}}
                """#)
            let answer = try await visitor.api(.get, "/api/ios/me")
            #expect(answer.status == 429)
            #expect(answer.fields[.retryAfter] == "9")
            #expect(answer.fields[.requestID] != nil)
            #expect((answer.json["error"] as? [String: Any])?["code"] as? String == "TooManyRequests")
        }
    }

    @Test func `a Graph that does not answer is reported as unavailable`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            // A connection that dies is tried once more, so that Graph has to be away for longer.
            await site.stopTenant()
            let answer = try await visitor.api(.get, "/api/ios/me")
            #expect(answer.status == 502)
            #expect(answer.code == "api_unavailable")
            #expect(answer.json["correlation_id"] is String)
        }
    }

    @Test func `a refusal of further scopes does not mark the account`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            try await site.control(#"{"token_platform_error": 65001}"#)
            let refused = try await visitor.api(.post, "/api/ios/token", body: #"{"scopes": ["mail.read"]}"#)
            #expect(refused.code == "consent_required", "\(refused.text)")
            let url = (refused.json["action"] as? [String: String])?["url"]
            #expect(url?.contains("scope=mail.read") == true)
            #expect(try await visitor.api(.get, "/api/ios/account").json["needs_sign_in"] is NSNull)
        }
    }

    @Test func `claims are returned without the nonce`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            let claims = try await visitor.api(.get, "/api/ios/claims").json
            #expect(claims["preferred_username"] as? String == "adele@contoso.example")
            #expect(claims["nonce"] == nil)
        }
    }

    @Test func `the timeline shows the steps of the flow`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            _ = try await visitor.api(.get, "/api/ios/me")
            let events = try await visitor.api(.get, "/api/ios/events").json["events"] as? [[String: Any]]
            #expect(events?.map { $0["step"] as? String } == ["authorize", "callback", "token", "api"])
            #expect(events?.allSatisfy { $0["outcome"] as? String == "ok" } == true)
            #expect(events?.allSatisfy { $0["correlation_id"] is String } == true)
        }
    }

    @Test func `a step that the provider refused has its error and the platform's number`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            try await site.control(#"{"require_mfa": "adele@contoso.example"}"#)
            _ = try await visitor.api(.post, "/api/ios/token", body: #"{"force_refresh":true}"#)
            let events = try await visitor.api(.get, "/api/ios/events").json["events"] as? [[String: Any]]
            let refused = try #require(events?.last)
            #expect(refused["outcome"] as? String == "interaction_required")
            #expect(refused["error"] as? String == "invalid_grant")
            #expect(refused["error_number"] as? String == "AADSTS50076")
            #expect((refused["endpoint"] as? String)?.hasSuffix("/oauth2/v2.0/token") == true)
            #expect(events?.dropLast().allSatisfy { $0["error"] == nil } == true)
        }
    }

    @Test func `a provider that takes no more than it granted renews tokens, with fewer scopes than were asked for`()
        async throws
    {
        try await Site.run { site in
            try await site.control(#"{"generic_provider": true, "declined_scope": "profile"}"#)
            let visitor = Visitor(site)
            #expect(try await visitor.signIn(app: "provider").location == "/provider")
            for _ in 0..<2 {
                let renewed = try await visitor.api(.post, "/api/provider/token", body: #"{"force_refresh":true}"#)
                #expect(renewed.json["source"] as? String == "refreshed", "\(renewed.text)")
            }
            // The same provider refuses what asks for all of it, as the platform's own kind does.
            _ = try await visitor.signIn(app: "ios")
            let refused = try await visitor.api(.post, "/api/ios/token", body: #"{"force_refresh":true}"#)
            #expect(refused.code == "provider_rejected_request", "\(refused.text)")
        }
    }

    @Test func `scopes that a refresh does not mention stay as they were granted`() async throws {
        try await Site.run { site in
            try await site.control(#"{"generic_provider": true, "declined_scope": "Mail.Read"}"#)
            let visitor = Visitor(site)
            #expect(try await visitor.signIn(app: "provider", query: "scope=Mail.Read").location == "/provider")
            for force in [false, true, true] {
                let body = #"{"scopes":["Mail.Read"],"force_refresh":\#(force)}"#
                let token = try await visitor.api(.post, "/api/provider/token", body: body).json
                #expect(token["source"] as? String == (force ? "refreshed" : "cache"))
                #expect(token["declined_scopes"] as? [String] == ["Mail.Read"])
                #expect(token["scopes"] as? [String] == [])
            }
        }
    }
}
