import Cryptography
import Foundation
import Testing
import WebFormats

@testable import TenantControl
@testable import TenantDirectory
@testable import TenantGraph
@testable import TenantServer
@testable import TenantSignIn

extension Browser {
    /// Asks for an application's own token.
    func ownToken(
        _ changes: [String: String] = [:], client: DemoClient = TestTenant.web, segment: String = "contoso.example",
        headers: [(String, String)] = []
    ) async throws -> Answer {
        let fields = [
            "grant_type": "client_credentials", "scope": "\(client.id)/.default", "redirect_uri": "",
            "code_verifier": "", "client_info": "",
        ]
        return try await redeem(
            nil, fields.merging(changes) { $1 }, client: client, segment: segment, headers: headers)
    }
}

@Suite("Tokens of an application itself")
struct ClientCredentialsTests {
    private static let graph = "https://graph.microsoft.com"

    /// Has roles at Graph and at the API.
    private static let daemon: DemoClient = {
        var client = DemoClient(
            id: "11111111-aaaa-4bbb-8ccc-00000000000a", name: "Nightly job", secret: "the job's secret")
        client.applicationRoles = [
            graph: ["User.Read.All", "Mail.Read"], "https://tasks.example/": ["Run"], "api://guarded": ["Enter"],
        ]
        return client
    }()
    /// An API whose identifier ends in a slash.
    private static let api: DemoClient = {
        var client = DemoClient(id: "11111111-aaaa-4bbb-8ccc-00000000000b", name: "Tasks API")
        client.exposes = ["https://tasks.example/": ["Tasks.Read"]]
        client.appRoles = ["Run"]
        return client
    }()
    private static let guarded: DemoClient = {
        var client = DemoClient(id: "11111111-aaaa-4bbb-8ccc-00000000000c", name: "Guarded API")
        client.exposes = ["api://guarded": ["Read"]]
        client.appRoles = ["Enter"]
        client.assignmentRequired = true
        client.tenants = ["contoso.example", "fabrikam.example"]
        return client
    }()

    private static func register(_ configuration: inout DemoTenantConfiguration) {
        configuration.clients += [daemon, api, guarded]
    }

