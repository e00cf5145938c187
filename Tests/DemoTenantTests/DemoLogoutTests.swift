import Testing

@testable import TenantControl
@testable import TenantDirectory
@testable import TenantGraph
@testable import TenantServer
@testable import TenantSignIn

@Suite("Signing out")
struct DemoLogoutTests {
    private let back = "http://localhost:8080/auth/signed-out"

    private func logout(_ browser: Browser, _ fields: [(String, String)] = []) async throws -> Answer {
        try await browser.get("/common/oauth2/v2.0/logout", fields)
    }

    private func isSignedIn(_ browser: Browser, _ username: String) async throws -> Bool {
        try await browser.authorize(["prompt": "none", "login_hint": username]).callback()["code"] != nil
    }

    @Test func `the only account is signed out, and the browser goes back to a registered address only`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            _ = try await browser.signIn("adele@contoso.example")
            let answer = try await logout(browser, [("post_logout_redirect_uri", back), ("state", "s t")])
            #expect(answer.status == 302)
            #expect(answer["Location"] == "\(back)?state=s%20t")
            #expect(try await !isSignedIn(browser, "adele@contoso.example"))
            for uri in ["http://evil.example/", "\(back)/", "http://localhost:8080/auth/other"] {
                let page = try await logout(browser, [("post_logout_redirect_uri", uri)])
                #expect(page.status == 200)
                #expect(page.text.contains("You signed out of your account"))
                #expect(page["Location"] == nil)
            }
            #expect(try await browser.count("logout") == 4)
        }
    }

    @Test func `logout_hint signs its account out without a picker`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let hint = try await browser.tokens("adele@contoso.example").claims("id_token")?["login_hint"]?.string
            _ = try await browser.signIn("megan@contoso.example", ["prompt": "select_account"])
            let answer = try await browser.post(
                "/common/oauth2/v2.0/logout", [("logout_hint", hint ?? ""), ("post_logout_redirect_uri", back)])
            #expect(answer["Location"] == back)
            #expect(try await !isSignedIn(browser, "adele@contoso.example"))
            #expect(try await isSignedIn(browser, "megan@contoso.example"))
        }
    }

    @Test func `with several accounts the page asks which one, even if the hint is a username`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            _ = try await browser.signIn("adele@contoso.example")
            _ = try await browser.signIn("megan@contoso.example", ["prompt": "select_account"])
            let picker = try await logout(
                browser, [("logout_hint", "adele@contoso.example"), ("post_logout_redirect_uri", back)])
            #expect(picker.shownField == "username")
            #expect(!picker.text.contains("alex@outlook.example"))
            let answer = try await browser.submit(picker, "username", "megan@contoso.example")
            #expect(answer["Location"] == back)
            #expect(try await isSignedIn(browser, "adele@contoso.example"))
            #expect(try await !isSignedIn(browser, "megan@contoso.example"))
            _ = try await browser.signIn("megan@contoso.example", ["prompt": "select_account"])
            _ = try await browser.submit(logout(browser), "username", "all")
            #expect(try await !isSignedIn(browser, "adele@contoso.example"))
            #expect(try await !isSignedIn(browser, "megan@contoso.example"))
        }
    }

    @Test func `an old cookie does not bring a signed-out account back, and refresh tokens live on`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let refresh = try await browser.tokens("adele@contoso.example").member("refresh_token")
            let copy = await browser.copy()
            #expect(try await isSignedIn(copy, "adele@contoso.example"))
            _ = try await logout(browser)
            #expect(try await !isSignedIn(copy, "adele@contoso.example"))
            #expect(try await browser.refresh(refresh).status == 200)
        }
    }
}
