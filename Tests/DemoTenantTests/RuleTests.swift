import Foundation
import HTTPClient
import TestSupport
import Testing
import WebFormats

@testable import TenantControl
@testable import TenantDirectory
@testable import TenantGraph
@testable import TenantServer
@testable import TenantSignIn

@Suite("Failures as rules for one application or one person")
struct RuleTests {
    /// A person at an application, with a browser, connections and tokens of their own.
    struct Visitor: Sendable {
        let client: DemoClient
        let username: String
        let browser: Browser
        let clock: TestTenant.Clock
        var refreshToken: String?
        var accessToken: String?
    }

    /// An effect, what shows it, and what that shows with it and without it.
    struct Row: Sendable, CustomTestStringConvertible {
        let effect: [String: JSONValue]
        let affected: String
        let normal: String
        let probe: @Sendable (Visitor) async throws -> String

        init(
            _ name: String, _ value: JSONValue, _ affected: String, _ normal: String,
            _ probe: @escaping @Sendable (Visitor) async throws -> String
        ) {
            effect = [name: value]
            self.affected = affected
            self.normal = normal
            self.probe = probe
        }

        var testDescription: String { effect.keys.joined() }

        static func refreshing(
            asking: [String: String] = [:], _ shown: @escaping @Sendable (Answer) -> String
        ) -> @Sendable (Visitor) async throws -> String {
            { shown(try await $0.browser.refresh($0.refreshToken, asking, client: $0.client)) }
        }
        static func calling(
            _ shown: @escaping @Sendable (Answer) -> String = { "\($0.status)" }
        ) -> @Sendable (Visitor) async throws -> String {
            { shown(try await $0.browser.me($0.accessToken)) }
        }
        static func orClosed(
            _ probe: @escaping @Sendable (Visitor) async throws -> String
        ) -> @Sendable (Visitor) async throws -> String {
            {
                do { return try await probe($0) } catch is HTTPClientError { return "closed" }
            }
        }
        /// Says whether the request of the probe waits. It ends with its rule.
        static func late(
            _ endpoint: String, _ probe: @escaping @Sendable (Visitor) async throws -> String
        ) -> @Sendable (Visitor) async throws -> String {
            { visitor in
                let before = try await visitor.browser.held(at: endpoint)
                let isAnswered = Shared(false)
                Task {
                    _ = try? await probe(visitor)
                    isAnswered.change { $0 = true }
                }
                var isHeld = false
                let isKnown = await eventually {
                    isHeld = (try? await visitor.browser.held(at: endpoint)) == before + 1
                    return isHeld || isAnswered.value
                }
                return isHeld ? "late" : isKnown ? "in time" : "neither"
            }
        }
        static func signingIn(
            _ parameters: [String: String] = [:]
        ) -> @Sendable (Visitor) async throws -> String {
            { try await outcome(of: $0, parameters) }
        }
        private static func outcome(of visitor: Visitor, _ parameters: [String: String]) async throws -> String {
            let (answer, _) = try await visitor.browser.signIn(visitor.username, parameters, client: visitor.client)
            return answer["error"] ?? (answer["code"] == nil ? "nothing" : "code")
        }
        static func status(_ answer: Answer) -> String { "\(answer.status)" }
    }

