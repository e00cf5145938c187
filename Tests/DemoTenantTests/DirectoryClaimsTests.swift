import Testing
import WebFormats

@testable import TenantControl
@testable import TenantDirectory
@testable import TenantGraph
@testable import TenantServer
@testable import TenantSignIn

@Suite("Groups and roles in tokens")
struct DirectoryClaimsTests {
    private static let ada = "ada@contoso.example"
    private static let apiScope = "api://tasks/Tasks.Read openid profile offline_access"
    private static let groups = [
        DemoGroup(name: "Team", memberOf: ["Unit"], roles: ["Web tutorial": ["Tasks.Team"]]),
        DemoGroup(name: "Unit", roles: ["Web tutorial": ["Tasks.Unit"]]), DemoGroup(name: "News", kind: .distribution),
        DemoGroup(name: "Global Reader"),
    ]

    private static func user(
        _ username: String = ada, groups: [String] = ["Team", "News", "Global Reader"],
        roles: [String: [String]] = [:]
    ) -> DemoUser {
        DemoUser(
            username: username, password: "demo", groups: groups, roles: roles,
            guestOf: username == ada ? ["tailspin.example"] : [])
    }

    /// Runs a test with a web application that has an API.
    private func run(
        _ user: DemoUser, _ change: (inout DemoClient) -> Void = { _ in },
        _ body: @Sendable (TestTenant) async throws -> Void
    ) async throws {
        try await TestTenant.run(
            configured: { configuration in
                configuration.clients[0].exposes = ["api://tasks": ["Tasks.Read"]]
                configuration.clients[0].appRoles = [
                    "Tasks.Own", "Tasks.Team", "Tasks.Unit", DemoClient.AppRole(value: "Tasks.Off", isEnabled: false),
                ]
                change(&configuration.clients[0])
                configuration.users = [user]
                configuration.groups = Self.groups
            }, body)
    }

    /// Returns the names of the groups of a claim.
    private static func names(_ claim: JSONValue?) -> [String]? {
        claim?.array?.map { id in groups.first { .string($0.id) == id }?.name ?? "?" }
    }

    @Test(
        arguments: [
            (DemoClient.GroupMembershipClaims.none, nil, false),
            (.securityGroup, ["Team", "Global Reader", "Unit"], false), (.directoryRole, nil, true),
            (.applicationGroup, ["Team"], false), (.all, ["Team", "News", "Global Reader", "Unit"], true),
        ] as [(DemoClient.GroupMembershipClaims, [String]?, Bool)])
    func `the registration decides which groups both tokens list`(
        _ registered: DemoClient.GroupMembershipClaims, _ names: [String]?, _ hasRoles: Bool
    ) async throws {
        try await run(Self.user(), { $0.groupMembershipClaims = registered }) { (tenant) async throws in
            let browser = tenant.browser()
            let tokens = try await browser.tokens(Self.ada, ["scope": Self.apiScope])
            for token in ["id_token", "access_token"] {
                let claims = try #require(tokens.claims(token))
                #expect(Self.names(claims["groups"]) == names)
                #expect(claims["wids"] == (hasRoles ? ["f2ef992c-3afb-46b9-b7cf-a126ee74c451"] : nil))
                #expect(claims["_claim_names"] == nil)
            }
            let graph = try await browser.tokens(Self.ada)
            #expect(graph.claims("access_token")?["groups"] == nil, "Graph's tokens are not for clients")
        }
    }

    @Test func `the ID token follows the client, and the access token the API`() async throws {
        try await run(Self.user(roles: ["Web tutorial": ["Tasks.Own"]]), { $0.groupMembershipClaims = .all }) {
            (tenant) async throws in
            let tokens = try await tenant.browser().tokens(
                Self.ada, ["scope": Self.apiScope], client: TestTenant.native)
            #expect(tokens.claims("id_token")?["groups"] == nil)
            #expect(tokens.claims("id_token")?["roles"] == nil)
            #expect(tokens.claims("access_token")?["groups"]?.array?.count == 4)
            #expect(tokens.claims("access_token")?["roles"] == ["Tasks.Own", "Tasks.Team"])
        }
    }

    @Test(arguments: [(200, 200), (201, nil)])
    func `more than 200 groups are in no token, which names the endpoint that is switched off`(
        _ count: Int, _ listed: Int?
    ) async throws {
        var user = Self.user(groups: [])
        user.manyGroups = count
        try await run(user, { $0.groupMembershipClaims = .securityGroup }) { (tenant) async throws in
            let browser = tenant.browser()
            let tokens = try await browser.tokens(Self.ada, ["scope": Self.apiScope])
            for answer in [tokens, try await browser.refresh(tokens.member("refresh_token"))] {
                for token in ["id_token", "access_token"] {
                    let claims = try #require(answer.claims(token))
                    #expect(claims["groups"]?.array?.count == listed)
                    #expect(claims["_claim_names"] == (listed == nil ? ["groups": "src1"] : nil))
                    let id = try #require(claims["oid"]?.string)
                    let endpoint = "https://graph.windows.net/\(Tenant.contoso)/users/\(id)/getMemberObjects"
                    #expect(claims["_claim_sources"]?["src1"]?["endpoint"]?.string == (listed == nil ? endpoint : nil))
                }
            }
        }
    }

