import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import Testing
import WebFormats

@testable import TenantControl
@testable import TenantDirectory
@testable import TenantGraph
@testable import TenantServer
@testable import TenantSignIn

@Suite("Pages are those of the browser in which they began")
struct OtherBrowserTests {
    private static let authorize = "/common/oauth2/v2.0/authorize"

    /// Expects an answer that leads nowhere.
    private func expectNothing(_ answer: Answer) {
        #expect(answer.status == 400 && answer.shownField == nil && answer["Location"] == nil)
        #expect(answer.text.contains("<h1>Start again</h1>"))
        for name in ["adele", "Permissions", "code="] { #expect(!answer.text.contains(name)) }
    }

    @Test func `the address of each step of a sign-in gives nothing in another browser`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let (own, other) = (tenant.browser(), tenant.browser())
            // The other browser has cookies of its own, and an account that is signed in.
            _ = try await other.signIn("megan@contoso.example")
            let begun = try await own.sendOnce(
                "GET", Self.authorize.appending(query: Browser.authorization(TestTenant.web)))
            var address = try #require(begun["Location"])
            for (name, value) in [("username", "adele@contoso.example"), ("password", "demo"), ("consent", "accept")] {
                for browser in [other, tenant.browser()] {
                    expectNothing(try await browser.sendOnce("GET", address))
                    expectNothing(try await browser.submit(own.get(address), name, value))
                }
                let (action, fields) = try await own.get(address).form()
                let answer = try await own.sendOnce(
                    "POST", action, [("Content-Type", "application/x-www-form-urlencoded")],
                    Array(FormEncoding.encode(fields + [(name, value)]).utf8))
                if name == "consent" {
                    #expect(try answer.callback()["code"] != nil)
                } else {
                    address = try #require(answer["Location"])
                }
            }
            // Not even that it has ended.
            expectNothing(try await other.sendOnce("GET", address))
            let japanese = try await other.sendOnce("GET", address.replacing("ui_locales=en", with: "ui_locales=ja"))
            #expect(japanese.text.contains("<h1>最初からやり直してください</h1>"))
        }
    }

    @Test func `the addresses of a sign-out give nothing in another browser`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let (own, other) = (tenant.browser(), tenant.browser())
            for username in ["adele@contoso.example", "megan@contoso.example"] {
                for browser in [own, other] { _ = try await browser.signIn(username, ["prompt": "select_account"]) }
            }
            let picker = try await own.get("/common/oauth2/v2.0/logout")
            expectNothing(try await other.submit(picker, "username", "all"))
            let (action, fields) = try picker.form()
            let done = try await own.sendOnce(
                "POST", action, [("Content-Type", "application/x-www-form-urlencoded")],
                Array(FormEncoding.encode(fields + [("username", "adele@contoso.example")]).utf8))
            let address = try #require(done["Location"])
            expectNothing(try await other.sendOnce("GET", address))
            #expect(try await own.get(address).text.contains("Still signed in: megan@contoso.example."))
            for username in ["adele@contoso.example", "megan@contoso.example"] {
                let still = try await other.authorize(["prompt": "none", "login_hint": username])
                #expect(try still.callback()["code"] != nil)
            }
        }
    }

    @Test func `tabs that begin at the same time, and a request of another site, do not disturb each other`()
        async throws
    {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            var (cookies, pages): ([String: String], [String]) = ([:], [])
            // None of these requests carries a cookie: as tabs at once, or as forms of another site.
            for number in 0..<3 {
                let tab = tenant.browser()
                let fields = Browser.authorization(TestTenant.web)
                let answer =
                    number < 2
                    ? try await tab.sendOnce("GET", Self.authorize.appending(query: fields))
                    : try await tab.sendOnce(
                        "POST", Self.authorize, [("Content-Type", "application/x-www-form-urlencoded")],
                        Array(FormEncoding.encode(fields).utf8))
                pages.append(try #require(answer["Location"]))
                cookies.merge(await tab.cookies) { $1 }
            }
            #expect(cookies.count == 3)
            await browser.use(cookies)
            for page in pages { #expect(try await browser.get(page).shownField == "username") }
            // A sign-in after that needs no further cookie.
            let next = try await browser.sendOnce(
                "GET", Self.authorize.appending(query: Browser.authorization(TestTenant.web)))
            #expect(next["Set-Cookie"] == nil)
            #expect(try await browser.get(#require(next["Location"])).shownField == "username")
        }
    }

    private static func platform() throws -> IdentityPlatform {
        let configuration = DemoTenantConfiguration(clients: [], publicFolder: TestTenant.publicFolder)
        return IdentityPlatform(
            try TestTenant.platform(configuration),
            layout: try PageLayout(publicFolder: configuration.publicFolder, kioskURL: nil))
    }

    /// Returns the cookies that a browser is given.
    private static func given(_ cookies: [String], at origin: String) throws -> [String] {
        let head = try RequestHead(
            target: "/", headerFields: cookies.isEmpty ? [:] : [.cookie: cookies.joined(separator: "; ")])
        return try Origins.$current.withValue(origin) {
            let response = Response(status: .ok).known(as: try platform().browser(head))
            return response.headerFields[values: .setCookie]
        }
    }

    @Test(arguments: [
        ("http://localhost:8081", "demo-tenant-8081-browser-", ""),
        ("http://127.0.0.1:9081", "demo-tenant-9081-browser-", ""),
        ("https://localhost:8443", "__Host-demo-tenant-browser-", "; Secure"),
    ])
    func `a browser gets one cookie, for navigations and over https for nothing else`(
        origin: String, prefix: String, secure: String
    ) throws {
        let given = try Self.given(["demo-tenant-8081-sign-on=x"], at: origin)
        let id = String(try #require(given.first).prefix { $0 != ";" }.suffix(36))
        #expect(UUID(uuidString: id) != nil)
        #expect(given == ["\(prefix)\(id.prefix(8))=\(id); Path=/\(secure); HttpOnly; SameSite=Lax"])
    }

    @Test func `of many cookies the oldest are removed`() throws {
        let cookies = (10..<22).map { "demo-tenant-8081-browser-\($0)=\($0)" }
        let given = try Self.given(cookies, at: "http://localhost:8081")
        #expect(given.count == cookies.count - BrowserID.mostCookies)
        for (number, field) in zip(10..., given) {
            #expect(field.hasPrefix("demo-tenant-8081-browser-\(number)=;") && field.contains("Max-Age=0"))
        }
        #expect(try Self.given(Array(cookies.suffix(BrowserID.mostCookies)), at: "http://localhost:8081") == [])
    }
}
