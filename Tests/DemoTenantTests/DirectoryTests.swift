import Testing
import WebFormats

@testable import TenantControl
@testable import TenantDirectory
@testable import TenantGraph
@testable import TenantServer
@testable import TenantSignIn

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
            for (username, groups) in [("ada@contoso.example", ["Staff", "Owners"]), ("alex@outlook.example", [])] {
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

    /// A directory with groups in groups, two of them in a circle.
    private static func nested(_ user: DemoUser) throws -> Directory {
        try Directory(
            users: [user],
            groups: [
                DemoGroup(name: "Team", memberOf: ["Unit"]), DemoGroup(name: "Unit", memberOf: ["Everyone", "Round"]),
                DemoGroup(name: "Round", memberOf: ["Unit", "Global Reader"]),
            ], hasDemoAccounts: false, clients: [])
    }

    @Test(
        arguments: [
            (["Team"], false, ["Team"]), (["Team"], true, ["Team", "Unit", "Everyone", "Round", "Global Reader"]),
            (["Round", "Team"], true, ["Round", "Team", "Unit", "Global Reader", "Everyone"]),
            (["Other", "Other"], true, ["Other"]), ([], true, []),
        ])
    func `groups are direct or transitive, each once`(_ direct: [String], _ transitive: Bool, _ names: [String]) throws
    {
        let user = DemoUser(username: "ada@contoso.example", password: "x", groups: direct)
        let directory = try Self.nested(user)
        let account = try #require(directory.account(username: user.username))
        #expect(directory.groups(of: account, transitive: transitive).map(\.name) == names)
    }

    @Test(
        arguments: [
            ("ada@contoso.example", 1), ("ada@fabrikam.example", 1), ("ada@outlook.example", 0),
            ("ada@fabrikamb2c.example", 0),
        ])
    func `personal accounts and the consumers of B2C are in no group`(_ username: String, _ count: Int) throws {
        let directory = try Self.nested(DemoUser(username: username, password: "x", groups: ["Everyone"]))
        let account = try #require(directory.account(username: username))
        #expect(directory.groups(of: account, transitive: true).count == count)
    }

    @Test func `a name alone is a security group, or the directory role of that name`() throws {
        let directory = try Self.nested(DemoUser(username: "ada@contoso.example", password: "x"))
        #expect(directory.group(name: "Everyone")?.kind == .security)
        #expect(
            directory.group(name: "Global Reader")?.kind
                == .role(templateID: "f2ef992c-3afb-46b9-b7cf-a126ee74c451"))
        #expect(directory.group(name: "Nobody") == nil)
    }

    @Test func `a person can be in many groups, which others share`() throws {
        var users = [
            DemoUser(username: "ada@contoso.example", password: "x", groups: ["Staff"]),
            DemoUser(username: "bob@contoso.example", password: "x"),
        ]
        (users[0].manyGroups, users[1].manyGroups) = (201, 2)
        let directory = try Directory(users: users, hasDemoAccounts: false, clients: [])
        #expect(directory.groups.count == 202)
        #expect(Set(directory.groups.map(\.id)).count == 202)
        let counts = directory.accounts.map { directory.groups(of: $0, transitive: true).count }
        #expect(counts == [202, 2])
    }

    @Test func `the built-in people have groups, one of them nested, and a directory role`() throws {
        let directory = try Directory(users: [], hasDemoAccounts: true, clients: [])
        for (username, names) in [
            ("adele@contoso.example", ["Retail", "Newsletter", "User Administrator", "All Employees"]),
            ("megan@contoso.example", ["Marketing", "Newsletter", "All Employees"]), ("alex@outlook.example", []),
        ] {
            let account = try #require(directory.account(username: username))
            #expect(directory.groups(of: account, transitive: true).map(\.name) == names)
        }
    }

    @Test(
        arguments: [
            ([DemoGroup(name: "A", roles: ["Nothing": []])], "there is no such application"),
            ([DemoGroup(name: "A", roles: ["Web tutorial": ["B"]])], "'B' is not an app role"),
            ([DemoGroup(name: "A", roles: ["Web tutorial": ["Run"]])], "'Run' of 'Web tutorial' is not for people"),
            ([DemoGroup(name: "A", id: "1"), DemoGroup(name: "B", id: "1")], "another group has its ID 1"),
            ([DemoGroup(name: "Global Reader", memberOf: ["A"])], "a directory role is no member of a group"),
        ])
    func `a group that cannot exist ends the start`(_ groups: [DemoGroup], _ reason: String) {
        var client = TestTenant.web
        client.appRoles = [DemoClient.AppRole(value: "Run", allowed: [.application])]
        let error = #expect(throws: DemoTenantError.self) {
            try Directory(users: [], groups: groups, hasDemoAccounts: true, clients: [client])
        }
        #expect(error?.description.contains(reason) == true)
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
            (
                {
                    var user = DemoUser(username: "ada@contoso.example", password: "x")
                    user.manyGroups = DemoUser.mostManyGroups + 1
                    return user
                }(), "many_groups"
            ),
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
            #expect(!picker.text.contains("ada@contoso.example") && !picker.text.contains("adele@contoso.example"))
            #expect(try await browser.submit(picker, "username", "ada@contoso.example").shownField == "password")
            #expect(try await browser.submit(picker, "username", "adele@contoso.example").shownField == "username")
            let external = try await browser.authorize(["prompt": "create"], segment: "fabrikam.example")
            #expect(external.shownField == "username")
        }
    }
}
