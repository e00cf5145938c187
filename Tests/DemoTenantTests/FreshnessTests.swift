import Foundation
import Testing

@testable import TenantControl
@testable import TenantDirectory
@testable import TenantGraph
@testable import TenantServer
@testable import TenantSignIn

@Suite("When the person proved who they are")
struct FreshnessTests {
    private static let adele = "adele@contoso.example"

    private func time(_ answer: Answer) -> Int? { answer.claims("id_token")?["auth_time"]?.integer }

    @Test func `auth_time is the time of the password, also after single sign-on and after a refresh`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let begin = Int(tenant.clock.now.timeIntervalSince1970)
            #expect(time(try await browser.tokens(Self.adele)) == begin)
            tenant.clock.advance(1000)
            let (answer, pages) = try await browser.signIn(Self.adele)
            #expect(pages == [])
            let tokens = try await browser.redeem(answer["code"])
            #expect(time(tokens) == begin)
            #expect(time(try await browser.refresh(tokens.member("refresh_token"))) == begin)
            #expect(time(try await browser.tokens(Self.adele, ["prompt": "login"])) == begin + 1000)
        }
    }

    @Test(
        arguments: [("999", ["password"]), ("1001", []), ("0", ["password"])])
    func `max_age asks again for a password that was given longer ago`(_ maxAge: String, _ asked: [String]) async throws
    {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            _ = try await browser.tokens(Self.adele)
            tenant.clock.advance(1000)
            let now = Int(tenant.clock.now.timeIntervalSince1970)
            let silent = try await browser.authorize(["max_age": maxAge, "prompt": "none"]).callback()
            #expect((silent["error"] == "login_required") == !asked.isEmpty)
            let (answer, pages) = try await browser.signIn(Self.adele, ["max_age": maxAge])
            #expect(pages == asked)
            #expect(time(try await browser.redeem(answer["code"])) == (asked.isEmpty ? now - 1000 : now))
        }
    }

    @Test func `a max_age of 0 asks for the password even at the same instant`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            _ = try await browser.tokens(Self.adele)
            #expect(try await browser.signIn(Self.adele, ["max_age": "0"]).pages == ["password"])
        }
    }

    @Test(arguments: ["-1", "x", "1.5", "99999999999999999999"])
    func `a max_age that is no number of seconds is refused`(_ maxAge: String) async throws {
        try await TestTenant.run { (tenant) async throws in
            let answer = try await tenant.browser().authorize(["max_age": maxAge]).callback()
            #expect(answer["error"] == "invalid_request")
        }
    }

    @Test func `the tenant can omit auth_time and ignore a demand for a fresh sign-in`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            _ = try await browser.tokens(Self.adele)
            tenant.clock.advance(10)
            _ = try await browser.control(["omit_auth_time": true, "ignore_max_age": true])
            let (answer, pages) = try await browser.signIn(Self.adele, ["prompt": "login", "max_age": "0"])
            #expect(pages == ["username"])
            #expect(time(try await browser.redeem(answer["code"])) == nil)
            _ = try await browser.control(["reset": true])
            #expect(try await browser.signIn(Self.adele, ["max_age": "0"]).pages == ["password"])
        }
    }
}
