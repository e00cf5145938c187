import HTTPTypes
import Testing
import WebFormats

@testable import TenantDirectory
@testable import TenantServer

/// The addresses without `v2.0` (v1disc), which take `resource` for `scope`.
@Suite struct Version1Tests {
    @Test(arguments: ["common", "organizations", "contoso.example", "consumers"])
    func `the metadata lead to addresses of version 1`(_ segment: String) async throws {
        try await TestTenant.run { (tenant) async throws in
            let (browser, base) = (tenant.browser(), tenant.tenant.baseURL)
            let document = try await browser.get("/\(segment)/.well-known/openid-configuration")
            let path = try #require(TenantSegment(segment)?.path)
            let issuer = ["consumers": Tenant.consumers, "contoso.example": Tenant.contoso][segment] ?? "{tenantid}"
            #expect(document.status == 200 && document.member("issuer") == "\(base)/sts/\(issuer)/")
            #expect(document.member("authorization_endpoint") == "\(base)/\(path)/oauth2/authorize")
            #expect(document.member("token_endpoint") == "\(base)/\(path)/oauth2/token")
            #expect(document.member("jwks_uri") == "\(base)/common/discovery/keys")
            #expect(document.json?["microsoft_multi_refresh_token"] == true)
            let keys = try await browser.get("/common/discovery/keys").json?["keys"]?.array ?? []
            #expect(keys.count == 4 && keys.allSatisfy { $0["issuer"] == nil && $0["x5c"] != nil })
        }
    }

    @Test(arguments: [
        "fabrikam.example/.well-known/openid-configuration", "fabrikamb2c.example/b2c_1_susi/oauth2/token",
        "tfp/fabrikamb2c.example/b2c_1_susi/discovery/keys", "fabrikam.example/oauth2/authorize",
        "fabrikam.example/userrealm/customer@fabrikam.example",
    ])
    func `customers' tenants have none, and programs read that as JSON`(_ path: String) async throws {
        try await TestTenant.run { (tenant) async throws in
            let answer = try await tenant.browser().get("/\(path)", headers: [("Accept", "application/json")])
            #expect(answer.status == 404 && answer.member("error") == "not_found")
            let page = try await tenant.browser().get("/\(path)", headers: [("Accept", "text/html")])
            #expect(page.status == 404 && page["Content-Type"] == "text/html; charset=utf-8")
        }
    }

