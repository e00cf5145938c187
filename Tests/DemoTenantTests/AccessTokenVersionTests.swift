import Cryptography
import HTTPTypes
import Testing
import WebFormats

@testable import TenantDirectory
@testable import TenantServer

/// The access tokens of the two versions, and those that nobody but Graph can check or read. The rows are facts of captures
/// (at-v1, at-v2, id-msa, id-guest).
@Suite struct AccessTokenVersionTests {
    private static let api = "api://tasks.example"

    /// Runs a test at a tenant whose web application has an API of its own.
    private func run(
        _ version: DemoClient.AccessTokenVersion = .v1,
        _ test: @escaping @Sendable (TestTenant, Browser) async throws -> Void
    ) async throws {
        try await TestTenant.run(configured: { configuration in
            configuration.clients[0].exposes = [Self.api: ["Tasks.Read"]]
            configuration.clients[0].accessTokenVersion = version
        }) { (tenant) async throws in
            try await test(tenant, tenant.browser())
        }
    }

    /// The header of a token; nil if it is none of three parts.
    private func header(_ token: String?) -> JSONValue? {
        let parts = (token ?? "").split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        return Base64URL.decode(parts[0].utf8).flatMap { JSONValue(parsing: $0) }
    }

    /// Whether a published key has signed a token as it is.
    private func isSigned(_ token: String?, _ browser: Browser) async throws -> Bool {
        let parts = (token ?? "").split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let signature = Base64URL.decode(parts[2].utf8) else { return false }
        let keys = try await browser.get("/common/discovery/v2.0/keys").json?["keys"]?.array ?? []
        let key = keys.first { $0["kid"] == header(token)?["kid"] }
        guard let modulus = key?["n"]?.string.flatMap({ Base64URL.decode($0.utf8) }),
            let exponent = key?["e"]?.string.flatMap({ Base64URL.decode($0.utf8) }),
            let published = PublicKey(modulus: modulus, exponent: exponent)
        else { return false }
        return published.isSignature(signature, of: "\(parts[0]).\(parts[1])".utf8, scheme: .rs256)
    }

    @Test(
        arguments: [
            (
                .v1, ["appid", "appidacr", "acr", "amr", "upn", "unique_name", "given_name", "family_name", "sid"],
                ["azp", "azpacr", "preferred_username", "idtyp"]
            ),
            (
                .v2, ["azp", "azpacr", "preferred_username"],
                ["appid", "appidacr", "upn", "unique_name", "idtyp", "given_name", "family_name", "sid"]
            ),
        ] as [(DemoClient.AccessTokenVersion, [String], [String])])
    func `an API's token has the claims of its version, and the key's signature`(
        _ version: DemoClient.AccessTokenVersion, _ has: [String], _ lacks: [String]
    ) async throws {
        try await run(version) { (tenant, browser) async throws in
            let tokens = try await browser.tokens("adele@contoso.example", ["scope": "openid \(Self.api)/Tasks.Read"])
            let claims = try #require(tokens.claims("access_token"))
            let base = tenant.tenant.baseURL
            #expect(claims["ver"]?.string == (version == .v1 ? "1.0" : "2.0"))
            #expect(
                claims["iss"]?.string == base + (version == .v1 ? "/sts/\(Tenant.contoso)/" : "/\(Tenant.contoso)/v2.0")
            )
            #expect(claims["aud"]?.string == (version == .v1 ? Self.api : TestTenant.web.id))
            #expect(claims["scp"] == "Tasks.Read")
            for name in has + ["aio", "rh", "uti", "oid", "tid", "sub"] { #expect(claims[name] != nil, "\(name)") }
            for name in lacks { #expect(claims[name] == nil, "\(name)") }
            #expect(try await isSigned(tokens.member("access_token"), browser))
        }
    }

    @Test(arguments: [DemoClient.AccessTokenVersion.v1, .v2])
    func `an application's own token is of the API's version`(_ version: DemoClient.AccessTokenVersion) async throws {
        try await run(version) { (_, browser) async throws in
            let answer = try await browser.ownToken(["scope": "\(Self.api)/.default"], client: TestTenant.web)
            let names = Set(answer.claims("access_token")?.object?.keys.map(\.self) ?? [])
            #expect(
                names
                    == (version == .v1
                        ? [
                            "aio", "app_displayname", "appid", "appidacr", "aud", "exp", "iat", "idp", "iss", "nbf",
                            "oid", "rh",
                            "sub", "tid", "uti", "ver",
                        ]
                        : [
                            "aio", "aud", "azp", "azpacr", "exp", "iat", "iss", "nbf", "oid", "rh", "sub", "tid", "uti",
                            "ver",
                            "xms_ftd",
                        ]))
        }
    }

