import Foundation
import HTTPServer
import Testing
import WebFormats

@testable import TenantControl
@testable import TenantDirectory
@testable import TenantServer
@testable import TenantSignIn

@Suite("Codes for which the pages ask")
struct PageCodeTests {
    private static let external = Tenant.fabrikamDomain
    private static let reset = "tfp/\(Tenant.fabrikamB2CDomain)/\(UserFlow.resetPassword.rawValue)"
    private static let signIn = "tfp/\(Tenant.fabrikamB2CDomain)/\(UserFlow.signIn.rawValue)"
    private static let consumer = "b2cuser@fabrikamb2c.example"
    private static let noor = "noor@fabrikam.example"
    private static let newcomer = "casey@customer.example"

    /// A tenant with a customer who signs in with a code, and an application at which people sign up with one.
    private static func configure(_ configuration: inout DemoTenantConfiguration) {
        var user = DemoUser(username: noor, password: "")
        user.signInMethod = .code
        configuration.users = [user]
        configuration.clients.append(signUpByCode)
    }

    private static let signUpByCode: DemoClient = {
        var client = DemoClient(
            id: DemoClient.id(for: "code"), name: "Code", secret: "secret", web: ["http://localhost:9/code"])
        client.signUpFlow = DemoClient.SignUpFlow(method: .code)
        return client
    }()

    private static func isAlert(_ answer: Answer, _ sentence: String) -> Bool {
        answer.shownField == "code" && answer.text.contains("role=\"alert\">\(sentence)</p>")
    }

    private func signUp(_ browser: Browser, at segment: String, client: DemoClient = TestTenant.web) async throws
        -> Answer
    {
        let page = try await browser.authorize(["prompt": "create"], client: client, segment: segment)
        let (action, fields) = try page.form()
        return try await browser.post(
            action, fields + [("new_username", Self.newcomer), ("display_name", "Casey")])
    }