    static let rows: [Row] = [
        Row("access_token_seconds", 60, "60", "the platform's") {
            let lifetime = try await Row.refreshing { $0.json?["expires_in"]?.integer.map { "\($0)" } ?? "none" }($0)
            return Int(lifetime).map((3600...5400).contains) == true ? "the platform's" : lifetime
        },
        Row("refresh_token_seconds", 20, "700082", "200") { visitor in
            let next = try await visitor.browser.refresh(visitor.refreshToken, client: visitor.client)
            visitor.clock.advance(30)
            let answer = try await visitor.browser.refresh(next.member("refresh_token"), client: visitor.client)
            return "\(answer.number ?? answer.status)"
        },
        Row("refresh_token_single_use", true, "50173", "200") { visitor in
            let tokens = try await visitor.browser.tokens(visitor.username, client: visitor.client)
            let token = tokens.member("refresh_token")
            _ = try await visitor.browser.refresh(token, client: visitor.client)
            let again = try await visitor.browser.refresh(token, client: visitor.client)
            return "\(again.number ?? again.status)"
        },
        Row("token_error", ["status": 503], "503", "200", Row.refreshing(Row.status)),
        Row("graph_error", ["status": 429], "429", "200", Row.calling()),
        Row("token_delay_ms", 600_000, "late", "in time", Row.late("token", Row.refreshing(Row.status))),
        Row("graph_delay_ms", 600_000, "late", "in time", Row.late("graph", Row.calling())),
        Row("hold", "token", "late", "in time", Row.late("token", Row.refreshing(Row.status))),
        Row("hold", "graph", "late", "in time", Row.late("graph", Row.calling())),
        Row("close_connection", "token", "closed", "200", Row.orClosed(Row.refreshing(Row.status))),
        Row("close_connection", "graph", "closed", "200", Row.orClosed(Row.calling())),
        Row("lost_token_answer", true, "504", "200", Row.refreshing(Row.status)),
        Row("provider_down", "workforce", "closed", "200", Row.orClosed(Row.refreshing(Row.status))),
        Row("provider_down", "all", "closed", "code") { visitor in
            // Without a hint, the request does not say who signs in.
            try await Row.orClosed(Row.signingIn(["login_hint": visitor.username]))(visitor)
        },
        Row("claims_challenge", true, "401", "200", Row.calling()),
        Row("expire_tokens", true, "401", "200", Row.calling()),
        Row("bad_id_token", "nonce", "another", "the nonce") { visitor in
            let tokens = try await visitor.browser.tokens(visitor.username, client: visitor.client)
            return tokens.claims("id_token")?["nonce"]?.string == "the nonce" ? "the nonce" : "another"
        },
        Row("token_platform_error", 65001, "65001", "200", Row.refreshing { "\($0.number ?? $0.status)" }),
        Row("authorize_platform_error", 65004, "access_denied", "code", Row.signingIn()),
        Row("missing_scope", "Mail.Read", "403", "200", Row.calling()),
        Row(
            "declined_scope", "User.Read", "openid profile", "openid profile User.Read",
            Row.refreshing { answer in
                (answer.member("scope") ?? "").split(separator: " ").filter { $0 != "email" }.joined(separator: " ")
            }),
        Row(
            "id_token_claims", ["shoe_size": 43], "43", "0",
            Row.refreshing { "\($0.claims("id_token")?["shoe_size"]?.integer ?? 0)" }),
        Row(
            "omit_auth_time", true, "without", "with",
            Row.refreshing { $0.claims("id_token")?["auth_time"] == nil ? "without" : "with" }),
        Row("ignore_max_age", true, "", "password") { visitor in
            try await visitor.browser.signIn(
                visitor.username, ["prompt": "login", "login_hint": visitor.username], client: visitor.client
            ).pages.joined(separator: " ")
        },
        Row("second_factor", true, "401", "200", Row.calling()),
        Row("second_factor", true, "50076", "200", Row.refreshing { "\($0.number ?? $0.status)" }),
        Row("graph_throttled", true, "429", "200", Row.calling()),
        Row("no_permissions", true, "650057", "200", Row.refreshing { "\($0.number ?? $0.status)" }),
        Row("revoked", true, "50173", "200", Row.refreshing { "\($0.number ?? $0.status)" }),
        Row(
            "generic_provider", true, "70011", "200",
            Row.refreshing(asking: ["scope": "openid Mail.Read"]) { "\($0.number ?? $0.status)" }),
        // The keys do not say which application reads them.
        Row("unknown_key", true, "the same", "the same") { visitor in
            let keys = try await visitor.browser.get("/common/discovery/v2.0/keys").json?["keys"]?.array ?? []
            return keys.contains { $0["kty"] != "RSA" } ? "another" : "the same"
        },
        Row("key_set", "unavailable", "the same", "the same") { visitor in
            let answer = try await visitor.browser.get("/common/discovery/v2.0/keys")
            return answer.status == 200 ? "the same" : "another"
        },
    ]