    @Test(
        arguments: [
            (ada, "contoso.example", 4, ["Tasks.Own", "Tasks.Team"]),
            (ada, "tailspin.example", nil, ["Tasks.Own", "Tasks.Team"]), ("ada@outlook.example", "common", nil, nil),
            ("ada@fabrikam.example", "fabrikam.example", 4, ["Tasks.Own", "Tasks.Team"]),
        ] as [(String, String, Int?, JSONValue?)])
    func `guests have no groups, personal accounts neither groups nor roles`(
        _ username: String, _ segment: String, _ groups: Int?, _ roles: JSONValue?
    ) async throws {
        try await run(Self.user(username, roles: ["Web tutorial": ["Tasks.Own"]]), { $0.groupMembershipClaims = .all })
        { (tenant) async throws in
            let claims = try await tenant.browser().tokens(username, segment: segment).claims("id_token")
            #expect(claims?["groups"]?.array?.count == groups)
            #expect((claims?["wids"] == nil) == (groups == nil))
            #expect(claims?["roles"] == roles)
        }
    }

    @Test(
        arguments: [
            ([:], [], nil), (["Web tutorial": []], [], nil), (["Web tutorial": ["Tasks.Own"]], [], ["Tasks.Own"]),
            (["Web tutorial": ["Tasks.Off"]], [], ["Tasks.Off"]), ([:], ["Team"], ["Tasks.Team"]),
            (
                ["Web tutorial": ["Tasks.Team", "Tasks.Own"]], ["Unit", "Team"],
                ["Tasks.Team", "Tasks.Own", "Tasks.Unit"]
            ),
            ([:], ["News"], nil),
        ] as [([String: [String]], [String], JSONValue?)])
    func `roles are those of the person, and of groups as their direct member`(
        _ roles: [String: [String]], _ groups: [String], _ expected: JSONValue?
    ) async throws {
        try await run(Self.user(groups: groups, roles: roles)) { (tenant) async throws in
            let tokens = try await tenant.browser().tokens(Self.ada, ["scope": Self.apiScope])
            #expect(tokens.claims("id_token")?["roles"] == expected)
            #expect(tokens.claims("access_token")?["roles"] == expected)
        }
    }

    @Test(
        arguments: [
            ([:], [], false), (["Web tutorial": []], [], true), ([:], ["Team"], true), ([:], ["Parent"], false),
            (["Web tutorial": ["Tasks.Own"]], ["Parent"], true),
        ] as [([String: [String]], [String], Bool)])
    func `an application that requires assignment admits those who are assigned, or a group of theirs`(
        _ roles: [String: [String]], _ groups: [String], _ isAdmitted: Bool
    ) async throws {
        try await TestTenant.run(
            configured: { configuration in
                configuration.clients[0].appRoles = ["Tasks.Own", "Tasks.Team", "Tasks.Unit"]
                configuration.clients[0].assignmentRequired = true
                configuration.users = [Self.user(groups: groups, roles: roles)]
                configuration.groups = Self.groups + [DemoGroup(name: "Parent", memberOf: ["Team"])]
            }
        ) { (tenant) async throws in
            let browser = tenant.browser()
            let password = try await browser.authorize(["login_hint": Self.ada])
            let page = try await browser.submit(password, "password", "demo")
            #expect(page.text.contains("AADSTS50105: ") == !isAdmitted)
            #expect((page.shownField == "consent") == isAdmitted)
            let silent = try await browser.authorize(["prompt": "none"]).callback()
            #expect(silent["error"] == "interaction_required")
            #expect(silent["error_description"]?.hasPrefix("AADSTS\(isAdmitted ? 65001 : 50105): ") == true)
        }
    }

    @Test func `the page for those who are not assigned leads to another account`() async throws {
        try await run(Self.user(groups: ["Unit"]), { $0.assignmentRequired = true }) { (tenant) async throws in
            let browser = tenant.browser()
            let adele = try await browser.authorize(["login_hint": "adele@contoso.example"])
            let page = try await browser.submit(adele, "password", "demo")
            #expect(page.text.contains("<strong>Web tutorial</strong>"))
            #expect(page.text.contains("<dt>Error Code</dt><dd>50105</dd>"))
            let picker = try await browser.submit(page, "username", "")
            let password = try await browser.submit(picker, "username", Self.ada)
            #expect(try await browser.submit(password, "password", "demo").shownField == "consent")
        }
    }

