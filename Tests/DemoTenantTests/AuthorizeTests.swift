import Foundation
import Testing

@testable import TenantControl
@testable import TenantDirectory
@testable import TenantGraph
@testable import TenantServer
@testable import TenantSignIn

@Suite("The authorization endpoint")
struct AuthorizeTests {
    struct PageCase: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var changes: [String: String]
        var segment = "common"
        var number: Int
    }

    @Test(
        arguments: [
            PageCase(testDescription: "no client", changes: ["client_id": ""], number: 900144),
            PageCase(testDescription: "an unknown client", changes: ["client_id": "nobody"], number: 700016),
            PageCase(
                testDescription: "the client ID of an example",
                changes: ["client_id": "00000000-0000-0000-0000-000000000000"], number: 700_038),
            PageCase(testDescription: "no redirect URI", changes: ["redirect_uri": ""], number: 900_971),
            PageCase(
                testDescription: "another path", changes: ["redirect_uri": "http://localhost:8080/auth/callback/"],
                number: 50011),
            PageCase(
                testDescription: "another case", changes: ["redirect_uri": "http://localhost:8080/Auth/callback"],
                number: 50011),
            PageCase(
                testDescription: "a query", changes: ["redirect_uri": "http://localhost:8080/auth/callback?x=1"],
                number: 50011),
            PageCase(
                testDescription: "another host", changes: ["redirect_uri": "http://evil.example/auth/callback"],
                number: 50011),
            PageCase(
                testDescription: "another client's redirect URI",
                changes: ["redirect_uri": "http://localhost:8080/native"], number: 50011),
            // t2-authz-23, captured.
            PageCase(testDescription: "an unknown prompt", changes: ["prompt": "please"], number: 90023),
            PageCase(testDescription: "two prompts", changes: ["prompt": "select_account consent"], number: 90023),
            PageCase(testDescription: "an unknown tenant", changes: [:], segment: "woodgrove.example", number: 90002),
            PageCase(testDescription: "no tenant's name", changes: [:], segment: "woodgrove", number: 900_023),
        ])
    func `a request that cannot be trusted with a redirect gets an error page`(_ row: PageCase) async throws {
        try await TestTenant.run { (tenant) async throws in
            let answer = try await tenant.browser().authorize(row.changes, segment: row.segment)
            #expect(answer.status == 400)
            #expect(answer["Location"] == nil)
            #expect(answer["Content-Type"] == "text/html; charset=utf-8")
            #expect(answer.text.contains("AADSTS\(row.number): "))
            #expect(answer.text.contains("Correlation ID"))
        }
    }

    /// Fact t2-authz-26, captured.
    @Test(arguments: [
        ("common", "AADSTS500113: No reply address is registered for the application."),
        ("tfp/fabrikamb2c.example/b2c_1_susi", "AADB2C90007: The application associated with client id "),
    ])
    func `a client without any redirect URI gets an error page`(_ segment: String, _ text: String) async throws {
        let device = DemoClient(id: "11111111-aaaa-4bbb-8ccc-00000000000d", name: "Device")
        try await TestTenant.run(configured: { $0.clients.append(device) }) { (tenant) async throws in
            for uri in ["http://localhost:8080/auth/callback", ""] {
                let answer = try await tenant.browser().authorize(
                    ["redirect_uri": uri], client: device, segment: segment)
                #expect(answer.status == 400 && answer["Location"] == nil)
                #expect(answer.text.contains(text))
            }
        }
    }

    struct RedirectCase: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var changes: [String: String]
        var error: String
        var number: Int
    }

    @Test(
        arguments: [
            RedirectCase(
                testDescription: "no response type", changes: ["response_type": ""], error: "invalid_request",
                number: 900144),
            RedirectCase(
                testDescription: "an implicit response type", changes: ["response_type": "id_token"],
                error: "unsupported_response_type", number: 700054),
            RedirectCase(
                testDescription: "an unknown response mode", changes: ["response_mode": "pigeon"],
                error: "invalid_request", number: 90023),
            RedirectCase(
                testDescription: "no scope", changes: ["scope": ""], error: "invalid_request", number: 900144),
            RedirectCase(
                testDescription: "a scope that is none", changes: ["scope": "openid a%b"], error: "invalid_scope",
                number: 70011),
            RedirectCase(
                testDescription: "a resource that is not the one of the scopes",
                changes: ["resource": "https://mcp.example.com/mcp"], error: "invalid_target", number: 9_010_010),
            RedirectCase(
                testDescription: "a method without a code challenge", changes: ["code_challenge": ""],
                error: "invalid_request", number: 501491),
            RedirectCase(
                testDescription: "an unknown method", changes: ["code_challenge_method": "S512"],
                error: "invalid_request", number: 90023),
            RedirectCase(
                testDescription: "a short code challenge", changes: ["code_challenge": "abc"],
                error: "invalid_request", number: 501491),
            RedirectCase(
                testDescription: "a short plain code challenge",
                changes: ["code_challenge": String(repeating: "a", count: 42), "code_challenge_method": "plain"],
                error: "invalid_request", number: 501491),
            RedirectCase(
                testDescription: "a plain code challenge with other characters",
                changes: ["code_challenge": String(repeating: "a", count: 43) + "+", "code_challenge_method": ""],
                error: "invalid_request", number: 501491),
            RedirectCase(
                testDescription: "claims that are not JSON", changes: ["claims": "{"], error: "invalid_request",
                number: 9_002_313),
            RedirectCase(
                testDescription: "prompt=none without a session", changes: ["prompt": "none"],
                error: "login_required", number: 50058),
        ])
    func `other mistakes are reported to the application`(_ row: RedirectCase) async throws {
        try await TestTenant.run { (tenant) async throws in
            let callback = try await tenant.browser().authorize(row.changes).callback()
            #expect(callback["error"] == row.error)
            #expect(callback["state"] == "the state / & ü")
            let description = try #require(callback["error_description"])
            #expect(description.hasPrefix("AADSTS\(row.number): "))
            #expect(description.contains(#/ Trace ID: [0-9a-f-]{36} Correlation ID: [0-9a-f-]{36} Timestamp: /#))
            #expect(description.hasSuffix(" Timestamp: 2027-01-15 08:00:00Z"))
        }
    }

    struct UnknownCase: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var scope: String
        var username = "megan@contoso.example"
        var error = "invalid_client"
        /// The beginning of the description.
        var sentence: String
        var hasPage = false
    }

    private static let unknownID = "99999999-aaaa-4bbb-8ccc-000000000000"
    private static func unknownResource(_ name: String, _ tenant: String) -> String {
        "AADSTS500011: The resource principal named \(name) was not found in the tenant named \(tenant). This can happen if "
            + "the application has not been installed by the administrator of the tenant or consented to by any user in "
            + "the tenant. You might have sent your authentication request to the wrong tenant. "
    }
    private static func unknownScope(_ scope: String, _ resource: String) -> String {
        "AADSTS650053: The application 'Web tutorial' asked for scope '\(scope)' that doesn't exist on the resource "
            + "'\(resource)'. Contact the app vendor. "
    }

    /// Facts authz-err-13, t2-authz-06, t2-authz-07 and t2-authz-25, captured.
    @Test(arguments: [
        UnknownCase(
            testDescription: "a resource", scope: "openid api://other/read", error: "invalid_resource",
            sentence: unknownResource("api://other", "Contoso"), hasPage: true),
        UnknownCase(
            testDescription: "a resource, for a personal account", scope: "openid api://other/read",
            username: "alex@outlook.example", error: "invalid_resource",
            sentence: unknownResource("api://other", Tenant.consumers), hasPage: true),
        UnknownCase(
            testDescription: "the ID of no application", scope: "openid \(unknownID)/.default",
            error: "invalid_resource", sentence: unknownResource(unknownID, "Contoso"), hasPage: true),
        UnknownCase(
            testDescription: "a scope of Graph", scope: "openid User.Raed",
            sentence: unknownScope("User.Raed", AccessToken.graphAudience)),
        UnknownCase(
            testDescription: "a scope of Graph by its address", scope: "https://graph.microsoft.com/User.Raed",
            sentence: unknownScope("User.Raed", AccessToken.graphAudience)),
        UnknownCase(
            testDescription: "a scope of an API", scope: "api://tasks/Tasks.Raed User.Read",
            sentence: unknownScope("Tasks.Raed", TestTenant.web.id)),
        UnknownCase(
            testDescription: "a scope of an API by its application", scope: "\(TestTenant.web.id)/Tasks.Raed",
            sentence: unknownScope("Tasks.Raed", TestTenant.web.id)),
    ])
    func `what does not exist is reported to the application after the sign-in`(_ row: UnknownCase) async throws {
        try await TestTenant.run(configured: { configuration in
            configuration.clients[0].exposes = ["api://tasks": ["Tasks.Read"]]
        }) { (tenant) async throws in
            let browser = tenant.browser()
            let (answer, pages) = try await browser.signIn(row.username, ["scope": row.scope])
            #expect(pages == ["username", "password"])
            // Now that the person is signed in, no page is needed for it.
            let silent = try await browser.authorize(["scope": row.scope, "prompt": "none"]).callback()
            for callback in [answer, silent] {
                #expect(callback["error"] == row.error && callback["state"] == "the state / & ü")
                #expect(callback["error_description"]?.hasPrefix(row.sentence) == true, "\(callback)")
                #expect(
                    callback["error_uri"] == (row.hasPage ? "\(tenant.tenant.baseURL)/error?code=500011" : nil))
            }
        }
    }

    @Test(arguments: [
        ("https://graph.microsoft.com", "User.Read"), ("https://graph.microsoft.com/", "openid User.Read"),
        ("https://mcp.example.com/mcp", "openid profile"),
    ])
    func `a resource that the scopes do not contradict is accepted`(_ resource: String, _ scope: String) async throws {
        try await TestTenant.run { (tenant) async throws in
            let page = try await tenant.browser().authorize(["resource": resource, "scope": scope])
            #expect(page.shownField == "username")
        }
    }

    @Test(
        arguments: [
            ("http://localhost:8081/auth/callback", true), ("http://localhost/auth/callback", true),
            ("http://localhost:65535/auth/callback", true), ("http://localhost:65536/auth/callback", false),
            ("http://localhost:/auth/callback", false), ("https://localhost:8080/auth/callback", false),
            ("http://localhost:8081/auth/callback/", false), ("http://localhost:8081/native", false),
            ("http://localhost:8080@evil.example/auth/callback", false),
            ("http://localhost.evil.example/auth/callback", false), ("http://127.0.0.1:8080/auth/callback", false),
        ])
    func `only the port of a localhost redirect URI may differ`(_ redirectURI: String, _ isAccepted: Bool) async throws
    {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let answer = try await browser.authorize(["redirect_uri": redirectURI])
            #expect((answer.shownField == "username") == isAccepted)
            #expect(answer.text.contains("AADSTS50011: ") != isAccepted)
            guard isAccepted else { return }
            // The code belongs to the very address that it went to.
            let code = try await browser.signIn("adele@contoso.example", ["redirect_uri": redirectURI]).answer["code"]
            #expect(try await browser.redeem(code).number == 500112)
            #expect(try await browser.redeem(code, ["redirect_uri": redirectURI]).status == 200)
        }
    }

    @Test func `other redirect URIs are compared with their port`() {
        var client = TestTenant.web
        client.webRedirectURIs = ["https://app.example:8443/callback"]
        #expect(client.redirectClass(of: "https://app.example:8443/callback") == .web)
        #expect(client.redirectClass(of: "https://app.example/callback") == nil)
        #expect(client.redirectClass(of: "https://app.example:8444/callback") == nil)
    }

    @Test func `a code challenge is demanded of single-page applications alone`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let without = ["code_challenge": "", "code_challenge_method": ""]
            let callback = try await tenant.browser().authorize(without, client: TestTenant.script).callback()
            #expect(callback["error"] == "invalid_request")
            // Fact t2-tok-15, captured.
            let sentence =
                "AADSTS9002325: Proof Key for Code Exchange is required for cross-origin authorization code redemption. "
            #expect(callback["error_description"]?.hasPrefix(sentence) == true, "\(callback)")
            for client in [TestTenant.web, TestTenant.native] {
                #expect(try await tenant.browser().authorize(without, client: client).shownField == "username")
            }
        }
    }

    @Test func `a repeated parameter is refused`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let fields = Browser.authorization(TestTenant.web) + [("scope", "openid")]
            let answer = try await tenant.browser().get("/common/oauth2/v2.0/authorize", fields)
            #expect(answer.text.contains("AADSTS9000410"))
        }
    }

    @Test func `the request may be a form, and the caller's correlation id is kept`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let id = "6f9619ff-8b86-d011-b42d-00c04fc964ff"
            let answer = try await tenant.browser().post(
                "/common/oauth2/v2.0/authorize", Browser.authorization(TestTenant.web, ["prompt": "none"]),
                headers: [("client-request-id", id)])
            #expect(try answer.callback()["error_description"]?.contains("Correlation ID: \(id) ") == true)
        }
    }

    @Test func `single sign-on and prompt decide which pages are shown`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            func pages(_ changes: [String: String]) async throws -> [String] {
                try await browser.signIn("adele@contoso.example", changes).pages
            }
            #expect(try await pages([:]) == ["username", "password", "consent"])
            #expect(try await pages([:]) == [])
            #expect(try await pages(["prompt": "none"]) == [])
            #expect(try await pages(["prompt": "select_account"]) == ["username"])
            #expect(try await pages(["prompt": "login"]) == ["username", "password"])
            #expect(try await pages(["prompt": "login", "login_hint": "adele@contoso.example"]) == ["password"])
            #expect(try await pages(["prompt": "consent"]) == ["consent"])
            #expect(try await pages(["login_hint": "adele@contoso.example"]) == [])

            let unconsented = try await browser.authorize(["prompt": "none", "scope": "openid mail.read"]).callback()
            #expect(unconsented["error"] == "interaction_required")
            #expect(unconsented["error_description"]?.hasPrefix("AADSTS65001: ") == true)

            _ = try await browser.signIn("megan@contoso.example", ["prompt": "select_account"])
            let ambiguous = try await browser.authorize(["prompt": "none"]).callback()
            #expect(ambiguous["error"] == "interaction_required")
            #expect(ambiguous["error_description"]?.hasPrefix("AADSTS16000: ") == true)
            #expect(try await pages([:]) == ["username"])
            let hinted = try await browser.authorize(["prompt": "none", "login_hint": "megan@contoso.example"])
            let claims = try await browser.redeem(hinted.callback()["code"]).claims("id_token")
            #expect(claims?["preferred_username"] == "megan@contoso.example")
            // The optional claim login_hint works as the hint, too.
            let byClaim = try await browser.authorize(
                ["prompt": "none", "login_hint": claims?["login_hint"]?.string ?? ""])
            #expect(try byClaim.callback()["code"] != nil)
            let other = try await browser.authorize(["prompt": "none", "login_hint": "alex@outlook.example"])
            #expect(try other.callback()["error"] == "login_required")
        }
    }

    @Test func `login_hint leads to the password, and domain_hint narrows the choice`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let hinted = try await browser.authorize(["login_hint": "megan@contoso.example"])
            #expect(hinted.shownField == "password")
            #expect(hinted.text.contains("megan@contoso.example"))
            let consumers = try await browser.authorize(["domain_hint": "consumers"])
            #expect(consumers.text.contains("alex@outlook.example"))
            #expect(!consumers.text.contains("adele@contoso.example\""))
            let unknown = try await browser.authorize(["login_hint": "nobody@contoso.example"])
            #expect(unknown.text.contains("find an account named"))
        }
    }

    @Test func `a sign-in page is good for an hour, and only as it was sent`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let picker = try await browser.authorize()
            #expect(
                try await browser.post("/common/login", [("flow", "forged"), ("username", "x")]).text.contains(
                    "AADSTS165000"))
            tenant.clock.advance(3601)
            #expect(
                try await browser.submit(picker, "username", "adele@contoso.example").text.contains("AADSTS165000"))
        }
    }

    @Test func `single sign-on ends after a day`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            _ = try await browser.signIn("adele@contoso.example")
            tenant.clock.advance(24 * 3600 - 1)
            #expect(try await browser.authorize(["prompt": "none"]).callback()["code"] != nil)
            tenant.clock.advance(2)
            #expect(try await browser.authorize(["prompt": "none"]).callback()["error"] == "login_required")
        }
    }
}