    /// Runs a test with two people at two applications.
    private func run(
        _ body: @Sendable @escaping (TestTenant, Browser, [Visitor]) async throws -> Void
    ) async throws {
        try await TestTenant.run { (tenant) async throws in
            var visitors: [Visitor] = []
            var connections: [HTTPClient] = []
            for client in [TestTenant.web, TestTenant.native] {
                for username in ["adele@contoso.example", "megan@contoso.example"] {
                    let own = HTTPClient(workers: tenant.workers)
                    connections.append(own)
                    let browser = Browser(baseURL: tenant.tenant.baseURL, client: own)
                    var visitor = Visitor(client: client, username: username, browser: browser, clock: tenant.clock)
                    let tokens = try await browser.tokens(
                        username, ["scope": "openid profile offline_access user.read mail.read"], client: client)
                    let narrow = try await browser.refresh(
                        tokens.member("refresh_token"), ["scope": "openid profile offline_access user.read"],
                        client: client)
                    let first = try await browser.tokens(username, client: client)
                    visitor.refreshToken = first.member("refresh_token")
                    visitor.accessToken = narrow.member("access_token")
                    visitors.append(visitor)
                }
            }
            let result: Result<Void, any Error>
            do {
                result = .success(try await body(tenant, tenant.browser(), visitors))
            } catch {
                result = .failure(error)
            }
            for connection in connections { await connection.shutdown() }
            try result.get()
        }
    }

