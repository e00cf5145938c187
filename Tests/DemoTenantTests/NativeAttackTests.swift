import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import Logging
import Testing
import WebFormats

@testable import TenantControl
@testable import TenantDirectory
@testable import TenantServer
@testable import TenantSignIn

@Suite("Attacks on native authentication")
struct NativeAttackTests {
    private static let person = NativeApp.person
    private static let newcomer = NativeApp.newcomer

    private static let plain = DemoClient(
        id: "11111111-aaaa-4bbb-8ccc-000000000040", name: "Plain", native: ["msauth.plain://auth"])
    private static let second: DemoClient = {
        var client = DemoClient(
            id: "11111111-aaaa-4bbb-8ccc-000000000041", name: "Second", native: ["msauth.second://auth"])
        client.hasNativeAuthentication = true
        return client
    }()
    private static let closed: DemoClient = {
        var client = second
        (client.id, client.name) = ("11111111-aaaa-4bbb-8ccc-000000000042", "Closed")
        client.publicClientFlows = false
        return client
    }()
    private static let withoutFlow: DemoClient = {
        var client = second
        (client.id, client.name) = ("11111111-aaaa-4bbb-8ccc-000000000043", "Without flow")
        client.signUpFlow = nil
        return client
    }()

    private static func register(_ configuration: inout DemoTenantConfiguration) {
        configuration.clients += [plain, second, closed, withoutFlow]
    }

    struct Refusal: Sendable, CustomTestStringConvertible {
        var name: String
        var endpoint: String
        var fields: [String: String]
        var outcome: String
        var number: Int?
        var status = 400
        var headers: [(String, String)] = []
        var testDescription: String { name }
    }

    private static let initiate = "oauth2/v2.0/initiate"
    private static let refusals: [Refusal] = [
        Refusal(
            name: "no client", endpoint: initiate, fields: ["client_id": ""], outcome: "invalid_request", number: 90100),
        Refusal(
            name: "an unknown client", endpoint: initiate,
            fields: ["client_id": "11111111-aaaa-4bbb-8ccc-0000000000ff"], outcome: "unauthorized_client",
            number: 700_016),
        Refusal(
            name: "a client without native authentication", endpoint: initiate, fields: ["client_id": plain.id],
            outcome: "invalid_client nativeauthapi_disabled", number: 7_000_218, status: 401),
        Refusal(
            name: "a client without public flows", endpoint: "signup/v1.0/start", fields: ["client_id": closed.id],
            outcome: "invalid_client nativeauthapi_disabled", number: 7_000_218, status: 401),
        Refusal(
            name: "a secret", endpoint: initiate, fields: ["client_secret": "s"], outcome: "invalid_client",
            number: 700_025, status: 401),
        Refusal(
            name: "a script", endpoint: initiate, fields: [:], outcome: "invalid_request", number: 9_002_326,
            headers: [("Origin", "https://pages.example")]),
        Refusal(
            name: "no redirect", endpoint: initiate, fields: ["challenge_type": "oob password"],
            outcome: "unsupported_challenge_type", number: 901_007),
        Refusal(
            name: "an unknown challenge", endpoint: "resetpassword/v1.0/start",
            fields: ["challenge_type": "pigeon redirect"], outcome: "invalid_request", number: 901_007),
        Refusal(
            name: "no name", endpoint: "signup/v1.0/start", fields: ["username": ""], outcome: "invalid_request",
            number: 90100),
        Refusal(
            name: "a name that is no address", endpoint: initiate, fields: ["username": "casey"],
            outcome: "invalid_request", number: 90100),
        Refusal(
            name: "a name that is encoded twice", endpoint: initiate,
            fields: ["username": "customer%40fabrikam.example"], outcome: "invalid_request", number: 90100),
        Refusal(
            name: "a name with a dot at its end", endpoint: initiate,
            fields: ["username": "customer@fabrikam.example."], outcome: "user_not_found", number: 50034),
        Refusal(
            name: "an unknown person", endpoint: initiate, fields: ["username": newcomer], outcome: "user_not_found",
            number: 50034),
        Refusal(
            name: "a person of another tenant", endpoint: "resetpassword/v1.0/start",
            fields: ["username": "adele@contoso.example"], outcome: "user_not_found", number: 50034),
        Refusal(
            name: "a person who is there", endpoint: "signup/v1.0/start", fields: [:], outcome: "user_already_exists",
            number: 1_003_037),
        Refusal(
            name: "no user flow", endpoint: "signup/v1.0/start",
            fields: ["client_id": withoutFlow.id, "username": newcomer], outcome: "invalid_request", number: 90100),
        Refusal(
            name: "a guessed token", endpoint: "oauth2/v2.0/challenge", fields: ["continuation_token": "AQAB"],
            outcome: "invalid_grant", number: 55200),
        Refusal(
            name: "no token", endpoint: "register/v1.0/introspect", fields: [:], outcome: "invalid_request",
            number: 900_144),
    ]

