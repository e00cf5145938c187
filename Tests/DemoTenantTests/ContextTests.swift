import Foundation
import Testing
import WebFormats

@testable import TenantControl
@testable import TenantDirectory
@testable import TenantGraph
@testable import TenantServer
@testable import TenantSignIn

@Suite("Authentication contexts")
struct ContextTests {
    private static let adele = "adele@contoso.example"
    private static let payroll = OwnAPI.payroll.audience + "/payslips.read openid profile offline_access"

    private static func asking(_ contexts: String..., in token: String = "access_token") -> String {
        token == "access_token"
            ? AuthenticationContext.claims(accessToken: contexts) : AuthenticationContext.claims(idToken: contexts)
    }

    /// c1 asks for a second factor, c2 for the password, c3 is blocked, and c4 has no policy.
    private func run(
        _ change: (inout DemoTenantConfiguration) -> Void = { _ in },
        _ body: @Sendable (TestTenant) async throws -> Void
    ) async throws {
        try await TestTenant.run(
            configured: { configuration in
                configuration.contexts["c3"] = .blocked
                configuration.clients[0].exposes = ["api://tasks": ["Tasks.Read"]]
                change(&configuration)
            }, body)
    }

    @Test(
        arguments: [
            (#"{"access_token":{"acrs":{"essential":true,"value":"c1"}}}"#, ["c1"], [], []),
            (#"{"id_token":{"acrs":{"value":"c99"}}}"#, [], ["c99"], []),
            (
                #"{"access_token":{"acrs":{"values":["c2","c10"]}},"id_token":{"acrs":{"value":"c3"}}}"#,
                ["c2", "c10"], ["c3"], []
            ),
            (#"{"access_token":{"acrs":{"values":["c0","c100","c01","C1","c","c+1","urn:x",1]}}}"#, [], [], []),
            (#"{"access_token":{"acrs":{"value":"c10","values":["c9","c10"]}}}"#, ["c9", "c10"], [], []),
            (#"{"access_token":{"acrs":{"essential":true}}}"#, [], [], []),
            (#"{"access_token":{"acrs":null,"xms_cc":null}}"#, [], [], []),
            (#"{"access_token":{"xms_cc":{"values":["CP1","cp2"]}}}"#, [], [], ["cp1"]),
            (#"{"id_token":{"xms_cc":{"values":["cp1"]}}}"#, [], [], []), ("{}", [], [], []),
        ])
    func `the parameter asks for contexts and capabilities that exist`(
        _ text: String, _ accessToken: [String], _ idToken: [String], _ capabilities: [String]
    ) throws {
        let claims = try RequestedClaims(text)
        #expect(claims.accessTokenContexts == accessToken)
        #expect(claims.idTokenContexts == idToken)
        #expect(claims.capabilities == capabilities)
        #expect(!claims.secondFactor)
    }

    @Test(
        arguments: [
            (["c1"], ["username", "password", "second_factor", "consent"], ["second_factor"]),
            (["c2"], ["username", "password", "consent"], ["password"]),
            (["c1", "c2"], ["username", "password", "second_factor", "consent"], ["password", "second_factor"]),
            (["c4"], ["username", "password", "consent"], []), ([], ["username", "password", "consent"], []),
        ] as [([String], [String], [String])])
    func `a context's policy leads a person through it once, at the first sign-in or later`(
        _ contexts: [String], _ first: [String], _ later: [String]
    ) async throws {
        try await run { (tenant) async throws in
            let claims = contexts.isEmpty ? "" : AuthenticationContext.claims(accessToken: contexts)
            let expected: JSONValue? = contexts.isEmpty ? nil : .array(contexts.map(JSONValue.string))
            func pages(_ browser: Browser) async throws -> [String] {
                let (answer, pages) = try await browser.signIn(Self.adele, ["claims": claims])
                let tokens = try await browser.redeem(answer["code"])
                #expect(tokens.claims("access_token")?["acrs"] == expected)
                #expect(tokens.claims("id_token")?["acrs"] == nil)
                return pages
            }
            let (new, signedIn) = (tenant.browser(), tenant.browser())
            #expect(try await pages(new) == first)
            #expect(try await pages(new) == [])
            _ = try await signedIn.signIn(Self.adele)
            #expect(try await pages(signedIn) == later)
            #expect(try await pages(signedIn) == [])
        }
    }

    @Test func `the page of an extra check says for which context it is`() async throws {
        try await run { (tenant) async throws in
            let browser = tenant.browser()
            _ = try await browser.signIn(Self.adele)
            for context in ["c1", "c2"] {
                let page = try await browser.authorize(["claims": Self.asking(context)])
                #expect(page.text.contains("(authentication context \(context))"))
                #expect(page.text.contains("<strong>Web tutorial</strong>"))
            }
            #expect(try await browser.authorize(["prompt": "login"]).text.contains("authentication context") == false)
        }
    }

    @Test func `a context of the ID token is in the ID token alone`() async throws {
        try await run { (tenant) async throws in
            let browser = tenant.browser()
            let (answer, pages) = try await browser.signIn(
                Self.adele, ["claims": Self.asking("c1", in: "id_token")])
            #expect(pages == ["username", "password", "second_factor", "consent"])
            let tokens = try await browser.redeem(answer["code"])
            #expect(tokens.claims("id_token")?["acrs"] == ["c1"])
            #expect(tokens.claims("access_token")?["acrs"] == nil)
        }
    }

    @Test func `a blocked context ends on the page of the policy, silently with interaction_required`() async throws {
        try await run { (tenant) async throws in
            let browser = tenant.browser()
            let tokens = try await browser.tokens(Self.adele)
            let page = try await browser.authorize(["claims": Self.asking("c3", "c1")])
            #expect(page.text.contains("AADSTS53003: "))
            let silent = try await browser.authorize(["claims": Self.asking("c3"), "prompt": "none"]).callback()
            #expect(silent["error"] == "interaction_required")
            #expect(silent["error_description"]?.hasPrefix("AADSTS53003: ") == true)
            let refused = try await browser.refresh(
                tokens.member("refresh_token"), ["claims": Self.asking("c3", "c4")])
            #expect(refused.number == 53003)
            #expect(refused.member("error") == "invalid_grant" && refused.member("suberror") == "message_only")
        }
    }

    @Test(arguments: [("c1", 50076, "second_factor"), ("c2", 70043, "password")])
    func `a context that is not met silently takes interaction, and its claims lead there`(
        _ context: String, _ number: Int, _ page: String
    ) async throws {
        try await run { (tenant) async throws in
            let browser = tenant.browser()
            let (answer, _) = try await browser.signIn(Self.adele)
            let asked = Self.asking("c4", context)
            let early = try await browser.redeem(answer["code"], ["claims": asked])
            #expect(early.number == number)
            let tokens = try await browser.redeem(answer["code"])
            #expect(tokens.status == 200, "a refusal leaves the code as it was")
            let refused = try await browser.refresh(tokens.member("refresh_token"), ["claims": asked])
            #expect(refused.status == 400)
            #expect(refused.number == number)
            #expect(refused.member("error") == "invalid_grant")
            #expect(refused.member("suberror") == "basic_action")
            #expect(refused.member("claims") == Self.asking(context))
            let silent = try await browser.authorize(["claims": asked, "prompt": "none"]).callback()
            #expect(silent["error"] == "interaction_required")
            #expect(silent["claims"] == Self.asking(context))

            let again = try await browser.signIn(Self.adele, ["claims": refused.member("claims") ?? ""])
            #expect(again.pages == [page])
            let strong = try await browser.redeem(again.answer["code"])
            #expect(strong.claims("access_token")?["acrs"] == .array([.string(context)]))
            let renewed = try await browser.refresh(strong.member("refresh_token"), ["claims": asked])
            #expect(renewed.claims("access_token")?["acrs"] == .array([.string(context), "c4"]))
            let plain = try await browser.refresh(renewed.member("refresh_token"))
            #expect(plain.claims("access_token")?["acrs"] == nil, "it was not asked for")
            #expect(try await browser.authorize(["claims": asked, "prompt": "none"]).callback()["code"] != nil)
        }
    }

    @Test func `the request for a device's codes asks for contexts, and its poll, too`() async throws {
        try await run { (tenant) async throws in
            let browser = tenant.browser()
            let asking = try await browser.deviceCode(["claims": Self.asking("c1", "c4")])
            _ = try await tenant.browser().approve(asking)
            #expect(try await browser.poll(asking).claims("access_token")?["acrs"] == ["c1", "c4"])
            #expect(try await browser.deviceCode(["claims": "["]).number == 9_002_313)
            let codes = try await browser.deviceCode()
            _ = try await browser.approve(codes)
            #expect(try await browser.poll(codes, ["claims": Self.asking("c1")]).number == 50076)
            let tokens = try await browser.poll(codes, ["claims": Self.asking("c4")])
            #expect(tokens.claims("access_token")?["acrs"] == ["c4"])
        }
    }

    @Test func `as an optional claim, the contexts that are met are there unasked`() async throws {
        try await run({ configuration in
            configuration.clients[0].optionalClaims = DemoClient.OptionalClaims(
                idToken: ["acrs"], accessToken: ["acrs"])
        }) { (tenant) async throws in
            let browser = tenant.browser()
            let scope = ["scope": "api://tasks/tasks.read openid offline_access"]
            let weak = try await browser.tokens(Self.adele, scope)
            #expect(weak.claims("access_token")?["acrs"] == nil)
            let claims = AuthenticationContext.claims(accessToken: ["c1", "c4"], idToken: ["c2"])
            let (answer, _) = try await browser.signIn(Self.adele, scope.merging(["claims": claims]) { $1 })
            let strong = try await browser.redeem(answer["code"])
            #expect(strong.claims("access_token")?["acrs"] == ["c1", "c2", "c4"])
            #expect(strong.claims("id_token")?["acrs"] == ["c1", "c2"])
            let renewed = try await browser.refresh(strong.member("refresh_token"))
            #expect(renewed.claims("access_token")?["acrs"] == ["c1", "c2"])
            let graph = try await browser.refresh(strong.member("refresh_token"), ["scope": "openid"])
            #expect(graph.claims("access_token")?["acrs"] == nil)
        }
    }

    @Test(
        arguments: [
            ("customer@fabrikam.example", "fabrikam.example", ["c2"], ["username", "password"], ["c2"]),
            (
                "customer@fabrikam.example", "fabrikam.example", ["c1"], ["username", "password", "second_factor"],
                ["c1"]
            ),
            ("alex@outlook.example", "common", ["c1", "c3", "c4"], ["username", "password", "consent"], nil),
            (
                "b2cuser@fabrikamb2c.example", "tfp/fabrikamb2c.example/b2c_1_susi", ["c1", "c3"],
                ["username", "password"], nil
            ),
        ] as [(String, String, [String], [String], [String]?)])
    func `personal accounts and B2C have no contexts, and an external tenant's asks for no password`(
        _ username: String, _ segment: String, _ contexts: [String], _ pages: [String], _ granted: [String]?
    ) async throws {
        try await run { (tenant) async throws in
            let browser = tenant.browser()
            let claims = AuthenticationContext.claims(accessToken: contexts, idToken: contexts)
            let (answer, shown) = try await browser.signIn(username, ["claims": claims], segment: segment)
            #expect(shown == pages)
            let tokens = try await browser.redeem(answer["code"], segment: segment)
            for token in ["access_token", "id_token"] {
                #expect(tokens.claims(token)?["acrs"] == granted.map { .array($0.map(JSONValue.string)) })
            }
        }
    }

    @Test(
        arguments: [
            (["xms_cc"], #"["cp1"]"#, true), (["xms_cc"], #"["CP1","x"]"#, true), (["xms_cc"], #"["x"]"#, false),
            ([], #"["cp1"]"#, false),
        ])
    func `xms_cc takes the API's optional claim and the client's capability`(
        _ optional: [String], _ values: String, _ isThere: Bool
    ) async throws {
        try await run({ configuration in
            configuration.clients[0].optionalClaims = DemoClient.OptionalClaims(accessToken: optional)
        }) { (tenant) async throws in
            let browser = tenant.browser()
            let claims = #"{"access_token":{"xms_cc":{"values":\#(values)}}}"#
            let (answer, _) = try await browser.signIn(
                Self.adele, ["scope": "api://tasks/tasks.read offline_access", "claims": claims])
            let tokens = try await browser.redeem(answer["code"])
            #expect(tokens.claims("access_token")?["xms_cc"] == (isThere ? ["cp1"] : nil))
            let token = tokens.member("refresh_token")
            #expect(try await browser.refresh(token).claims("access_token")?["xms_cc"] == nil)
            let renewed = try await browser.refresh(token, ["claims": claims])
            #expect(renewed.claims("access_token")?["xms_cc"] == (isThere ? ["cp1"] : nil))
        }
    }

    @Test func `the payroll demands a context, by a challenge of clients that can handle one`() async throws {
        try await run { (tenant) async throws in
            let browser = tenant.browser()
            let plain = try await browser.tokens(Self.adele, ["scope": Self.payroll])
            let forbidden = try await browser.me(plain.member("access_token"), path: "/api/payroll")
            #expect(forbidden.status == 403)
            #expect(forbidden["WWW-Authenticate"] == nil)
            let capable = try await browser.refresh(
                plain.member("refresh_token"),
                ["scope": Self.payroll, "claims": #"{"access_token":{"xms_cc":{"values":["cp1"]}}}"#])
            let refused = try await browser.me(capable.member("access_token"), path: "/api/payroll")
            #expect(refused.status == 401)
            let challenge = try #require(refused["WWW-Authenticate"])
            #expect(challenge.contains(#"realm="""#))
            #expect(challenge.contains(#"error="insufficient_claims", "#))
            #expect(challenge.contains(#"cc_type="authcontext""#))
            let encoded = try #require(challenge.firstMatch(of: /claims="([^"]+)"/)?.output.1)
            let claims = try #require(Data(base64Encoded: String(encoded)).map { String(decoding: $0, as: UTF8.self) })
            #expect(claims == Self.asking("c1"))
            let (answer, pages) = try await browser.signIn(Self.adele, ["scope": Self.payroll, "claims": claims])
            #expect(pages == ["second_factor"])
            let tokens = try await browser.redeem(answer["code"])
            let payslips = try await browser.me(tokens.member("access_token"), path: "/api/payroll")
            #expect(payslips.status == 200)
            #expect(payslips.json?["owner"] == .string(Self.adele))
        }
    }

    @Test func `an application's own API can demand a context`() async throws {
        try await run({ configuration in
            configuration.clients[0].requiredContexts = ["api://tasks": "c4"]
            configuration.clients[0].optionalClaims = DemoClient.OptionalClaims(accessToken: ["xms_cc"])
        }) { (tenant) async throws in
            let browser = tenant.browser()
            let scope = ["scope": "api://tasks/tasks.read offline_access"]
            for (claims, status) in [
                ("", 403), (#"{"access_token":{"xms_cc":{"values":["cp1"]}}}"#, 401), (Self.asking("c4"), 200),
                (Self.asking("c1"), 403),
            ] {
                let (answer, _) = try await browser.signIn(Self.adele, scope.merging(["claims": claims]) { $1 })
                let token = try await browser.redeem(answer["code"]).member("access_token")
                let answered = try await browser.me(token, path: "/api/external")
                #expect(answered.status == status)
                #expect(
                    answered["WWW-Authenticate"]?.contains("client_id=\"\(TestTenant.web.id)\"")
                        == (status == 401 ? true : nil))
            }
        }
    }

    @Test func `tokens and codes of an older version have met no context`() throws {
        let old = #"{"time":0,"sessionID":"s","secondFactor":1,"revocations":0}"#
        #expect(try JSONDecoder().decode(Authentication.self, from: Data(old.utf8)).contexts == nil)
        let claims = try JSONDecoder().decode(RequestedClaims.self, from: Data(#"{"secondFactor":true}"#.utf8))
        #expect(claims.secondFactor && claims.contexts.isEmpty)
    }
}
