import Foundation
import HTTPTypes
import Testing

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn

/// Several accounts in one browser session, and guests.
@Suite struct AccountsTests {
    private static let adele = "adele@contoso.example"
    private static let megan = "megan@contoso.example"

    private func accounts(_ visitor: Visitor, _ app: String = "ios") async throws -> [[String: Any]] {
        try await visitor.api(.get, "/api/\(app)/accounts").json["accounts"] as? [[String: Any]] ?? []
    }

    private static func both(_ test: (Site, Visitor, [String: String]) async throws -> Void) async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn(username: adele)
            try await visitor.signIn(username: megan)
            let listed = try await visitor.api(.get, "/api/ios/accounts").json["accounts"] as? [[String: Any]] ?? []
            let pairs = listed.compactMap { entry in
                (entry["username"] as? String).flatMap { name in (entry["id"] as? String).map { (name, $0) } }
            }
            try await test(site, visitor, Dictionary(uniqueKeysWithValues: pairs))
        }
    }

    @Test func `two accounts are listed, switched, named, and signed out one by one`() async throws {
        try await Self.both { site, visitor, ids in
            #expect(try await accounts(visitor).map { $0["current"] as? Bool } == [false, true])
            let adele = try #require(ids[Self.adele])
            let megan = try #require(ids[Self.megan])
            #expect(try await visitor.api(.get, "/api/ios/me?account=\(adele)").text.contains("Adele Vance"))
            #expect(try await visitor.api(.get, "/api/ios/me").text.contains("Megan Bowen"))
            #expect(
                try await visitor.api(.get, "/api/ios/claims?account=\(adele)").json["name"] as? String == "Adele Vance"
            )
            let switched = try await visitor.api(.put, "/api/ios/account", body: #"{"id":"\#(adele)"}"#)
            #expect((switched.json["account"] as? [String: Any])?["username"] as? String == Self.adele)
            #expect(try await visitor.api(.get, "/api/ios/me").text.contains("Adele Vance"))

            let out = try await visitor.api(.post, "/auth/ios/sign-out", body: #"{"account":"\#(megan)"}"#)
            #expect(out.status == 200)
            #expect(try await accounts(visitor).map { $0["username"] as? String } == [Self.adele])
            #expect(try await visitor.api(.get, "/api/ios/me").status == 200)
            _ = try await visitor.api(.post, "/auth/ios/sign-out")
            #expect(try await accounts(visitor).isEmpty)
        }
    }

    @Test func `a removed account is gone for good, and the other one stays`() async throws {
        try await Self.both { site, visitor, ids in
            let megan = try #require(ids[Self.megan])
            let before = visitor.sessionCookie
            let removed = try await visitor.api(.delete, "/api/ios/accounts/\(megan)")
            #expect(removed.status == 204)
            #expect(visitor.sessionCookie != before)
            #expect(try await accounts(visitor).map { $0["username"] as? String } == [Self.adele])
            let account = try await visitor.api(.get, "/api/ios/account").json
            #expect(account["account"] is NSNull && account["previous_account"] is NSNull)
            #expect(try await visitor.api(.delete, "/api/ios/accounts/\(megan)").code == "not_found")
        }
    }

    @Test(arguments: [
        ("PUT", "/api/ios/account", #"{"id":"nobody"}"#, 404), ("PUT", "/api/ios/account", "{}", 400),
        ("DELETE", "/api/ios/accounts/nobody", "", 404), ("GET", "/api/ios/me?account=nobody", "", 404),
        ("GET", "/api/ios/claims?account=nobody", "", 404), ("POST", "/api/ios/token", #"{"account":"nobody"}"#, 404),
    ])
    func `an account that is not signed in here is not found`(
        method: String, path: String, body: String, status: Int
    ) async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            let answer = try await visitor.api(try #require(HTTPRequest.Method(method)), path, body: body)
            #expect(answer.status == status, "\(answer.text)")
        }
    }

    @Test func `signing out of a shared device signs all accounts out of every application`() async throws {
        try await Site.run(configured: { $0.deviceMode = .shared }) { site in
            let visitor = Visitor(site)
            try await visitor.signIn(username: Self.adele)
            try await visitor.signIn(username: Self.megan)
            try await visitor.signIn(app: "external", username: "customer@fabrikam.example")
            let out = try await visitor.api(.post, "/auth/ios/sign-out")
            #expect(out.json["redirect"] is String)
            for app in ["ios", "external"] {
                #expect(try await accounts(visitor, app).isEmpty)
                let account = try await visitor.api(.get, "/api/\(app)/account").json
                #expect(account["account"] is NSNull && account["previous_account"] is NSNull)
            }
        }
    }

    @Test func `only parameters that the configuration names are passed on to the provider`() async throws {
        try await Site.run(configured: { $0.applications[0].extraQueryParameters = ["ui_locales"] }) { site in
            let begun = try await Visitor(site).get(
                "/auth/ios/sign-in?ui_locales=sv&mkt=sv-SE&redirect_uri=https://evil.example")
            let location = try #require(begun.location)
            #expect(location.contains("&ui_locales=sv"))
            #expect(!location.contains("mkt=") && !location.contains("evil"))
        }
    }

    @Test func `another site cannot switch or remove an account`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            for method in [HTTPRequest.Method.put, .delete] {
                let path = method == .put ? "/api/ios/account" : "/api/ios/accounts/x"
                #expect(try await visitor.send(method, path, body: "{}").status == 403)
            }
        }
    }

    @Test func `an account that signs in as a guest is renewed as a guest`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            #expect(try await visitor.signIn(query: "tenant=tailspin.example").location == "/ios")
            let claims = try await visitor.api(.get, "/api/ios/claims").json
            #expect(claims["tid"] as? String == "3e7a9b5c-1d24-4f68-9a0b-c5d2e8f16b47")
            let renewed = try await visitor.api(.post, "/api/ios/token", body: #"{"force_refresh":true}"#)
            #expect(renewed.json["source"] as? String == "refreshed", "\(renewed.text)")
            // At home it is the same account, and then again somebody at home.
            #expect(try await visitor.signIn().location == "/ios")
            #expect(try await accounts(visitor).count == 1)
            let home = try await visitor.api(.post, "/api/ios/token", body: #"{"force_refresh":true}"#)
            #expect(home.json["source"] as? String == "refreshed", "\(home.text)")
        }
    }

    @Test func `a guest gets tokens of the other tenant beside those of the home tenant`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            let body = #"{"tenant":"tailspin.example"}"#
            #expect(try await visitor.api(.post, "/api/ios/token", body: body).json["source"] as? String == "refreshed")
            #expect(try await visitor.api(.post, "/api/ios/token", body: body).json["source"] as? String == "cache")
            #expect(try await visitor.api(.post, "/api/ios/token").json["source"] as? String == "cache")
            #expect(try await visitor.api(.get, "/api/ios/me?tenant=tailspin.example").status == 200)
            // The account is still the one at home.
            let claims = try await visitor.api(.get, "/api/ios/claims").json
            #expect(claims["tid"] as? String == "5c7d0b28-bdf8-410c-aa93-4df372b16203")
            // An account that is no guest there gets the advice to use another one; at home nothing has changed.
            let other = Visitor(site)
            try await other.signIn(username: Self.megan)
            let refused = try await other.api(.post, "/api/ios/token", body: body)
            #expect((refused.json["explanation"] as? [String: String])?["number"] == "AADSTS50020")
            #expect(try await other.api(.get, "/api/ios/account").json["needs_sign_in"] is NSNull)
            #expect(try await other.api(.get, "/api/ios/me").status == 200)
        }
    }
}