    @Test(arguments: refusals)
    func `a request that may not be is refused with its error`(row: Refusal) async throws {
        try await TestTenant.run(configured: Self.register) { (tenant) async throws in
            let fields = ["username": Self.person, "challenge_type": "oob password redirect"]
                .merging(row.fields) { $1 }
            let answer = try await NativeApp(tenant).send(row.endpoint, fields, headers: row.headers)
            #expect(answer.outcome == row.outcome && answer.number == row.number, "\(answer.text)")
            #expect(answer.status == row.status)
            #expect(answer.text.contains("AADSTS\(row.number ?? 0)") && answer["client-request-id"] != nil)
        }
    }

    @Test(arguments: [
        ("contoso.example", 404), ("common", 404), ("consumers", 404), ("tfp/fabrikamb2c.example/b2c_1_susi", 404),
        ("fabrikam.example", 400),
    ])
    func `there is native authentication at the external tenant alone`(authority: String, status: Int) async throws {
        try await TestTenant.run { (tenant) async throws in
            let app = NativeApp(tenant, authority: authority)
            for endpoint in Controls.NativeEndpoint.allCases where endpoint != .token {
                #expect(try await app.send(endpoint.rawValue).status == status, "\(endpoint)")
            }
            let token = try await app.tokens("oob", ["oob": "1", "continuation_token": "x"])
            #expect(token.number == (status == 400 ? 55200 : token.number) && token.status >= 400)
        }
    }

    @Test func `a spent token, one of another flow, application, person or step, and an old one are refused`()
        async throws
    {
        try await TestTenant.run(configured: Self.register) { (tenant) async throws in
            let app = NativeApp(tenant)
            _ = try await app.begin(Self.initiate, Self.person)
            let begun = await app.token ?? ""
            let tooEarly = try await app.tokens("password", ["password": "demo"])
            #expect(tooEarly.number == 55200)
            _ = try await app.challenge("oauth2/v2.0/challenge")
            let newest = await app.token ?? ""
            let rows: [(String, [String: String])] = [
                ("oauth2/v2.0/challenge", ["continuation_token": begun]),
                ("signup/v1.0/challenge", [:]), ("resetpassword/v1.0/challenge", [:]),
                ("oauth2/v2.0/introspect", [:]), ("register/v1.0/introspect", [:]),
                ("resetpassword/v1.0/submit", ["new_password": NativeApp.password]),
                ("oauth2/v2.0/token", ["grant_type": "continuation_token"]),
                ("oauth2/v2.0/token", ["grant_type": "oob", "oob": "1"]),
                ("oauth2/v2.0/token", ["grant_type": "mfa_oob", "oob": "1"]),
                ("oauth2/v2.0/challenge", ["client_id": Self.second.id]),
                (
                    "oauth2/v2.0/token",
                    ["grant_type": "password", "password": "demo", "username": "else@fabrikam.example"]
                ),
            ]
            let wordOfGrants = ["oauth2/v2.0/challenge", "signup/v1.0/challenge", "oauth2/v2.0/token"]
            for (endpoint, fields) in rows {
                await app.use(newest)
                let answer = try await app.send(endpoint, fields)
                // The word depends on the endpoint (t2-na-10).
                let word = wordOfGrants.contains(endpoint) ? "invalid_grant" : "invalid_request"
                #expect(answer.number == 55200 && answer.outcome == word, "\(endpoint): \(answer.text)")
            }
            await app.use(newest)
            #expect(try await app.tokens("password", ["password": "demo"]).status == 200)
            let again = try await app.tokens("password", ["password": "demo"])
            #expect(again.outcome == "expired_token" && again.number == 552_003)
            _ = try await app.begin(Self.initiate, Self.person)
            tenant.clock.advance(601)
            let old = try await app.challenge("oauth2/v2.0/challenge")
            #expect(old.outcome == "expired_token" && old.number == 552_003)
        }
    }

