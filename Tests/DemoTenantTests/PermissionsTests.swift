import Testing

@testable import TenantDirectory
@testable import TenantServer

/// The permissions that a registration lists (entra-captures-2: t2-authz-08, t2-authz-09).
@Suite struct PermissionsTests {
    private static let graph = "https://graph.microsoft.com"

    /// An application with two APIs, and one that asks for them.
    private static let api: DemoClient = {
        var client = DemoClient(id: "11111111-aaaa-4bbb-8ccc-00000000000b", name: "API")
        client.exposes = ["api://tasks": ["Tasks.Read", "Tasks.Write"]]
        return client
    }()

    private static func run(
        _ permissions: [String: [String]]?, _ body: @Sendable (TestTenant) async throws -> Void
    ) async throws {
        try await TestTenant.run(
            configured: { configuration in
                configuration.clients[0].permissions = permissions
                configuration.clients[0].exposes = ["api://own": ["Own.Read"]]
                configuration.clients.append(api)
            }, body)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var listed: [String: [String]]?
        var scope: String
        /// The API that is refused, by its name in the request and its ID.
        var refused: (String, String)?
    }

    private static let refusedGraph = (graph, AccessToken.graphAudience)
    private static let refusedTasks = ("api://tasks", api.id)

    @Test(arguments: [
        Row(testDescription: "nothing is said of permissions", scope: "api://tasks/Tasks.Read"),
        Row(
            testDescription: "an API that is listed", listed: ["api://tasks": ["Tasks.Read"]],
            scope: "api://tasks/Tasks.Read"),
        Row(
            testDescription: "an API by its application", listed: [api.id: ["Tasks.Read"]],
            scope: "api://tasks/Tasks.Read"),
        Row(
            testDescription: "a scope of its application's", listed: ["api://tasks": ["Tasks.Read"]],
            scope: "\(api.id)/tasks.read"),
        Row(
            testDescription: "another scope of a listed API", listed: ["api://tasks": ["Tasks.Read"]],
            scope: "api://tasks/Tasks.Write"),
        Row(testDescription: "a listed API without scopes", listed: ["api://tasks": []], scope: "api://tasks/.default"),
        Row(
            testDescription: "another permission of Graph", listed: [graph: ["User.Read"]],
            scope: "https://graph.microsoft.com/Mail.Read"),
        Row(testDescription: "Graph by its ID", listed: [AccessToken.graphAudience: []], scope: "Mail.Read"),
        Row(testDescription: "its own API", listed: [:], scope: "api://own/Own.Read"),
        Row(testDescription: "OpenID Connect's scopes", listed: [:], scope: "openid profile email offline_access"),
        Row(testDescription: "no permission at all", listed: [:], scope: "openid User.Read", refused: refusedGraph),
        Row(
            testDescription: "the permissions of Graph alone", listed: [graph: ["User.Read"]],
            scope: "openid api://tasks/Tasks.Read", refused: refusedTasks),
        Row(
            testDescription: "all of an API", listed: [graph: ["User.Read"]], scope: "api://tasks/.default",
            refused: refusedTasks),
        Row(
            testDescription: "all of Graph", listed: ["api://tasks": ["Tasks.Read"]], scope: ".default",
            refused: refusedGraph),
        Row(
            testDescription: "the permissions of an API alone", listed: ["api://tasks": ["Tasks.Read"]],
            scope: "api://tasks/Tasks.Read User.Read", refused: refusedGraph),
    ])
    func `an API that the registration does not list is refused after the sign-in`(_ row: Row) async throws {
        try await Self.run(row.listed) { (tenant) async throws in
            let browser = tenant.browser()
            let (answer, pages) = try await browser.signIn("megan@contoso.example", ["scope": row.scope])
            guard let (name, id) = row.refused else {
                #expect(answer["code"] != nil && pages == ["username", "password", "consent"], "\(answer)")
                return
            }
            #expect(pages == ["username", "password"])
            #expect(answer["error"] == "invalid_client" && answer["error_uri"] == nil)
            let listed = (row.listed ?? [:]).keys.map { $0 == Self.graph ? AccessToken.graphAudience : Self.api.id }
            let sentence =
                "AADSTS650057: Invalid resource. The client has requested access to a resource which is not listed in the "
                + "requested permissions in the client's application registration. Client app ID: \(TestTenant.web.id)"
                + "(Web tutorial). Resource value from request: \(name). Resource app ID: \(id). List of valid resources "
                + "from app registration: \(listed.joined(separator: ", ")). Trace ID: "
            #expect(answer["error_description"]?.hasPrefix(sentence) == true, "\(answer)")
            // The same without a page, once the person is signed in.
            let silent = try await browser.authorize(["scope": row.scope, "prompt": "none"]).callback()
            #expect(silent["error"] == "invalid_client")
        }
    }

    /// Documented: MicrosoftDocs azure-docs active-directory-b2c/error-codes.md; the word is inferred.
    @Test func `a user flow refuses an API that is not listed with a number of B2C's`() async throws {
        try await Self.run([Self.graph: ["User.Read"]]) { (tenant) async throws in
            let (answer, _) = try await tenant.browser().signIn(
                "b2cuser@fabrikamb2c.example", ["scope": "openid \(OwnAPI.b2c.audience)/demo.read"],
                segment: "tfp/fabrikamb2c.example/b2c_1_susi")
            #expect(answer["error"] == "access_denied" && answer["code"] == nil)
            #expect(answer["error_description"]?.hasPrefix("AADB2C90205: This application does not have ") == true)
        }
    }

