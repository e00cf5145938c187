import Testing
import WebFormats

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn

/// The name of a signed-in person whose ID token has none: some providers leave it to UserInfo.
@Suite struct UserInfoTests {
    private static let nameless = #""id_token_claims": {"name": null, "preferred_username": null, "email": null}"#

    private func account(_ visitor: Visitor) async throws -> (username: String?, name: String?) {
        let account = try await visitor.api(.get, "/api/provider/account").json["account"] as? [String: Any]
        return (account?["username"] as? String, account?["name"] as? String)
    }

    @Test func `an ID token with sub alone shows the name that UserInfo has, also after a refresh`() async throws {
        try await Site.run { site in
            try await site.control("{\(Self.nameless)}")
            let visitor = Visitor(site)
            try await visitor.signIn(app: "provider")
            #expect(try await account(visitor) == ("adele@contoso.example", "Adele Vance"))
            let claims = try await visitor.api(.get, "/api/provider/claims").json
            #expect(claims["sub"] != nil && claims["name"] == nil && claims["email"] == nil)
            let renewed = try await visitor.api(.post, "/api/provider/token", body: #"{"force_refresh": true}"#)
            #expect(renewed.json["source"] as? String == "refreshed")
            #expect(try await account(visitor) == ("adele@contoso.example", "Adele Vance"))
        }
    }

    @Test(
        arguments: [
            ("a fault", #""graph_error": {"status": 500, "body": {}}"#),
            ("a page", #""graph_error": {"status": 200, "body": "<h1>"}"#),
            ("no answer in time", #""graph_delay_ms": 10000"#),
            ("another person", #""graph_error": {"status": 200, "body": {"sub": "other", "name": "Mallory"}}"#),
            ("no name", #""graph_error": {"status": 401, "body": {"error": "invalid_token"}}"#),
        ])
    func `a UserInfo answer that fails or has no name prevents no sign-in`(row: String, control: String) async throws {
        try await Site.run { site in
            try await site.control("{\(Self.nameless), \(control)}")
            let visitor = Visitor(site)
            try await visitor.signIn(app: "provider")
            let subject = try await visitor.api(.get, "/api/provider/claims").json["sub"] as? String
            #expect(subject?.isEmpty == false, "\(row)")
            #expect(try await account(visitor) == (subject, nil), "\(row)")
            // A subject is nothing that the provider's page could begin with.
            try await site.control(#"{"revoke": "adele@contoso.example"}"#)
            let refused = try await visitor.api(.post, "/api/provider/token", body: #"{"force_refresh": true}"#)
            let action = refused.json["action"] as? [String: Any]
            #expect((action?["url"] as? String)?.contains("return_to=") == true, "\(row): \(refused.json)")
            #expect((action?["url"] as? String)?.contains("login_hint") == false, "\(row)")
        }
    }

    @Test func `UserInfo is not asked where the ID token names the person, or at Microsoft's platforms`() async throws {
        try await Site.run { site in
            try await Visitor(site).signIn(app: "provider")
            #expect(try await site.count("graph_me") == 0)
            try await site.control("{\(Self.nameless)}")
            try await Visitor(site).signIn(app: "ios")
            #expect(try await site.count("graph_me") == 0)
        }
    }
}