    @Test func `five wrong tries end a flow, also when they come at once`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let app = NativeApp(tenant)
            _ = try await app.startSignUp()
            let code = try await app.code(to: Self.newcomer)
            let wrong = code == "00000000" ? "00000001" : "00000000"
            let token = await app.token ?? ""
            let fields = [
                ("client_id", DemoClient.nativeSample.id), ("continuation_token", token), ("grant_type", "oob"),
                ("oob", wrong),
            ]
            let outcomes = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        try await tenant.browser().post("/fabrikam.example/signup/v1.0/continue", fields).outcome
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.count { $0 == "invalid_grant invalid_oob_value" } == 5)
            #expect(outcomes.count { $0 == "expired_token" } == 15)
            let right = try await app.send("signup/v1.0/continue", ["grant_type": "oob", "oob": code])
            #expect(right.outcome == "expired_token")
            #expect(try await app.browser.get("/outbox").json?["messages"]?.array?.first?["state"] == "void")
            // Passwords count as well.
            _ = try await app.begin(Self.initiate, Self.person)
            _ = try await app.challenge("oauth2/v2.0/challenge")
            for _ in 0..<5 { #expect(try await app.tokens("password", ["password": "wrong"]).number == 50126) }
            #expect(try await app.tokens("password", ["password": "demo"]).outcome == "expired_token")
        }
    }

    @Test func `of two requests with one token, one succeeds`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let app = NativeApp(tenant)
            _ = try await app.startSignUp(["password": NativeApp.password])
            let fields = [
                ("client_id", DemoClient.nativeSample.id), ("continuation_token", await app.token ?? ""),
                ("grant_type", "oob"), ("oob", try await app.code(to: Self.newcomer)),
            ]
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        try await tenant.browser().post("/fabrikam.example/signup/v1.0/continue", fields).status
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.count { $0 == 200 } == 1)
        }
    }

    @Test func `a flood of flows displaces the flows of its own network`() {
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        var flows = NativeFlows()
        func flow(_ id: String, _ network: UInt8) -> NativeFlow {
            NativeFlow(
                id: id, kind: .signUp, clientID: "c", username: "u",
                network: PeerAddress(ipv4: (192, 0, 2, network), port: 1).network, challengeTypes: [], capabilities: [])
        }
        flows.add(flow("mine", 1), now: now)
        for number in 0..<1500 {
            flows.add(flow("flood \(number)", 2), now: now.addingTimeInterval(Double(number) / 10))
        }
        #expect(flows.count == NativeFlows.mostCount)
        #expect(flows["mine"] != nil && flows["flood 0"] == nil && flows["flood 1499"] != nil)
    }

    @Test func `a flood of messages displaces the messages of its own network`() {
        let (outbox, now) = (Outbox(), Date(timeIntervalSince1970: 1_800_000_000))
        func send(to address: String, _ flow: String, from network: UInt8) {
            outbox.send(
                Outbox.Delivery(
                    time: now, contact: VerifiedContact(channel: .email, target: address), code: "00000000",
                    flowKind: "sign_in", clientID: "c", username: address, expires: now.addingTimeInterval(600),
                    flow: flow, network: PeerAddress(ipv4: (192, 0, 2, network), port: 1).network))
        }
        send(to: Self.person, "mine", from: 1)
        for _ in 0..<1500 { send(to: Self.newcomer, "flood", from: 2) }
        #expect(outbox.messages(to: nil).count == Outbox.mostMessages)
        #expect(outbox.messages(to: Self.person).map { $0.state(at: now) } == [.valid])
        let flood = outbox.messages(to: Self.newcomer)
        #expect(flood.first?.id == 1501 && flood.last?.id == 1501 - flood.count + 1)
        #expect(flood.map { $0.state(at: now) }.filter { $0 == .valid }.count == 1, "each code voids the one before")
    }

    @Test(arguments: [false, true])
    func `a flood of sign-ups displaces the oldest person, with all that was kept`(lastIsSocial: Bool) throws {
        let configuration = DemoTenantConfiguration(clients: [], publicFolder: TestTenant.publicFolder)
        let platform = try Platform(configuration, logger: Logger(label: "demo tenant"))
        let (people, state) = (platform.people, platform.state)
        let password = StoredPassword(NativeApp.password, clock: platform.clock)
        let first = try #require(people.signUp(username: Self.newcomer, password: password, attributes: [:]))
        people.choose(password, for: first)
        people.register(VerifiedContact(channel: .sms, target: "+46 70 555 0199"), for: first)
        platform.grants.demandSecondFactor(of: first)
        platform.grants.recordConsent(first, to: .nativeSample, scopes: ["openid"])
        state.change { $0.displayNames = [first.username: "Casey"] }
        for number in 0..<999 {
            _ = people.signUp(username: "casey\(number)@customer.example", password: nil, attributes: [:])
        }
        #expect(people.account(username: Self.newcomer) != nil)
        if lastIsSocial {
            let person = try #require(people.account(username: "adele@contoso.example"))
            _ = people.socialAccount(of: person, isB2C: false)
        } else {
            _ = people.signUp(username: "last@customer.example", password: nil, attributes: [:])
        }
        #expect(people.account(username: Self.newcomer) == nil)
        #expect(people.account(username: "casey0@customer.example") != nil)
        #expect(state.read { $0.signUps?.count } == 1000)
        let kept: [Int?] = state.read { record in
            // Each of the thousand who are there has a number of revocations.
            [
                record.passwords?.count, record.contacts?.count, record.displayNames?.count,
                record.secondFactorDemands.count, record.revocations.count - 1000, record.consents.count,
                record.tokensValidFrom?.count,
            ]
        }
        #expect(kept == [0, 0, 0, 0, 0, 0, 0])
    }

    // MARK: Strangers who look for accounts

    @Test(arguments: [plain, closed])
    func `an application that may not ask learns nothing about people`(client: DemoClient) async throws {
        try await TestTenant.run(configured: Self.register) { (tenant) async throws in
            let app = NativeApp(tenant, client)
            for endpoint in [Self.initiate, "signup/v1.0/start", "resetpassword/v1.0/start"] {
                for username in [Self.person, Self.newcomer] {
                    let outcome = try await app.begin(endpoint, username).outcome
                    #expect(outcome == "invalid_client nativeauthapi_disabled", "\(endpoint) \(username)")
                }
            }
        }
    }

    @Test(arguments: [(false, 429), (true, 400)])
    func `at a tenant for others, a network has twenty requests a second beside its flows`(
        hasDemoAccounts: Bool, last: Int
    ) throws {
        let clock = TestTenant.Clock()
        var configuration = DemoTenantConfiguration(
            clients: [], publicFolder: TestTenant.publicFolder, now: { clock.now })
        configuration.hasDemoAccounts = hasDemoAccounts
        let platform = try Platform(configuration, logger: Logger(label: "demo tenant"))
        let layout = try PageLayout(publicFolder: TestTenant.publicFolder, kioskURL: nil)
        let identity = IdentityPlatform(platform, layout: layout)
        let segment = try #require(TenantSegment("fabrikam.example"))
        func ask(_ endpoint: Controls.NativeEndpoint, _ token: String = "", from address: UInt8 = 7) throws
            -> Response
        {
            let head = try RequestHead(method: .post, target: "/fabrikam.example/\(endpoint.rawValue)")
            let fields =
                "client_id=\(DemoClient.nativeSample.id)&username=nobody@fabrikam.example&challenge_type=redirect"
                + "&continuation_token=\(token)"
            return identity.native(
                endpoint,
                Request(
                    head: head, body: Array(fields.utf8), peer: PeerAddress(ipv4: (10, 0, 0, address), port: 1)),
                segment: segment)
        }
        for _ in 0..<10 {
            for endpoint in [Controls.NativeEndpoint.initiate, .resetStart] {
                #expect(try ask(endpoint).status.code == 400)
            }
        }
        for endpoint in [Controls.NativeEndpoint.initiate, .resetStart] {
            let refused = try ask(endpoint)
            #expect(refused.status.code == last)
            #expect(refused.headerFields[.retryAfter] == (last == 429 ? "1" : nil))
        }
        #expect(try ask(.signUpStart).status.code == (last == 429 ? 429 : 200))
        #expect(try ask(.initiate, from: 8).status.code == 400)
        /// A token of a flow, which counts whether or not its step is due.
        func token(_ flow: String) throws -> String {
            try platform.state.sealer.seal(
                ContinuationToken(
                    flow: flow, kind: .signIn, clientID: DemoClient.nativeSample.id,
                    username: "nobody@fabrikam.example", step: .begun, number: 0, time: clock.now),
                for: .continuation)
        }
        let (mine, other) = (try token("mine"), try token("other"))
        for _ in 0..<20 { #expect(try ask(.challenge, mine).status.code == 400) }
        #expect(try ask(.challenge, mine).status.code == last)
        #expect(try ask(.challenge, other).status.code == 400)
        #expect(try ask(.challenge, "made-up").status.code == last)
        #expect(try ask(.initiate, mine).status.code == last)
        clock.advance(1)
        #expect(try ask(.initiate).status.code == 400)
    }

    // MARK: The outbox

    @Test func `the outbox waits for the next code to an address, and stops waiting`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let app = NativeApp(tenant)
            let browser = tenant.browser()
            let none = try await browser.get("/outbox", [("to", Self.newcomer), ("wait", "1")])
            #expect(none.json?["messages"] == [])
            async let waiting = browser.get("/outbox", [("to", Self.newcomer), ("wait", "30")])
            _ = try await app.startSignUp(as: "other@customer.example")
            _ = try await app.startSignUp()
            let message = try #require(try await waiting.json?["messages"]?.array?.first)
            #expect(message["to"]?.string == Self.newcomer && message["flow"] == "sign_up")
            #expect(message["state"] == "valid" && message["minutes_left"] == 10)
            #expect(message["label"] == "c***y@customer.example" && message["application"] == "Native authentication")
            let id = message["id"]?.integer ?? 0
            let newer = try await browser.get("/outbox", [("to", Self.newcomer), ("after", "\(id)")])
            #expect(newer.json?["messages"] == [])
            for bad in ["wait=31", "wait=x", "after=-1"] {
                #expect(try await browser.get("/outbox?\(bad)").status == 400)
            }
            tenant.clock.advance(601)
            let old = try await browser.get("/outbox", [("to", Self.newcomer)]).json?["messages"]?.array?.first
            #expect(old?["state"] == "expired" && old?["minutes_left"] == 0)
        }
    }

    @Test(arguments: [
        ("+46 70 555 0199", 1), ("+46705550199", 1), (" 46705550199", 1), ("+46 (70) 555-01.99", 1),
        ("+46705550198", 0), ("46705550199@customer.example", 0), ("", 0),
    ])
    func `the outbox finds a telephone number however it is written`(text: String, count: Int) {
        let (outbox, now) = (Outbox(), Date(timeIntervalSince1970: 1_800_000_000))
        outbox.send(
            Outbox.Delivery(
                time: now, contact: VerifiedContact(channel: .sms, target: "+46 70 555 0199"), code: "00000000",
                flowKind: "sign_in", clientID: "c", username: Self.person, expires: now, flow: "f",
                network: PeerAddress(ipv4: (192, 0, 2, 1), port: 1).network))
        #expect(outbox.messages(to: text).count == count)
    }

    @Test func `the outbox asks for the control token, and has a page`() async throws {
        try await TestTenant.run(configured: { $0.controlToken = "the token" }) { (tenant) async throws in
            let browser = tenant.browser()
            let app = NativeApp(tenant)
            let bearer = ("Authorization", "Bearer the token")
            let empty = try await browser.get("/outbox", headers: [bearer, ("Accept", "text/html")])
            #expect(empty.text.contains("<p>Nothing was sent yet.</p>"))
            _ = try await app.startSignUp()
            #expect(try await browser.get("/outbox").status == 401)
            let code = try await browser.get("/outbox", headers: [bearer]).json?["messages"]?.array?.first?["code"]
            let page = try await browser.get("/outbox", headers: [bearer, ("Accept", "text/html")])
            #expect(page.text.contains(">Mail to \(Self.newcomer)</h2>"))
            let swedish = try await browser.get(
                "/outbox", headers: [bearer, ("Accept", "text/html"), ("Accept-Language", "sv")])
            #expect(swedish.text.contains(">Mejl till \(Self.newcomer)</h2>"))
            #expect(page.text.contains("<p class=\"code\">\(code?.string ?? "-")</p>"))
            let rules = page.text.matches(of: #/<dt><code>(\w+)</code></dt><dd>It /#).map { String($0.output.1) }
            #expect(rules == PasswordRefusal.allCases.map(\.rawValue))
            #expect(page.text.contains("<dd>It has at least 8 characters.</dd>"))
        }
    }

    // MARK: Failures on demand

    @Test func `a rule for the address of a newcomer meets the steps of their sign-up, and nobody else`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let (app, path) = (NativeApp(tenant), "signup/v1.0/")
            func rule(_ user: String, _ failure: JSONValue) -> JSONValue {
                ["rules": [["when": ["user": .string(user)], "times": 1, "native_failure": failure]]]
            }
            let rules = [
                rule(" Casey@Customer.Example", ["endpoint": "signup/v1.0/start", "error": "user_already_exists"]),
                rule(
                    Self.newcomer,
                    [
                        "endpoint": "signup/v1.0/continue", "error": "invalid_grant",
                        "suberror": "invalid_oob_value",
                    ]),
            ]
            for each in rules { #expect(try await app.browser.control(each).status == 200) }
            let page = try await app.browser.get("/control?ui_locales=en", headers: [("Accept", "text/html")])
            #expect(page.text.contains("<strong>Every app, \(Self.newcomer)</strong>"))
            #expect(try await app.begin("\(path)start", "other@customer.example").outcome == "ok")
            #expect(try await app.begin("\(path)start", Self.newcomer).outcome == "user_already_exists")
            _ = try await app.startSignUp()
            let fields = ["grant_type": "oob", "oob": try await app.code(to: Self.newcomer)]
            for outcome in ["invalid_grant invalid_oob_value", "credential_required"] {
                #expect(try await app.send("\(path)continue", fields).outcome == outcome)
            }
            for slip in ["custmer@fabrikam.example", "casey", "casey@"] {
                let refused = try await app.browser.control(
                    rule(slip, ["endpoint": "signup/v1.0/start", "error": "redirect"]))
                #expect(refused.status == 400 && refused.text.contains("give an address of another domain"))
            }
        }
    }

    @Test(arguments: ["expired_refresh_token", "invalid_scope", "redirect"])
    func `a failure of the token endpoint meets the silent request, of applications with native authentication alone`(
        error: String
    ) async throws {
        try await TestTenant.run { (tenant) async throws in
            let app = NativeApp(tenant)
            let silent = try await app.signIn().member("refresh_token")
            let page = try await app.browser.tokens(
                Self.person, ["scope": "openid offline_access"], segment: Tenant.fabrikamDomain)
            let failure: JSONValue = ["endpoint": "oauth2/v2.0/token", "error": .string(error)]
            let rule: JSONValue = [
                "rules": [["when": ["user": .string(Self.person)], "times": 1, "native_failure": failure]]
            ]
            #expect(try await app.browser.control(rule).status == 200)
            let plain = try await app.browser.refresh(
                page.member("refresh_token"), segment: Tenant.fabrikamDomain)
            #expect(plain.status == 200, "\(plain.text)")
            for outcome in [error, "ok"] {
                let answer = try await app.browser.refresh(
                    silent, client: .nativeSample, segment: Tenant.fabrikamDomain)
                #expect(answer.outcome == outcome, "\(answer.text)")
            }
        }
    }

    @Test func `each endpoint fails on demand, for one person and a number of times`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let app = NativeApp(tenant)
            let rows: [(String, JSONValue, String)] = [
                ("oauth2/v2.0/initiate", ["error": "user_not_found", "code": 50034], "user_not_found"),
                ("oauth2/v2.0/initiate", ["error": "redirect"], "redirect"),
                (
                    "oauth2/v2.0/token", ["error": "invalid_grant", "suberror": "password_banned"],
                    "invalid_grant password_banned"
                ),
                ("register/v1.0/challenge", ["error": "access_denied"], "access_denied"),
            ]
            for (endpoint, failure, outcome) in rows {
                let failure = failure.merging(["endpoint": .string(endpoint)])
                let rule: JSONValue = [
                    "rules": [["when": ["user": .string(Self.person)], "times": 1, "native_failure": failure]]
                ]
                #expect(try await app.browser.control(rule).status == 200)
                _ = try await app.begin(endpoint, Self.newcomer, ["grant_type": "oob"])
                let first = try await app.begin(endpoint, Self.person, ["grant_type": "oob"])
                #expect(first.outcome == outcome, "\(endpoint): \(first.text)")
                #expect(try await app.begin(endpoint, Self.person, ["grant_type": "oob"]).outcome != outcome)
            }
            for bad: JSONValue in [
                "x", ["endpoint": "x", "error": "redirect"],
                ["endpoint": "oauth2/v2.0/initiate", "error": "slow_down"],
                ["endpoint": "oauth2/v2.0/initiate", "error": "redirect", "suberror": "x"],
                ["endpoint": "oauth2/v2.0/initiate", "error": "redirect", "code": -1],
                ["endpoint": "oauth2/v2.0/initiate", "error": "redirect", "more": 1],
            ] {
                #expect(try await app.browser.control(["native_failure": bad]).status == 400)
            }
        }
    }
}
