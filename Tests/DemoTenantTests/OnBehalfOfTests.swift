import Foundation
import HTTPTypes
import Testing
import WebFormats

@testable import TenantControl
@testable import TenantDirectory
@testable import TenantServer
@testable import TenantSignIn

/// On-behalf-of, the password grant, and ID tokens of the authorization endpoint (obo, ropc, authz-ok-12).
@Suite struct OnBehalfOfTests {
    private static let api = "api://tasks.example"
    private static let adele = "adele@contoso.example"

    private func run(
        _ change: (inout DemoTenantConfiguration) -> Void = { _ in },
        _ test: @escaping @Sendable (TestTenant, Browser) async throws -> Void
    ) async throws {
        try await TestTenant.run(configured: { configuration in
            configuration.clients[0].exposes = [Self.api: ["Tasks.Read"]]
            change(&configuration)
        }) { (tenant) async throws in try await test(tenant, tenant.browser()) }
    }

    private static func exchange(
        _ browser: Browser, _ assertion: String?, _ changes: [String: String] = [:]
    ) async throws -> Answer {
        try await browser.redeem(
            nil,
            [
                "grant_type": GrantRequest.onBehalfOf, "requested_token_use": "on_behalf_of",
                "assertion": assertion ?? "",
                "scope": "https://graph.microsoft.com/User.Read offline_access", "redirect_uri": "",
                "code_verifier": "",
            ].merging(changes) { $1 }, segment: "contoso.example")
    }

    /// A token with which the native application calls the web application's API.
    private static func token(_ browser: Browser, _ scope: String = "\(api)/Tasks.Read") async throws -> String? {
        try await browser.tokens(adele, ["scope": "openid \(scope)"], client: TestTenant.native).member("access_token")
    }

    @Test func `an API gets a token for Graph and the person, once they have consented to that`() async throws {
        try await run { (_, browser) async throws in
            let token = try await Self.token(browser)
            let refused = try await Self.exchange(browser, token)
            #expect(refused.number == 65001 && refused.member("suberror") == "consent_required")
            _ = try await browser.tokens(Self.adele)
            let answer = try await Self.exchange(browser, token, ["resource": "https://graph.microsoft.com"])
            #expect(answer.status == 200 && answer.member("refresh_token") != nil, "\(answer.text)")
            #expect(try await browser.me(answer.member("access_token")).member("userPrincipalName") == Self.adele)
        }
    }

    /// t2-obo-03; any other one of a work account may have `aio`.
    @Test func `the ID token on behalf of somebody has these claims alone`() async throws {
        try await run({ $0.clients[0].optionalClaims = nil }) { (_, browser) async throws in
            _ = try await browser.tokens(Self.adele)
            let scope = ["scope": "openid profile https://graph.microsoft.com/User.Read"]
            let answer = try await Self.exchange(browser, try await Self.token(browser), scope)
            let names = answer.claims("id_token")?.object?.keys.sorted() ?? []
            let wanted = "aud exp iat iss name nbf oid preferred_username rh sub tid uti ver"
            #expect(names.joined(separator: " ") == wanted, "\(answer.text)")
        }
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var number: Int
        var error = "invalid_grant"
        var changes: [String: String] = [:]
        var scope = "\(OnBehalfOfTests.api)/Tasks.Read"
        var later: TimeInterval = 0
        var sentence: String?
    }