    @Test func `an administrator consents for everyone to an application that lists nothing`() async throws {
        try await Self.run([:]) { (tenant) async throws in
            let browser = tenant.browser()
            var page = try await browser.get(
                "/contoso.example/v2.0/adminconsent",
                [("client_id", TestTenant.web.id), ("redirect_uri", TestTenant.web.redirectURIs[0]), ("state", "s")])
            page = try await browser.submit(page, "username", "adele@contoso.example")
            page = try await browser.submit(page, "password", "demo")
            let answer = try await browser.submit(page, "consent", "accept").callback()
            #expect(answer["admin_consent"] == "True" && answer["error"] == nil, "\(answer)")
        }
    }

    @Test func `no grant gets a token for an API that the registration does not list`() async throws {
        try await TestTenant.run(
            configured: { configuration in
                configuration.allowsPasswords = true
                configuration.clients[0].permissions = [Self.graph: ["User.Read"]]
                configuration.clients.append(Self.api)
            }
        ) { (tenant) async throws in
            let (browser, web) = (tenant.browser(), TestTenant.web)
            let scope = ["scope": "api://tasks/Tasks.Read"]
            let usual = ["scope": "openid offline_access User.Read"]
            let code = try await browser.signIn("megan@contoso.example", usual).answer["code"]
            let redeemed = try await browser.redeem(code, scope)
            let tokens = try await browser.redeem(code)
            let renewed = try await browser.refresh(tokens.member("refresh_token"), scope)
            let typed = try await browser.redeem(
                nil,
                [
                    "grant_type": "password", "username": "megan@contoso.example", "password": "demo",
                    "redirect_uri": "", "code_verifier": "",
                ].merging(scope) { $1 }, client: web, segment: "contoso.example")
            for answer in [redeemed, renewed, typed] {
                #expect(answer.number == 650_057 && answer.member("error") == "invalid_client", "\(answer.text)")
                #expect(answer.member("error_uri") == nil)
            }
            #expect(try await browser.refresh(tokens.member("refresh_token")).status == 200)
        }
    }

    @Test func `the default scope means the same at the token endpoint`() async throws {
        try await Self.run([Self.graph: ["Mail.Read"]]) { (tenant) async throws in
            let (browser, scope) = (tenant.browser(), ["scope": "\(Self.graph)/.default offline_access"])
            let code = try await browser.signIn("megan@contoso.example", scope).answer["code"]
            let tokens = try await browser.redeem(code, scope)
            let renewed = try await browser.refresh(tokens.member("refresh_token"), scope)
            for answer in [tokens, renewed] {
                #expect(answer.member("scope") == "\(Self.graph)/Mail.Read \(Self.graph)/.default", "\(answer.text)")
            }
        }
    }

    private static let both = [
        graph: ["User.Read", "mail.read", "openid"], AccessToken.graphAudience: ["user.read"],
        "api://tasks": ["Tasks.Read"],
    ]

    /// `.default` means the permissions of the registration (MicrosoftDocs scopes-oidc.md).
    @Test(
        arguments: [
            (both, "\(graph)/.default openid", "\(graph)/Mail.Read openid \(graph)/User.Read \(graph)/.default"),
            (both, ".default", "Mail.Read User.Read .default"),
            (both, "api://tasks/.default", "api://tasks/Tasks.Read api://tasks/.default"),
            (both, "\(api.id)/.default", "api://tasks/Tasks.Read \(api.id)/.default"),
            (both, "\(api.id)/tasks.WRITE", "api://tasks/Tasks.Write"), ([graph: []], ".default", "User.Read .default"),
            (
                ["api://tasks": []], "api://tasks/.default",
                "api://tasks/Tasks.Read api://tasks/Tasks.Write api://tasks/.default"
            ),
        ] as [([String: [String]], String, String)])
    func `the default scope stands for the permissions that are listed`(
        _ listed: [String: [String]], _ asked: String, _ granted: String
    ) async throws {
        try await Self.run(listed) { (tenant) async throws in
            let tokens = try await tenant.browser().tokens("megan@contoso.example", ["scope": asked])
            #expect(tokens.member("scope") == granted, "\(tokens.text)")
        }
    }

    @Test(
        arguments: [
            (["api://nothing": ["Read"]], "it has permissions of 'api://nothing', and there is no such resource"),
            (["api://tasks": ["Tasks.Raed"]], "'Tasks.Raed' is not a scope of 'api://tasks'"),
            (
                [graph: ["Application.ReadWrite.OwnedBy"]],
                "'Application.ReadWrite.OwnedBy' is not a scope of '\(graph)'"
            ),
        ] as [([String: [String]], String)])
    func `a permission that does not exist ends the start`(_ listed: [String: [String]], _ reason: String) {
        var client = TestTenant.web
        client.permissions = listed
        let error = #expect(throws: DemoTenantError.self) {
            try Registrations([client, Self.api], reference: TestTenant.reference.get())
        }
        #expect(error?.description.contains(reason) == true)
    }
}
