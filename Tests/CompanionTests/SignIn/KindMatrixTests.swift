import Foundation
import Testing

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn

/// Every kind of authority × what can happen with it, over real HTTP against the demo tenant.
@Suite struct KindMatrixTests {
    struct Kind: CustomTestStringConvertible, Sendable {
        var app: String
        var username: String
        /// The person's property that the API returns.
        var answer: String
        var testDescription: String { app }
    }

    static let kinds = [
        Kind(app: "ios", username: "adele@contoso.example", answer: "Adele Vance"),
        Kind(app: "contoso", username: "megan@contoso.example", answer: "Megan Bowen"),
        Kind(app: "external", username: "customer@fabrikam.example", answer: "Casey Jensen"),
        Kind(app: "b2c", username: "b2cuser@fabrikamb2c.example", answer: "Hello Bianca Pisani"),
        Kind(app: "provider", username: "adele@contoso.example", answer: "Adele Vance"),
    ]

    /// - Parameter lifetime: The lifetime of access tokens in seconds; nil for the platform's own, which differ.
    private static func signedIn(
        _ kind: Kind, lifetime: Int? = nil, _ test: (Site, Visitor) async throws -> Void
    ) async throws {
        try await Site.run { site in
            if let lifetime { try await site.control(#"{"access_token_seconds": \#(lifetime)}"#) }
            let visitor = Visitor(site)
            let callback = try await visitor.signIn(app: kind.app, username: kind.username)
            #expect(callback.status == 303, "\(callback.text)")
            #expect(callback.location == "/\(kind.app)")
            try await test(site, visitor)
        }
    }

    @Test(arguments: kinds) func `sign-in brings the account and an answer of the API`(kind: Kind) async throws {
        try await Self.signedIn(kind) { site, visitor in
            let account = try await visitor.api(.get, "/api/\(kind.app)/account").json["account"] as? [String: Any]
            #expect(account?["username"] as? String == kind.username)
            let me = try await visitor.api(.get, "/api/\(kind.app)/me")
            #expect(me.status == 200)
            #expect(me.text.contains(kind.answer), "\(me.text)")
            #expect(try await visitor.api(.get, "/api/\(kind.app)/claims").json["sub"] is String)
        }
    }

    @Test(arguments: kinds) func `the silent call is answered from the store`(kind: Kind) async throws {
        try await Self.signedIn(kind) { site, visitor in
            let token = try await visitor.api(.post, "/api/\(kind.app)/token")
            #expect(token.json["source"] as? String == "cache")
            #expect(token.json["declined_scopes"] as? [String] == [])
            #expect(try await site.count("token_refresh") == 0)
        }
    }

    @Test(arguments: kinds) func `an expired token is refreshed, once, and after a restart too`(kind: Kind) async throws
    {
        try await Self.signedIn(kind, lifetime: 3600) { site, visitor in
            // Within the last five minutes a token counts as expired.
            site.clock.advance(3400)
            #expect(try await visitor.api(.get, "/api/\(kind.app)/me").status == 200)
            #expect(try await visitor.api(.post, "/api/\(kind.app)/token").json["source"] as? String == "cache")
            #expect(try await site.count("token_refresh") == 1)
            try await site.restart()
            let forced = try await visitor.api(.post, "/api/\(kind.app)/token", body: #"{"force_refresh":true}"#)
            #expect(forced.json["source"] as? String == "refreshed", "\(forced.text)")
        }
    }

    @Test(arguments: kinds) func `a refused refresh offers the sign-in and keeps the account`(kind: Kind) async throws {
        try await Self.signedIn(kind) { site, visitor in
            try await site.control(#"{"token_platform_error": 50173}"#)
            let refused = try await visitor.api(.post, "/api/\(kind.app)/token", body: #"{"force_refresh":true}"#)
            #expect(refused.status == 401)
            #expect(refused.code == "interaction_required")
            let action = try #require(refused.json["action"] as? [String: String])
            #expect(action["url"]?.hasPrefix("/auth/\(kind.app)/sign-in?login_hint=") == true)
            let account = try await visitor.api(.get, "/api/\(kind.app)/account").json
            #expect(account["account"] is [String: Any])
            #expect(account["needs_sign_in"] as? String == "interaction_required")
        }
    }

    @Test(arguments: kinds) func `signing out of the browser ends both sessions`(kind: Kind) async throws {
        try await Self.signedIn(kind) { site, visitor in
            let out = try await visitor.api(.post, "/auth/\(kind.app)/sign-out", body: #"{"browser":true}"#)
            let redirect = try #require(out.json["redirect"] as? String)
            let wantsIDToken = kind.app == "b2c" || kind.app == "provider"
            #expect(redirect.contains("id_token_hint=") == wantsIDToken)
            #expect(redirect.contains("logout_hint=") == !wantsIDToken)
            let back = try await visitor.get(redirect)
            #expect(back.location?.hasPrefix(site.origin + "/auth/signed-out?state=") == true)
            #expect(try await visitor.api(.get, "/api/\(kind.app)/me").code == "interaction_required")
            let begun = try await visitor.get("/auth/\(kind.app)/sign-in?prompt=none")
            let probe = try await visitor.get(try #require(begun.location))
            let callback = try await visitor.get(try #require(probe.location))
            #expect(callback.location?.contains("sign_in_error=interaction_required") == true)
        }
    }

    static let faults = [
        ("issuer", "invalid_id_token"), ("audience", "invalid_id_token"), ("nonce", "nonce_mismatch"),
        ("expired", "invalid_id_token"), ("unknown_kid", "invalid_id_token"), ("signature", "invalid_id_token"),
        ("algorithm_none", "invalid_id_token"), ("not_yet_valid", "invalid_id_token"),
    ]

    @Test(arguments: kinds, faults)
    func `a wrong ID token signs nobody in`(kind: Kind, fault: (String, String)) async throws {
        // Journeys wait for a key that does not come; this is about the kinds.
        try await Site.run(configured: { $0.refreshTimes.recheck = $0.refreshTimes.checks }) { site in
            let visitor = Visitor(site)
            try await site.control(#"{"bad_id_token": "\#(fault.0)"}"#)
            let callback = try await visitor.signIn(app: kind.app, username: kind.username)
            #expect(
                callback.location?.hasPrefix("/\(kind.app)?sign_in_error=\(fault.1)&") == true,
                "\(callback.location ?? "-")")
            #expect(try await visitor.api(.get, "/api/\(kind.app)/account").json["account"] is NSNull)
            let failure = try await visitor.api(.get, "/api/\(kind.app)/sign-in-failure").json["failure"]
            #expect((failure as? [String: Any])?["code"] as? String == fault.1)
        }
    }

    @Test(arguments: kinds) func `keys that rotated are fetched again`(kind: Kind) async throws {
        try await Self.signedIn(kind) { site, visitor in
            let fetched = try await site.count("keys")
            try await site.control(#"{"rotate_key": true}"#)
            site.clock.advance(1)
            let other = Visitor(site)
            #expect(try await other.signIn(app: kind.app, username: kind.username).location == "/\(kind.app)")
            #expect(try await site.count("keys") == fetched + 1)
        }
    }
}
