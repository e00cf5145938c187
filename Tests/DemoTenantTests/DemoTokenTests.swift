import Foundation
import Testing
import WebFormats

@testable import TenantControl
@testable import TenantDirectory
@testable import TenantGraph
@testable import TenantServer
@testable import TenantSignIn

@Suite("The token endpoint")
struct DemoTokenTests {
    struct Refusal: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var changes: [String: String]
        var status = 400
        var error: String
        var number: Int
        var client = TestTenant.web
        var segment = "common"
    }

    @Test(
        arguments: [
            Refusal(
                testDescription: "no grant type", changes: ["grant_type": ""], error: "invalid_request",
                number: 900144),
            Refusal(
                testDescription: "another grant type", changes: ["grant_type": "password"],
                error: "unsupported_grant_type", number: 70003),
            Refusal(testDescription: "no client", changes: ["client_id": ""], error: "invalid_request", number: 900144),
            Refusal(
                testDescription: "an unknown client", changes: ["client_id": "nobody"],
                error: "unauthorized_client", number: 700016),
            Refusal(
                testDescription: "no secret", changes: ["client_secret": ""], status: 401, error: "invalid_client",
                number: 7_000_218),
            Refusal(
                testDescription: "a wrong secret", changes: ["client_secret": "wrong"], status: 401,
                error: "invalid_client", number: 7_000_215),
            Refusal(
                testDescription: "a secret of a public client",
                changes: ["client_id": TestTenant.native.id, "client_secret": "a"], status: 401,
                error: "invalid_client", number: 700025),
            Refusal(
                testDescription: "another client", changes: ["client_id": TestTenant.native.id, "client_secret": ""],
                error: "invalid_grant", number: 70000),
            Refusal(testDescription: "no code", changes: ["code": ""], error: "invalid_request", number: 900144),
            Refusal(
                testDescription: "a code of nobody", changes: ["code": "1.AXoA_forged"], error: "invalid_grant",
                number: 9_002_313),
            Refusal(
                testDescription: "no redirect URI", changes: ["redirect_uri": ""], error: "invalid_request",
                number: 900144),
            Refusal(
                testDescription: "another redirect URI", changes: ["redirect_uri": "http://localhost:8080/other"],
                error: "invalid_client", number: 500112),
            Refusal(
                testDescription: "no code verifier", changes: ["code_verifier": ""], error: "invalid_grant",
                number: 501481),
            Refusal(
                testDescription: "another code verifier", changes: ["code_verifier": "another-verifier"],
                error: "invalid_grant", number: 501481),
            Refusal(
                testDescription: "another tenant segment", changes: [:], error: "invalid_grant", number: 700005,
                segment: "organizations"),
            Refusal(
                testDescription: "an unknown scope", changes: ["scope": "openid not.a.scope"], error: "invalid_scope",
                number: 650_053),
            Refusal(
                testDescription: "a scope without consent", changes: ["scope": "mail.read"], error: "invalid_grant",
                number: 65001),
            Refusal(
                testDescription: "claims that are not JSON", changes: ["claims": "["], error: "invalid_request",
                number: 9_002_313),
        ])
    func `a redemption is refused with the platform's error, and the code stays good`(_ row: Refusal) async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let code = try await browser.signIn("adele@contoso.example").answer["code"]
            let answer = try await browser.redeem(code, row.changes, segment: row.segment)
            #expect(answer.status == row.status)
            #expect(answer.member("error") == row.error)
            #expect(answer.number == row.number)
            let trace = try #require(answer.member("trace_id"))
            let correlation = try #require(answer.member("correlation_id"))
            #expect(answer.member("timestamp") == "2027-01-15 08:00:00Z")
            let description = try #require(answer.member("error_description"))
            #expect(description.hasPrefix("AADSTS\(row.number): "))
            #expect(
                description.hasSuffix(
                    " Trace ID: \(trace) Correlation ID: \(correlation) Timestamp: 2027-01-15 08:00:00Z"))
            #expect(answer["x-ms-request-id"] == trace)
            #expect(try await browser.count("token_failed") == 1)
            #expect(try await browser.redeem(code).status == 200)
        }
    }

    @Test func `a code works once, even when two redeem it at the same time`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let code = try await browser.signIn("adele@contoso.example").answer["code"]
            let statuses = try await withThrowingTaskGroup(of: Answer.self) { group in
                for _ in 0..<8 { group.addTask { try await browser.redeem(code) } }
                return try await group.reduce(into: []) { $0.append(($1.status, $1.number)) }
            }
            #expect(statuses.count { $0.0 == 200 } == 1)
            #expect(statuses.count { $0 == (400, 54005) } == 7)
            #expect(try await browser.count("token_code") == 1)
            #expect(try await browser.count("token_failed") == 7)
            #expect(try await browser.count("code_replayed") == 7)
            #expect(try await browser.count("token_requests") == 8)
        }
    }

    @Test func `a code lives ten minutes`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let code = try await browser.signIn("adele@contoso.example").answer["code"]
            let second = try await browser.signIn("adele@contoso.example").answer["code"]
            tenant.clock.advance(599)
            #expect(try await browser.redeem(code).status == 200)
            tenant.clock.advance(2)
            let late = try await browser.redeem(second)
            #expect(late.number == 70008)
            #expect(late.member("suberror") == "bad_token")
            #expect(try await browser.redeem(code).number == 70008)
        }
    }

    @Test(
        arguments: [
            ("S256", nil, TestTenant.challenge, TestTenant.verifier),
            ("plain", "plain", TestTenant.verifier, TestTenant.verifier),
            ("plain by default", "", TestTenant.verifier, TestTenant.verifier), ("none", "", "", ""),
        ] as [(String, String?, String, String)])
    func `a code is redeemed with the verifier of its challenge, and without one only if none was sent`(
        _ row: String, _ method: String?, _ challenge: String, _ verifier: String
    ) async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            var changes = ["code_challenge": challenge]
            changes["code_challenge_method"] = method
            let code = try await browser.signIn("adele@contoso.example", changes).answer["code"]
            for wrong in ["", TestTenant.verifier, TestTenant.challenge] where wrong != verifier {
                #expect(try await browser.redeem(code, ["code_verifier": wrong]).number == 501481, "\(wrong)")
            }
            #expect(try await browser.redeem(code, ["code_verifier": verifier]).status == 200)
        }
    }

    @Test func `a code may be for several resources, and a token is for one`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let both = "openid offline_access user.read api://fabrikam.example/tasks.read"
            let answer = try await browser.signIn("adele@contoso.example", ["scope": both]).answer
            let refused = try await browser.redeem(answer["code"], ["scope": both])
            #expect(refused.status == 400 && refused.number == 28000)
            #expect(refused.member("error") == "invalid_request")
            #expect(try await browser.redeem(answer["code"]).number == 28003)
            let tasks = try await browser.redeem(
                answer["code"], ["scope": "openid offline_access api://fabrikam.example/tasks.read"])
            #expect(tasks.claims("access_token")?["aud"] == "api://fabrikam.example")
            // A refresh that names several is for the first.
            let graph = try await browser.refresh(tasks.member("refresh_token"), ["scope": both])
            #expect(graph.claims("access_token")?["aud"]?.string == AccessToken.graphAudience)
            #expect(graph.claims("access_token")?["scp"] == "openid User.Read")
            #expect(graph.member("scope") == "openid User.Read")
            #expect(try await browser.me(graph.member("access_token")).status == 200)
        }
    }

    @Test(
        arguments: [
            ("openid", []), ("openid profile", ["name", "oid", "preferred_username"]), ("openid email", ["email"]),
            ("openid email profile user.read", ["email", "name", "oid", "preferred_username"]),
        ] as [(String, [String])])
    func `an ID token has the claims of the scopes that were asked for`(_ scope: String, _ expected: [String])
        async throws
    {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let tokens = try await browser.tokens("adele@contoso.example", ["scope": "\(scope) offline_access"])
            let renewed = try await browser.refresh(tokens.member("refresh_token"))
            for claims in [tokens.claims("id_token"), renewed.claims("id_token")] {
                let named = ["email", "name", "oid", "preferred_username"].filter { claims?[$0] != nil }
                #expect(named == expected)
                #expect(claims?["tid"]?.string == Tenant.contoso && claims?["sub"] != nil)
            }
        }
    }

    @Test func `a user flow's ID token has its claims whatever was asked for`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let tokens = try await tenant.browser().tokens(
                "b2cuser@fabrikamb2c.example", ["scope": "openid https://fabrikamb2c.example/api/demo.read"],
                segment: "tfp/\(Tenant.fabrikamB2CDomain)/b2c_1_susi")
            #expect(tokens.claims("id_token")?["name"] == "Bianca Pisani")
        }
    }

    @Test func `the secret may come by HTTP Basic`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            func redeem(_ secret: String) async throws -> Answer {
                let code = try await browser.signIn("adele@contoso.example").answer["code"]
                let pair = "\(TestTenant.web.id):\(FormEncoding.escaped(secret))"
                return try await browser.redeem(
                    code, ["client_id": "", "client_secret": ""],
                    headers: [("Authorization", "Basic \(Data(pair.utf8).base64EncodedString())")])
            }
            #expect(try await redeem(TestTenant.web.secret ?? "").status == 200)
            #expect(try await redeem("wrong").number == 7_000_215)
            #expect(try await redeem("").number == 7_000_218, "an empty one is none")
        }
    }

    @Test func `a public client needs no secret`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let answer = try await tenant.browser().tokens("adele@contoso.example", client: TestTenant.native)
            #expect(answer.status == 200)
            #expect(answer.claims("id_token")?["aud"]?.string == TestTenant.native.id)
        }
    }

    @Test func `an empty secret by HTTP Basic is none`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let code = try await browser.signIn("adele@contoso.example", client: TestTenant.native).answer["code"]
            let basic = Data("\(TestTenant.native.id):".utf8).base64EncodedString()
            let answer = try await browser.redeem(
                code, ["client_id": ""], client: TestTenant.native, headers: [("Authorization", "Basic \(basic)")])
            #expect(answer.status == 200, "\(answer.text)")
        }
    }

    @Test func `only a POST with a readable body is accepted`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            #expect(try await browser.get("/common/oauth2/v2.0/token").number == 900561)
            let headers = [("Content-Type", "application/x-www-form-urlencoded")]
            let path = "/common/oauth2/v2.0/token"
            #expect(try await browser.send("POST", path, headers, Array("grant_type=%zz".utf8)).number == 9_002_313)
            #expect(
                try await browser.send("POST", path, headers, Array("code=a&code=b".utf8)).number == 9_002_313)
        }
    }

    @Test func `ID token, refresh token and client_info come only when they are asked for`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let (answer, _) = try await browser.signIn("adele@contoso.example", ["scope": "User.Read"])
            let bare = try await browser.redeem(answer["code"], ["client_info": ""])
            #expect(bare.member("scope") == "User.Read")
            for name in ["id_token", "refresh_token", "client_info"] { #expect(bare.json?[name] == nil) }
        }
    }

    @Test func `a refresh token is renewed at each use, and the old one stays good`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let first = try await browser.tokens("adele@contoso.example").member("refresh_token")
            let answer = try await browser.refresh(first, ["scope": "https://graph.microsoft.com/User.Read"])
            #expect(answer.status == 200)
            #expect(answer.member("scope") == "https://graph.microsoft.com/User.Read")
            #expect(answer.claims("id_token")?["nonce"] == nil)
            let second = try #require(answer.member("refresh_token"))
            #expect(second != first)
            #expect(try await browser.refresh(first).status == 200)
            #expect(try await browser.refresh(second).member("scope") == "openid profile User.Read")
            #expect(try await browser.count("token_refresh") == 3)
        }
    }

    @Test func `with refresh_token_single_use a token that is used twice ends its family, and no other`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            func signIn() async throws -> String? {
                try await browser.tokens("adele@contoso.example").member("refresh_token")
            }
            _ = try await browser.control(["refresh_token_single_use": true])
            let first = try await signIn()
            let other = try await signIn()
            let second = try await browser.refresh(first).member("refresh_token")
            let third = try await browser.refresh(second).member("refresh_token")
            #expect(try await browser.count("refresh_replayed") == 0)
            let again = try await browser.refresh(second)
            #expect(again.member("error") == "invalid_grant")
            #expect(again.number == 50173)
            for token in [first, second, third] { #expect(try await browser.refresh(token).number == 50173) }
            #expect(try await browser.count("refresh_replayed") == 1, "what is dead already is not counted")
            #expect(try await browser.refresh(other).status == 200)
            // Revoked tokens stay revoked; all others are good for many uses again.
            _ = try await browser.control(["refresh_token_single_use": false])
            #expect(try await browser.refresh(third).number == 50173)
            let anew = try await signIn()
            for _ in 0..<2 { #expect(try await browser.refresh(anew).status == 200) }
        }
    }

    @Test func `only one of several simultaneous uses of a single-use refresh token succeeds`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            _ = try await browser.control(["refresh_token_single_use": true])
            let token = try await browser.tokens("adele@contoso.example").member("refresh_token")
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<8 { group.addTask { try await browser.refresh(token).status } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.sorted() == [200] + Array(repeating: 400, count: 7))
            #expect(try await browser.count("refresh_replayed") == 1)
        }
    }

    @Test func `an expired, malformed or foreign refresh token is refused`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let token = try await browser.tokens("adele@contoso.example").member("refresh_token")
            let other = try await browser.refresh(token, client: TestTenant.native)
            #expect(other.number == 70000)
            #expect(try await browser.refresh("garbage").number == 9_002_313)
            #expect(try await browser.refresh(token, segment: "consumers").number == 50020)
            tenant.clock.advance(90 * 24 * 3600)
            let expired = try await browser.refresh(token)
            #expect(expired.number == 700082)
            #expect(expired.member("error") == "invalid_grant")
            #expect(expired.member("suberror") == "bad_token")
        }
    }

    @Test(
        arguments: [
            ("adele@contoso.example", true, 50173, "bad_token"), ("adele@contoso.example", false, 700_082, "bad_token"),
            ("alex@outlook.example", true, 70000, nil), ("alex@outlook.example", false, 70000, nil),
        ] as [(String, Bool, Int, String?)])
    func `a refresh token that was revoked or has expired is refused in the words for its kind of account`(
        _ username: String, _ isRevoked: Bool, _ number: Int, _ suberror: String?
    ) async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let token = try await browser.tokens(username).member("refresh_token")
            if isRevoked {
                _ = try await browser.control(["revoke": .string(username)])
            } else {
                tenant.clock.advance(91 * 86_400)
            }
            let answer = try await browser.refresh(token)
            #expect(answer.number == number && answer.member("error") == "invalid_grant")
            #expect(answer.member("suberror") == suberror && answer.member("claims") == nil)
            #expect(answer.member("error_uri") == "\(tenant.tenant.baseURL)/error?code=\(number)")
        }
    }

    /// Facts msa-code-01 and msa-refresh-01.
    @Test(arguments: ["consumers", Tenant.consumers, "common", "contoso.example"])
    func `consumers' endpoint names a grant that it cannot read`(_ segment: String) async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let isPersonal = segment == "consumers" || segment == Tenant.consumers
            let request = "AADSTS9002313: Invalid request. Request is malformed or invalid. Trace ID: "
            let code = "AADSTS70000: The provided value for the 'code' parameter is not valid. Trace ID: "
            let token =
                "AADSTS70000: The provided value for the input parameter 'refresh_token' or 'assertion' is not valid. "
                + "Trace ID: "
            for (answer, sentence) in [
                (try await browser.redeem("x", segment: segment), code),
                (try await browser.refresh("x", segment: segment), token),
            ] {
                #expect(answer.member("error") == "invalid_grant" && answer.member("suberror") == nil)
                let description = answer.member("error_description")
                #expect(description?.hasPrefix(isPersonal ? sentence : request) == true, "\(answer.text)")
            }
        }
    }

    private enum End: Sendable, CaseIterable { case revoked, inactive, pageIsOver, codeRevoked }

    /// t2-rt-04, t2-rt-10, t2-rt-12. The sign-in was at eight, and the revocation ten seconds later.
    @Test(arguments: End.allCases)
    private func `the sentence of a grant that has ended has its times`(_ end: End) async throws {
        let revoked =
            "AADSTS50173: The provided grant has expired due to it being revoked, a fresh auth token is needed. The user "
            + "might have changed or reset their password. The grant was issued on '2027-01-15T08:00:00.2500000Z' and the "
            + "TokensValidFrom date (before which tokens are not valid) for this user is '2027-01-15T08:00:11.0000000Z'."
        let sentence =
            switch end {
            case .revoked, .codeRevoked: revoked
            case .inactive:
                "AADSTS700082: The refresh token has expired due to inactivity. The token was issued on "
                    + "2027-01-15T08:00:00.2500000Z and was inactive for 90.00:00:00."
            case .pageIsOver:
                "AADSTS700084: The refresh token was issued to a single page app (SPA), and therefore has a fixed, limited "
                    + "lifetime of 1.00:00:00, which cannot be extended. It is now expired and a new sign in request must "
                    + "be sent by the SPA to the sign in page. The token was issued on 2027-01-15T08:00:00.2500000Z."
            }
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let client = end == .pageIsOver ? TestTenant.script : TestTenant.web
            let headers = end == .pageIsOver ? [("Origin", "http://localhost:8080")] : []
            let (callback, _) = try await browser.signIn("adele@contoso.example", client: client)
            let isCode = end == .codeRevoked
            let tokens = try await isCode ? nil : browser.redeem(callback["code"], client: client, headers: headers)
            switch end {
            case .revoked, .codeRevoked:
                tenant.clock.advance(10)
                _ = try await browser.control(["revoke": "adele@contoso.example"])
            case .inactive: tenant.clock.advance(90 * 86_400)
            case .pageIsOver: tenant.clock.advance(86_400)
            }
            let answer = try await browser.redeem(
                callback["code"],
                isCode
                    ? [:]
                    : [
                        "grant_type": "refresh_token", "refresh_token": tokens?.member("refresh_token") ?? "",
                        "code": "", "redirect_uri": "", "code_verifier": "",
                    ], client: client, headers: headers)
            #expect(answer.member("error_description")?.hasPrefix("\(sentence) Trace ID") == true, "\(answer.text)")
        }
    }

    /// t2-msa-01, and the sentence of AzureAD/microsoft-authentication-library-for-js issue 3303; that a code has the same
    /// words as a refresh token is inferred.
    @Test func `a personal account has one number for a consent that is missing and for a code that has ended`()
        async throws
    {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let username = "alex@outlook.example"
            let token = try await browser.tokens(username).member("refresh_token")
            let codes = try await browser.deviceCode(client: TestTenant.native)
            _ = try await tenant.browser().approve(codes, as: username)
            let (fresh, _) = try await browser.signIn(username)
            let (old, _) = try await browser.signIn(username)
            let unconsented = try await browser.refresh(token, ["scope": "Mail.Read"])
            #expect(unconsented.member("error_description")?.contains("scopes requested are unauthorized") == true)
            _ = try await browser.control(["revoke": .string(username)])
            let revoked = try await browser.redeem(fresh["code"])
            let revokedDevice = try await browser.poll(codes)
            tenant.clock.advance(601)
            let late = try await browser.redeem(old["code"])
            for answer in [unconsented, revoked, revokedDevice, late] {
                #expect(answer.number == 70000 && answer.member("error") == "invalid_grant", "\(answer.text)")
                #expect(answer.member("suberror") == nil && answer.member("claims") == nil)
            }
            let (repeated, _) = try await browser.signIn(username, ["companion_replay": "token-70008"])
            #expect(try await browser.redeem(repeated["code"]).number == 70008, "a case is repeated with its number")
        }
    }

    @Test func `a code and a refresh token are refused for a resource that is not the one of the scopes`() async throws
    {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let (answer, _) = try await browser.signIn("adele@contoso.example")
            let other = ["resource": "https://mcp.example.com/mcp"]
            let early = try await browser.redeem(answer["code"], other)
            #expect(early.member("error") == "invalid_target" && early.number == 9_010_010 && early.status == 400)
            let tokens = try await browser.redeem(answer["code"], ["resource": "https://graph.microsoft.com"])
            #expect(tokens.status == 200, "a refusal leaves the code as it was")
            let token = tokens.member("refresh_token")
            #expect(try await browser.refresh(token, other).number == 9_010_010)
            #expect(try await browser.refresh(token, ["resource": "https://graph.microsoft.com/"]).status == 200)
        }
    }

    /// MSAL tells numbers apart by their `error` and `suberror`, in version 2 and in version 1.
    @Test(
        arguments: [
            ("/v2.0", 50076, "invalid_grant", "basic_action", true),
            ("/v2.0", 50079, "invalid_grant", "basic_action", true),
            ("/v2.0", 53000, "invalid_grant", "message_only", true),
            ("/v2.0", 53003, "invalid_grant", "message_only", true),
            ("/v2.0", 53005, "unauthorized_client", "protection_policy_required", false),
            ("/v2.0", 50055, "invalid_grant", "user_password_expired", false),
            ("/v2.0", 50173, "invalid_grant", "bad_token", false),
            ("/v2.0", 700_082, "invalid_grant", "bad_token", false),
            ("/v2.0", 65001, "invalid_grant", "consent_required", false),
            ("/v2.0", 90002, "invalid_request", nil, false),
            ("/v2.0", 500_011, "invalid_resource", nil, false),
            ("", 50076, "interaction_required", "basic_action", true),
            ("", 50079, "interaction_required", "basic_action", true),
        ] as [(String, Int, String, String?, Bool)])
    func `an error that is asked for by its number has its words at the token endpoint`(
        _ version: String, _ number: Int, _ error: String, _ suberror: String?, _ hasClaims: Bool
    ) async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            _ = try await browser.control(["token_platform_error": .integer(number)])
            let answer = try await browser.post(
                "/contoso.example/oauth2\(version)/token", [("grant_type", "refresh_token")])
            #expect(answer.number == number && answer.status == 400)
            #expect(answer.member("error") == error && answer.member("suberror") == suberror)
            #expect(answer.member("claims")?.contains("capolids") ?? false == hasClaims)
        }
    }

    @Test func `a refresh for a scope without consent fails with AADSTS65001 and its suberror`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let token = try await browser.tokens("adele@contoso.example").member("refresh_token")
            let answer = try await browser.refresh(token, ["scope": "Mail.Read"])
            #expect(answer.member("error") == "invalid_grant")
            #expect(answer.member("suberror") == "consent_required")
            #expect(answer.number == 65001)
        }
    }
}
