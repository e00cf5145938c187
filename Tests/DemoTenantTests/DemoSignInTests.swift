import Cryptography
import Foundation
import Testing
import WebFormats

@testable import TenantControl
@testable import TenantDirectory
@testable import TenantGraph
@testable import TenantServer
@testable import TenantSignIn

@Suite("Signing in, as curl would do it")
struct DemoSignInTests {
    @Test func `a sign-in goes by picker, password and consent to code, tokens and Graph`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let picker = try await browser.authorize()
            #expect(picker.status == 200)
            for account in DemoAccount.builtIn where account.kind == .work || account.kind == .personal {
                #expect(picker.text.contains("name=\"username\" value=\"\(account.username)\""))
            }
            #expect(!picker.text.contains("fabrikam"))
            let password = try await browser.submit(picker, "username", "adele@contoso.example")
            #expect(password.shownField == "password")
            let consent = try await browser.submit(password, "password", "demo")
            #expect(consent.text.contains("Sign you in and read your profile"))
            let callback = try await browser.submit(consent, "consent", "accept").callback()
            #expect(callback["state"] == "the state / & ü")
            #expect(callback["session_state"] != nil)
            #expect(callback["error"] == nil)

            let answer = try await browser.redeem(callback["code"])
            #expect(answer.status == 200)
            #expect(answer["Cache-Control"] == "no-store")
            #expect(answer.member("token_type") == "Bearer")
            #expect(answer.member("scope") == "openid profile User.Read")
            let lifetime = try #require(answer.json?["expires_in"]?.integer)
            #expect((3600...5400).contains(lifetime))
            #expect(answer.json?["ext_expires_in"]?.integer == lifetime)
            #expect(answer.json?["refresh_in"] == nil)
            #expect(answer.member("refresh_token") != nil)
            let info = Base64URL.decode((answer.member("client_info") ?? "").utf8).flatMap { JSONValue(parsing: $0) }
            #expect(info?["uid"]?.string == "87d349ed-44d7-43e1-9a83-5f2406dee5bd")
            #expect(info?["utid"]?.string == Tenant.contoso)

