import Foundation
import HTTPServer
import Testing
import WebFormats

@testable import TenantControl
@testable import TenantDirectory
@testable import TenantGraph
@testable import TenantServer
@testable import TenantSignIn

extension Browser {
    /// Asks for a device's codes.
    func deviceCode(
        _ changes: [String: String] = [:], client: DemoClient = TestTenant.native, segment: String = "common",
        query: String = ""
    ) async throws -> Answer {
        let fields = ["client_id": client.id, "scope": "openid profile offline_access user.read"]
            .merging(changes) { $1 }.filter { !$0.value.isEmpty }
        return try await post(
            "/\(segment)/oauth2/v2.0/devicecode\(query)", fields.sorted { $0.key < $1.key })
    }

    /// Asks for the tokens of a device.
    func poll(
        _ codes: Answer, _ changes: [String: String] = [:], client: DemoClient = TestTenant.native,
        segment: String = "common", headers: [(String, String)] = []
    ) async throws -> Answer {
        let fields = [
            "grant_type": DeviceCode.grantType, "client_id": client.id, "client_info": "1",
            "device_code": codes.member("device_code") ?? "",
        ].merging(changes) { $1 }.filter { !$0.value.isEmpty }
        return try await post(
            "/\(segment)/oauth2/v2.0/token", fields.sorted { $0.key < $1.key }, headers: headers)
    }

    /// Opens the page for devices and enters a code.
    func enter(_ userCode: String?) async throws -> Answer {
        try await submit(get("/devicelogin"), "user_code", userCode ?? "")
    }

    /// Goes through all pages of a device's sign-in. Returns the last one.
    func approve(_ codes: Answer, as username: String = "adele@contoso.example") async throws -> Answer {
        var page = try await enter(codes.member("user_code"))
        for _ in 0..<8 {
            switch page.shownField {
            case "confirm": page = try await submit(page, "confirm", "continue")
            case "username": page = try await submit(page, "username", username)
            case "password": page = try await submit(page, "password", "demo")
            case "second_factor": page = try await submit(page, "second_factor", "approve")
            case "consent": page = try await submit(page, "consent", "accept")
            default: return page
            }
        }
        return page
    }
}

@Suite("The sign-in of a device")
struct DeviceCodeTests {
    /// Nothing but an ID, as of a program in a terminal.
    private static let bare = DemoClient(id: "11111111-aaaa-4bbb-8ccc-000000000010", name: "Terminal")
    private static let mixed = DemoClient(
        id: "11111111-aaaa-4bbb-8ccc-000000000011", name: "Mixed", secret: "s", web: ["http://localhost:1/web"],
        native: ["msauth.com.contoso.mixed://auth"])

    private static func client(_ last: Character, in tenants: Set<String>) -> DemoClient {
        var client = DemoClient(id: "11111111-aaaa-4bbb-8ccc-00000000002\(last)", name: "For \(tenants.sorted())")
        client.tenants = tenants
        return client
    }
    private static let ofContoso = client("1", in: ["contoso.example"])
    private static let personal = client("2", in: ["outlook.example"])
    private static let ofTwo = client("3", in: ["contoso.example", "tailspin.example"])

    private static func register(_ configuration: inout DemoTenantConfiguration) {
        configuration.clients += [bare, mixed, ofContoso, personal, ofTwo]
    }

