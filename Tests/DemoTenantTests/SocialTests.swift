import Foundation
import Testing
import WebFormats

@testable import TenantControl
@testable import TenantDirectory
@testable import TenantServer
@testable import TenantSignIn

@Suite("Customers who sign in with Contoso Social")
struct SocialTests {
    private static let alex = "alex@outlook.example"
    /// The customers' tenants, with the scope of an API of each.
    private static let tenants = [
        (Tenant.fabrikamDomain, "openid profile offline_access api://fabrikam.example/tasks.read"),
        (
            "tfp/\(Tenant.fabrikamB2CDomain)/b2c_1_susi",
            "openid profile offline_access https://fabrikamb2c.example/api/demo.read"
        ),
    ]

    /// Goes to the provider and signs in there.
    private static func signIn(
        _ browser: Browser, _ segment: String, _ scope: String, _ changes: [String: String] = [:]
    ) async throws -> Answer {
        var page = try await browser.authorize(changes.merging(["scope": scope]) { $1 }, segment: segment)
        page = try await browser.submit(page, "provider", "social")
        while let field = page.shownField {
            #expect(field == "consent" || page.text.contains("Contoso Social"))
            switch field {
            case "username": page = try await browser.submit(page, "username", alex)
            case "password": page = try await browser.submit(page, "password", "demo")
            default: return try await browser.submit(page, "consent", "accept")
            }
        }
        return page
    }

    @Test(arguments: tenants)
    func `the first sign-in makes the person, with idp and the address in the token`(_ segment: String, _ scope: String)
        async throws
    {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let code = try await Self.signIn(browser, segment, scope).callback()["code"]
            let tokens = try await browser.redeem(code, segment: segment)
            let claims = try #require(tokens.claims("id_token"), "\(tokens.text)")
            #expect(claims["idp"] == "social.contoso.example" && claims["name"] == "Alex Wilber")
            #expect(tokens.claims("access_token")?["idp"] == "social.contoso.example")
            let isB2C = segment.hasPrefix("tfp")
            #expect(isB2C ? claims["emails"] == [.string(Self.alex)] : claims["email"]?.string == Self.alex)
            let path = isB2C ? "/api/b2c" : "/api/external"
            #expect(try await browser.me(tokens.member("access_token"), path: path).text.contains("Alex Wilber"))
            // Another browser brings the same person, and this one needs no page.
            let other = tenant.browser()
            let again = try await other.redeem(
                try await Self.signIn(other, segment, scope).callback()["code"], segment: segment)
            #expect(again.claims("id_token")?["oid"] == claims["oid"])
            let silent = try await browser.authorize(["scope": scope, "prompt": "none"], segment: segment)
            #expect(try silent.callback()["code"] != nil)
        }
    }

    @Test func `a local account has no idp`() async throws {
        try await TestTenant.run { (tenant) async throws in
            for ((segment, scope), username) in zip(
                Self.tenants, ["customer@fabrikam.example", "b2cuser@fabrikamb2c.example"])
            {
                let tokens = try await tenant.browser().tokens(username, ["scope": scope], segment: segment)
                #expect(tokens.claims("id_token") != nil && tokens.claims("id_token")?["idp"] == nil)
            }
        }
    }

    @Test(arguments: ["username", "password", "consent"])
    func `who cancels at the provider is back on the external tenant's page, and B2C's application is told`(
        _ field: String
    ) async throws {
        for (segment, scope) in Self.tenants {
            try await TestTenant.run { (tenant) async throws in
                let browser = tenant.browser()
                var page = try await browser.authorize(["scope": scope], segment: segment)
                page = try await browser.submit(page, "provider", "social")
                if field != "username" { page = try await browser.submit(page, "username", Self.alex) }
                if field == "consent" { page = try await browser.submit(page, "password", "demo") }
                page =
                    field == "consent"
                    ? try await browser.submit(page, "consent", "cancel")
                    : try await browser.submit(page, "cancel", "1")
                guard segment.hasPrefix("tfp") else {
                    #expect(page.text.contains("You cancelled the sign-in at Contoso Social."))
                    page = try await browser.submit(page, "username", "customer@fabrikam.example")
                    #expect(page.shownField == "password")
                    return
                }
                let answer = try page.callback()
                #expect(answer["error"] == "access_denied" && answer["state"] == "the state / & ü")
                #expect(answer["error_description"]?.hasPrefix("AADB2C90273: ") == true)
            }
        }
    }

    @Test(arguments: ["social", "workforce"])
    func `a provider that is down is an error of the application's sign-in`(_ outage: String) async throws {
        for ((segment, scope), (error, number)) in zip(
            Self.tenants, [("temporarily_unavailable", "AADSTS40010: "), ("server_error", "AADB2C90289: ")])
        {
            try await TestTenant.run { (tenant) async throws in
                let browser = tenant.browser()
                _ = try await browser.control(["provider_down": .string(outage)])
                let page = try await browser.authorize(["scope": scope], segment: segment)
                let answer = try await browser.submit(page, "provider", "social").callback()
                #expect(answer["error"] == error)
                #expect(answer["error_description"]?.hasPrefix(number) == true)
            }
        }
    }

    @Test func `organizations offer no other provider, and a form that asks for it gets their page`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let page = try await browser.authorize(segment: "contoso.example")
            #expect(!page.text.contains("Contoso Social"))
            let answer = try await browser.submit(page, "provider", "social")
            #expect(answer.shownField == "username" && !answer.text.contains("Contoso Social"))
        }
    }

    @Test func `the address as a hint means the customer, who has no password here`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let (segment, scope) = Self.tenants[0]
            let first = tenant.browser()
            let tokens = try await first.redeem(
                try await Self.signIn(first, segment, scope).callback()["code"], segment: segment)
            let hinted = try await first.authorize(["scope": scope, "login_hint": Self.alex], segment: segment)
            #expect(try hinted.callback()["code"] != nil)
            let other = try await tenant.browser().authorize(
                ["scope": scope, "login_hint": Self.alex], segment: segment)
            #expect(other.text.contains("name=\"provider\"") && other.shownField == "username")
            let username = try #require(tokens.claims("id_token")?["oid"]?.string) + "@fabrikam.example"
            #expect(!other.text.contains(username))
            let typed = try await tenant.browser().submit(other, "username", username)
            #expect(typed.shownField != "password")
        }
    }

    @Test func `a customer's sign-out ends no session at the provider`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let (segment, scope) = Self.tenants[0]
            let browser = tenant.browser()
            _ = try await Self.signIn(browser, segment, scope).callback()
            let out = try await browser.get("/\(segment)/oauth2/v2.0/logout")
            #expect(out.text.contains("signed out"))
            let page = try await browser.authorize(["scope": scope], segment: segment)
            #expect(page.shownField == "username")
            // The provider asks nothing.
            #expect(try await browser.submit(page, "provider", "social").callback()["code"] != nil)
        }
    }

    @Test func `the provider's sign-in is worth nothing in another browser`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let (segment, scope) = Self.tenants[0]
            let page = try await tenant.browser().authorize(["scope": scope], segment: segment)
            let answer = try await tenant.browser().submit(page, "provider", "social")
            #expect(answer.text.contains("another browser"))
        }
    }
}