            let me = try await browser.me(answer.member("access_token"))
            #expect(me.status == 200)
            #expect(me.member("userPrincipalName") == "adele@contoso.example")
        }
    }

    /// An ID token's claims.
    private struct Verified: Decodable {
        var iss: String
        var aud: String
        var sub: String
        var oid: String
        var tid: String
        var ver: String
        var nonce: String?
        var name: String
        var preferred_username: String
        var login_hint: String
        var sid: String
        var uti: String?
        var rh: String?
        var iat: Int
        var nbf: Int
        var exp: Int
    }

    /// Checks the signature with the published key, picked by `kid`.
    private func verify(_ token: String?, with keys: Answer) throws -> Verified {
        let parts = try #require(token).split(separator: ".")
        try #require(parts.count == 3)
        let header = try #require(Base64URL.decode(parts[0].utf8).flatMap { JSONValue(parsing: $0) })
        #expect(header["alg"] == "RS256")
        guard case .array(let all) = keys.json?["keys"] else { throw TestFailure("no keys") }
        let key = try #require(all.first { $0["kid"] == header["kid"] })
        func number(_ name: String) throws -> [UInt8] {
            try #require(Base64URL.decode((key[name]?.string ?? "").utf8))
        }
        let publicKey = try #require(PublicKey(modulus: number("n"), exponent: number("e")))
        let signature = try #require(Base64URL.decode(parts[2].utf8))
        try #require(
            publicKey.isSignature(signature, of: "\(parts[0]).\(parts[1])".utf8, scheme: .rs256))
        return try JSONDecoder().decode(Verified.self, from: Data(try #require(Base64URL.decode(parts[1].utf8))))
    }

    @Test func `the ID token is signed by the published key and has the platform's claims`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let answer = try await browser.tokens("adele@contoso.example")
            let token = try await verify(
                answer.member("id_token"), with: browser.get("/common/discovery/v2.0/keys"))
            let now = Int(tenant.clock.now.timeIntervalSince1970)
            #expect(token.iss == "\(tenant.tenant.baseURL)/\(Tenant.contoso)/v2.0")
            #expect(token.aud == TestTenant.web.id)
            #expect(token.tid == Tenant.contoso)
            #expect(token.ver == "2.0")
            #expect(token.nonce == "the nonce")
            #expect(token.name == "Adele Vance")
            #expect(token.preferred_username == "adele@contoso.example")
            #expect(token.iat == now - 300)
            #expect(token.nbf == now - 300)
            #expect(token.exp == now + 3600)
            #expect(
                !token.sid.isEmpty && token.uti?.isEmpty == false && token.rh?.isEmpty == false
                    && !token.login_hint.isEmpty)
        }
    }

    @Test func `a personal account's token has the consumers' issuer and is signed by the consumers' key`() async throws
    {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let answer = try await browser.tokens("alex@outlook.example")
            let keys = try await browser.get("/consumers/discovery/v2.0/keys")
            let token = try verify(answer.member("id_token"), with: keys)
            #expect(token.tid == "9188040d-6c67-4c5b-b112-36a304b66dad")
            #expect(token.iss == "\(tenant.tenant.baseURL)/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0")
            #expect(try await browser.me(answer.member("access_token")).member("id") == "6d1f0a3b52c48e97")
        }
    }

    @Test func `the subject stays the same at one application and differs at another`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let first = try await browser.tokens("adele@contoso.example").claims("id_token")?["sub"]
            let again = try await tenant.browser().tokens("adele@contoso.example").claims("id_token")?["sub"]
            let native = try await browser.tokens("adele@contoso.example", client: TestTenant.native)
            #expect(first != nil)
            #expect(first == again)
            #expect(native.claims("id_token")?["sub"] != first)
        }
    }

    @Test func `consent is asked for once for each application and account`() async throws {
        try await TestTenant.run { (tenant) async throws in
            func pages(_ username: String, _ client: DemoClient, _ changes: [String: String] = [:]) async throws
                -> [String]
            {
                try await tenant.browser().signIn(username, changes, client: client).pages
            }
            #expect(
                try await pages("adele@contoso.example", TestTenant.web) == ["username", "password", "consent"])
            #expect(try await pages("adele@contoso.example", TestTenant.web) == ["username", "password"])
            #expect(
                try await pages("adele@contoso.example", TestTenant.native) == ["username", "password", "consent"])
            #expect(
                try await pages("megan@contoso.example", TestTenant.web) == ["username", "password", "consent"])
            #expect(
                try await pages("adele@contoso.example", TestTenant.web, ["scope": "openid user.read mail.read"])
                    == ["username", "password", "consent"])
        }
    }

    @Test func `the page names a wrong password, an unknown name and an account of the wrong kind`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let picker = try await browser.authorize(segment: "organizations")
            #expect(!picker.text.contains("alex@outlook.example"))
            let unknown = try await browser.submit(picker, "username", "<nobody>@contoso.example")
            #expect(unknown.text.contains("find an account named \u{201C}&lt;nobody&gt;@contoso.example\u{201D}"))
            let personal = try await browser.submit(unknown, "username", "alex@outlook.example")
            #expect(personal.text.contains("You can\u{2019}t sign in here with a personal account"))
            let password = try await browser.submit(personal, "username", " Adele@Contoso.example ")
            let wrong = try await browser.submit(password, "password", "Demo")
            #expect(wrong.text.contains("Your account or password is incorrect"))
            #expect(wrong["Set-Cookie"] == nil)
            #expect(try await browser.submit(wrong, "password", "demo").shownField == "consent")
            let elsewhere = try await browser.submit(
                browser.authorize(segment: "contoso.example"), "username", "alex@outlook.example")
            #expect(elsewhere.text.contains("AADSTS50020"))
            for name in ["adele@contoso.example", "alex@outlook.example", "customer@fabrikam.example"] {
                let foreign = try await browser.submit(
                    browser.authorize(segment: "tfp/\(Tenant.fabrikamB2CDomain)/b2c_1_susi"), "username", name)
                #expect(foreign.text.contains("find an account named \u{201C}\(name)\u{201D}"), "\(foreign.text)")
                #expect(!foreign.text.contains("work or school"))
            }
        }
    }

    @Test func `declining consent brings access_denied with AADSTS65004`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            var page = try await browser.authorize(["login_hint": "adele@contoso.example"])
            page = try await browser.submit(page, "password", "demo")
            let callback = try await browser.submit(page, "consent", "cancel").callback()
            #expect(callback["error"] == "access_denied")
            #expect(callback["error_subcode"] == nil)
            #expect(callback["error_description"]?.hasPrefix("AADSTS65004: ") == true)
            #expect(callback["state"] == "the state / & ü")
            #expect(callback["code"] == nil)
        }
    }

    @Test func `no step of the sign-in can be skipped`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let picker = try await browser.authorize()
            #expect(try await browser.submit(picker, "consent", "accept").shownField == "username")
            let password = try await browser.submit(picker, "username", "adele@contoso.example")
            #expect(try await browser.submit(password, "consent", "accept").shownField == "password")
            #expect(try await browser.submit(password, "second_factor", "approve").shownField == "password")
        }
    }

    @Test func `response_mode=form_post sends the answer as a form`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            var page = try await browser.authorize(
                ["response_mode": "form_post", "login_hint": "adele@contoso.example"])
            page = try await browser.submit(page, "password", "demo")
            page = try await browser.submit(page, "consent", "accept")
            let (action, fields) = try page.form()
            #expect(action == "http://localhost:8080/auth/callback")
            #expect(page.text.contains("<script src=\"/assets/form-post.js\" defer></script>"))
            let code = fields.first { $0.0 == "code" }?.1
            #expect(fields.contains { $0 == ("state", "the state / &amp; ü") })
            #expect(try await browser.redeem(code).status == 200)
        }
    }

    @Test func `nevena can sign in only after adele has consented for everybody`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            var page = try await browser.authorize(["login_hint": "nevena@contoso.example"])
            page = try await browser.submit(page, "password", "demo")
            #expect(page.text.contains("Need admin approval"))
            #expect(page.text.contains("AADSTS90094"))
            #expect(try await browser.submit(page, "consent", "accept").text.contains("Need admin approval"))
            let back = try await browser.submit(page, "consent", "cancel").callback()
            #expect(back["error"] == "access_denied")
            #expect(back["error_description"]?.hasPrefix("AADSTS90094: ") == true)

            let fields = [
                ("client_id", TestTenant.web.id), ("redirect_uri", "http://localhost:8080/auth/callback"),
                ("scope", "https://graph.microsoft.com/.default"), ("state", "s"),
            ]
            #expect(try await browser.get("/common/v2.0/adminconsent", fields).text.contains("AADSTS50059"))
            let admin = tenant.browser()
            page = try await admin.get("/contoso.example/v2.0/adminconsent", fields)
            page = try await admin.submit(page, "username", "adele@contoso.example")
            page = try await admin.submit(page, "password", "demo")
            #expect(page.text.contains("on behalf of your organization"))
            let answer = try await admin.submit(page, "consent", "accept").callback()
            #expect(
                answer == [
                    "admin_consent": "True", "tenant": Tenant.contoso, "scope": "User.Read", "state": "s",
                ])
            #expect(try await browser.signIn("nevena@contoso.example").pages.isEmpty)
        }
    }

    @Test func `an administrator consents to an administrator's permission, for themselves alone`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let (browser, scope) = (tenant.browser(), ["scope": "openid offline_access User.Read.All"])
            let (answer, pages) = try await browser.signIn("adele@contoso.example", scope)
            #expect(pages == ["username", "password", "consent"])
            let tokens = try await browser.redeem(answer["code"])
            #expect(tokens.member("scope")?.contains("User.Read.All") == true, "\(tokens.text)")
            #expect(try await browser.refresh(tokens.member("refresh_token")).status == 200)
            let silent = try await browser.authorize(scope.merging(["prompt": "none"]) { $1 }).callback()
            #expect(silent["code"] != nil, "\(silent)")

            let other = tenant.browser()
            let page = try await other.authorize(scope.merging(["login_hint": "megan@contoso.example"]) { $1 })
            #expect(try await other.submit(page, "password", "demo").text.contains("Need admin approval"))
        }
    }

    @Test func `mfa signs in without a second factor until the silent call asks for one`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let (answer, pages) = try await browser.signIn("mfa@contoso.example")
            #expect(pages == ["username", "password", "consent"])
            let tokens = try await browser.redeem(answer["code"])
            let refused = try await browser.refresh(tokens.member("refresh_token"))
            #expect(refused.status == 400)
            #expect(refused.member("error") == "invalid_grant")
            #expect(refused.number == 50076)
            let claims = try #require(refused.member("claims"))
            #expect(JSONValue(parsing: claims.utf8)?["access_token"]?["capolids"] != nil)

            let silent = try await browser.authorize(["prompt": "none"]).callback()
            #expect(silent["error"] == "interaction_required")
            #expect(silent["error_description"]?.hasPrefix("AADSTS50076: ") == true)

            let again = try await browser.signIn(
                "mfa@contoso.example", ["claims": claims, "login_hint": "mfa@contoso.example"])
            #expect(again.pages == ["second_factor"])
            let strong = try await browser.redeem(again.answer["code"])
            #expect(strong.claims("access_token")?["amr"] == ["pwd", "mfa"])
            #expect(try await browser.refresh(strong.member("refresh_token")).status == 200)
            #expect(try await browser.refresh(strong.member("refresh_token"), ["claims": claims]).status == 200)
            #expect(try await browser.refresh(tokens.member("refresh_token")).number == 50076)
            #expect(try await browser.authorize(["prompt": "none"]).callback()["code"] != nil)
        }
    }

    /// authz-err-03, captured.
    @Test func `declining the second factor brings access_denied with the subcode alone`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            var page = try await browser.authorize(
                ["claims": SecondFactor.claimsChallenge, "login_hint": "adele@contoso.example"])
            page = try await browser.submit(page, "password", "demo")
            #expect(page.shownField == "second_factor")
            let callback = try await browser.submit(page, "second_factor", "cancel").callback()
            #expect(callback.keys.sorted() == ["error", "error_subcode", "state"])
            #expect(callback["error"] == "access_denied" && callback["error_subcode"] == "cancel")
        }
    }

    @Test func `blocked gets the policy's page with its ids, and can take another account`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            var page = try await browser.authorize(["login_hint": "blocked@contoso.example"])
            page = try await browser.submit(page, "password", "demo")
            #expect(page.text.contains("You cannot access this right now"))
            for text in ["53003", "Trace ID", "Correlation ID", "Timestamp", TestTenant.web.id] {
                #expect(page.text.contains(text))
            }
            #expect(try await browser.submit(page, "username", "").text.contains("Pick an account"))
            // Not signed on: nobody is sent into the wall again.
            #expect(try await browser.authorize().text.contains("Pick an account"))
        }
    }
}