    @Test(
        arguments: [
            Row(testDescription: "a token for Graph", number: 50013, scope: "User.Read"),
            Row(testDescription: "no token", number: 50013, changes: ["assertion": "x"]),
            Row(testDescription: "no assertion", number: 900_144, error: "invalid_request", changes: ["assertion": ""]),
            Row(
                testDescription: "another use", number: 900_144, error: "invalid_request",
                changes: ["requested_token_use": ""]),
            Row(
                testDescription: "a resource that is not the scope's (t2-tok-12)", number: 9_010_010,
                error: "invalid_target", changes: ["resource": "https://mcp.example.com/mcp"]),
            // microsoftgraph/msgraph-sdk-dotnet issue 2551 (2024-06-20)
            Row(
                testDescription: "an expired token", number: 500_133, later: 5500,
                sentence:
                    "AADSTS500133: Assertion is not within its valid time range. Ensure that the access token is not expired "
                    + "before using it for user assertion, or request a new token. Current time: "
                    + "2027-01-15T09:31:40.2500000Z, expiry time of assertion 2027-01-15T"),
            Row(
                testDescription: "a token for another API (t2-obo-06)", number: 500_131,
                scope: "\(OwnAPI.payroll.audience)/payslips.read",
                sentence:
                    "AADSTS500131: Assertion audience does not match the Client app presenting the assertion. The "
                    + "audience in the assertion was '\(OwnAPI.payroll.audience)' and the expected audience is "
                    + "'\(TestTenant.web.id)' or one of the Application Uris of this application with App ID "
                    + "'\(TestTenant.web.id)'(Web tutorial). The downstream client must request a token for the "
                    + "expected audience (the application that made the OBO request) and this application should use "
                    + "that token as the assertion. Trace ID"),
            Row(
                testDescription: "no secret", number: 7_000_216, error: "invalid_client", changes: ["client_secret": ""]
            ),
        ])
    func `an exchange is refused with the platform's error`(_ row: Row) async throws {
        try await run { (tenant, browser) async throws in
            _ = try await browser.tokens(Self.adele)
            let token = try await Self.token(browser, row.scope)
            tenant.clock.advance(row.later)
            let answer = try await Self.exchange(browser, token, row.changes)
            #expect(answer.number == row.number && answer.member("error") == row.error, "\(answer.text)")
            guard let sentence = row.sentence else { return }
            #expect(answer.member("error_description")?.hasPrefix(sentence) == true, "\(answer.text)")
        }
    }

    /// That Entra refuses it is inferred: it challenges such a token at Graph (t2-cae-01). The clock stands still, so that
    /// all of this is in one second.
    @Test func `a token from before a revocation is no assertion, and one from after it is, however soon`() async throws
    {
        try await run { (_, browser) async throws in
            _ = try await browser.tokens(Self.adele)
            let old = try await Self.token(browser)
            _ = try await browser.control(["revoke": .string(Self.adele)])
            let refused = try await Self.exchange(browser, old)
            #expect(refused.number == 50173 && refused.member("error") == "invalid_grant", "\(refused.text)")
            #expect(refused.member("suberror") == "bad_token")
            let new = try await Self.token(browser)
            #expect(try await Self.exchange(browser, new).status == 200)
            #expect(try await Self.exchange(browser, old).number == 50173)
        }
    }

    /// AzureAD/microsoft-authentication-library-for-dotnet issue 2130.
    @Test func `an application's own token is exchanged for nobody`() async throws {
        try await run { (_, browser) async throws in
            let token = try await browser.ownToken(["scope": "\(Self.api)/.default"]).member("access_token")
            let answer = try await Self.exchange(browser, token)
            #expect(answer.number == 7_000_114 && answer.member("error") == "unauthorized_client", "\(answer.text)")
        }
    }

    @Test func `a demand for a second factor is for the person, with the claims to pass on`() async throws {
        try await run { (_, browser) async throws in
            _ = try await browser.tokens(Self.adele)
            let token = try await Self.token(browser)
            _ = try await browser.control(["require_mfa": .string(Self.adele)])
            let answer = try await Self.exchange(browser, token)
            #expect(answer.number == 50079 && answer.member("error") == "interaction_required")
            #expect(answer.member("claims") == SecondFactor.claimsChallenge)
        }
    }

