import Foundation
import Testing
import WebFormats

@testable import TenantControl
@testable import TenantDirectory
@testable import TenantGraph
@testable import TenantServer
@testable import TenantSignIn

@Suite("Registered applications")
struct RegistrationTests {
    /// One redemption: by which class of redirect URI the code came, and how it is redeemed.
    struct Redemption: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var redirectURI: String
        var secret: String?
        var origin: String?
        /// nil for tokens.
        var number: Int?
        var error: String?
        var status = 200
    }

    /// Has redirect URIs of every class, and a secret.
    private static let mixed = DemoClient(
        id: "11111111-aaaa-4bbb-8ccc-000000000009", name: "Mixed", secret: "s", web: ["http://localhost:1/web"],
        spa: ["http://localhost:2/spa"], native: ["msauth.com.contoso.mixed://auth"])

    @Test(
        arguments: [
            Redemption(testDescription: "web with its secret", redirectURI: "http://localhost:1/web", secret: "s"),
            Redemption(
                testDescription: "web without a secret", redirectURI: "http://localhost:1/web", number: 7_000_218,
                error: "invalid_client", status: 401),
            Redemption(
                testDescription: "web by a script", redirectURI: "http://localhost:1/web", secret: "s",
                origin: "http://localhost:1", number: 9_002_326, error: "invalid_request", status: 400),
            Redemption(
                testDescription: "spa by its script", redirectURI: "http://localhost:2/spa",
                origin: "http://localhost:2"),
            Redemption(
                testDescription: "spa by a server", redirectURI: "http://localhost:2/spa", number: 9_002_327,
                error: "invalid_request", status: 400),
            Redemption(
                testDescription: "spa with a secret", redirectURI: "http://localhost:2/spa", secret: "s",
                origin: "http://localhost:2", number: 9_002_326, error: "invalid_request", status: 400),
            Redemption(
                testDescription: "spa by a server with a secret", redirectURI: "http://localhost:2/spa", secret: "s",
                number: 9_002_327, error: "invalid_request", status: 400),
            Redemption(testDescription: "native", redirectURI: "msauth.com.contoso.mixed://auth"),
            Redemption(
                testDescription: "native with a secret", redirectURI: "msauth.com.contoso.mixed://auth", secret: "s",
                number: 700025, error: "invalid_client", status: 401),
            Redemption(
                testDescription: "native by a script", redirectURI: "msauth.com.contoso.mixed://auth",
                origin: "http://localhost:2", number: 9_002_326, error: "invalid_request", status: 400),
            // The ports are those of another run, and the class is that of the URI all the same.
            Redemption(
                testDescription: "spa at another port", redirectURI: "http://localhost:9/spa", secret: "s",
                number: 9_002_327, error: "invalid_request", status: 400),
        ])
    func `a code and its refresh token are redeemed as the class of the redirect URI demands`(
        _ row: Redemption
    ) async throws {
        try await TestTenant.run(configured: { $0.clients.append(Self.mixed) }) { (tenant) async throws in
            let browser = tenant.browser()
            let (callback, _) = try await browser.signIn(
                "adele@contoso.example", ["redirect_uri": row.redirectURI], client: Self.mixed)
            let changes = ["redirect_uri": row.redirectURI, "client_secret": row.secret ?? ""]
            let headers = row.origin.map { [("Origin", $0)] } ?? []
            let answer = try await browser.redeem(callback["code"], changes, client: Self.mixed, headers: headers)
            #expect(answer.status == row.status)
            #expect(answer.number == row.number)
            #expect(answer.member("error") == row.error)
            guard row.number == nil else { return }
            let renewed = try await browser.redeem(
                nil,
                [
                    "grant_type": "refresh_token", "refresh_token": answer.member("refresh_token") ?? "",
                    "redirect_uri": "", "code_verifier": "", "client_secret": row.secret ?? "",
                ], client: Self.mixed, headers: headers)
            #expect(renewed.status == 200)
        }
    }

    @Test func `the refresh tokens of a single-page application end after a day, renewed or not`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let origin = [("Origin", "http://localhost:8080")]
            func refresh(_ token: String?) async throws -> Answer {
                try await browser.redeem(
                    nil,
                    [
                        "grant_type": "refresh_token", "refresh_token": token ?? "", "redirect_uri": "",
                        "code_verifier": "",
                    ], client: TestTenant.script, headers: origin)
            }
            let (callback, _) = try await browser.signIn("adele@contoso.example", client: TestTenant.script)
            let first = try await browser.redeem(callback["code"], client: TestTenant.script, headers: origin)
            tenant.clock.advance(23 * 3600)
            let second = try await refresh(first.member("refresh_token"))
            #expect(second.status == 200)
            tenant.clock.advance(3600 + 1)
            let third = try await refresh(second.member("refresh_token"))
            #expect(third.number == 700084)
            #expect(third.member("error") == "invalid_grant" && third.member("suberror") == "bad_token")
        }
    }

    @Test func `scripts may read what they need, at the token endpoint only those of a single-page application`()
        async throws
    {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let allowed = "Access-Control-Allow-Origin"
            for path in [
                "/common/v2.0/.well-known/openid-configuration", "/common/discovery/v2.0/keys", "/v1.0/me",
                "/oidc/userinfo",
            ] {
                #expect(try await browser.get(path, headers: [("Origin", "http://evil.example")])[allowed] == "*")
            }
            for (origin, isAllowed) in [
                ("http://localhost:8080", true), ("http://localhost:1", true), ("http://evil.example", false),
            ] {
                let headers = [("Origin", origin)]
                let answer = try await browser.redeem("x", client: TestTenant.script, headers: headers)
                #expect(answer[allowed] == (isAllowed ? origin : nil))
                let asked = headers + [("Access-Control-Request-Headers", "client-request-id")]
                let preflight = try await browser.send("OPTIONS", "/common/oauth2/v2.0/token", asked)
                #expect(preflight[allowed] == (isAllowed ? origin : nil))
                #expect(preflight["Access-Control-Allow-Headers"] == (isAllowed ? "client-request-id" : nil))
            }
            // The browser does not show it what its application did wrong.
            let web = try await browser.redeem(
                "x", client: TestTenant.web, headers: [("Origin", "http://localhost:8080")])
            #expect(web.status == 400 && web[allowed] == nil)
            let preflight = try await browser.send(
                "OPTIONS", "/v1.0/me",
                [("Origin", "http://evil.example"), ("Access-Control-Request-Headers", "authorization")])
            #expect(preflight["Access-Control-Allow-Headers"] == "authorization")
        }
    }

    @Test(arguments: [
        "common/v2.0/.well-known/openid-configuration", "common/discovery/v2.0/keys", "common/discovery/instance",
        "contoso.example/.well-known/openid-configuration", "common/discovery/keys",
    ])
    func `a script that asks whether it may read metadata gets the answer to that alone`(_ path: String) async throws {
        try await TestTenant.run { (tenant) async throws in
            let asked = [("Origin", "http://page.example"), ("Access-Control-Request-Headers", "client-request-id")]
            let answer = try await tenant.browser().send("OPTIONS", "/\(path)", asked)
            #expect(answer.status == 204 && answer.body.isEmpty)
            #expect(answer["Access-Control-Allow-Origin"] == "*")
            #expect(answer["Access-Control-Allow-Methods"] == "GET, OPTIONS")
            #expect(answer["Access-Control-Allow-Headers"] == "client-request-id")
        }
    }

    @Test(
        arguments: [
            (["contoso.example"], "contoso.example", nil), (["contoso.example"], "tailspin.example", 700016),
            (["contoso.example"], "fabrikam.example", 700016), (["contoso.example"], "common", 50194),
            (["contoso.example", "tailspin.example"], "common", nil),
            (["contoso.example", "tailspin.example"], "tailspin.example", nil),
            (["contoso.example"], "tfp/fabrikamb2c.example/b2c_1_susi", 700016),
            (["fabrikamb2c.example"], "tfp/fabrikamb2c.example/b2c_1_susi", nil),
            (["outlook.example"], "consumers", nil), (["outlook.example"], "common", 9_002_331),
            (["outlook.example"], "organizations", 9_002_331), (["contoso.example"], "consumers", 9_002_332),
            (["contoso.example", "tailspin.example"], "consumers", 9_002_332),
        ] as [([String], String, Int?)])
    func `an application is known in its tenants only`(_ tenants: [String], _ segment: String, _ number: Int?)
        async throws
    {
        try await TestTenant.run(configured: { configuration in
            configuration.clients[0].tenants = Set(tenants)
        }) { (tenant) async throws in
            let browser = tenant.browser()
            let page = try await browser.authorize(segment: segment)
            #expect((page.shownField == "username") == (number == nil))
            #expect(page["Location"] == nil)
            // B2C says both with numbers of its own.
            if let number {
                #expect(page.text.contains(segment.hasPrefix("tfp/") ? "AADB2C90018: " : "AADSTS\(number): "))
            }
            let answer = try await browser.redeem("x", segment: segment)
            let malformed = segment == "consumers" ? 70000 : 9_002_313
            #expect(answer.number == (segment.hasPrefix("tfp/") ? nil : number ?? malformed))
        }
    }

    /// Facts t2-tok-04 and tok-err-kinds-09, captured.
    @Test(arguments: [
        ("contoso.example", "Contoso"), (Tenant.tailspin, "Tailspin"), ("common", "Contoso"),
        ("consumers", Tenant.consumers), (Tenant.consumers, Tenant.consumers),
    ])
    func `an unknown application is not found in the directory by the name that people see`(
        _ segment: String, _ directory: String
    ) async throws {
        try await TestTenant.run { (tenant) async throws in
            let unknown = DemoClient(id: "99999999-aaaa-4bbb-8ccc-000000000000", name: "", secret: "x")
            let answer = try await tenant.browser().redeem("x", client: unknown, segment: segment)
            let sentence =
                "AADSTS700016: Application with identifier '\(unknown.id)' was not found in the directory '\(directory)'. "
                + "This can happen if the application has not been installed by the administrator of the tenant or "
                + "consented to by any user in the tenant. You may have sent your authentication request to the wrong "
                + "tenant. Trace ID: "
            #expect(answer.member("error_description")?.hasPrefix(sentence) == true, "\(answer.text)")
        }
    }

    @Test func `errors that mean an unknown application or address are shown here, all others are sent back`()
        async throws
    {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            for (number, isShown) in [(50011, true), (700016, true), (50194, false), (70011, false), (500112, false)] {
                _ = try await browser.control(["authorize_platform_error": .integer(number)])
                let answer = try await browser.authorize()
                #expect(answer.text.contains("AADSTS\(number): ") == isShown)
                #expect((answer["Location"] == nil) == isShown)
            }
        }
    }

    @Test func `Microsoft's samples sign in, and out, with a custom scheme`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            for sample in DemoClient.samples.prefix(2) {
                let back = sample.redirectURIs[0]
                let (callback, _) = try await browser.signIn(
                    "adele@contoso.example",
                    ["scope": "https://graph.microsoft.com/user.read openid profile offline_access"], client: sample)
                let tokens = try await browser.redeem(callback["code"], client: sample)
                #expect(tokens.member("scope") == "openid profile https://graph.microsoft.com/User.Read")
                #expect(tokens.member("client_info") != nil)
                #expect(try await browser.me(tokens.member("access_token"), path: "/v1.0/me/").status == 200)
                let out = try await browser.get(
                    "/common/oauth2/v2.0/logout", [("post_logout_redirect_uri", back), ("state", "s")])
                #expect(out["Location"] == "\(back)?state=s")
            }
            let b2c = DemoClient.samples[2]
            let scope = "https://fabrikamb2c.onmicrosoft.com/helloapi/demo.read"
            let tokens = try await browser.tokens(
                "b2cuser@fabrikamb2c.example", ["scope": "\(scope) openid profile offline_access"], client: b2c,
                segment: "tfp/fabrikamb2c.onmicrosoft.com/b2c_1_susi")
            #expect(tokens.member("scope") == scope)
            #expect(try await browser.me(tokens.member("access_token"), path: "/api/b2c").status == 200)
        }
    }

    @Test(arguments: [
        ("http://localhost", "http://localhost/?"), ("http://localhost:1?a=/", "http://localhost:1/?a=/&"),
        ("http://localhost/x", "http://localhost/x?"), ("httpx://y", "httpx://y?"),
    ])
    func `an answer in the query has a path before it, and its brackets stay plain`(
        _ uri: String, _ start: String
    ) async throws {
        try await TestTenant.run(configured: { $0.clients[1].nativeRedirectURIs = [uri] }) { (tenant) async throws in
            let changes = ["redirect_uri": uri, "max_age": "a(b)"]
            let answer = try await tenant.browser().authorize(changes, client: TestTenant.native)
            #expect(answer["Location"]?.hasPrefix(start + "error=") == true)
            #expect(answer["Location"]?.contains("%27a(b)%27") == true)
        }
    }

    @Test func `after a sign-out another application's address is no address to return to`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let back = ("post_logout_redirect_uri", "msauth.com.contoso.tasks://auth")
            for (client, location) in [(TestTenant.native, back.1), (TestTenant.web, nil)] {
                let answer = try await browser.get("/common/oauth2/v2.0/logout", [back, ("client_id", client.id)])
                #expect(answer["Location"] == location)
            }
        }
    }

    @Test(
        arguments: [
            ("api://tasks/tasks.read openid", "api://tasks/Tasks.Read", "api://tasks"),
            ("API://TASKS/Tasks.Read", "api://tasks/Tasks.Read", "api://tasks"),
            (
                "api://tasks/.default", "api://tasks/Tasks.Read api://tasks/Tasks.Write api://tasks/.default",
                "api://tasks"
            ),
            ("user.read", "User.Read", AccessToken.graphAudience),
            (
                "https://graph.microsoft.com/.default openid",
                "openid https://graph.microsoft.com/User.Read https://graph.microsoft.com/.default",
                AccessToken.graphAudience
            ),
            (
                "https://graph.microsoft.com/Mail.Read User.Read", "https://graph.microsoft.com/Mail.Read User.Read",
                AccessToken.graphAudience
            ),
        ])
    func `the answer lists the scopes in the form in which they were asked`(
        _ asked: String, _ listed: String, _ audience: String
    ) async throws {
        try await TestTenant.run(configured: { configuration in
            configuration.clients[0].exposes = ["api://tasks": ["Tasks.Read", "Tasks.Write"]]
        }) { (tenant) async throws in
            let tokens = try await tenant.browser().tokens("adele@contoso.example", ["scope": asked])
            #expect(tokens.member("scope") == listed)
            #expect(tokens.claims("access_token")?["aud"]?.string == audience)
        }
    }

    /// Granted roles at a resource that is named in two ways, and asks for its own.
    private static let daemon: DemoClient = {
        var client = mixed
        client.exposes = ["api://mixed": ["Read"]]
        client.appRoles = ["Run", DemoClient.AppRole(value: "Walk", allowed: [.user])]
        client.applicationRoles = [
            "https://graph.microsoft.com": ["User.Read.All"],
            AccessToken.graphAudience: ["Mail.Read", "User.Read.All"],
            "API://mixed": ["Run"],
        ]
        return client
    }()

    @Test(
        arguments: [
            (AccessToken.graphAudience, ["Mail.Read", "User.Read.All"]),
            ("https://graph.microsoft.com", ["Mail.Read", "User.Read.All"]), ("api://mixed", ["Run"]),
            (mixed.id.uppercased(), ["Run"]), (TestTenant.web.id, []), (OwnAPI.external.audience, []),
            ("api://nothing", nil), ("11111111-aaaa-4bbb-8ccc-00000000000f", nil),
        ])
    func `an application has the roles that it was granted at a resource`(_ audience: String, _ roles: [String]?)
        throws
    {
        let registrations = try Registrations([Self.daemon, TestTenant.web], reference: TestTenant.reference.get())
        #expect(registrations.roles(of: Self.daemon, at: audience) == roles)
        #expect(registrations.roles(of: TestTenant.web, at: audience) == roles.map { _ in [] })
    }

    @Test(
        arguments: [
            (["api://nothing": ["Run"]], "there is no such resource"),
            (["api://mixed": ["Walk"]], "'Walk' is not an app role of 'api://mixed' for applications"),
            (["https://graph.microsoft.com": ["User.Read"]], "'User.Read' is not an app role"),
        ])
    func `a role that cannot be granted to an application ends the start`(
        _ granted: [String: [String]], _ reason: String
    ) {
        var client = Self.daemon
        client.applicationRoles = granted
        let error = #expect(throws: DemoTenantError.self) {
            try Registrations([client], reference: TestTenant.reference.get())
        }
        #expect(error?.description.contains(reason) == true)
    }

    @Test func `an application, its registration and its service principal have different IDs`() throws {
        let registrations = try Registrations([Self.daemon], reference: TestTenant.reference.get())
        let ids = [
            Self.daemon.id, registrations.servicePrincipalID(of: Self.daemon),
            registrations.applicationObjectID(of: Self.daemon),
        ]
        #expect(Set(ids).count == 3)
        #expect(ids.allSatisfy { UUID(uuidString: $0) != nil })
    }

    @Test func `an ID made from a name stays the same`() {
        #expect(DemoClient.id(for: "com.contoso.tasks") == DemoClient.id(for: "com.contoso.tasks"))
        #expect(DemoClient.id(for: "com.contoso.tasks") != DemoClient.id(for: "com.contoso.notes"))
        #expect(UUID(uuidString: DemoClient.id(for: "com.contoso.tasks")) != nil)
    }
}
