import Testing
import WebFormats

@testable import DemoTenant

@Suite("People of the configuration")
struct DirectoryTests {
    private static let ada = DemoUser(
        username: "ada@contoso.example", password: "lovelace", roles: ["Web tutorial": ["Tasks.Admin"]],
        guestOf: ["tailspin.example"])

    private func run(_ user: DemoUser, alone: Bool = false, _ body: @Sendable (TestTenant) async throws -> Void)
        async throws
    {
        try await TestTenant.run(
            configured: { configuration in
                configuration.clients[0].appRoles = ["Tasks.Admin"]
                configuration.users = [user]
                configuration.hasDemoAccounts = !alone
            }, body)
    }

    @Test func `a person signs in with the password of their own, at home and as a guest`() async throws {
        try await run(Self.ada) { (tenant) async throws in
            for segment in ["contoso.example", "tailspin.example"] {
                let browser = tenant.browser()
                let password = try await browser.submit(
                    try await browser.authorize(segment: segment), "username", "ada@contoso.example")
                #expect(try await browser.submit(password, "password", "demo").shownField == "password")
                let consent = try await browser.submit(password, "password", "lovelace")
                #expect(consent.shownField == "consent" || consent["Location"] != nil)
            }
        }
    }

    @Test func `app roles of the client are in its ID token`() async throws {
        try await run(Self.ada) { (tenant) async throws in
            let browser = tenant.browser()
            var page = try await browser.submit(try await browser.authorize(), "username", "ada@contoso.example")
            page = try await browser.submit(page, "password", "lovelace")
            page = try await browser.submit(page, "consent", "accept")
            let tokens = try await browser.redeem(try page.callback()["code"])
            #expect(tokens.claims("id_token")?["roles"] == ["Tasks.Admin"])
            #expect(tokens.claims("id_token")?["name"] == "Ada")
            #expect(tokens.claims("access_token")?["roles"] == nil)
            #expect(
                try await browser.tokens("megan@contoso.example", ["prompt": "select_account"])
                    .claims("id_token")?["roles"] == nil)
        }
    }

    @Test func `Graph lists the groups of a person`() async throws {
        var user = Self.ada
        (user.password, user.groups) = ("demo", ["Staff", "Owners"])
        try await run(user) { (tenant) async throws in
            let browser = tenant.browser()
            for (username, groups) in [("ada@contoso.example", ["Staff", "Owners"]), ("megan@contoso.example", [])] {
                let token = try await browser.tokens(username, ["prompt": "select_account"]).member("access_token")
                for path in ["/v1.0/me/memberOf", "/v1.0/me/transitiveMemberOf"] {
                    let listed = try await browser.me(token, path: path).json?["value"]?.array ?? []
                    #expect(listed.map { $0["displayName"]?.string } == groups)
                    #expect(listed.allSatisfy { $0["@odata.type"] == "#microsoft.graph.group" })
                    #expect(Set(listed.map { $0["id"]?.string }).count == groups.count)
                }
            }
        }
    }

    @Test func `a second factor is asked at each new sign-in of who needs one`() async throws {
        var user = Self.ada
        (user.password, user.needsSecondFactor) = ("demo", true)
        try await run(user) { (tenant) async throws in
            #expect(
                try await tenant.browser().signIn("ada@contoso.example").pages
                    == ["username", "password", "second_factor", "consent"])
        }
    }

    @Test(
        arguments: [
            ("ada@contoso.example", "work"), ("ada@tailspin.example", "work"), ("ada@outlook.example", "personal"),
            ("ada@fabrikam.example", "external"), ("ada@fabrikamb2c.example", "b2c"),
        ])
    func `the domain decides the kind of account`(_ username: String, _ kind: String) throws {
        let directory = try Directory(
            users: [DemoUser(username: username, password: "x")], hasDemoAccounts: false, clients: [])
        let account = try #require(directory.account(username: username.uppercased()))
        #expect("\(account.kind)" == kind)
        #expect(Tenant.domain(ofID: account.tenantID) == username.split(separator: "@").last.map(String.init))
    }

    @Test(
        arguments: [
            (DemoUser(username: "ada", password: "x"), "its domain"),
            (DemoUser(username: "ada@woodgrove.example", password: "x"), "its domain"),
            (DemoUser(username: "@contoso.example", password: "x"), "its domain"),
            (DemoUser(username: "ada@contoso.example", password: ""), "a password"),
            (DemoUser(username: "ada@contoso.example", password: "x", guestOf: ["fabrikam.example"]), "guest_of"),
            (DemoUser(username: "ada@contoso.example", password: "x", roles: ["Nothing": ["A"]]), "Nothing"),
            (DemoUser(username: "ada@contoso.example", password: "x", roles: ["Web tutorial": ["A"]]), "app role"),
        ])
    func `a person who cannot exist ends the start`(_ user: DemoUser, _ reason: String) {
        let error = #expect(throws: DemoTenantError.self) {
            try Directory(users: [user], hasDemoAccounts: true, clients: [TestTenant.web])
        }
        #expect(error?.description.contains(reason) == true)
        #expect(error?.description.contains(user.username) == true)
    }

    @Test func `without the built-in accounts nobody has the password that everyone knows, and nobody signs up`()
        async throws
    {
        try await run(Self.ada, alone: true) { (tenant) async throws in
            let browser = tenant.browser()
            let picker = try await browser.authorize()
            #expect(picker.text.contains("ada@contoso.example"))
            #expect(!picker.text.contains("adele@contoso.example"))
            #expect(try await browser.submit(picker, "username", "adele@contoso.example").shownField == "username")
            let external = try await browser.authorize(["prompt": "create"], segment: "fabrikam.example")
            #expect(external.shownField == "username")
        }
    }
}
