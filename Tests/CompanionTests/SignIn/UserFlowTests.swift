import Foundation
import Testing

@testable import Companion
@testable import CompanionCore

/// Azure AD B2C's user flows beyond signing in.
@Suite struct UserFlowTests {
    private static let user = "b2cuser@fabrikamb2c.example"

    @Test func `editing the profile changes the name and leaves the account as it is`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn(app: "b2c", username: Self.user)
            let before = try await visitor.api(.get, "/api/b2c/accounts").json["accounts"] as? [[String: Any]]
            let id = try #require(before?.first?["id"] as? String)
            #expect(id.contains("-b2c_1_susi."))
            #expect(before?.first?["policy"] as? String == "b2c_1_susi")
            let edited = try await visitor.signIn(
                app: "b2c", query: "policy=edit_profile", profile: "display_name=Bibi")
            #expect(edited.location == "/b2c?profile=edited")
            _ = try await visitor.api(.post, "/api/b2c/token", body: #"{"force_refresh":true}"#)
            let after = try #require(
                try await visitor.api(.get, "/api/b2c/accounts").json["accounts"] as? [[String: Any]])
            #expect(after.map { $0["id"] as? String } == [id])
            #expect(after.first?["name"] as? String == "Bibi")
            #expect(after.first?["current"] as? Bool == true)
        }
    }

    @Test func `cancelling the profile page is an outcome of its own`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn(app: "b2c", username: Self.user)
            let answer = try await visitor.signIn(app: "b2c", query: "policy=edit_profile", profile: "cancel=1")
            #expect(answer.location?.hasPrefix("/b2c?sign_in_error=cancelled&") == true)
            #expect(try await visitor.api(.get, "/api/b2c/me").status == 200)
        }
    }

    @Test func `a forgotten password leads to the reset flow and on to being signed in`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            let reset = try await visitor.signIn(app: "b2c", username: Self.user, password: "forgot=1")
            #expect(reset.status == 303)
            #expect(reset.location?.contains("/b2c_1_reset/oauth2/v2.0/authorize?") == true, "\(reset.location ?? "-")")
            let signedIn = try await visitor.follow(try #require(reset.location), username: Self.user)
            #expect(signedIn.location == "/b2c")
            #expect(try await visitor.api(.get, "/api/b2c/me").status == 200)
            let accounts = try await visitor.api(.get, "/api/b2c/accounts").json["accounts"] as? [[String: Any]]
            #expect(accounts?.map { $0["policy"] as? String } == ["b2c_1_susi"])
        }
    }

    @Test func `an issuer with the user flow is accepted as the one without it`() async throws {
        try await Site.run { site in
            try await site.control(#"{"b2c_issuer_with_policy": true}"#)
            let visitor = Visitor(site)
            #expect(try await visitor.signIn(app: "b2c", username: Self.user).location == "/b2c")
        }
    }

    @Test(arguments: [
        ("/auth/b2c/sign-in?policy=magic", 400), ("/auth/ios/sign-in?policy=sign_in", 400),
        ("/auth/b2c/sign-in?tenant=contoso.example", 400), ("/auth/ios/sign-in?tenant=a/b", 400),
        ("/auth/b2c/sign-in?policy=edit_profile", 401),
    ])
    func `user flows and tenants that do not fit are refused`(path: String, status: Int) async throws {
        try await Site.run { site in
            let answer = try await Visitor(site).api(.get, path)
            #expect(answer.status == status, "\(answer.text)")
        }
    }
}