    @Test func `a device gets a code for itself and one for a person, with a sentence that says what to do`()
        async throws
    {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let page = tenant.tenant.baseURL + "/devicelogin"
            let first = try await browser.deviceCode()
            #expect(first.status == 200)
            #expect(
                Set(first.json?.object?.map(\.key) ?? []) == [
                    "device_code", "user_code", "verification_uri", "expires_in", "interval", "message",
                ])
            #expect(first.json?["expires_in"] == 900 && first.json?["interval"] == 5)
            #expect(first.member("verification_uri") == page)
            let code = try #require(first.member("user_code"))
            #expect(code.count == 9 && code.allSatisfy(DeviceSignIns.alphabet.contains))
            #expect(
                first.member("message")
                    == "To sign in, open the page \(page) in a web browser and enter the code \(code).")
            for (query, language) in [("?mkt=sv-SE", "Logga in"), ("?mkt=ja-JP", "サインイン"), ("?mkt=xx", "To sign in")] {
                let answer = try await browser.deviceCode(query: query)
                let message = try #require(answer.member("message"))
                #expect(message.hasPrefix(language))
                #expect(try message.contains(page) && message.contains(#require(answer.member("user_code"))))
                #expect(answer.member("user_code") != code)
            }
            #expect(try await browser.count("device_code") == 4)
        }
    }

    @Test func `the metadata names the endpoint where it is: not for a user flow, and not at a kiosk`() async throws {
        let flow = "tfp/fabrikamb2c.example/b2c_1_susi"
        for isKiosk in [false, true] {
            try await TestTenant.run(configured: { $0.kioskURL = isKiosk ? "http://localhost:1/kiosk" : nil }) {
                (tenant) async throws in
                let browser = tenant.browser()
                for (segment, path) in [
                    ("common", "common"), ("contoso.example", Tenant.contoso), ("fabrikam.example", Tenant.fabrikam),
                    (flow, nil),
                ] {
                    let metadata = try await browser.get("/\(segment)/v2.0/.well-known/openid-configuration")
                    let path = isKiosk ? nil : path
                    #expect(
                        metadata.member("device_authorization_endpoint")
                            == path.map { "\(tenant.tenant.baseURL)/\($0)/oauth2/v2.0/devicecode" })
                    #expect(try await browser.deviceCode(segment: segment).status == (path == nil ? 404 : 200))
                }
                let old = try await browser.post(
                    "/common/oauth2/devicecode",
                    [("client_id", TestTenant.native.id), ("resource", "https://graph.microsoft.com")])
                #expect((old.status == 404) == isKiosk, "\(old.text)")
                #expect(try await browser.get("/devicelogin").status == (isKiosk ? 404 : 200))
            }
        }
    }

    @Test(
        arguments: [
            ("common", "adele@contoso.example", native), ("organizations", "adele@contoso.example", native),
            ("common", "alex@outlook.example", native), ("consumers", "alex@outlook.example", native),
            ("consumers", "alex@outlook.example", personal), ("contoso.example", "megan@contoso.example", ofContoso),
            ("tailspin.example", "adele@contoso.example", native),
            ("fabrikam.example", "customer@fabrikam.example", native),
        ])
    func `a device waits, gets tokens once a person has approved, and renews them`(
        _ segment: String, _ username: String, _ client: DemoClient
    ) async throws {
        try await TestTenant.run(configured: Self.register) { (tenant) async throws in
            let browser = tenant.browser()
            let codes = try await browser.deviceCode(client: client, segment: segment)
            // However soon it asks again, it is not slowed down.
            for _ in 0..<3 {
                let waiting = try await browser.poll(codes, client: client, segment: segment)
                #expect(waiting.status == 400 && waiting.number == 70016)
                #expect(waiting.member("error") == "authorization_pending")
            }
            let page = try await browser.approve(codes, as: username)
            #expect(page.status == 200 && page.text.contains("You can close this page."))
            let tokens = try await browser.poll(codes, client: client, segment: segment)
            #expect(tokens.status == 200)
            #expect(tokens.member("scope") == "openid profile User.Read")
            #expect(tokens.claims("id_token")?["aud"] == .string(client.id))
            #expect(tokens.claims("id_token")?["preferred_username"] == .string(username))
            // A personal account's token for Graph is opaque.
            let isPersonal = username.hasSuffix("@outlook.example")
            #expect(tokens.claims("access_token")?["scp"] == (isPersonal ? nil : "openid profile User.Read"))
            #expect(tokens.member("client_info") != nil)
            #expect(try await browser.me(tokens.member("access_token")).status == 200)
            let renewed = try await browser.refresh(
                tokens.member("refresh_token"), client: client, segment: segment)
            #expect(renewed.status == 200)
            let again = try await browser.poll(codes, client: client, segment: segment)
            #expect(again.status == 400 && again.number == 54005 && again.member("error") == "invalid_grant")
            #expect(try await browser.count("token_device") == 1)
        }
    }

    private static let native = TestTenant.native

    @Test(
        arguments: [
            ("openid profile user.read", true, false), ("user.read offline_access", false, true),
            ("user.read", false, false),
        ])
    func `an ID token and a refresh token come only when they are asked for`(
        _ scope: String, _ hasIDToken: Bool, _ hasRefreshToken: Bool
    ) async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let codes = try await browser.deviceCode(["scope": scope])
            _ = try await browser.approve(codes)
            let tokens = try await browser.poll(codes, ["client_info": ""])
            #expect(tokens.status == 200 && tokens.json?["client_info"] == nil)
            #expect((tokens.json?["id_token"] != nil) == hasIDToken)
            #expect((tokens.json?["refresh_token"] != nil) == hasRefreshToken)
        }
    }

    struct Refusal: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var changes: [String: String] = [:]
        var segment = "common"
        var client = TestTenant.native
        var error: String
        var number: Int
        var status = 400
    }

    @Test(
        arguments: [
            Refusal(
                testDescription: "no client", changes: ["client_id": ""], error: "invalid_request", number: 900_144),
            Refusal(testDescription: "no scope", changes: ["scope": ""], error: "invalid_request", number: 900_144),
            Refusal(
                testDescription: "an unknown scope", changes: ["scope": "not.a.scope"], error: "invalid_scope",
                number: 650_053),
            Refusal(
                testDescription: "two resources", changes: ["scope": "user.read api://fabrikam.example/tasks.read"],
                error: "invalid_request", number: 28000),
            Refusal(
                testDescription: "a resource that is not the scope's (t2-tok-12)", changes: ["resource": "api://else"],
                error: "invalid_target", number: 9_010_010),
            Refusal(
                testDescription: "an unknown client", changes: ["client_id": "99999999-aaaa-4bbb-8ccc-000000000000"],
                error: "unauthorized_client", number: 700_016),
            Refusal(
                testDescription: "an application of another tenant", segment: "tailspin.example", client: ofContoso,
                error: "unauthorized_client", number: 700_016),
            Refusal(
                testDescription: "an application of one tenant at common", client: ofContoso,
                error: "invalid_request", number: 50059),
            Refusal(
                testDescription: "an application of one tenant at organizations", segment: "organizations",
                client: ofContoso, error: "invalid_request", number: 50059),
            Refusal(
                testDescription: "one for personal accounts at common", client: personal, error: "invalid_request",
                number: 9_002_331),
            Refusal(
                testDescription: "one for organizations at consumers", segment: "consumers", client: ofTwo,
                error: "invalid_request", number: 9_002_332),
            Refusal(
                testDescription: "an unknown tenant", segment: "woodgrove.example", error: "invalid_request",
                number: 90002),
        ])
    func `a request for codes is refused with the platform's error`(_ row: Refusal) async throws {
        try await TestTenant.run(configured: Self.register) { (tenant) async throws in
            let answer = try await tenant.browser().deviceCode(row.changes, client: row.client, segment: row.segment)
            #expect(answer.member("error") == row.error)
            #expect(answer.number == row.number)
            #expect(answer.status == row.status)
        }
    }

    @Test(
        arguments: [
            Refusal(
                testDescription: "no device code", changes: ["device_code": ""], error: "invalid_request",
                number: 900_144),
            Refusal(
                testDescription: "a made-up device code", changes: ["device_code": "made-up"],
                error: "bad_verification_code", number: 70018),
            Refusal(
                testDescription: "another client's code", client: bare, error: "invalid_grant", number: 70000),
            Refusal(
                testDescription: "another tenant", segment: "organizations", error: "invalid_grant", number: 700_005),
            Refusal(
                testDescription: "claims that are not JSON", changes: ["claims": "["], error: "invalid_request",
                number: 9_002_313),
        ])
    func `a poll is refused with the platform's error, and the code stays good`(_ row: Refusal) async throws {
        try await TestTenant.run(configured: Self.register) { (tenant) async throws in
            let browser = tenant.browser()
            let codes = try await browser.deviceCode()
            _ = try await browser.approve(codes)
            let answer = try await browser.poll(codes, row.changes, client: row.client, segment: row.segment)
            #expect(answer.member("error") == row.error)
            #expect(answer.number == row.number)
            #expect(answer.status == row.status)
            #expect(try await browser.poll(codes).status == 200)
        }
    }

    @Test(
        arguments: [
            (TestTenant.web, "", nil, 7_000_218, 401), (TestTenant.web, "wrong", nil, 700_025, 401),
            (TestTenant.web, TestTenant.web.secret ?? "", nil, 700_025, 401),
            (TestTenant.script, "", nil, 7_000_218, 401),
            (TestTenant.native, "", "http://localhost:8080", 9_002_326, 400),
            (TestTenant.native, "made up", nil, 700_025, 401), (mixed, "s", nil, 700_025, 401),
            (mixed, "", nil, nil, 200), (bare, "", nil, nil, 200),
        ] as [(DemoClient, String, String?, Int?, Int)])
    func `only a public client gets tokens, which it is found out after the person has approved`(
        _ client: DemoClient, _ secret: String, _ origin: String?, _ number: Int?, _ status: Int
    ) async throws {
        try await TestTenant.run(configured: Self.register) { (tenant) async throws in
            let browser = tenant.browser()
            let codes = try await browser.deviceCode(client: client)
            let headers = origin.map { [("Origin", $0)] } ?? []
            func poll() async throws -> Answer {
                try await browser.poll(codes, ["client_secret": secret], client: client, headers: headers)
            }
            #expect(try await poll().number == 70016)
            _ = try await browser.approve(codes)
            let answer = try await poll()
            #expect(answer.number == number && answer.status == status)
        }
    }

    /// dc-11; the number is of MicrosoftDocs/microsoft-graph-training issue 97.
    @Test func `a code that the tenant does not know any more is no valid grant`() async throws {
        let path = try TestTenant.temporaryPath()
        defer { TestTenant.remove(path) }
        let codes = try await TestTenant.run(stateFile: path) { (tenant: TestTenant) async throws -> Answer in
            try await tenant.browser().deviceCode()
        }
        try await TestTenant.run(stateFile: path) { (tenant: TestTenant) async throws -> Void in
            let answer = try await tenant.browser().poll(codes)
            #expect(answer.number == 7_000_014 && answer.member("error") == "invalid_grant", "\(answer.text)")
        }
    }

    @Test func `a code lasts a quarter of an hour, for the device and for the person`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let codes = try await browser.deviceCode()
            let approved = try await browser.deviceCode()
            _ = try await browser.approve(approved)
            let confirm = try await browser.enter(codes.member("user_code"))
            tenant.clock.advance(899)
            #expect(try await browser.poll(codes).number == 70016)
            tenant.clock.advance(1)
            for each in [codes, approved] {
                let answer = try await browser.poll(each)
                #expect(answer.number == 70020 && answer.member("error") == "expired_token" && answer.status == 400)
            }
            #expect(try await browser.enter(codes.member("user_code")).text.contains("AADSTS70019"))
            #expect(try await browser.submit(confirm, "confirm", "continue").text.contains("AADSTS70019"))
        }
    }

    @Test func `only one of several simultaneous polls gets tokens`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let codes = try await browser.deviceCode()
            _ = try await browser.approve(codes)
            let numbers = try await withThrowingTaskGroup(of: Int?.self) { group in
                for _ in 0..<8 { group.addTask { try await browser.poll(codes).number } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(numbers.count { $0 == nil } == 1 && numbers.count { $0 == 54005 } == 7)
        }
    }

    @Test func `what ends between the approval and the poll counts`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            for (control, number) in [("revoke", 50173), ("require_consent", 65001)] {
                let codes = try await browser.deviceCode()
                _ = try await browser.approve(codes)
                _ = try await browser.control([control: "adele@contoso.example"])
                let refused = try await browser.poll(codes)
                #expect(refused.number == number && refused.member("error") == "invalid_grant")
            }
        }
    }

    @Test func `the controls of the token endpoint work for codes and polls`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let failure: JSONValue = [
                "token_error": ["status": 400, "body": ["error": "slow_down"], "times": 1]
            ]
            _ = try await browser.control(failure)
            #expect(try await browser.deviceCode().member("error") == "slow_down")
            let codes = try await browser.deviceCode()
            _ = try await browser.control(failure)
            #expect(try await browser.poll(codes).member("error") == "slow_down")
            _ = try await browser.control(["token_platform_error": 53003])
            #expect(try await browser.poll(codes).number == 53003)
            _ = try await browser.approve(codes)
            _ = try await browser.control(["lost_token_answer": true])
            #expect(try await browser.poll(codes).status == 504)
            #expect(try await browser.poll(codes).number == 54005)
            _ = try await browser.control(["provider_down": "workforce"])
            for path in ["/devicelogin", "/common/v2.0/.well-known/openid-configuration"] {
                await #expect(throws: (any Error).self) { try await browser.get(path) }
            }
            await #expect(throws: (any Error).self) { try await browser.deviceCode() }
            _ = try await browser.control(["provider_down": .null])
            _ = try await browser.control(["close_connection": "token"])
            await #expect(throws: (any Error).self) { try await browser.deviceCode() }
            #expect(try await browser.count("token_failed") == 5)
        }
    }

    @Test func `the clients' page says in words what was asked, and waiting is no failure`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let codes = try await browser.deviceCode(query: "?mkt=sv")
            _ = try await browser.poll(codes)
            _ = try await browser.approve(codes)
            _ = try await browser.poll(codes)
            _ = try await browser.ownToken()
            let list = try await browser.get("/clients")
            let clients = list.json?["clients"]?.array ?? []
            let device = clients.first { $0["client_id"] == .string(TestTenant.native.id) }?["requests"]?.array
            #expect(
                device?.reversed().compactMap { $0["step"]?.string } == [
                    "device_code", "device_poll", "page", "page", "page", "page", "device_poll",
                ])
            for secret in [codes.member("user_code"), codes.member("device_code")] {
                #expect(!list.text.contains(try #require(secret)))
            }
            let page = try #require(try await browser.get("/control", headers: [("Accept", "text/html")]).requests)
            for title in ["Device code request", "Device code poll", "The application’s own token"] {
                #expect(page.contains(">\(title)</a>"))
            }
            #expect(page.contains("AADSTS70016") && !page.contains("class=\"failed\""))
        }
    }

    @Test func `a stranger's codes displace their own, and codes that expired long ago go first`() {
        var devices = DeviceSignIns()
        let start = Date(timeIntervalSince1970: 1_800_000_000)
        func add(_ address: UInt8, at seconds: Double) -> String {
            let now = start.addingTimeInterval(seconds)
            let signIn = DeviceSignIns.SignIn(
                clientID: "c", segment: .common, scopes: [],
                network: PeerAddress(ipv4: (10, 0, 0, address), port: 1).network,
                expires: now.addingTimeInterval(TimeInterval(DeviceSignIns.lifetime)))
            return devices.add(signIn, now: now) { count in (0..<count).map { _ in .random(in: 0...255) } }
        }
        let own = add(1, at: 0)
        let flood = (1...3 * DeviceSignIns.mostCount).map { add(2, at: Double($0) / 100) }
        #expect(devices[own] != nil)
        #expect(flood.count { devices[$0] != nil } == DeviceSignIns.mostCount - 1)
        #expect(devices[flood[0]] == nil && devices[flood[flood.count - 1]] != nil)
        let late = add(3, at: 3 * Double(DeviceSignIns.lifetime))
        #expect(devices[late] != nil && devices[own] == nil && flood.allSatisfy { devices[$0] == nil })
    }
}