    @Test func `a customer without a password signs in with the code that was sent`() async throws {
        try await TestTenant.run(configured: Self.configure) { (tenant) async throws in
            let browser = tenant.browser()
            let page = try await browser.authorize(["login_hint": Self.noor], segment: Self.external)
            #expect(page.shownField == "code" && !page.text.contains("name=\"password\""))
            #expect(page.text.contains("The code is in the <a href=\"/outbox?to=noor%40fabrikam.example"))
            let sent = try await browser.get("/outbox", [("to", Self.noor)]).json?["messages"]?.array
            #expect(sent?.count == 1 && sent?.first?["flow"] == "sign_in" && sent?.first?["state"] == "valid")
            let code = try #require(sent?.first?["code"]?.string)
            #expect(!page.text.contains(code))
            #expect(try await browser.submit(page, "code", code).callback()["code"] != nil)
            let used = try await browser.get("/outbox", [("to", Self.noor)]).json?["messages"]?.array
            #expect(used?.first?["state"] == "used")
            // A used code opens nothing.
            let again = try await browser.authorize(
                ["login_hint": Self.noor, "prompt": "login"], segment: Self.external)
            #expect(
                Self.isAlert(try await browser.submit(again, "code", code), "That code is incorrect. Please try again.")
            )
        }
    }

    @Test(arguments: [external, signIn])
    func `an account is made once its address is confirmed`(segment: String) async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let page = try await signUp(browser, at: segment)
            func signsIn() async throws -> String? {
                try await tenant.browser().authorize(["login_hint": Self.newcomer], segment: segment).shownField
            }
            #expect(page.shownField == "code")
            let wrong = try await browser.submit(page, "code", "1")
            #expect(Self.isAlert(wrong, "That code is incorrect. Please try again."))
            #expect(try await signsIn() == "username", "there is no account yet")
            let done = try await browser.submit(wrong, "code", browser.code(to: Self.newcomer))
            #expect(try done.callback()["code"] != nil)
            #expect(try await signsIn() == "password")
        }
    }

    @Test func `who signs up at a user flow with codes signs in with codes`() async throws {
        try await TestTenant.run(configured: Self.configure) { (tenant) async throws in
            let client = Self.signUpByCode
            let browser = tenant.browser()
            let page = try await signUp(browser, at: Self.external, client: client)
            let done = try await browser.submit(page, "code", browser.code(to: Self.newcomer))
            #expect(try done.callback()["code"] != nil)
            let later = try await tenant.browser().authorize(["login_hint": Self.newcomer], segment: Self.external)
            #expect(later.shownField == "code")
        }
    }

    @Test func `a customer of the external tenant sets a new password, as in an app`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let password = try await browser.authorize(["login_hint": NativeApp.person], segment: Self.external)
            #expect(password.text.contains("Every demo account’s password is"))
            let code = try await browser.submit(password, "forgot", "1")
            #expect(code.shownField == "code")
            let page = try await browser.submit(code, "code", browser.code(to: NativeApp.person))
            for (refused, sentence) in [
                ("Kort-1", "The password is too short."), ("all small letters", "The password is too weak."),
                ("Customer-2027", "The password contains a word that is too easy to guess, such as your name."),
            ] {
                let answer = try await browser.submit(page, "new_password", refused)
                #expect(answer.shownField == "new_password" && answer.text.contains(sentence), "\(refused)")
            }
            let done = try await browser.submit(page, "new_password", NativeApp.password)
            #expect(try done.callback()["code"] != nil)
            let again = tenant.browser()
            let next = try await again.authorize(["login_hint": NativeApp.person], segment: Self.external)
            #expect(!next.text.contains("Every demo account’s password is"))
            #expect(try await again.submit(next, "password", "demo").shownField == "password")
            #expect(try await again.submit(next, "password", NativeApp.password).callback()["code"] != nil)
        }
    }

    @Test func `a B2C account keeps the password that everyone knows`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let code = try await browser.authorize(["login_hint": Self.consumer], segment: Self.reset)
            let page = try await browser.submit(code, "code", browser.code(to: Self.consumer))
            #expect(try await browser.submit(page, "new_password", "new").callback()["code"] != nil)
            let again = tenant.browser()
            let next = try await again.authorize(["login_hint": Self.consumer], segment: Self.signIn)
            #expect(try await again.submit(next, "password", "demo").callback()["code"] != nil)
        }
    }

    @Test func `five wrong codes end it, and a new code begins again`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let page = try await browser.authorize(["login_hint": Self.consumer], segment: Self.reset)
            let code = try await browser.code(to: Self.consumer)
            for _ in 1..<NativeFlows.mostTries {
                let wrong = try await browser.submit(page, "code", "12345678")
                #expect(Self.isAlert(wrong, "That code is incorrect. Please try again."))
            }
            let last = try await browser.submit(page, "code", "12345678")
            #expect(Self.isAlert(last, "You’ve made too many incorrect attempts. Please try again later."))
            for each in [page, last] {
                let late = try await browser.submit(each, "code", code)
                #expect(Self.isAlert(late, "That code is expired. Please request a new code."))
            }
            let fresh = try await browser.submit(last, "send_again", "1")
            #expect(fresh.shownField == "code" && !fresh.text.contains("role=\"alert\""))
            #expect(try await browser.submit(fresh, "code", code).shownField == "code")
            #expect(
                try await browser.submit(fresh, "code", browser.code(to: Self.consumer)).shownField == "new_password")
        }
    }

    @Test func `a code is good for ten minutes, and until a newer one is sent`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let page = try await browser.authorize(["login_hint": Self.consumer], segment: Self.reset)
            let first = try await browser.code(to: Self.consumer)
            let next = try await browser.submit(page, "send_again", "1")
            let second = try await browser.code(to: Self.consumer)
            #expect(
                Self.isAlert(
                    try await browser.submit(page, "code", first), "That code is expired. Please request a new code."))
            tenant.clock.advance(TimeInterval(ContinuationToken.lifetime))
            #expect(
                Self.isAlert(
                    try await browser.submit(next, "code", second), "That code is expired. Please request a new code."))
        }
    }

    @Test func `looking at the page again sends no other code`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let page = try await browser.authorize(["login_hint": Self.consumer], segment: Self.reset)
            let (action, fields) = try page.form()
            for _ in 1...3 {
                _ = try await browser.get(action.appending(query: fields.map { (name: $0.0, value: $0.1) }))
                _ = try await browser.submit(page, "code", "wrong")
            }
            #expect(try await browser.get("/outbox").json?["messages"]?.array?.count == 1)
        }
    }

    @Test func `a confirmed address sets the password of nobody else, and a code serves once`() async throws {
        try await TestTenant.run(configured: { configuration in
            configuration.users = [DemoUser(username: "bea@fabrikamb2c.example", password: "correct horse")]
        }) { (tenant) async throws in
            let browser = tenant.browser()
            let page = try await browser.authorize(["login_hint": Self.consumer], segment: Self.reset)
            let code = try await browser.code(to: Self.consumer)
            let confirmed = try await browser.submit(page, "code", code)
            #expect(confirmed.shownField == "new_password")
            let other = try await browser.submit(confirmed, "username", "bea@fabrikamb2c.example")
            #expect(other.shownField == "code")
            #expect(try await browser.submit(other, "new_password", "new").shownField == "code")
            #expect(try await browser.submit(other, "code", code).shownField == "code")
            let again = try await browser.submit(page, "code", code)
            #expect(Self.isAlert(again, "That code is expired. Please request a new code."))
            // An app's flow has codes of its own.
            let app = NativeApp(tenant)
            _ = try await app.begin("resetpassword/v1.0/start", NativeApp.person)
            _ = try await app.challenge("resetpassword/v1.0/challenge")
            #expect(try await browser.submit(other, "code", app.code(to: NativeApp.person)).shownField == "code")
        }
    }

    @Test(arguments: [false, true])
    func `the page leads to the outbox, and not at a kiosk`(isKiosk: Bool) async throws {
        try await TestTenant.run(configured: { configuration in
            configuration.kioskURL = isKiosk ? "http://localhost:8080/kiosk" : nil
        }) { (tenant) async throws in
            let page = try await tenant.browser().authorize(["login_hint": Self.consumer], segment: Self.reset)
            #expect(page.shownField == "code" && page.text.contains("href=\"/outbox") != isKiosk)
        }
    }

    @Test func `other machines, and those of a public address, cannot open the outbox without a token`() {
        var configuration = DemoTenantConfiguration(clients: [], publicFolder: TestTenant.publicFolder)
        let (here, there) = (PeerAddress(ipv4: (127, 0, 0, 1), port: 1), PeerAddress(ipv4: (10, 0, 0, 7), port: 1))
        #expect(configuration.opensControl(to: here) && !configuration.opensControl(to: there))
        configuration.publicURL = "https://login.example"
        #expect(!configuration.opensControl(to: here))
    }

    @Test func `without an interaction there is no page`() async throws {
        try await TestTenant.run(configured: Self.configure) { (tenant) async throws in
            for (segment, name) in [(Self.external, Self.noor), (Self.reset, Self.consumer)] {
                let browser = tenant.browser()
                let silent = try await browser.authorize(["prompt": "none", "login_hint": name], segment: segment)
                #expect(try silent.callback()["error"] != nil)
                #expect(try await browser.get("/outbox").json?["messages"]?.array?.isEmpty == true)
            }
        }
    }
}