    @Test func `a person signs in for a resource, and a refresh is for it`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let (browser, base) = (tenant.browser(), tenant.tenant.baseURL)
            let web = TestTenant.web
            var page = try await browser.get(
                "/common/oauth2/authorize",
                [
                    ("client_id", web.id), ("redirect_uri", web.webRedirectURIs[0]), ("response_type", "code"),
                    ("resource", "https://graph.microsoft.com/"), ("state", "s"),
                ])
            page = try await browser.submit(page, "username", "adele@contoso.example")
            page = try await browser.submit(page, "password", "demo")
            if page.shownField == "consent" { page = try await browser.submit(page, "consent", "accept") }
            let code = try page.callback()["code"]
            let tokens = try await browser.post(
                "/common/oauth2/token",
                [
                    ("grant_type", "authorization_code"), ("client_id", web.id), ("client_secret", web.secret ?? ""),
                    ("code", code ?? ""), ("redirect_uri", web.webRedirectURIs[0]),
                    ("resource", "https://graph.microsoft.com/"),
                ])
            #expect(tokens.status == 200, "\(tokens.text)")
            #expect(tokens.member("resource") == "https://graph.microsoft.com")
            let lifetime = try #require(tokens.member("expires_in").flatMap { Int($0) })
            #expect((3600...5400).contains(lifetime))
            #expect(tokens.member("expires_on") == String(1_800_000_000 + lifetime))
            let claims = try #require(tokens.claims("id_token"))
            #expect(claims["ver"] == "1.0" && claims["iss"]?.string == "\(base)/sts/\(Tenant.contoso)/")
            #expect(claims["upn"] == "adele@contoso.example" && claims["preferred_username"] == nil)
            #expect(try await browser.me(tokens.member("access_token")).status == 200)
            let again = try await browser.post(
                "/common/oauth2/token",
                [
                    ("grant_type", "refresh_token"), ("client_id", web.id), ("client_secret", web.secret ?? ""),
                    ("refresh_token", tokens.member("refresh_token") ?? ""),
                    ("resource", AccessToken.graphAudience),
                ])
            #expect(again.status == 200 && again.member("scope")?.contains("User.Read") == true, "\(again.text)")
        }
    }

    /// Documented: MicrosoftDocs entra-docs optional-claims-reference.md.
    @Test func `a guest has no upn in an ID token, not even as an optional claim`() async throws {
        try await TestTenant.run(configured: { configuration in
            configuration.clients[0].optionalClaims = DemoClient.OptionalClaims(idToken: ["upn"])
        }) { (tenant) async throws in
            let (browser, web, name) = (tenant.browser(), TestTenant.web, "adele@contoso.example")
            for segment in [Tenant.contosoDomain, Tenant.tailspinDomain] {
                let wanted = segment == Tenant.contosoDomain ? name : nil
                let tokens = try await browser.tokens(name, segment: segment)
                #expect(tokens.claims("id_token")?["upn"]?.string == wanted)
                let older = try await browser.post(
                    "/\(segment)/oauth2/token",
                    [
                        ("grant_type", "refresh_token"), ("client_id", web.id), ("client_secret", web.secret ?? ""),
                        ("refresh_token", tokens.member("refresh_token") ?? ""),
                    ])
                let claims = try #require(older.claims("id_token"))
                #expect(claims["upn"]?.string == wanted && claims["unique_name"]?.string == name, "\(older.text)")
            }
        }
    }

    /// Fact t2-msa-05, captured.
    @Test(arguments: ["common", "consumers"])
    func `a personal account gets nothing at an address of version 1`(_ segment: String) async throws {
        try await TestTenant.run { (tenant) async throws in
            let (browser, web) = (tenant.browser(), TestTenant.web)
            var page = try await browser.get(
                "/\(segment)/oauth2/authorize",
                [
                    ("client_id", web.id), ("redirect_uri", web.webRedirectURIs[0]), ("response_type", "code"),
                    ("resource", "https://graph.microsoft.com"), ("state", "s"),
                ])
            page = try await browser.submit(page, "username", "alex@outlook.example")
            let callback = try await browser.submit(page, "password", "demo").callback()
            #expect(callback["error"] == "invalid_request" && callback["state"] == "s" && callback["code"] == nil)
            let sentence =
                "AADSTS90027: We are unable to issue tokens from this API version on the MSA tenant. Please contact the "
                + "application vendor as they need to use version 2.0 of the protocol to support this. Trace ID: "
            #expect(callback["error_description"]?.hasPrefix(sentence) == true, "\(callback)")
            // The same person may use version 2, but not go on with version 1.
            let code = try await browser.signIn("alex@outlook.example", segment: segment).answer["code"]
            var fields = [
                ("client_id", web.id), ("client_secret", web.secret ?? ""), ("redirect_uri", web.webRedirectURIs[0]),
                ("code_verifier", TestTenant.verifier), ("grant_type", "authorization_code"), ("code", code ?? ""),
            ]
            #expect(try await browser.post("/\(segment)/oauth2/token", fields).number == 90027)
            let tokens = try await browser.redeem(code, segment: segment)
            fields[4] = ("grant_type", "refresh_token")
            fields[5] = ("refresh_token", tokens.member("refresh_token") ?? "")
            #expect(try await browser.post("/\(segment)/oauth2/token", fields).number == 90027)
        }
    }

    @Test func `a personal account gets a code of version 1 where it is a guest`() async throws {
        let (username, web) = ("sam@outlook.example", TestTenant.web)
        try await TestTenant.run(configured: { configuration in
            configuration.users = [DemoUser(username: username, password: "demo", guestOf: [Tenant.contosoDomain])]
        }) { (tenant) async throws in
            let browser = tenant.browser()
            var page = try await browser.get(
                "/contoso.example/oauth2/authorize",
                [
                    ("client_id", web.id), ("redirect_uri", web.webRedirectURIs[0]), ("response_type", "code"),
                    ("resource", "https://graph.microsoft.com"),
                ])
            page = try await browser.submit(page, "username", username)
            page = try await browser.submit(page, "password", "demo")
            if page.shownField == "consent" { page = try await browser.submit(page, "consent", "accept") }
            #expect(try page.callback()["code"] != nil)
        }
    }

    @Test(
        arguments: [
            ("https://graph.microsoft.com", nil), ("https://graph.windows.net/", nil),
            ("https://nothing.example", 500_011),
        ] as [(String, Int?)])
    func `an application gets its own token for a resource`(_ resource: String, _ number: Int?) async throws {
        try await TestTenant.run { (tenant) async throws in
            let answer = try await tenant.browser().post(
                "/contoso.example/oauth2/token",
                [
                    ("grant_type", "client_credentials"), ("client_id", TestTenant.web.id),
                    ("client_secret", TestTenant.web.secret ?? ""), ("resource", resource),
                ])
            #expect(answer.number == number)
            if number == nil { #expect(answer.claims("access_token")?["aud"]?.string == AccessToken.graphAudience) }
        }
    }

    @Test(arguments: [
        ("common", "adele@contoso.example", "Managed"), ("common", "adele@nowhere.example", "Unknown"),
        ("contoso.example", "adele@contoso.example", "Managed"), (Tenant.contoso, "adele@contoso.example", "Managed"),
    ])
    func `no password is sent elsewhere, whichever tenant is asked`(
        _ segment: String, _ user: String, _ kind: String
    ) async throws {
        try await TestTenant.run { (tenant) async throws in
            let answer = try await tenant.browser().get("/\(segment)/userrealm/\(user)?api-version=1.0")
            #expect(answer.status == 200 && answer.member("account_type") == kind)
        }
    }

    @Test(arguments: [
        "common/UserRealm/adele@contoso.example", "Contoso.example/.Well-Known/OpenID-Configuration",
        "Common/V2.0/.well-known/openid-configuration", "common/Discovery/Keys", "common/Discovery/Instance",
        "contoso.example/AdminConsent", "common/OAuth2/Authorize", "common/OAuth2/V2.0/Authorize", "DeviceLogin",
        "common/OAuth2/V2.0/Logout", "TFP/fabrikamb2c.example/B2C_1_SUSI/V2.0/.well-known/openid-configuration",
        "fabrikam.example/V2.0/.Well-Known/OpenID-Configuration",
    ])
    func `addresses are found in capitals, too`(_ path: String) async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let answer = try await browser.get("/\(path)")
            let small = try await browser.get("/\(path.lowercased())")
            #expect(answer.status != 404 && answer.status == small.status)
            #expect(answer["Content-Type"] == small["Content-Type"])
        }
    }

    @Test func `tokens are found in capitals, and the person's name keeps its own`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let realm = try await browser.get("/common/UserRealm/Adele@Contoso.example")
            #expect(realm.member("account_type") == "Managed" && realm.member("domain_name") == "Contoso.example")
            for path in ["contoso.example/OAuth2/Token", "fabrikam.example/OAuth2/V2.0/Token"] {
                let number = try await browser.post("/\(path)", []).number
                let small = try await browser.post("/\(path.lowercased())", []).number
                #expect(number != nil && number == small, "\(path)")
            }
        }
    }

    @Test func `the requests at addresses of version 1 are listed, in whatever case`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            for path in [".well-known/openid-configuration", "discovery/keys", "OAuth2/Authorize", "adminconsent"] {
                _ = try await browser.get("/contoso.example/\(path)", [("client_id", TestTenant.web.id)])
            }
            let client = [("client_id", TestTenant.web.id), ("grant_type", "refresh_token")]
            _ = try await browser.post("/contoso.example/oauth2/token", client)
            _ = try await browser.get("/contoso.example/oauth2/logout", [("client_id", TestTenant.web.id)])
            let clients = try await browser.get("/clients").json?["clients"]?.array
            let listed = clients?.first?["requests"]?.array?.reversed().map { $0["step"] }
            #expect(listed == ["metadata", "keys", "authorize", "admin_consent", "refresh", "sign_out"])
        }
    }
}
