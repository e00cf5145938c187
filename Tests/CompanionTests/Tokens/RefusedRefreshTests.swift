import Foundation
import StoreTesting
import Testing

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn

/// A refresh token that the provider has refused is not sent again at once, and what is no refusal signs nobody out.
@Suite struct RefusedRefreshTests {
    private static let force = #"{"force_refresh":true}"#

    /// Somebody whose access token has expired, and whose refresh token the provider takes no more.
    private static func revoked(
        keeping contents: MemoryContents? = nil, _ test: (Site, Visitor) async throws -> Void
    ) async throws {
        try await Site.run(keeping: contents, configured: { _ in }) { site in
            try await site.control(#"{"access_token_seconds": 1200}"#)
            let visitor = Visitor(site)
            try await visitor.signIn()
            site.clock.advance(1300)
            try await site.control(#"{"revoke": "adele@contoso.example"}"#)
            try await test(site, visitor)
        }
    }

    private static let action = "/auth/ios/sign-in?login_hint=adele%40contoso.example&return_to=%2Fios"

    @Test func `a refused refresh token is not sent again for two minutes`() async throws {
        try await Self.revoked { site, visitor in
            let asked = try await site.count("token_requests")
            for body in ["{}", "{}", Self.force, #"{"scopes":["mail.read"]}"#] {
                let refused = try await visitor.api(.post, "/api/ios/token", body: body)
                #expect(refused.status == 401 && refused.code == "interaction_required", "\(refused.text)")
                let url = try #require((refused.json["action"] as? [String: Any])?["url"] as? String)
                #expect(url.hasPrefix(Self.action))
            }
            #expect(try await site.count("token_requests") == asked + 1)
            site.clock.advance(110)
            #expect(try await visitor.api(.get, "/api/ios/me").code == "interaction_required")
            #expect(try await site.count("token_requests") == asked + 1)
            site.clock.advance(11)
            #expect(try await visitor.api(.get, "/api/ios/me").code == "interaction_required")
            #expect(try await site.count("token_requests") == asked + 2)
        }
    }

    @Test func `a sign-in lets tokens be refreshed again at once`() async throws {
        try await Self.revoked { site, visitor in
            #expect(try await visitor.api(.get, "/api/ios/me").code == "interaction_required")
            try await visitor.signIn()
            #expect(try await visitor.api(.get, "/api/ios/me").status == 200)
            let renewed = try await visitor.api(.post, "/api/ios/token", body: Self.force)
            #expect(renewed.json["source"] as? String == "refreshed")
        }
    }

    @Test func `another server does not send a refused token either, until a sign-in`() async throws {
        try await Self.revoked(keeping: MemoryContents(trust: .zero)) { site, visitor in
            try await site.beside { other in
                let asked = try await site.count("token_requests")
                #expect(try await visitor.api(.get, "/api/ios/me").code == "interaction_required")
                for body in ["{}", Self.force] {
                    let refused = try await visitor.copy(at: other).api(.post, "/api/ios/token", body: body)
                    #expect(refused.status == 401 && refused.code == "interaction_required", "\(refused.text)")
                    #expect((refused.json["action"] as? [String: Any])?["url"] as? String == Self.action)
                }
                #expect(try await site.count("token_requests") == asked + 1)
                try await visitor.signIn()
                let renewed = try await visitor.copy(at: other).api(.post, "/api/ios/token", body: Self.force)
                #expect(renewed.json["source"] as? String == "refreshed", "\(renewed.text)")
            }
        }
    }

    @Test func `another server also learns the claims of a refusal`() async throws {
        try await Site.run(keeping: MemoryContents(trust: .zero), configured: { _ in }) { site in
            try await site.beside { other in
                let visitor = Visitor(site)
                try await visitor.signIn()
                try await site.control(#"{"require_mfa": "adele@contoso.example"}"#)
                for visitor in [visitor, visitor.copy(at: other)] {
                    let refused = try await visitor.api(.post, "/api/ios/token", body: Self.force)
                    let url = try #require((refused.json["action"] as? [String: Any])?["url"] as? String)
                    #expect(url.contains("&claims="))
                }
            }
        }
    }

    @Test func `a refusal of further scopes is remembered for those scopes alone`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn(query: "scope=mail.read")
            let asked = try await site.count("token_requests")
            try await site.control(#"{"token_platform_error": 65001}"#)
            let mail = #"{"scopes": ["mail.read"], "force_refresh": true}"#
            for _ in 0..<3 {
                let refused = try await visitor.api(.post, "/api/ios/token", body: mail)
                #expect(refused.code == "consent_required", "\(refused.text)")
            }
            #expect(try await site.count("token_requests") == asked + 1)
            let renewed = try await visitor.api(.post, "/api/ios/token", body: Self.force)
            #expect(renewed.json["source"] as? String == "refreshed")
            // There is a new refresh token, and the person may have agreed elsewhere.
            let agreed = try await visitor.api(.post, "/api/ios/token", body: mail)
            #expect(agreed.json["source"] as? String == "refreshed", "\(agreed.text)")
        }
    }

    /// As Canaille does, whose tokens are named by the second in which they are made.
    @Test func `a provider that fails a second refresh within a second signs nobody out`() async throws {
        try await Site.run { site in
            try await site.control(#"{"generic_provider": true, "refresh_token_single_use": true}"#)
            let visitor = Visitor(site)
            #expect(try await visitor.signIn(app: "provider").location == "/provider")
            func renew() async throws -> Visitor.Answer {
                try await visitor.api(.post, "/api/provider/token", body: Self.force)
            }
            #expect(try await renew().status == 200)
            try await site.control(#"{"token_error": {"status": 500, "body": "UNIQUE constraint failed", "times": 1}}"#)
            #expect(try await renew().code == "provider_unavailable")
            let account = try await visitor.api(.get, "/api/provider/account").json
            #expect(account["account"] is [String: Any] && account["needs_sign_in"] is NSNull)
            #expect(try await visitor.api(.post, "/api/provider/token").json["source"] as? String == "cache")
            #expect(try await renew().json["source"] as? String == "refreshed")
            #expect(try await site.count("refresh_replayed") == 0)
        }
    }
}
