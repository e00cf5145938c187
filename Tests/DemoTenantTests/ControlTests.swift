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

@Suite("Failures on demand at /control")
struct ControlTests {
    /// A tenant with adele signed in.
    private func run(
        _ body:
            @Sendable @escaping (TestTenant, Browser, _ refreshToken: String?, _ accessToken: String?) async throws
            -> Void
    ) async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let tokens = try await browser.tokens("adele@contoso.example")
            try await body(tenant, browser, tokens.member("refresh_token"), tokens.member("access_token"))
        }
    }

    @Test func `access tokens live as long as configured, and long-lived ones name a time to refresh`() async throws {
        try await run { (tenant, browser, refresh, _) async throws in
            #expect(try await browser.control(["access_token_seconds": 60]).json?["access_token_seconds"] == 60)
            let short = try await browser.refresh(refresh)
            #expect(short.json?["expires_in"] == 60)
            tenant.clock.advance(59)
            #expect(try await browser.me(short.member("access_token")).status == 200)
            tenant.clock.advance(1)
            let expired = try await browser.me(short.member("access_token"))
            #expect(expired.status == 401)
            #expect(expired.json?["error"]?["code"] == "InvalidAuthenticationToken")
            _ = try await browser.control(["access_token_seconds": 86400])
            let long = try await browser.refresh(refresh)
            #expect(long.json?["expires_in"] == 86400)
            #expect(long.json?["refresh_in"] == 43200)
        }
    }

    @Test func `refresh tokens live as long as configured`() async throws {
        try await run { (tenant, browser, refresh, _) async throws in
            _ = try await browser.control(["refresh_token_seconds": 10])
            let short = try await browser.refresh(refresh).member("refresh_token")
            tenant.clock.advance(10)
            #expect(try await browser.refresh(short).number == 700082)
            #expect(try await browser.refresh(refresh).status == 200)
        }
    }

    @Test func `lost_token_answer performs the next token request and drops its answer`() async throws {
        try await run { (_, browser, refresh, _) async throws in
            _ = try await browser.control(["lost_token_answer": true, "refresh_token_single_use": true])
            let lost = try await browser.refresh(refresh)
            #expect(lost.status == 504)
            #expect(lost.json == nil)
            #expect(try await browser.count("token_refresh") == 1)
            #expect(try await browser.get("/control").json?["lost_token_answer"] == false)
            #expect(try await browser.refresh(refresh).number == 50173, "it was used")
        }
    }

    @Test(arguments: [["token_delay_ms": 600_000], ["hold": "token"]] as [[String: JSONValue]], [true, false])
    func `a request whose client breaks off before its answer redeems nothing`(
        _ late: [String: JSONValue], isReset: Bool
    ) async throws {
        try await run { (tenant, browser, refresh, _) async throws in
            _ = try await browser.control(.object(late.merging(["refresh_token_single_use": true]) { $1 }))
            let port = try #require(URLComponents(string: tenant.tenant.baseURL)?.port)
            let body = FormEncoding.encode([
                ("grant_type", "refresh_token"), ("refresh_token", refresh ?? ""),
                ("client_id", TestTenant.web.id), ("client_secret", TestTenant.web.secret ?? ""),
            ])
            let before = try await browser.get("/control").json
            let isHeld = late["hold"] != nil
            try await Self.send(
                "POST /common/oauth2/v2.0/token HTTP/1.1\r\nHost: localhost:\(port)\r\n"
                    + "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)",
                toPort: port, isReset: isReset,
                until: {
                    let now = try? await browser.get("/control").json
                    return isHeld
                        ? now?["held"]?["token"] == 1
                        : now?["counts"]?["token_requests"] != before?["counts"]?["token_requests"]
                })
            if isHeld {
                #expect(await browser.untilHeld(0, at: "token"))
                #expect(try await browser.get("/control").json == before, "no counter has moved")
            } else {
                #expect(await eventually { (try? await browser.count("token_failed")) == 1 })
            }
            _ = try await browser.control(["token_delay_ms": 0, "hold": .null])
            #expect(try await browser.refresh(refresh).status == 200, "it was not used")
        }
    }

    /// Sends bytes over a connection of their own, and closes or resets it as soon as `condition` holds.
    private static func send(
        _ text: String, toPort port: Int, isReset: Bool, until condition: () async -> Bool
    ) async throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(connected == 0)
        try #require(write(descriptor, text, text.utf8.count) == text.utf8.count)
        #expect(await eventually(condition))
        guard isReset else { return }
        var reset = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &reset, socklen_t(MemoryLayout<linger>.size))
    }

    @Test func `the token endpoint gives the configured error as often as configured`() async throws {
        try await run { (_, browser, refresh, _) async throws in
            let set = try await browser.control([
                "token_error": [
                    "status": 503, "body": ["error": "temporarily_unavailable"], "headers": ["Retry-After": "7"],
                    "times": 2,
                ]
            ])
            #expect(set.json?["token_error"]?["times"] == 2)
            for _ in 0..<2 {
                let answer = try await browser.refresh(refresh)
                #expect(answer.status == 503)
                #expect(answer["Retry-After"] == "7")
                #expect(answer.text == #"{"error":"temporarily_unavailable"}"#)
            }
            #expect(try await browser.refresh(refresh).status == 200)
            #expect(try await browser.get("/control").json?["token_error"] == .null)
            #expect(try await browser.count("token_failed") == 2)
            _ = try await browser.control(["token_error": ["status": 400, "body": "not JSON", "times": 1]])
            #expect(try await browser.refresh(refresh).text == "not JSON")
        }
    }

    @Test func `Graph gives the configured error once`() async throws {
        try await run { (_, browser, _, access) async throws in
            _ = try await browser.control([
                "graph_error": [
                    "status": 429, "body": ["error": ["code": "TooManyRequests"]], "headers": ["Retry-After": "3"],
                ]
            ])
            let answer = try await browser.me(access)
            #expect(answer.status == 429)
            #expect(answer["Retry-After"] == "3")
            #expect(answer["request-id"] != nil)
            #expect(try await browser.me(access).status == 200)
            #expect(try await browser.count("graph_me") == 2)
        }
    }

    @Test(arguments: ["token_delay_ms", "graph_delay_ms"])
    func `delays hold the answer back`(_ key: String) async throws {
        try await run { (_, browser, refresh, access) async throws in
            _ = try await browser.control(.object([key: 100]))
            let duration = try await ContinuousClock().measure {
                let answer =
                    key == "token_delay_ms" ? try await browser.refresh(refresh) : try await browser.me(access)
                #expect(answer.status == 200)
            }
            #expect(duration >= .milliseconds(100))
            #expect(try await browser.control(.object([key: 0])).json?[key] == 0)
        }
    }

    @Test func `close_connection closes one connection without an answer, even if the client would repeat`()
        async throws
    {
        try await run { (tenant, browser, refresh, access) async throws in
            // The application's connections are not those of anyone who asks for the failure.
            let application = HTTPClient(workers: tenant.workers)
            let client = Browser(baseURL: tenant.tenant.baseURL, client: application)
            #expect(try await client.me(access).status == 200)
            _ = try await browser.control(["close_connection": "token"])
            await #expect(throws: HTTPClientError.self) { try await client.refresh(refresh) }
            #expect(try await client.refresh(refresh).status == 200)
            _ = try await browser.control(["close_connection": "graph"])
            await #expect(throws: HTTPClientError.self) { try await client.me(access) }
            #expect(try await client.me(access).status == 200)
            await application.shutdown()
        }
    }

    @Test(
        arguments: [
            ("all", [false, false, false]), ("workforce", [false, true, true]), ("external", [true, false, true]),
            ("b2c", [true, true, false]),
        ])
    func `a platform that is down answers nothing until it is up again, and the others answer`(
        which: String, answers: [Bool]
    ) async throws {
        try await TestTenant.run { (tenant) async throws in
            let application = HTTPClient(workers: tenant.workers)
            let client = Browser(baseURL: tenant.tenant.baseURL, client: application)
            let browser = tenant.browser()
            func answered() async throws -> [Bool] {
                var found: [Bool] = []
                for path in ["common", Tenant.fabrikam, "tfp/\(Tenant.fabrikamB2CDomain)/b2c_1_susi"] {
                    found.append((try? await client.get("/\(path)/v2.0/.well-known/openid-configuration")) != nil)
                }
                return found
            }
            _ = try await browser.control(["provider_down": .string(which)])
            #expect(try await answered() == answers)
            #expect(try await browser.get("/control").status == 200)
            _ = try await browser.control(["provider_down": .null])
            #expect(try await answered() == [true, true, true])
            await application.shutdown()
        }
    }

    @Test func `revoke ends refresh tokens and the sign-on session, and signing in again helps`() async throws {
        try await run { (_, browser, refresh, _) async throws in
            _ = try await browser.control(["revoke": "adele@contoso.example"])
            let answer = try await browser.refresh(refresh)
            #expect(answer.member("error") == "invalid_grant")
            #expect(answer.number == 50173)
            #expect(try await browser.authorize(["prompt": "none"]).callback()["error"] == "login_required")
            let anew = try await browser.tokens("adele@contoso.example")
            #expect(try await browser.refresh(anew.member("refresh_token")).status == 200)
            #expect(try await browser.refresh(refresh).number == 50173)
        }
    }

    @Test func `require_consent makes the silent call fail and the consent page come back`() async throws {
        try await run { (_, browser, refresh, _) async throws in
            _ = try await browser.control(["require_consent": "adele@contoso.example"])
            #expect(try await browser.refresh(refresh).number == 65001)
            #expect(try await browser.signIn("adele@contoso.example").pages == ["consent"])
            #expect(try await browser.refresh(refresh).status == 200)
        }
    }

    @Test func `require_mfa makes the silent call ask for a second factor, which a sign-in with the claims gives`()
        async throws
    {
        try await run { (_, browser, refresh, _) async throws in
            for _ in 0..<2 {
                let set = try await browser.control(["require_mfa": "adele@contoso.example"])
                #expect(set.json?["require_mfa"] == ["adele@contoso.example"])
                let refused = try await browser.refresh(refresh)
                #expect(refused.member("error") == "invalid_grant")
                #expect(refused.member("suberror") == "basic_action")
                let (answer, pages) = try await browser.signIn(
                    "adele@contoso.example", ["claims": refused.member("claims") ?? ""])
                #expect(pages == ["second_factor"])
                let strong = try await browser.redeem(answer["code"]).member("refresh_token")
                #expect(try await browser.refresh(strong).status == 200)
            }
        }
    }

    @Test func `claims_challenge makes Graph refuse tokens until one is asked for with the claims`() async throws {
        try await run { (_, browser, refresh, access) async throws in
            #expect(try await browser.control(["claims_challenge": true]).json?["claims_challenge"] == true)
            let refused = try await browser.me(access)
            #expect(refused.status == 401)
            let challenge = try #require(refused["WWW-Authenticate"])
            #expect(challenge.hasPrefix("Bearer realm=\"\", authorization_uri=\""))
            #expect(challenge.contains("error=\"insufficient_claims\""))
            let encoded = try #require(challenge.firstMatch(of: /claims="([^"]+)"/)?.output.1)
            let claims = try #require(Data(base64Encoded: String(encoded)).map { String(decoding: $0, as: UTF8.self) })

            let plain = try await browser.refresh(refresh)
            #expect(try await browser.me(plain.member("access_token")).status == 401)
            let asked = try await browser.refresh(refresh, ["claims": claims])
            #expect(try await browser.me(asked.member("access_token")).status == 200)
            // Later tokens of the account have met it, those from before never do.
            let later = try await browser.refresh(refresh)
            #expect(try await browser.me(later.member("access_token")).status == 200)
            #expect(try await browser.me(access).status == 401)
            _ = try await browser.control(["claims_challenge": false])
            #expect(try await browser.me(access).status == 200)
        }
    }

    @Test func `Graph challenges a token from before a revocation, if its client takes challenges`() async throws {
        try await run { (_, browser, _, access) async throws in
            let claims = #"{"access_token":{"xms_cc":{"values":["cp1"]}}}"#
            let capable = try await browser.tokens("adele@contoso.example", ["claims": claims])
            _ = try await browser.control(["revoke": "adele@contoso.example"])
            let refused = try await browser.me(capable.member("access_token"))
            #expect(refused.status == 401)
            #expect(refused["WWW-Authenticate"]?.contains("error=\"insufficient_claims\"") == true)
            #expect(try await browser.me(access).status == 200)
            let anew = try await browser.tokens("adele@contoso.example", ["claims": claims])
            #expect(try await browser.me(anew.member("access_token")).status == 200)
        }
    }

    @Test func `rotate_key signs with a new key, publishes both, and keeps old tokens good`() async throws {
        try await run { (_, browser, refresh, access) async throws in
            func keyIDs() async throws -> Set<String> {
                guard case .array(let keys) = try await browser.get("/organizations/discovery/v2.0/keys").json?["keys"]
                else { return [] }
                return Set(keys.compactMap { $0["kid"]?.string })
            }
            func keyID(_ token: String?) -> String? {
                Base64URL.decode((token ?? "").utf8.prefix { $0 != UInt8(ascii: ".") }).flatMap {
                    JSONValue(parsing: $0)
                }?["kid"]?
                .string
            }
            let before = try await keyIDs()
            #expect(try await browser.control(["rotate_key": true]).status == 200)
            let after = try await keyIDs()
            #expect(after.count == before.count + 1)
            #expect(before.isSubset(of: after))
            let token = try await browser.refresh(refresh).member("id_token")
            #expect(after.subtracting(before) == [keyID(token)].compactMap(\.self).reduce(into: []) { $0.insert($1) })
            #expect(try await browser.me(access).status == 200)
        }
    }

    @Test(arguments: DemoIDTokenFault.allCases)
    func `bad_id_token spoils the ID token of the next code in one way`(_ fault: DemoIDTokenFault) async throws {
        try await run { (tenant, browser, refresh, _) async throws in
            #expect(
                try await browser.control(.object(["bad_id_token": .string(fault.rawValue)])).json?["bad_id_token"]
                    == .string(fault.rawValue))
            #expect(try await browser.refresh(refresh).status == 200)
            let bad = try await browser.tokens("adele@contoso.example")
            let good = try await browser.tokens("adele@contoso.example")
            #expect(bad.status == 200)
            let differing = (bad.claims("id_token")?.object ?? [:]).filter { name, value in
                !["aio", "rh", "uti"].contains(name) && good.claims("id_token")?[name] != value
            }
            let expected: [DemoIDTokenFault: Set<String>] = [
                .issuer: ["iss"], .audience: ["aud"], .nonce: ["nonce"], .tenant: ["tid"],
                .expired: ["iat", "nbf", "exp"], .notYetValid: ["iat", "nbf", "exp"],
            ]
            #expect(Set(differing.keys) == expected[fault] ?? [])
            let state = tenant.clock.now.timeIntervalSince1970
            if fault == .expired { #expect((differing["exp"]?.integer ?? .max) < Int(state) - 300) }
            if fault == .notYetValid { #expect((differing["nbf"]?.integer ?? 0) > Int(state) + 300) }

            let parts = (bad.member("id_token") ?? "").split(separator: ".", omittingEmptySubsequences: false)
            try #require(parts.count == 3)
            let header = Base64URL.decode(parts[0].utf8).flatMap { JSONValue(parsing: $0) }
            guard case .array(let keys) = try await browser.get("/common/discovery/v2.0/keys").json?["keys"] else {
                throw TestFailure("no keys")
            }
            #expect(keys.contains { $0["kid"] == header?["kid"] } == ![.unknownKeyID, .algorithmNone].contains(fault))
            #expect((header?["alg"] == "none") == (fault == .algorithmNone))
            #expect(parts[2].isEmpty == (fault == .algorithmNone))
        }
    }

    @Test func `reset restores all settings and counts, and leaves sign-ins alone`() async throws {
        try await run { (_, browser, refresh, _) async throws in
            let fresh = try await browser.control(["reset": true]).json
            _ = try await browser.control([
                "access_token_seconds": 5, "refresh_token_seconds": 5, "token_delay_ms": 1, "graph_delay_ms": 1,
                "token_error": ["status": 500], "graph_error": ["status": 500], "close_connection": "graph",
                "claims_challenge": true, "bad_id_token": "nonce", "require_mfa": "adele@contoso.example",
                "refresh_token_single_use": true, "lost_token_answer": true,
            ])
            #expect(try await browser.refresh(refresh).status == 500)
            #expect(try await browser.control(["reset": true]).json == fresh)
            #expect(fresh?["access_token_seconds"] == .null)
            guard case .object(let counts) = fresh?["counts"] else { throw TestFailure("no counts") }
            #expect(
                Set(counts.keys) == [
                    "authorize", "token_code", "token_refresh", "token_client_credentials", "token_device",
                    "device_code", "token_failed", "token_requests", "code_replayed", "refresh_replayed",
                    "token_revoked", "token_native", "graph_me", "logout", "keys", "discovery",
                ])
            #expect(counts.values.allSatisfy { $0 == 0 })
            #expect(try await browser.refresh(refresh).status == 200)
        }
    }

    @Test func `reset leaves consents, names and new accounts alone, and the seed forgets them`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let (browser, platform) = (tenant.browser(), tenant.tenant.platform)
            guard
                case .success(let newcomer) = platform.people.newcomer(
                    username: "casey@x.example", displayName: "Casey", isB2C: false),
                platform.people.signUp(newcomer) != nil
            else { throw TestFailure("refused") }
            platform.grants.recordAdminConsent(to: TestTenant.web, scopes: ["User.Read"])
            platform.state.change { $0.displayNames = ["adele@contoso.example": "Adele V."] }
            func forgotten() -> [Bool] {
                platform.state.read { [$0.adminConsents.isEmpty, $0.displayNames == nil, $0.signUps == nil] }
            }
            _ = try await browser.control(["reset": true])
            #expect(forgotten() == [false, false, false])
            _ = try await browser.control(["reset": "seed"])
            #expect(forgotten() == [true, true, true])
        }
    }

    @Test(
        arguments: [
            (#"{"access_token_second":5,"token_delay_ms":7}"#, "Unknown: access_token_second."),
            (#"{"access_token_seconds":"5","token_delay_ms":7}"#, "access_token_seconds: "),
            (#"{"access_token_seconds":-1,"token_delay_ms":7}"#, "access_token_seconds: "),
            (#"{"revoke":"nobody@contoso.example","token_delay_ms":7}"#, "revoke: "),
            (#"{"bad_id_token":"smell","token_delay_ms":7}"#, "bad_id_token: "),
            (#"{"close_connection":"moon","token_delay_ms":7}"#, "close_connection: "),
            (#"{"claims_challenge":1,"token_delay_ms":7}"#, "claims_challenge: "),
            (#"{"token_error":{"body":"x"},"token_delay_ms":7}"#, "token_error: 'status'"),
            (#"{"graph_error":{"status":500,"time":1},"token_delay_ms":7}"#, "graph_error: 'time'"),
            (#"{"token_error":{"status":500,"headers":{"a b":"c"}},"token_delay_ms":7}"#, "token_error: 'a b'"),
            (#"["token_delay_ms"]"#, "The body is neither"), (#"{"token_delay_ms":"#, "The body is neither"),
        ])
    func `a body that is not understood is refused and named, and nothing of it is applied`(
        _ body: String, _ message: String
    ) async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let answer = try await browser.send(
                "POST", "/control", [("Content-Type", "application/json")], Array(body.utf8))
            #expect(answer.status == 400)
            #expect(answer.member("error") == "bad_request")
            #expect(answer.member("message")?.contains(message) == true)
            #expect(try await browser.get("/control").json?["token_delay_ms"] == 0)
        }
    }

    @Test func `JSON that curl -d sends under the name of a form is understood`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let answer = try await tenant.browser().send(
                "POST", "/control", [("Content-Type", "application/x-www-form-urlencoded")],
                Array(#" {"token_delay_ms":7}"#.utf8))
            #expect(answer.json?["token_delay_ms"] == 7)
        }
    }

    @Test func `people get a page whose forms come back to it`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let html = [("Accept", "text/html,*/*;q=0.8")]
            let page = try await browser.get("/control", headers: html)
            #expect(page["Content-Type"] == "text/html; charset=utf-8")
            for (name, value) in [
                ("access_token_seconds", "60"), ("revoke", "adele@contoso.example"), ("bad_id_token", "nonce"),
                ("claims_challenge", "true"), ("refresh_token_single_use", "true"), ("lost_token_answer", "true"),
                ("close_connection", "graph"), ("close_connection", ""),
            ] {
                #expect(page.text.contains("name=\"\(name)\""))
                let answer = try await browser.post("/control", [(name, value)], headers: html)
                #expect(answer.status == 303)
                #expect(answer["Location"] == "/control?done=\(name)")
            }
            _ = try await browser.post("/control", [("token_error", "throttled"), ("times", "3")], headers: html)
            let state = try await browser.get("/control").json
            #expect(state?["access_token_seconds"] == 60)
            #expect(state?["bad_id_token"] == "nonce")
            #expect(state?["claims_challenge"] == true)
            #expect(state?["refresh_token_single_use"] == true)
            #expect(state?["lost_token_answer"] == true)
            #expect(state?["close_connection"] == .null)
            #expect(state?["token_error"]?["status"] == 429)
            #expect(state?["token_error"]?["times"] == 3)
            let done = try await browser.get("/control?done=revoke", headers: html)
            #expect(done.text.contains("<div id=\"notice\" role=\"status\"><p class=\"notice calm\">"))
            let wrong = try await browser.post("/control", [("token_delay_ms", "much")], headers: html)
            #expect(wrong.status == 303)
            let refused = try #require(wrong["Location"])
            #expect(refused.hasPrefix("/control?refused="))
            #expect(try await browser.get(refused, headers: html).text.contains("token_delay_ms: give a whole number"))
            let forged = try await browser.get("/control?refused=Call+0800", headers: html)
            #expect(forged.status == 200)
            #expect(!forged.text.contains("class=\"notice"))
        }
    }

    @Test(arguments: ["en", "ja"])
    func `each setting on the page refers to a sentence of its own that says what people will see`(language: String)
        async throws
    {
        try await TestTenant.run { (tenant) async throws in
            let page = try await tenant.browser().get(
                "/control?ui_locales=\(language)", headers: [("Accept", "text/html")]
            ).text
            let forms = page.components(separatedBy: "<form method=\"post\"").dropFirst()
            #expect(forms.count == 26)
            var sentences: Set<String> = []
            for form in forms {
                let key = try #require(form.firstMatch(of: /name="(\w+)"[^>]*aria-describedby="(\w+)"/)).output
                #expect(["\(key.1)_effect", "\(key.1)_seed_effect"].contains(key.2))
                let sentence = try #require(form.firstMatch(of: /<p class="small" id="(\w+)">([^<]+)<\/p>/)).output
                #expect(sentence.1 == key.2)
                #expect(sentence.2.hasSuffix(language == "ja" ? "。" : "."))
                sentences.insert(String(sentence.2))
            }
            #expect(sentences.count == forms.count)
        }
    }
}
