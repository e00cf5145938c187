import Foundation
import Testing

@testable import DemoTenant

@Suite("What differs between Microsoft's platforms and other providers")
struct OtherProviderTests {
    private static let contoso = "contoso.example"

    private func own(
        _ browser: Browser, _ changes: [String: String] = [:], segment: String = contoso,
        client: DemoClient = TestTenant.web
    ) async throws -> Answer {
        let fields = [
            "grant_type": "client_credentials", "scope": "\(client.id)/.default", "redirect_uri": "",
            "code_verifier": "", "client_info": "",
        ]
        return try await browser.redeem(nil, fields.merging(changes) { $1 }, client: client, segment: segment)
    }

    @Test func `an application's own token is for a resource that exists, and Graph has no /me for it`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            for resource in ["https://graph.microsoft.com", AccessToken.graphAudience] {
                let answer = try await own(browser, ["scope": "\(resource)/.default"])
                let claims = answer.claims("access_token")
                #expect(claims?["aud"] == .string(AccessToken.graphAudience))
                #expect(claims?["tid"] == .string(Tenant.contoso) && claims?["oid"] == claims?["sub"])
                let me = try await browser.me(answer.member("access_token"))
                #expect(me.status == 400 && me.json?["error"]?["code"] == "BadRequest")
                #expect(me.json?["error"]?["message"]?.string?.contains("delegated") == true)
            }
            let ofOwner = try await own(browser, ["scope": "\(OwnAPI.external.audience)/.default"])
            #expect(ofOwner.claims("access_token")?["aud"] == .string(OwnAPI.external.audience))
            let nothing = try await own(browser, ["scope": "api://nothing-registered/.default"])
            #expect(nothing.number == 500011 && nothing.member("error") == "invalid_resource")
        }
    }

    @Test func `an application can get a token of its own, which Graph refuses`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let answer = try await own(browser)
            #expect(answer.status == 200)
            #expect(answer.json?["token_type"] == "Bearer" && answer.json?["expires_in"] == 3600)
            #expect(answer.member("refresh_token") == nil && answer.member("id_token") == nil)
            #expect(try await browser.me(answer.member("access_token")).status == 401)
        }
    }

    @Test(
        arguments: [
            ("wrong secret", ["client_secret": "wrong"], contoso, 7_000_215),
            ("no secret", ["client_secret": ""], contoso, 7_000_218),
            // Before the client is looked at: nothing says in which tenant.
            ("no tenant", [:], "common", 50059),
            ("no tenant, wrong secret", ["client_secret": "wrong"], "common", 50059),
            ("organizations", [:], "organizations", 50059), ("consumers", [:], "consumers", 50059),
            ("no scope", ["scope": ""], contoso, 900144), ("a delegated scope", ["scope": "user.read"], contoso, 70011),
        ] as [(String, [String: String], String, Int)])
    func `a request for an application's own token is refused with the platform's error`(
        _ row: String, _ changes: [String: String], _ segment: String, _ number: Int
    ) async throws {
        try await TestTenant.run { (tenant) async throws in
            #expect(try await own(tenant.browser(), changes, segment: segment).number == number, "\(row)")
        }
    }

    @Test func `a public client gets no token of its own`() async throws {
        try await TestTenant.run { (tenant) async throws in
            #expect(try await own(tenant.browser(), client: TestTenant.native).member("error") == "invalid_client")
        }
    }

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
            #expect(try await revoke(TestTenant.web.secret).status == 404)
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
