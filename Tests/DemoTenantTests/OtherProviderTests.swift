import Testing

@testable import TenantControl
@testable import TenantDirectory
@testable import TenantGraph
@testable import TenantServer
@testable import TenantSignIn

@Suite("What differs between Microsoft's platforms and other providers")
struct OtherProviderTests {
    @Test func `a refresh for more scopes works at Microsoft's platforms, and fails at other providers`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let refresh = try await browser.tokens("adele@contoso.example").member("refresh_token")
            _ = try await browser.signIn("adele@contoso.example", ["scope": "openid mail.read", "prompt": "consent"])
            #expect(try await browser.refresh(refresh, ["scope": "mail.read"]).status == 200)
            _ = try await browser.control(["generic_provider": true])
            let more = try await browser.refresh(refresh, ["scope": "mail.read"])
            #expect(more.status == 400 && more.member("error") == "invalid_scope")
            #expect(try await browser.refresh(refresh, ["scope": "openid user.read"]).status == 200)
            let same = try await browser.refresh(refresh)
            #expect(same.status == 200 && same.member("access_token") != nil && same.member("scope") == nil)
            _ = try await browser.control(["declined_scope": "profile"])
            #expect(try await browser.refresh(refresh, ["scope": "openid profile"]).member("error") == "invalid_scope")
            #expect(try await browser.refresh(refresh).status == 200)
        }
    }

    @Test func `other providers have a revocation endpoint, which ends a refresh token of the client's own`()
        async throws
    {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let refresh = try await browser.tokens("adele@contoso.example").member("refresh_token")
            let address = "/common/oauth2/v2.0/revoke"
            func revoke(_ secret: String?, client: DemoClient = TestTenant.web) async throws -> Answer {
                let fields = [("client_id", client.id), ("token", refresh ?? "")]
                return try await browser.post(address, fields + (secret.map { [("client_secret", $0)] } ?? []))
            }
            let absent = try await revoke(TestTenant.web.secret)
            #expect(absent.status == 404 && absent.member("error") == "not_found", "programs read JSON")
            let metadata = "/common/v2.0/.well-known/openid-configuration"
            #expect(try await browser.get(metadata).member("revocation_endpoint") == nil)
            _ = try await browser.control(["generic_provider": true])
            #expect(try await browser.get(metadata).member("revocation_endpoint")?.hasSuffix(address) == true)
            #expect(try await revoke("wrong").status == 401)
            #expect(try await revoke(nil, client: TestTenant.native).status == 200, "another's token is left alone")
            #expect(try await browser.refresh(refresh).status == 200)
            #expect(try await browser.count("token_revoked") == 0)
            #expect(try await revoke(TestTenant.web.secret).status == 200)
            #expect(try await browser.refresh(refresh).number == 50173)
            #expect(try await browser.count("token_revoked") == 1)
        }
    }
}