    @Test(arguments: rows)
    func `an effect meets those whom its rule names, and no one else`(_ row: Row) async throws {
        try await run { (tenant, browser, visitors) async throws in
            let (client, user) = (TestTenant.web.id, "adele@contoso.example")
            for when in [["client": client], ["user": user], ["client": client, "user": user]] {
                let rule = row.effect.merging(["when": .object(when.mapValues(JSONValue.string))]) { $1 }
                let set = try await browser.control(["rules": [.object(rule)]])
                #expect(set.status == 200)
                let id = try #require(set.json?["rules"]?.array?.first?["id"]?.integer)
                for visitor in visitors {
                    let isMet =
                        (when["client"] ?? visitor.client.id) == visitor.client.id
                        && (when["user"] ?? visitor.username) == visitor.username
                    #expect(
                        try await row.probe(visitor) == (isMet ? row.affected : row.normal),
                        "\(visitor.client.name), \(visitor.username), when \(when)")
                }
                let ended = try await browser.control(["remove": .integer(id)])
                #expect(ended.json?["rules"] == [])
                #expect(try await row.probe(visitors[0]) == row.normal, "the rule has ended")
            }
        }
    }

    @Test func `a rule for a session meets that sign-on alone, ends by itself, and is removed with it`() async throws {
        try await run { (tenant, browser, visitors) async throws in
            let (first, client) = (visitors[0], visitors[0].client)
            let tokens = try await first.browser.refresh(first.refreshToken, client: client)
            let sid = try #require(tokens.claims("access_token")?["sid"])
            func begin(_ seconds: Int) async throws -> Int {
                try await browser.control([
                    "rules": [["when": ["session": sid], "seconds": .integer(seconds), "graph_throttled": true]]
                ]).status
            }
            func answers() async throws -> [Int] {
                var statuses: [Int] = []
                for visitor in visitors { statuses.append(try await visitor.browser.me(visitor.accessToken).status) }
                return statuses
            }
            #expect(try await begin(60) == 200)
            #expect(try await answers() == [429, 200, 200, 200])
            tenant.clock.advance(59)
            #expect(try await answers() == [429, 200, 200, 200])
            tenant.clock.advance(1)
            #expect(try await answers() == [200, 200, 200, 200])
            #expect(try await browser.get("/control").json?["rules"] == [])
            #expect(try await begin(600) == 200)
            #expect(try await browser.control(["remove": ["session": "another"]]).json?["rules"]?.array?.count == 1)
            #expect(try await browser.control(["remove": ["session": sid]]).json?["rules"] == [])
            #expect(try await answers() == [200, 200, 200, 200])
        }
    }

    @Test(
        arguments: [
            (["remove": "1"], "remove: give the id of a rule, or an object with session."),
            (["remove": ["session": ""]], "remove: session: give the claim sid of a token."),
            (
                ["rules": [["when": ["session": 1], "graph_throttled": true]]],
                "rules: [0]: session: give the claim sid of a token."
            ),
            (
                ["rules": [["seconds": 0, "graph_throttled": true]]],
                "rules: [0]: 'seconds' has to be a number from 1 to 1000000."
            ),
        ] as [([String: JSONValue], String)])
    func `a mistake in a rule's end or session is named`(_ change: [String: JSONValue], _ message: String) async throws
    {
        try await TestTenant.run { (tenant) async throws in
            let answer = try await tenant.browser().control(.object(change))
            #expect(answer.status == 400 && answer.json?["message"]?.string == message)
        }
    }

    @Test func `every effect has a row`() {
        let tested = Set(Self.rows.flatMap(\.effect.keys)).union([
            // Each has a test of its own: below, and in NativeAttackTests.
            "b2c_issuer_with_policy", "native_failure",
            // One for everyone.
            ControlKey.clock,
        ])
        #expect(tested == Set(ControlKey.effects.map(\.name)))
    }

    @Test func `B2C's issuer with the user flow is for one application alone`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            _ = try await browser.control([
                "rules": [["when": ["client": .string(TestTenant.web.id)], "b2c_issuer_with_policy": true]]
            ])
            for (client, isNamed) in [(TestTenant.web, true), (TestTenant.native, false)] {
                let tokens = try await browser.tokens(
                    "b2cuser@fabrikamb2c.example", ["scope": "openid offline_access"], client: client,
                    segment: "tfp/\(Tenant.fabrikamB2CDomain)/b2c_1_susi")
                #expect(tokens.claims("id_token")?["tfp"] == "B2C_1_susi")
                #expect((tokens.claims("id_token")?["iss"]?.string?.hasSuffix("/b2c_1_susi/v2.0/") == true) == isNamed)
            }
        }
    }

    @Test func `rules are added with an ID, by the application's name too, and one or all are ended`() async throws {
        try await run { (_, browser, visitors) async throws in
            let first = try await browser.control([
                "rules": [
                    ["when": ["client": "Web tutorial", "user": "ADELE@contoso.example"], "token_delay_ms": 0],
                    ["token_error": ["status": 500, "headers": ["Retry-After": 7]], "times": 3],
                ]
            ])
            let rules = try #require(first.json?["rules"]?.array)
            let ids = rules.compactMap { $0["id"]?.integer }
            #expect(Set(ids).count == 2)
            #expect(
                rules == [
                    [
                        "id": .integer(ids[0]), "times": .null, "token_delay_ms": 0,
                        "when": ["client": .string(TestTenant.web.id), "user": "adele@contoso.example"],
                    ],
                    [
                        "id": .integer(ids[1]), "times": 3, "when": [:],
                        "token_error": ["status": 500, "body": .null, "headers": ["Retry-After": "7"]],
                    ],
                ])
            #expect(first.json?["token_error"] == .null, "keys at the top level are apart")
            #expect(first.json?["token_delay_ms"] == 0)
            let second = try await browser.control(["rules": [["graph_delay_ms": 1]]])
            #expect(second.json?["rules"]?.array?.count == 3)
            let third = try await browser.control(["remove": .integer(ids[1])])
            #expect(third.json?["rules"]?.array?.compactMap { $0["id"]?.integer }.contains(ids[1]) == false)
            #expect(try await browser.refresh(visitors[0].refreshToken).status == 200)
            #expect(try await browser.control(["remove": .integer(ids[1])]).json?["rules"]?.array?.count == 2)
            #expect(try await browser.control(["rules": []]).json?["rules"] == [])
        }
    }

    @Test func `an application's own token has a client and no person`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            func ownToken() async throws -> Int {
                try await browser.redeem(
                    nil,
                    [
                        "grant_type": "client_credentials", "scope": "https://graph.microsoft.com/.default",
                        "redirect_uri": "", "code_verifier": "",
                    ], segment: Tenant.contoso
                ).status
            }
            for (when, status) in [
                (["user": "adele@contoso.example"], 200), (["client": .string(TestTenant.native.id)], 200),
                (["client": .string(TestTenant.web.id), "user": "adele@contoso.example"], 200),
                (["client": .string(TestTenant.web.id)], 503), ([:], 503),
            ] as [([String: JSONValue], Int)] {
                _ = try await browser.control(["rules": [["when": .object(when), "token_error": ["status": 503]]]])
                #expect(try await ownToken() == status, "\(when)")
                _ = try await browser.control(["rules": []])
            }
        }
    }

    @Test func `a device's poll is by the person who has approved it, and the start ends its code`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            _ = try await browser.control([
                "rules": [["when": ["user": "adele@contoso.example"], "token_error": ["status": 503]]]
            ])
            for (username, status) in [("adele@contoso.example", 503), ("megan@contoso.example", 200)] {
                let codes = try await browser.deviceCode()
                #expect(try await browser.poll(codes).number == 70016, "no one is known yet")
                _ = try await tenant.browser().approve(codes, as: username)
                #expect(try await browser.poll(codes).status == status)
            }
            let codes = try await browser.deviceCode()
            _ = try await tenant.browser().approve(codes)
            _ = try await browser.control(["reset": "seed"])
            #expect(try await browser.poll(codes).number == 70018)
            #expect(try await tenant.browser().enter(codes.member("user_code")).text.contains("AADSTS70018"))
        }
    }

    @Test func `of several rules the latest prevails, and those of the list prevail over the top level`() async throws {
        try await run { (_, browser, visitors) async throws in
            let web = TestTenant.web.id
            func lifetime(_ visitor: Visitor) async throws -> Int? {
                try await visitor.browser.refresh(visitor.refreshToken, client: visitor.client).json?["expires_in"]?
                    .integer
            }
            _ = try await browser.control(["rules": [["when": ["client": .string(web)], "access_token_seconds": 100]]])
            _ = try await browser.control([
                "access_token_seconds": 50,
                "rules": [
                    ["when": ["client": .string(web), "user": "megan@contoso.example"], "access_token_seconds": 200]
                ],
            ])
            #expect(try await lifetime(visitors[0]) == 100)
            #expect(try await lifetime(visitors[1]) == 200)
            #expect(try await lifetime(visitors[2]) == 50)
            // Zero is no absence of a value: one application can be left out of what all others meet.
            _ = try await browser.control([
                "token_delay_ms": 600_000, "rules": [["when": ["client": .string(web)], "token_delay_ms": 0]],
            ])
            let late = Row.late("token", Row.refreshing(Row.status))
            #expect(try await late(visitors[0]) == "in time")
            #expect(try await late(visitors[2]) == "late")
            _ = try await browser.control(["reset": true])
        }
    }

    @Test func `a rule with times is used that often, also by requests at the same time`() async throws {
        try await run { (_, browser, visitors) async throws in
            _ = try await browser.control([
                "rules": [
                    [
                        "when": ["user": "adele@contoso.example"], "times": 3, "token_delay_ms": 20,
                        "token_error": ["status": 503],
                    ]
                ]
            ])
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for visitor in visitors + visitors + visitors + visitors {
                    group.addTask {
                        try await visitor.browser.refresh(visitor.refreshToken, client: visitor.client).status
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            // One request counts once, although it meets both effects.
            #expect(statuses.filter { $0 == 503 }.count == 3)
            #expect(statuses.filter { $0 == 200 }.count == 13)
            #expect(try await browser.get("/control").json?["rules"] == [])
        }
    }

    @Test(arguments: [
        (#"{}"#, "rules: give an array"), (#"[5]"#, "rules: [0]: give an object"),
        (#"[{"token_delay_ms":1},{}]"#, "rules: [1]: a rule needs an effect"),
        (#"[{"when":{"user":"adele@contoso.example"}}]"#, "a rule needs an effect"),
        (#"[{"missing_scope":null}]"#, "missing_scope: a rule needs an effect"),
        (#"[{"reset":true}]"#, "'reset' is no effect"),
        (#"[{"revoke":"adele@contoso.example"}]"#, "'revoke' is no effect"),
        (#"[{"rules":[]}]"#, "'rules' is no effect"), (#"[{"clock_seconds":1}]"#, "'clock_seconds' is no effect"),
        (#"[{"when":[],"token_delay_ms":1}]"#, "when: give an object"),
        (#"[{"when":{"device":"x"},"token_delay_ms":1}]"#, "when: give an object"),
        (#"[{"when":{"client":"nobody's"},"token_delay_ms":1}]"#, "when: client: give the ID or the name"),
        (#"[{"when":{"client":7},"token_delay_ms":1}]"#, "when: client: "),
        (#"[{"when":{"user":"nobody@contoso.example"},"token_delay_ms":1}]"#, "when: user: give the username"),
        (#"[{"times":0,"token_delay_ms":1}]"#, "'times' has to be"),
        (#"[{"times":"1","token_delay_ms":1}]"#, "'times' has to be"),
        (#"[{"token_error":{"status":503,"times":2}}]"#, "'times' is none of status, body, headers"),
        (#"[{"token_delay_ms":-1}]"#, "token_delay_ms: give a whole number"),
    ])
    func `a rule that is not understood is refused, and none of the others is made`(
        _ rules: String, _ message: String
    ) async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let answer = try await browser.send(
                "POST", "/control", [("Content-Type", "application/json")],
                Array(#"{"graph_delay_ms":5,"rules":\#(rules)}"#.utf8))
            #expect(answer.status == 400)
            #expect(answer.member("message")?.contains(message) == true, "\(answer.text)")
            let state = try await browser.get("/control").json
            #expect(state?["rules"] == [] && state?["graph_delay_ms"] == 0)
        }
    }

    @Test func `more rules than fit end the oldest`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            for _ in 0..<2 {
                _ = try await browser.control([
                    "rules": .array(Array(repeating: ["token_delay_ms": 0], count: Controls.mostRules - 1))
                ])
            }
            let rules = try await browser.get("/control").json?["rules"]?.array
            #expect(rules?.count == Controls.mostRules)
            let tooMany = try await browser.control([
                "rules": .array(Array(repeating: ["token_delay_ms": 0], count: Controls.mostRules + 1))
            ])
            #expect(tooMany.status == 400)
        }
    }

    // MARK: expire_tokens, and the start

    @Test func `expire_tokens ends the access tokens issued until now, and those that follow are good`() async throws {
        try await run { (_, browser, visitors) async throws in
            #expect(try await browser.control(["expire_tokens": true]).json?["expire_tokens"] == true)
            let refused = try await browser.me(visitors[0].accessToken)
            #expect(refused.status == 401)
            #expect(refused.json?["error"]?["message"] == "Lifetime validation failed, the token is expired.")
            // In the same second.
            let next = try await browser.refresh(visitors[0].refreshToken).member("access_token")
            #expect(try await browser.me(next).status == 200)
            #expect(try await browser.me(next, path: "/oidc/userinfo").status == 200)
            #expect(try await browser.me(visitors[0].accessToken, path: "/oidc/userinfo").status == 401)
            _ = try await browser.control(["expire_tokens": true])
            #expect(try await browser.me(next).status == 401)
            #expect(try await browser.control(["reset": true]).json?["expire_tokens"] == false)
            #expect(try await browser.me(next).status == 200, "the failure has ended")
        }
    }

    @Test func `reset to the seed ends sign-ins, consents and sign-ups like a fresh start, and keeps the keys`()
        async throws
    {
        let path = try TestTenant.temporaryPath()
        defer { TestTenant.remove(path) }
        let (access, refresh) = try await TestTenant.run(stateFile: path) { (tenant) async throws in
            let browser = tenant.browser()
            let (answer, pages) = try await browser.signIn("adele@contoso.example")
            #expect(pages.last == "consent")
            let tokens = try await browser.redeem(answer["code"])
            let (second, _) = try await browser.signIn("adele@contoso.example")
            _ = try await browser.control([
                "revoke": "megan@contoso.example", "require_mfa": "megan@contoso.example", "token_delay_ms": 1,
                "rules": [["graph_delay_ms": 1]],
            ])
            let keys = try await browser.get("/common/discovery/v2.0/keys").json
            let reset = try await browser.control(["reset": "seed"])
            #expect(reset.json?["require_mfa"] == [] && reset.json?["rules"] == [])
            #expect(reset.json?["token_delay_ms"] == 0)
            #expect(try await browser.get("/common/discovery/v2.0/keys").json == keys)
            #expect(try await browser.refresh(tokens.member("refresh_token")).member("error") == "invalid_grant")
            #expect(try await browser.redeem(second["code"]).member("error") == "invalid_grant", "codes have ended")
            #expect(try await browser.authorize(["prompt": "none"]).callback()["error"] == "login_required")
            #expect(try await browser.signIn("adele@contoso.example").pages == ["username", "password", "consent"])
            return (tokens.member("access_token"), tokens.member("refresh_token"))
        }
        // It holds on disk as well.
        try await TestTenant.run(stateFile: path) { (tenant) async throws in
            let browser = tenant.browser()
            #expect(try await browser.refresh(refresh).member("error") == "invalid_grant")
            #expect(try await browser.me(access).status == 200)
        }
    }

    @Test(arguments: [#""start""#, "1", "null", "{}"])
    func `reset takes true, false or the seed`(_ value: String) async throws {
        try await TestTenant.run { (tenant) async throws in
            let answer = try await tenant.browser().send(
                "POST", "/control", [("Content-Type", "application/json")], Array(#"{"reset":\#(value)}"#.utf8))
            #expect(answer.member("message") == "reset: give true or \"seed\".")
        }
    }
}