    @Test(
        arguments: [
            ("contoso.example", "\(graph)/.default", AccessToken.graphAudience, ["Mail.Read", "User.Read.All"]),
            (Tenant.contoso, "\(graph)//.default", AccessToken.graphAudience, ["Mail.Read", "User.Read.All"]),
            ("contoso.example", ".default", AccessToken.graphAudience, ["Mail.Read", "User.Read.All"]),
            (
                "tailspin.example", "\(AccessToken.graphAudience)/.DEFAULT", AccessToken.graphAudience,
                ["Mail.Read", "User.Read.All"]
            ),
            ("contoso.example", "https://tasks.example//.default", "https://tasks.example/", ["Run"]),
            ("contoso.example", "HTTPS://Tasks.example//.default", "https://tasks.example/", ["Run"]),
            ("contoso.example", "\(api.id.uppercased())/.default", api.id, ["Run"]),
            ("contoso.example", "api://guarded/.default", "api://guarded", ["Enter"]),
            ("fabrikam.example", "\(OwnAPI.external.audience)/.default", OwnAPI.external.audience, nil),
            ("contoso.example", "\(daemon.id)/.default", daemon.id, nil),
        ] as [(String, String, String, [String]?)])
    func `a token is for one resource of the tenant, with the roles that were granted there`(
        _ segment: String, _ scope: String, _ audience: String, _ roles: [String]?
    ) async throws {
        try await TestTenant.run(configured: Self.register) { (tenant) async throws in
            let browser = tenant.browser()
            let answer = try await browser.ownToken(
                ["scope": scope, "resource": audience], client: Self.daemon, segment: segment)
            #expect(answer.status == 200)
            #expect(
                Set(answer.json?.object?.map(\.key) ?? []) == [
                    "token_type", "expires_in", "ext_expires_in", "access_token",
                ])
            #expect(answer.json?["token_type"] == "Bearer" && answer.json?["expires_in"] == 3599)
            let claims = answer.claims("access_token")
            let tenantID = try #require(TenantSegment(segment)?.path)
            #expect(claims?["aud"] == .string(audience))
            #expect(claims?["tid"] == .string(tenantID))
            #expect(claims?["iss"]?.string?.hasSuffix("/sts/\(tenantID)/") == true && claims?["ver"] == "1.0")
            #expect(claims?["roles"]?.array?.compactMap(\.string).sorted() == roles)
            #expect(
                claims?["idtyp"] == (audience == AccessToken.graphAudience ? "app" : nil)
                    && claims?["appid"] == .string(Self.daemon.id))
            #expect(claims?["appidacr"] == "1" && claims?["uti"]?.string?.isEmpty == false)
            let principal = try Registrations(
                [Self.daemon, Self.api, Self.guarded], reference: TestTenant.reference.get()
            ).servicePrincipalID(of: Self.daemon)
            #expect(claims?["oid"] == .string(principal) && claims?["sub"] == .string(principal))
            // t2-at-09, t2-at-13.
            let isForGraph = audience == AccessToken.graphAudience
            #expect(claims?["wids"] == (isForGraph ? ["0997a1d0-0d1d-4acb-b408-d5ca73121e90"] : nil))
            let reference = try #require(claims?["rh"]?.string)
            #expect(reference.wholeMatch(of: /[01]\.A[A-Za-z0-9_-]+\./) != nil, "\(reference)")
            #expect(reference.contains("AwAAAAAAAAAwAAAAAAAAA") == isForGraph)
            for name in ["scp", "name", "upn", "preferred_username"] { #expect(claims?[name] == nil) }
            #expect(claims?["exp"] == .integer(1_800_000_000 + 3599) && claims?["nbf"] == claims?["iat"])
            #expect(try await browser.count("token_client_credentials") == 1)
        }
    }

    @Test func `Graph has no /me for it, and other audiences are no tokens for Graph`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let graph = try await browser.ownToken(["scope": "\(Self.graph)/.default"])
            #expect(graph.claims("access_token")?["roles"] == nil, "nothing was granted")
            let me = try await browser.me(graph.member("access_token"))
            #expect(me.status == 400 && me.json?["error"]?["code"] == "BadRequest")
            #expect(me.json?["error"]?["message"]?.string?.contains("delegated") == true)
            #expect(try await browser.me(browser.ownToken().member("access_token")).status == 401)
        }
    }

    @Test(arguments: [(nil, nil), (["idtyp"], "app"), ([], nil)] as [([String]?, String?)])
    func `an API gets idtyp only if its registration names it`(_ optional: [String]?, _ kind: String?)
        async throws
    {
        try await TestTenant.run(configured: { configuration in
            Self.register(&configuration)
            let place = configuration.clients.count - 2
            configuration.clients[place].optionalClaims = optional.map { .init(accessToken: $0) }
        }) { (tenant) async throws in
            let answer = try await tenant.browser().ownToken(["scope": "\(Self.api.id)/.default"], client: Self.daemon)
            #expect(answer.claims("access_token")?["idtyp"]?.string == kind)
            #expect(answer.claims("access_token")?["roles"] == ["Run"])
        }
    }

    struct Refusal: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var changes: [String: String] = [:]
        var segment = "contoso.example"
        var client = TestTenant.web
        var headers: [(String, String)] = []
        var error: String
        var number: Int
        var status = 400
    }

    @Test(
        arguments: [
            Refusal(testDescription: "no scope", changes: ["scope": ""], error: "invalid_request", number: 90014),
            Refusal(
                testDescription: "no client", changes: ["client_id": ""], error: "invalid_request", number: 900_144),
            Refusal(
                testDescription: "a delegated scope", changes: ["scope": "user.read"], error: "invalid_scope",
                number: 1_002_012),
            Refusal(
                testDescription: "a role by its name", changes: ["scope": "\(graph)/User.Read.All"],
                error: "invalid_scope", number: 1_002_012),
            Refusal(
                testDescription: "two resources", changes: ["scope": "\(graph)/.default \(daemon.id)/.default"],
                error: "invalid_scope", number: 70011),
            Refusal(
                testDescription: "a resource that is not the scope's (t2-tok-12)",
                changes: ["scope": "\(graph)/.default", "resource": "https://mcp.example.com/mcp"],
                error: "invalid_target", number: 9_010_010),
            Refusal(
                testDescription: "an unknown resource", changes: ["scope": "api://nothing-registered/.default"],
                error: "invalid_resource", number: 500_011),
            Refusal(
                testDescription: "a resource without its slash", changes: ["scope": "https://tasks.example/.default"],
                error: "invalid_resource", number: 500_011),
            Refusal(
                testDescription: "an ID of no application",
                changes: ["scope": "99999999-aaaa-4bbb-8ccc-000000000000/.default"], error: "invalid_resource",
                number: 500_011),
            Refusal(
                testDescription: "a resource of other tenants", changes: ["scope": "api://guarded/.default"],
                segment: "tailspin.example", client: daemon, error: "invalid_resource", number: 500_011),
            Refusal(
                testDescription: "a resource that needs an assignment", changes: ["scope": "api://guarded/.default"],
                error: "invalid_client", number: 501_051),
            Refusal(
                testDescription: "an unknown application",
                changes: ["client_id": "99999999-aaaa-4bbb-8ccc-000000000000"], error: "unauthorized_client",
                number: 700_016),
            Refusal(
                testDescription: "an application of other tenants",
                changes: ["scope": "api://guarded/.default", "client_secret": "x"], segment: "tailspin.example",
                client: guarded, error: "unauthorized_client", number: 700_016),
            Refusal(
                testDescription: "an unknown tenant", segment: "woodgrove.example", error: "invalid_request",
                number: 90002),
            // The tenant comes first: before the client, nothing says in which tenant it is.
            Refusal(testDescription: "common", segment: "common", error: "invalid_request", number: 9_001_023),
            Refusal(
                testDescription: "common, wrong secret", changes: ["client_secret": "wrong"], segment: "common",
                error: "invalid_request", number: 9_001_023),
            Refusal(testDescription: "consumers", segment: "consumers", error: "invalid_request", number: 9_001_023),
            Refusal(
                testDescription: "consumers by ID", segment: Tenant.consumers, error: "invalid_request",
                number: 9_001_023),
            Refusal(
                testDescription: "organizations", segment: "organizations", error: "invalid_request", number: 50059),
            Refusal(
                testDescription: "a user flow", segment: "tfp/fabrikamb2c.example/b2c_1_susi",
                error: "invalid_request", number: 50059),
            Refusal(
                testDescription: "no secret", changes: ["client_secret": ""], error: "invalid_client",
                number: 7_000_216, status: 401),
            Refusal(
                testDescription: "a public client", client: TestTenant.native, error: "invalid_client",
                number: 7_000_216, status: 401),
            Refusal(
                testDescription: "a public client with a secret", changes: ["client_secret": "made up"],
                client: TestTenant.native, error: "invalid_client", number: 7_000_215, status: 401),
            Refusal(
                testDescription: "a wrong secret", changes: ["client_secret": "wrong"], error: "invalid_client",
                number: 7_000_215, status: 401),
            Refusal(
                testDescription: "an assertion that is none", changes: ["client_assertion": "a.b.c"],
                error: "invalid_client", number: 700_027, status: 401),
            Refusal(
                testDescription: "a script", headers: [("Origin", "http://localhost:8080")], error: "invalid_request",
                number: 9_002_326),
            Refusal(
                testDescription: "another grant", changes: ["grant_type": "password"],
                error: "unsupported_grant_type", number: 70003),
        ])
    func `a request is refused with the platform's error`(_ row: Refusal) async throws {
        try await TestTenant.run(configured: Self.register) { (tenant) async throws in
            let answer = try await tenant.browser().ownToken(
                row.changes, client: row.client, segment: row.segment, headers: row.headers)
            #expect(answer.member("error") == row.error)
            #expect(answer.number == row.number)
            #expect(answer.status == row.status)
            #expect(answer.json?["access_token"] == nil)
        }
    }

    @Test func `a certificate takes the secret's place, and the subject of its assertion is the issuer`() async throws {
        let key = PrivateKey(.rsa)
        var registered = DemoClient(id: "11111111-aaaa-4bbb-8ccc-00000000000d", name: "With a certificate")
        registered.certificate = DemoClient.Certificate(
            thumbprint: "thumbprint", publicKeyPEM: key.publicKey.pem)
        let client = registered
        try await TestTenant.run(configured: { $0.clients.append(client) }) { (tenant) async throws in
            let path = "/contoso.example/oauth2/v2.0/token"
            func ownToken(
                _ id: String, iss: String, sub: String, audience: String? = nil, from start: Int = 1_800_000_000,
                named thumbprint: String = "thumbprint"
            ) async throws -> Answer {
                let header: JSONValue = ["alg": "PS256", "x5t#S256": .string(thumbprint)]
                let claims: JSONValue = [
                    "iss": .string(iss), "sub": .string(sub), "aud": .string(audience ?? tenant.tenant.baseURL + path),
                    "jti": .string(id), "nbf": .integer(start), "exp": .integer(start + 300),
                ]
                let input = "\(Base64URL.encode(header.bytes)).\(Base64URL.encode(claims.bytes))"
                let signature = try #require(key.signature(of: input.utf8, scheme: .ps256))
                return try await tenant.browser().ownToken(
                    [
                        "client_assertion": "\(input).\(Base64URL.encode(signature))",
                        "client_assertion_type": ClientAssertion.type,
                    ], client: client)
            }
            let good = try await ownToken("1", iss: client.id, sub: client.id)
            #expect(good.status == 200 && good.claims("access_token")?["appidacr"] == "2")
            #expect(try await ownToken("MSAL", iss: client.id, sub: client.id, named: "thumbprint=").status == 200)
            for start in [1_799_999_000, 1_800_001_000] {
                let late = try await ownToken("\(start)", iss: client.id, sub: client.id, from: start)
                #expect(late.number == 700_024 && late.status == 401 && late.member("error") == "invalid_client")
            }
            for (id, iss, sub, audience, number) in [
                ("1", client.id, client.id, nil, 700_027), ("2", client.id, "another", nil, 50048),
                ("3", "another", "another", nil, 700_021), ("4", client.id, client.id, "https://else.example", 700_023),
            ] {
                let refused = try await ownToken(id, iss: iss, sub: sub, audience: audience)
                #expect(refused.number == number && refused.member("error") == "invalid_client", "\(id)")
                #expect(refused.status == 401)
            }
        }
    }

    /// An assertion as a library makes it, and one change of it.
    struct Assertion: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var header: [String: JSONValue] = ["alg": "RS256", "x5t": .string(Assertion.thumbprint)]
        var claims: [String: JSONValue] = [:]
        /// The part of the address after the tenant's origin.
        var audience = "/contoso.example/oauth2/v2.0/token"
        var isSignedByAnother = false
        /// Stands behind each part.
        var padding = ""
        /// Nil for one that is taken.
        var number: Int?
        var sentence = ""

        /// That of the certificate whose content is 1, 2, 3.
        static let thumbprint = Base64URL.encode(SHA1.hash(data: [1, 2, 3] as [UInt8]))
        static let sha256 = Base64URL.encode(SHA256.hash(data: [1, 2, 3] as [UInt8]))
        static let hex = "7037807198C22A7D2B0807371D763779A84FDFCF"
        static let clientID = "11111111-aaaa-4bbb-8ccc-00000000000f"

        /// Returns it with the signature of a key.
        func signed(by key: PrivateKey, at origin: String) throws -> String {
            let usual: [String: JSONValue] = [
                "iss": .string(Self.clientID), "sub": .string(Self.clientID), "aud": .string(origin + audience),
                "nbf": 1_800_000_000, "exp": 1_800_000_300,
            ]
            let content = usual.merging(claims) { $1 }.filter { $0.value != .null }
            let parts = [header, content].map { Base64URL.encode(JSONValue.object($0).bytes) + padding }
            let input = parts.joined(separator: ".")
            let scheme: SignatureScheme = header["alg"] == "PS256" ? .ps256 : .rs256
            let signature = try #require(key.signature(of: input.utf8, scheme: scheme))
            return "\(input).\(Base64URL.encode(signature))\(padding)"
        }
    }

    private static let assertions: [Assertion] = [
        Assertion(testDescription: "RS256, x5t"),
        Assertion(
            testDescription: "RS256, x5t#S256 alone (t2-cert-11)",
            header: ["alg": "RS256", "x5t#S256": .string(Assertion.sha256)]),
        Assertion(
            testDescription: "PS256, x5t#S256 alone (t2-cert-11)",
            header: ["alg": "PS256", "x5t#S256": .string(Assertion.sha256)]),
        Assertion(testDescription: "PS256, x5t", header: ["alg": "PS256", "x5t": .string(Assertion.thumbprint)]),
        Assertion(
            testDescription: "kid alone is the thumbprint (t2-cert-11)",
            header: ["alg": "RS256", "kid": .string(Assertion.hex)]),
        Assertion(testDescription: "no nbf (t2-cert-08)", claims: ["nbf": .null]),
        Assertion(testDescription: "padded, as azure-identity's asynchronous credentials write it", padding: "=="),
        Assertion(
            testDescription: "fractions", claims: ["nbf": .number(1_799_999_999.5), "exp": .number(1_800_000_300.5)]),
        Assertion(testDescription: "aud by GUID", audience: "/\(Tenant.contoso)/oauth2/v2.0/token"),
        Assertion(testDescription: "aud of version 1", audience: "/\(Tenant.contoso)/oauth2/token"),
        Assertion(testDescription: "aud is the issuer", audience: "/\(Tenant.contoso)/v2.0"),
        Assertion(testDescription: "aud is the issuer by name", audience: "/contoso.example/v2.0"),
        Assertion(testDescription: "aud is the authority", audience: "/\(Tenant.contoso)/"),
        Assertion(
            testDescription: "unknown key (t2-cert-01)",
            header: ["alg": "RS256", "x5t": .string(Base64URL.encode([UInt8](repeating: 10, count: 20)))],
            number: 700_027,
            sentence: "not registered on application. [Reason - The key was not found., Thumbprint of key used by "
                + "client: '\(String(repeating: "0A", count: 20))', Please visit"),
        Assertion(
            testDescription: "unknown key by a kid that is no thumbprint", header: ["alg": "RS256", "kid": "key 1"],
            number: 700_027, sentence: "[Reason - The key was not found., Please visit"),
        Assertion(
            testDescription: "wrong signature", isSignedByAnother: true, number: 700_027,
            sentence: "[Reason - The provided signature value did not match the expected signature value., Thumbprint "
                + "of key used by client: '\(Assertion.hex)', Found key 'Start=01/15/2027 07:00:00, End="),
        Assertion(
            testDescription: "no thumbprint (t2-cert-10)", header: ["alg": "RS256", "typ": "JWT"], number: 5_002_723,
            sentence: "Invalid JWT token. No certificate SHA-1 thumbprint, certificate SHA-256 thumbprint, nor keyId "
                + "specified in token header."),
        Assertion(
            testDescription: "HS256 (t2-cert-12)", header: ["alg": "HS256", "x5t": .string(Assertion.thumbprint)],
            number: 5_002_738,
            sentence: "Invalid JWT token. 'HS256' is not a supported signature algorithm. Supported signing algorithms "
                + "are: 'RS256,RS384,RS512"),
        Assertion(
            testDescription: "RS384, which Entra takes",
            header: ["alg": "RS384", "x5t": .string(Assertion.thumbprint)], number: 5_002_738,
            sentence: "are: 'RS256,PS256' Trace ID"),
        Assertion(
            testDescription: "another application's (t2-cert-13)",
            claims: ["iss": .string(daemon.id), "sub": .string(daemon.id)], number: 700_021,
            sentence: "Client assertion application identifier doesn't match 'client_id' parameter. Review the "
                + "documentation at "),
        Assertion(
            testDescription: "expired, without nbf (t2-cert-05, t2-cert-07)",
            claims: ["nbf": .null, "exp": 1_799_999_000], number: 700_024,
            sentence: "Current time: 2027-01-15T08:00:00.2500000Z, assertion valid from 1970-01-01T00:00:00.0000000Z, "
                + "expiry time of assertion 2027-01-15T07:43:20.0000000Z. Review the documentation at "),
        Assertion(
            testDescription: "not yet valid", claims: ["nbf": 1_800_001_000, "exp": 1_800_001_300], number: 700_024,
            sentence: "assertion valid from 2027-01-15T08:16:40.0000000Z, expiry"),
        Assertion(
            testDescription: "a time of no calendar", claims: ["nbf": .number(1e300), "exp": .number(1e300)],
            number: 700_024, sentence: "assertion valid from 9999-12-31T23:59:59.0000000Z"),
        Assertion(
            testDescription: "aud of another tenant", audience: "/tailspin.example/oauth2/v2.0/token", number: 700_023,
            sentence: "Client assertion audience claim does not match Realm issuer."),
        Assertion(
            testDescription: "aud is another tenant's issuer", audience: "/\(Tenant.fabrikam)/v2.0", number: 700_023),
        Assertion(testDescription: "aud of common", audience: "/common/oauth2/v2.0/token", number: 700_023),
        Assertion(
            testDescription: "aud of no endpoint", audience: "/contoso.example/oauth2/v2.0/else", number: 700_023),
        Assertion(testDescription: "no aud", claims: ["aud": .null], number: 700_023),
        Assertion(testDescription: "no exp", claims: ["exp": .null], number: 700_027),
    ]

    // Keys take a tenth of a second to make.
    private static let (key, otherKey) = (PrivateKey(.rsa), PrivateKey(.rsa))

    /// Registers an application with the certificate of a key.
    private static func certify(_ client: inout DemoClient, _ key: PrivateKey) {
        var certificate = DemoClient.Certificate(thumbprint: Assertion.sha256, publicKeyPEM: key.publicKey.pem)
        certificate.der = [1, 2, 3]
        certificate.start = Date(timeIntervalSince1970: 1_799_996_400)
        client.certificate = certificate
    }

    @Test(arguments: assertions)
    func `each fault of an assertion has its number and its sentence, and all forms of libraries are taken`(
        _ row: Assertion
    ) async throws {
        let key = Self.key
        var registered = DemoClient(id: Assertion.clientID, name: "With a certificate")
        Self.certify(&registered, key)
        let client = registered
        try await TestTenant.run(configured: { $0.clients.append(client) }) { (tenant) async throws in
            let assertion = try row.signed(by: row.isSignedByAnother ? Self.otherKey : key, at: tenant.tenant.baseURL)
            let answer = try await tenant.browser().ownToken(
                ["client_assertion": assertion, "client_assertion_type": ClientAssertion.type], client: client)
            #expect(answer.number == row.number, "\(answer.text)")
            #expect(answer.status == (row.number == nil ? 200 : 401))
            guard row.number != nil else { return }
            #expect(answer.member("error") == "invalid_client")
            let sentence = answer.member("error_description") ?? ""
            #expect(row.sentence.isEmpty || sentence.contains(row.sentence), "\(answer.text)")
        }
    }

    @Test func `where no single tenant is asked, an assertion for each of ours is taken`() async throws {
        let key = Self.key
        try await TestTenant.run(configured: { configuration in
            Self.certify(&configuration.clients[0], key)
        }) { (tenant) async throws in
            let browser = tenant.browser()
            let id = JSONValue.string(TestTenant.web.id)
            for audience in ["/common/oauth2/v2.0/token", "/\(Tenant.contoso)/v2.0"] {
                let row = Assertion(testDescription: audience, claims: ["iss": id, "sub": id], audience: audience)
                let answer = try await browser.redeem(
                    browser.signIn("adele@contoso.example").answer["code"],
                    [
                        "client_secret": "", "client_assertion": row.signed(by: key, at: tenant.tenant.baseURL),
                        "client_assertion_type": ClientAssertion.type,
                    ])
                #expect(answer.status == 200, "\(answer.text)")
            }
        }
    }

    @Test func `the issuer and the token endpoint of the metadata are audiences, whatever their form`() async throws {
        let key = Self.key
        try await TestTenant.run(configured: { configuration in
            Self.certify(&configuration.clients[0], key)
        }) { (tenant) async throws in
            let browser = tenant.browser()
            let id = JSONValue.string(TestTenant.web.id)
            func assertion(_ member: String, of metadata: String) async throws -> [String: String] {
                let audience = try await browser.get(metadata).json?[member] ?? .null
                let row = Assertion(testDescription: member, claims: ["iss": id, "sub": id, "aud": audience])
                return [
                    "client_assertion": try row.signed(by: key, at: tenant.tenant.baseURL),
                    "client_assertion_type": ClientAssertion.type,
                ]
            }
            let path = "v2.0/.well-known/openid-configuration"
            for member in ["issuer", "token_endpoint"] {
                let external = try await browser.ownToken(
                    assertion(member, of: "/\(Tenant.fabrikamDomain)/\(path)").merging(["client_secret": ""]) { $1 },
                    segment: Tenant.fabrikamDomain)
                #expect(external.status == 200, "\(external.text)")
                let name = Tenant.fabrikamB2CDomain
                let (callback, _) = try await browser.signIn(
                    "b2cuser@\(name)", ["scope": "openid", "p": "b2c_1_susi"], segment: name)
                let proof = try await assertion(member, of: "/\(name)/\(path)?p=b2c_1_susi")
                let inQuery = try await browser.post(
                    "/\(name)/oauth2/v2.0/token?p=b2c_1_susi",
                    [
                        ("grant_type", "authorization_code"), ("client_id", TestTenant.web.id),
                        ("code", callback["code"] ?? ""), ("code_verifier", TestTenant.verifier),
                        ("redirect_uri", TestTenant.web.redirectURIs.first ?? ""),
                    ] + proof.map { ($0.key, $0.value) })
                #expect(inQuery.status == 200, "\(inQuery.text)")
            }
        }
    }

    @Test func `a certificate past its end is refused, and the sentence names its thumbprint and times`() async throws {
        let key = PrivateKey(.rsa)
        var certificate = DemoClient.Certificate(thumbprint: "thumbprint", publicKeyPEM: key.publicKey.pem)
        certificate.der = [1, 2, 3]
        certificate.start = Date(timeIntervalSince1970: 1_799_996_400)
        certificate.end = Date(timeIntervalSince1970: 1_800_000_060)
        var registered = DemoClient(id: "11111111-aaaa-4bbb-8ccc-00000000000e", name: "With an old certificate")
        registered.certificate = certificate
        let client = registered
        try await TestTenant.run(configured: { $0.clients.append(client) }) { (tenant) async throws in
            func ownToken() async throws -> Answer {
                let header: JSONValue = ["alg": "RS256", "x5t#S256": "thumbprint"]
                let claims: JSONValue = [
                    "iss": .string(client.id), "sub": .string(client.id), "exp": 1_800_000_300,
                    "aud": .string(tenant.tenant.baseURL + "/contoso.example/oauth2/v2.0/token"),
                ]
                let input = "\(Base64URL.encode(header.bytes)).\(Base64URL.encode(claims.bytes))"
                let signature = try #require(key.signature(of: input.utf8, scheme: .rs256))
                return try await tenant.browser().ownToken(
                    [
                        "client_assertion": "\(input).\(Base64URL.encode(signature))",
                        "client_assertion_type": ClientAssertion.type,
                    ], client: client)
            }
            #expect(try await ownToken().status == 200)
            tenant.clock.advance(60)
            let late = try await ownToken()
            #expect(late.status == 401 && late.member("error") == "invalid_client" && late.number == 700_027)
            #expect(late.member("error_uri")?.hasSuffix("/error?code=700027") == true)
            #expect(
                late.member("error_description")?.contains(
                    "[Reason - The key used is expired., Thumbprint of key used by client: "
                        + "'7037807198C22A7D2B0807371D763779A84FDFCF', Found key 'Start=01/15/2027 07:00:00, "
                        + "End=01/15/2027 08:01:00']") == true)
        }
    }
}