    @Test func `Graph's token cannot be checked with the published keys, and Graph takes it`() async throws {
        try await run { (_, browser) async throws in
            let tokens = try await browser.tokens("adele@contoso.example")
            let token = tokens.member("access_token")
            #expect(header(token)?["nonce"]?.string?.isEmpty == false)
            #expect(try await !isSigned(token, browser))
            #expect(try await browser.me(token).status == 200)
            // t2-at-13.
            let references = [tokens.claims("access_token"), tokens.claims("id_token")].map { $0?["rh"]?.string ?? "" }
            for reference in references { #expect(reference.wholeMatch(of: /1\.A[A-Za-z0-9_-]+\./) != nil) }
            #expect(references.map { $0.contains("AwAAAAAAAAAwAAAAAAAAA") } == [true, false])
            let idToken = tokens.member("id_token")
            #expect(header(idToken)?["nonce"] == nil)
            #expect(try await isSigned(idToken, browser))
        }
    }

    @Test(arguments: [("cp1", true), ("CP1", true), ("cp2", false)])
    func `Graph's token says whether its client takes claims challenges, and an API's does not`(
        _ capability: String, _ takesChallenges: Bool
    ) async throws {
        try await run { (_, browser) async throws in
            let claims = #"{"access_token":{"xms_cc":{"values":["\#(capability)"]}}}"#
            let graph = try await browser.tokens("adele@contoso.example", ["claims": claims])
            let mark = graph.claims("access_token")?[AccessToken.capabilityClaim]
            #expect(mark?.bool == (takesChallenges ? true : nil))
            let renewed = try await browser.refresh(graph.member("refresh_token"))
            #expect(renewed.claims("access_token")?[AccessToken.capabilityClaim] == nil, "each request says it anew")
            let api = try await browser.tokens(
                "adele@contoso.example", ["scope": "openid \(Self.api)/Tasks.Read", "claims": claims])
            #expect(api.claims("access_token")?[AccessToken.capabilityClaim] == nil)
        }
    }

    @Test func `a personal account's token for Graph is opaque, and its ID token lasts for a day`() async throws {
        try await run { (_, browser) async throws in
            let tokens = try await browser.tokens("alex@outlook.example")
            let token = tokens.member("access_token")
            #expect(token?.hasPrefix("EwB") == true && token?.contains(".") == false)
            #expect(try await browser.me(token).status == 200)
            #expect(try await browser.me(token.map { String($0.dropLast(10)) + "AAAAAAAAAA" }).status == 401)
            let claims = try #require(tokens.claims("id_token"))
            #expect((claims["exp"]?.integer ?? 0) - (claims["iat"]?.integer ?? 0) == 86700)
            for name in ["uti", "rh"] { #expect(claims[name] == nil) }
        }
    }

    @Test func `a guest's tokens name the provider of the home, and an address`() async throws {
        try await run { (tenant, browser) async throws in
            let guest = try await browser.tokens("adele@contoso.example", segment: Tenant.tailspinDomain)
            for token in ["id_token", "access_token"] {
                let claims = try #require(guest.claims(token))
                #expect(claims["idp"]?.string == "\(tenant.tenant.baseURL)/sts/\(Tenant.contoso)/")
                #expect(claims["email"] == "adele@contoso.example")
            }
            // at-v1-13; that a work account's home name is its unique_name is inferred.
            let claims = try #require(guest.claims("access_token"))
            #expect(claims["upn"] == nil && claims["unique_name"] == "adele@contoso.example")
            let member = try await browser.tokens("adele@contoso.example", segment: Tenant.contosoDomain)
            for token in ["id_token", "access_token"] { #expect(member.claims(token)?["idp"] == nil) }
        }
    }

    /// id-guest-03, at-v1-13.
    @Test func `a personal account that is a guest is known by live.com`() async throws {
        let username = "sam@outlook.example"
        try await TestTenant.run(configured: { configuration in
            configuration.clients[0].exposes = [Self.api: ["Tasks.Read"]]
            configuration.users = [DemoUser(username: username, password: "demo", guestOf: [Tenant.contosoDomain])]
        }) { (tenant) async throws in
            let tokens = try await tenant.browser().tokens(
                username, ["scope": "openid \(Self.api)/Tasks.Read"], segment: Tenant.contosoDomain)
            for token in ["id_token", "access_token"] { #expect(tokens.claims(token)?["idp"] == "live.com") }
            let claims = try #require(tokens.claims("access_token"))
            #expect(claims["upn"] == nil && claims["unique_name"]?.string == "live.com#\(username)")
        }
    }
}