    @Test(
        arguments: [
            ("contoso.example", ["username": adele, "password": "demo"], nil, nil),
            ("organizations", ["username": adele, "password": "demo"], nil, nil),
            ("common", ["username": adele, "password": "demo"], 9_001_023, "invalid_request"),
            ("contoso.example", ["username": adele, "password": "wrong"], 50126, "invalid_grant"),
            (
                "contoso.example", ["username": adele, "password": "demo", "resource": "api://else"], 9_010_010,
                "invalid_target"
            ),
            ("contoso.example", ["username": "nobody@contoso.example", "password": "demo"], 50034, "invalid_grant"),
            ("contoso.example", ["username": adele, "password": ""], 900_144, "invalid_request"),
            ("contoso.example", ["username": "megan@contoso.example", "password": "demo"], 65001, "invalid_grant"),
        ] as [(String, [String: String], Int?, String?)])
    func `a password is enough where the tenant's file allows it`(
        _ segment: String, _ fields: [String: String], _ number: Int?, _ error: String?
    ) async throws {
        try await run({ $0.allowsPasswords = true }) { (_, browser) async throws in
            _ = try await browser.tokens(Self.adele, client: TestTenant.native)
            let answer = try await browser.redeem(
                nil,
                [
                    "grant_type": "password", "scope": "openid profile User.Read", "redirect_uri": "",
                    "code_verifier": "",
                ]
                .merging(fields) { $1 }, client: TestTenant.native, segment: segment)
            #expect(answer.number == number && answer.member("error") == error, "\(answer.text)")
            if number == nil { #expect(answer.claims("id_token")?["preferred_username"]?.string == Self.adele) }
        }
    }

    /// t2-ropc-02. That the domain names the tenant where several are asked is inferred.
    @Test(arguments: [("contoso.example", "nobody@else.example"), ("organizations", "nobody@contoso.example")])
    func `the sentence about an unknown person names the directory`(_ segment: String, _ username: String) async throws
    {
        try await run({ $0.allowsPasswords = true }) { (_, browser) async throws in
            let answer = try await browser.redeem(
                nil, ["grant_type": "password", "username": username, "password": "demo", "scope": "openid"],
                client: TestTenant.native, segment: segment)
            #expect(
                answer.member("error_description")?.hasPrefix(
                    "AADSTS50034: The user account \(username) does not exist in the Contoso directory. To sign into "
                        + "this application, the account must be added to the directory. Trace ID") == true,
                "\(answer.text)")
            #expect(answer.member("suberror") == "bad_token")
        }
    }

    /// tok-err-kinds-02.
    @Test func `a confidential client that sends a password proves itself, too`() async throws {
        try await run({ $0.allowsPasswords = true }) { (_, browser) async throws in
            let fields = ["grant_type": "password", "username": Self.adele, "password": "demo", "scope": "openid"]
            let answer = try await browser.redeem(
                nil, fields.merging(["client_secret": ""]) { $1 }, segment: "contoso.example")
            #expect(answer.number == 7_000_218 && answer.status == 401, "\(answer.text)")
        }
    }

    @Test func `a password is never enough otherwise`() async throws {
        try await run { (_, browser) async throws in
            let answer = try await browser.redeem(
                nil, ["grant_type": "password", "username": Self.adele, "password": "demo", "scope": "openid"],
                client: TestTenant.native, segment: "contoso.example")
            #expect(answer.number == 70003)
        }
    }

    @Test(arguments: [("id_token", false), ("code id_token", true), ("id_token code", true)])
    func `a registration with ID tokens gets one from the authorization endpoint`(_ type: String, _ hasCode: Bool)
        async throws
    {
        try await run({ $0.clients[0].issuesIDTokens = true }) { (_, browser) async throws in
            let (answer, _) = try await browser.signIn(
                Self.adele, ["response_type": type, "scope": "openid profile"])
            let token = try #require(answer["id_token"])
            let parts = token.split(separator: ".")
            let claims = try #require(Base64URL.decode(parts[1].utf8).flatMap { JSONValue(parsing: $0) })
            #expect(claims["nonce"] == "the nonce" && (claims["c_hash"] != nil) == hasCode)
            #expect((answer["code"] != nil) == hasCode)
        }
    }

    @Test(arguments: [
        (["response_type": "id_token", "response_mode": "query"], 90023), (["response_type": "token"], 700_054),
        (["response_type": "code id_token", "nonce": ""], 900_144),
    ])
    func `a request for an ID token is refused with the platform's error`(_ changes: [String: String], _ number: Int)
        async throws
    {
        try await run({ $0.clients[0].issuesIDTokens = true }) { (_, browser) async throws in
            let answer = try await browser.authorize(changes)
            #expect(try answer.callback()["error_description"]?.hasPrefix("AADSTS\(number): ") == true)
        }
    }
}
