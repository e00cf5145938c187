import Testing
import WebFormats

@testable import TenantControl
@testable import TenantDirectory
@testable import TenantGraph
@testable import TenantServer
@testable import TenantSignIn

@Suite("Every page has an address, to which a browser can go back")
struct PageAddressTests {
    private static let home = "http://localhost:8080/start"

    private static let isForm = [("Content-Type", "application/x-www-form-urlencoded")]

    private static func body(_ fields: [(String, String)]) -> [UInt8] { Array(FormEncoding.encode(fields).utf8) }

    private static func withHome(_ configuration: inout DemoTenantConfiguration) {
        for index in configuration.clients.indices { configuration.clients[index].homeURL = home }
    }

    /// Sends the form of a page, and returns the address to which its answer leads.
    private func address(after page: Answer, _ name: String, _ value: String, _ browser: Browser) async throws -> String
    {
        let (action, fields) = try page.form()
        let answer = try await browser.sendOnce("POST", action, Self.isForm, Self.body(fields + [(name, value)]))
        #expect(answer.status == 303)
        #expect(answer["Cache-Control"] == "no-store")
        return try #require(answer["Location"])
    }

    @Test func `each form of a sign-in leads to a page by GET, and from there to the start page once it has ended`()
        async throws
    {
        try await TestTenant.run(configured: Self.withHome) { (tenant) async throws in
            let browser = tenant.browser()
            let begun = try await browser.sendOnce(
                "GET", "/common/oauth2/v2.0/authorize".appending(query: Browser.authorization(TestTenant.web)))
            #expect(begun.status == 303)
            var addresses = [try #require(begun["Location"])]
            var page = try await browser.get(addresses[0])
            for (name, value, shown) in [
                ("username", "nobody@contoso.example", "username"), ("username", "adele@contoso.example", "password"),
                ("password", "wrong", "password"), ("username", "", "username"),
                ("username", "adele@contoso.example", "password"), ("password", "demo", "consent"),
            ] {
                addresses.append(try await address(after: page, name, value, browser))
                page = try await browser.get(addresses.last ?? "")
                #expect(page.shownField == shown)
                #expect(page.text.contains("role=\"alert\"") == ["nobody@contoso.example", "wrong"].contains(value))
            }
            // Going back shows the page again, as it was.
            #expect(try await browser.get(addresses[1]).text.contains("nobody@contoso.example"))
            #expect(try await browser.get(addresses[0]).shownField == "username")
            let last = page
            #expect(try await browser.submit(page, "consent", "accept").callback()["code"] != nil)
            for address in addresses {
                #expect(address.hasPrefix("/common/login?flow="))
                for secret in ["adele", "nonce", "wrong"] { #expect(!address.contains(secret)) }
                let back = try await browser.sendOnce("GET", address)
                #expect(back.status == 303)
                #expect(back["Location"] == Self.home)
            }
            let again = try await address(after: last, "consent", "accept", browser)
            #expect(try await browser.sendOnce("GET", again)["Location"] == Self.home)
        }
    }

    @Test func `at a kiosk the start page is the kiosk`() async throws {
        try await TestTenant.run(configured: { configuration in
            Self.withHome(&configuration)
            configuration.kioskURL = "http://localhost:8080/kiosk"
        }) { (tenant) async throws in
            let browser = tenant.browser()
            let page = try await browser.authorize(["login_hint": "adele@contoso.example"])
            let address = try await address(after: page, "password", "demo", browser)
            _ = try await browser.submit(browser.get(address), "consent", "accept")
            #expect(try await browser.sendOnce("GET", address)["Location"] == "http://localhost:8080/kiosk")
        }
    }

    @Test func `without a start page, and for a page that is too old, the error says to begin again`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let page = try await browser.authorize(["login_hint": "adele@contoso.example"])
            let address = try await address(after: page, "password", "demo", browser)
            tenant.clock.advance(3601)
            for each in [address, "/common/login?flow=forged", "/common/login", "/common/logout"] {
                let answer = try await browser.sendOnce("GET", each)
                #expect(answer.status == PlatformError.flowExpired.status.code)
                #expect(answer.text.contains("role=\"alert\""))
            }
        }
    }

    @Test(arguments: [
        (UserFlow.editProfile, "display_name", "", 303), (.editProfile, "display_name", "Somebody", 302),
        (.resetPassword, "code", "", 303), (.resetPassword, "new_password", "", 303),
        (.resetPassword, "new_password", "new", 302),
        (.signIn, "username", "", 303), (.signIn, "cancel", "1", 302),
    ])
    func `a form of a user flow leads to a page, and the last one to the application`(
        flow: UserFlow, name: String, value: String, status: Int
    ) async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            var page = try await browser.authorize(
                ["login_hint": "b2cuser@fabrikamb2c.example"],
                segment: "tfp/\(Tenant.fabrikamB2CDomain)/\(flow.rawValue)")
            if flow == .editProfile { page = try await browser.submit(page, "password", "demo") }
            if name == "new_password" {
                page = try await browser.submit(page, "code", browser.code(to: "b2cuser@fabrikamb2c.example"))
            }
            let (action, fields) = try page.form()
            let answer = try await browser.sendOnce("POST", action, Self.isForm, Self.body(fields + [(name, value)]))
            #expect(answer.status == status)
        }
    }

    @Test func `an account of another tenant is refused at an address, too`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let page = try await browser.authorize(segment: "contoso.example")
            let address = try await address(after: page, "username", "alex@outlook.example", browser)
            #expect(try await browser.get(address).text.contains("AADSTS50020"))
        }
    }

    @Test func `the page about a sign-out has an address, which shows no more than what was done`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            _ = try await browser.signIn("adele@contoso.example")
            _ = try await browser.signIn("megan@contoso.example", ["prompt": "select_account"])
            let picker = try await browser.get("/common/oauth2/v2.0/logout")
            let address = try await address(after: picker, "username", "megan@contoso.example", browser)
            #expect(address.hasPrefix("/common/logout?flow="))
            for _ in 1...2 {
                let page = try await browser.get(address)
                #expect(page.status == 200)
                #expect(page.text.contains("Still signed in: adele@contoso.example."))
                #expect(page["Set-Cookie"] == nil)
            }
            #expect(try await browser.authorize(["prompt": "none"]).callback()["code"] != nil)
        }
    }

    @Test func `a request that is too long for an address gets its page at once`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let fields = Browser.authorization(TestTenant.web, ["state": String(repeating: "s", count: 12_000)])
            let answer = try await browser.sendOnce(
                "POST", "/common/oauth2/v2.0/authorize", Self.isForm, Self.body(fields))
            #expect(answer.status == 200)
            #expect(answer.shownField == "username")
        }
    }
}
