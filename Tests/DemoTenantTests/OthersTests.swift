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

@Suite("People of the configuration, and strangers")
struct OthersTests {
    private static let bea = DemoUser(username: "bea@fabrikamb2c.example", password: "correct horse")
    private static let ada = DemoUser(username: "ada@contoso.example", password: "staple battery")
    private static let token = "sixteen characters and more"
    private static let reset = "tfp/\(Tenant.fabrikamB2CDomain)/\(UserFlow.resetPassword.rawValue)"

    /// A tenant as other machines find it.
    private static func forOthers(_ configuration: inout DemoTenantConfiguration) {
        configuration.users = [bea, ada]
        configuration.hasDemoAccounts = false
        configuration.controlToken = token
    }

    // MARK: The steps that a person takes

    @Test(arguments: [true, false])
    func `a new password takes the code that was sent to the person`(hasDemoAccounts: Bool) async throws {
        try await TestTenant.run(configured: { configuration in
            Self.forOthers(&configuration)
            configuration.hasDemoAccounts = hasDemoAccounts
        }) { (tenant) async throws in
            let browser = tenant.browser()
            let page = try await browser.authorize(["login_hint": Self.bea.username], segment: Self.reset)
            #expect(page.shownField == "code")
            let (action, fields) = try page.form()
            for given in [[], [("code", "")], [("code", Self.bea.password)]] {
                let refused = try await browser.post(action, fields + given + [("new_password", "new")])
                #expect(refused.shownField == "code" && refused.text.contains("role=\"alert\""))
            }
            // The browser is not signed in by a page that was refused.
            let silent = try await browser.authorize(["prompt": "none"], segment: Self.reset)
            #expect(try silent.callback()["code"] == nil)
            #expect(try await browser.get("/outbox").status == 401)
            let code = try await browser.code(
                to: Self.bea.username, headers: [("Authorization", "Bearer \(Self.token)")])
            let password = try await browser.submit(page, "code", code)
            #expect(password.shownField == "new_password")
            let done = try await browser.submit(password, "new_password", "new")
            #expect(try done.callback()["code"] != nil)
        }
    }

    @Test func `a stranger does not learn who has an account, and a browser sees its own people`() async throws {
        try await TestTenant.run(configured: Self.forOthers) { (tenant) async throws in
            let browser = tenant.browser()
            let picker = try await browser.authorize()
            #expect(picker.shownField == "username" && !picker.text.contains(Self.ada.username))
            let unknown = try await browser.submit(picker, "username", "bob@contoso.example")
            #expect(unknown.text.contains("an account named “bob@contoso.example”.</p>"))
            let password = try await browser.submit(picker, "username", Self.ada.username)
            #expect(password.shownField == "password" && !password.text.contains("<code>demo</code>"))
            let wrong = try await browser.submit(password, "password", "demo")
            #expect(wrong.shownField == "password")
            #expect(wrong.text.contains("Your account or password is incorrect.</p>"))
            #expect(try await browser.submit(password, "password", Self.ada.password).shownField == "consent")
            let own = try await browser.authorize(["prompt": "select_account"])
            #expect(own.text.contains(Self.ada.username))
        }
    }

    @Test func `people who signed up where everyone knows the password do not exist for other machines`() async throws {
        let path = try TestTenant.temporaryPath()
        defer { TestTenant.remove(path) }
        func casey(_ configure: @escaping @Sendable (inout DemoTenantConfiguration) -> Void) async throws -> Bool {
            try await TestTenant.run(stateFile: path, configured: configure) { (tenant) async throws in
                let page = try await tenant.browser().authorize(
                    ["login_hint": "casey@customer.example"], segment: "fabrikam.example")
                return page.shownField == "password"
            }
        }
        try await TestTenant.run(stateFile: path) { (tenant) async throws in
            let browser = tenant.browser()
            let page = try await browser.submit(
                browser.authorize(["prompt": "create"], segment: "fabrikam.example"), "new_username",
                "casey@customer.example")
            let (action, fields) = try page.form()
            let code = try await browser.post(
                action, fields + [("new_username", "casey@customer.example"), ("display_name", "Casey")])
            let done = try await browser.submit(code, "code", browser.code(to: "casey@customer.example"))
            #expect(try done.callback()["code"] != nil)
        }
        #expect(try await casey { _ in })
        #expect(try await !casey(Self.forOthers))
    }

    // MARK: Guesses

    @Test func `wrong passwords of a network are refused after some, and the right one is not`() async throws {
        try await TestTenant.run(configured: Self.forOthers) { (tenant) async throws in
            let browser = tenant.browser()
            let page = try await browser.authorize(["login_hint": Self.ada.username])
            func send(_ password: String) async throws -> Answer {
                try await browser.submit(page, "password", password)
            }
            for _ in 0..<WrongGuesses.most { #expect(try await send("wrong").shownField == "password") }
            for _ in 0..<2 {
                let refused = try await send("wrong")
                #expect(refused.status == 429 && refused["Retry-After"] == "60")
                #expect(refused.text.contains("Too many wrong passwords came from your network."))
            }
            #expect(try await send(Self.ada.password).shownField == "consent")
            tenant.clock.advance(60)
            let later = tenant.browser()
            let again = try await later.authorize(["login_hint": Self.ada.username])
            #expect(try await later.submit(again, "password", "wrong").shownField == "password")
        }
    }

    @Test func `a known password is not counted`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let page = try await browser.authorize(["login_hint": "adele@contoso.example"])
            for _ in 0...WrongGuesses.most {
                #expect(try await browser.submit(page, "password", "wrong").shownField == "password")
            }
        }
    }

    @Test func `wrong tokens of control are refused after some, for their network alone, and the right one is not`()
        throws
    {
        var configuration = DemoTenantConfiguration(clients: [], publicFolder: TestTenant.publicFolder)
        configuration.controlToken = Self.token
        let responder = try DemoResponder(
            configuration, platform: try TestTenant.platform(configuration))
        func status(_ field: String?, _ address: UInt8 = 7) throws -> Int? {
            let head = try RequestHead(
                target: "/control", headerFields: field.map { [.authorization: $0] } ?? [:])
            return responder.refusalOfControl(head, from: PeerAddress(ipv4: (10, 0, 0, address), port: 1))?.status.code
        }
        for number in 0..<WrongGuesses.most {
            #expect(try status("Bearer \(number)") == 401)
            #expect(try status(nil) == 401, "a browser asks for the token so")
        }
        for _ in 0..<2 { #expect(try status("Bearer wrong") == 429) }
        #expect(try status(nil) == 401)
        #expect(try status("Bearer \(Self.token)") == nil)
        #expect(try status("Bearer wrong", 8) == 401)
    }
}