    @Test func `an administrator who is not assigned may consent for others`() async throws {
        try await run(Self.user(), { $0.assignmentRequired = true }) { (tenant) async throws in
            let browser = tenant.browser()
            var page = try await browser.get(
                "/contoso.example/v2.0/adminconsent",
                [("client_id", TestTenant.web.id), ("redirect_uri", TestTenant.web.redirectURIs[0])])
            page = try await browser.submit(page, "username", "adele@contoso.example")
            page = try await browser.submit(page, "password", "demo")
            #expect(try await browser.submit(page, "consent", "accept").callback()["admin_consent"] == "True")
        }
    }

    @Test func `an API that requires assignment is refused on the page and at the token endpoint`() async throws {
        try await run(Self.user(groups: []), { $0.assignmentRequired = true }) { (tenant) async throws in
            let browser = tenant.browser()
            let tokens = try await browser.tokens(Self.ada, client: TestTenant.native)
            #expect(tokens.status == 200, "Graph takes no assignment")
            let page = try await browser.authorize(
                ["scope": Self.apiScope, "prompt": "consent"], client: TestTenant.native)
            #expect(page.text.contains("AADSTS50105: "))
            let token = tokens.member("refresh_token")
            let refused = try await browser.refresh(token, ["scope": Self.apiScope], client: TestTenant.native)
            // It was never consented to either.
            #expect(refused.number == 65001)
            #expect(try await browser.refresh(token, client: TestTenant.native).status == 200)
        }
    }

    @Test(
        arguments: [
            (["api://tasks": ["Run"]], true), (["API://tasks": []], true), ([TestTenant.web.id: []], true),
            ([:], false), (["https://graph.microsoft.com": ["Mail.Read"]], false),
        ])
    func `an application is assigned to an API by a role there, or by an empty list of roles`(
        _ granted: [String: [String]], _ isAssigned: Bool
    ) throws {
        var (api, daemon) = (TestTenant.web, TestTenant.native)
        api.exposes = ["api://tasks": []]
        api.appRoles = ["Run"]
        daemon.applicationRoles = granted
        for isRequired in [true, false] {
            api.assignmentRequired = isRequired
            let registrations = try Registrations([api, daemon], reference: TestTenant.reference.get())
            #expect(registrations.isAssigned(daemon, to: api) == (isAssigned || !isRequired))
        }
    }

    @Test(
        arguments: [
            // An access token of version 1 has the name and the session by itself.
            (nil, [], ["given_name", "sid", "upn"]), ([], [], ["given_name", "sid", "upn"]),
            (["auth_time"], ["auth_time"], ["given_name", "sid", "upn"]),
            (["sid", "login_hint"], ["login_hint", "sid"], ["given_name", "login_hint", "sid", "upn"]),
            (
                ["given_name", "family_name", "upn", "email"], ["email", "family_name", "given_name", "upn"],
                ["email", "family_name", "given_name", "sid", "upn"]
            ),
        ] as [([String]?, [String], [String])])
    func `optional claims are in the tokens for which they are registered`(
        _ registered: [String]?, _ inIDToken: [String], _ inAccessToken: [String]
    ) async throws {
        try await run(
            Self.user(),
            { $0.optionalClaims = registered.map { DemoClient.OptionalClaims(idToken: $0, accessToken: $0) } }
        ) { (tenant) async throws in
            let tokens = try await tenant.browser().tokens(Self.ada, ["scope": Self.apiScope])
            let all = ["auth_time", "email", "family_name", "given_name", "idtyp", "login_hint", "sid", "upn"]
            for (token, expected) in [
                ("id_token", inIDToken.filter { $0 != "idtyp" }), ("access_token", inAccessToken),
            ] {
                let claims = try #require(tokens.claims(token))
                #expect(all.filter { claims[$0] != nil } == expected)
            }
        }
    }

    @Test func `names take the scope profile besides, an address the scope email or the optional claim`() async throws {
        try await run(
            Self.user(), { $0.optionalClaims = DemoClient.OptionalClaims(idToken: ["given_name", "upn"]) }
        ) { (tenant) async throws in
            let browser = tenant.browser()
            for (scope, hasNames) in [("openid", false), ("openid profile", true)] {
                let claims = try await browser.tokens(Self.ada, ["scope": scope]).claims("id_token")
                #expect((claims?["given_name"] != nil) == hasNames)
                #expect((claims?["upn"] != nil) == hasNames)
                #expect(claims?["email"] == nil)
            }
            let claims = try await browser.tokens(Self.ada, ["scope": "openid email"]).claims("id_token")
            #expect(claims?["email"] == .string(Self.ada))
        }
    }
}
