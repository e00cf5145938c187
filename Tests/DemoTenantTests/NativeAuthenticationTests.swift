import Foundation
import Testing
import WebFormats

@testable import TenantControl
@testable import TenantDirectory
@testable import TenantServer
@testable import TenantSignIn

@Suite("Native authentication")
struct NativeAuthenticationTests {
    private static let person = NativeApp.person
    private static let newcomer = NativeApp.newcomer
    private static let password = NativeApp.password

    /// An application whose user flow has codes, or attributes.
    private static func client(
        _ last: Character, method: SignInMethod = .password, attributes: [DemoClient.Attribute] = []
    ) -> DemoClient {
        var client = DemoClient(
            id: "11111111-aaaa-4bbb-8ccc-00000000003\(last)", name: "Native \(last)", native: ["msauth.\(last)://auth"])
        client.hasNativeAuthentication = true
        client.signUpFlow = DemoClient.SignUpFlow(method: method, attributes: attributes)
        return client
    }
    private static let codes = client("1", method: .code)
    private static let collecting = client(
        "2",
        attributes: [
            DemoClient.Attribute(name: "displayName", pattern: "^[A-Z]"),
            DemoClient.Attribute(name: "age", kind: .integer, isRequired: true),
            DemoClient.Attribute(name: "news", kind: .boolean, isRequired: false),
        ])
    private static let withoutFlow: DemoClient = {
        var client = Self.client("3")
        client.signUpFlow = nil
        return client
    }()
    private static let closed: DemoClient = {
        var client = Self.client("4")
        client.publicClientFlows = false
        return client
    }()

    private static func user(
        _ name: String, _ method: SignInMethod = .password, _ factor: SecondFactorMethod? = nil, isBlocked: Bool = false
    ) -> DemoUser {
        var user = DemoUser(username: "\(name)@fabrikam.example", password: "Sommar-2026")
        (user.signInMethod, user.secondFactor, user.isContactBlocked) = (method, factor, isBlocked)
        user.mobilePhone = "+46 70 555 0199"
        return user
    }
    private static let users = [
        user("coder", .code), user("mailed", .password, .email), user("texted", .password, .sms),
        user("fresh", .password, .unregistered), user("blocked", .password, .sms, isBlocked: true),
        user("unlisted", .password, .unregistered, isBlocked: true),
    ]

    private static func register(_ configuration: inout DemoTenantConfiguration) {
        configuration.clients += [codes, collecting, withoutFlow, closed]
        configuration.users += users
    }

    // MARK: Sign-in

    @Test(arguments: ["fabrikam.example", Tenant.fabrikam, "fabrikam.example/"])
    func `a person signs in by the password, and the silent request afterwards is the ordinary one`(
        authority: String
    ) async throws {
        try await TestTenant.run { (tenant) async throws in
            let app = NativeApp(tenant, authority: authority)
            let id = "5E1C3A60-6E0F-4A8E-9D6A-1F0C2B3A4D5E"
            let first = try await app.send(
                "oauth2/v2.0/initiate", ["username": Self.person, "challenge_type": "password redirect"],
                headers: [("client-request-id", id)])
            #expect(first.json?.object?.keys.sorted() == ["continuation_token"], "\(first.text)")
            #expect(first["client-request-id"] == id.lowercased())
            let token = await app.token
            let challenge = try await app.challenge("oauth2/v2.0/challenge")
            #expect(challenge.outcome == "password")
            #expect(await app.token != token)
            let answer = try await app.tokens("password", ["username": Self.person, "password": "demo"])
            #expect(answer.status == 200, "\(answer.text)")
            #expect(answer.claims("id_token")?["preferred_username"]?.string == Self.person)
            #expect(answer.member("client_info") != nil && answer.member("token_type") == "Bearer")
            let silent = try await app.browser.refresh(
                answer.member("refresh_token"), client: .nativeSample, segment: "fabrikam.example")
            #expect(silent.status == 200, "\(silent.text)")
            #expect(try await app.browser.count("token_native") == 1)
        }
    }

    @Test(arguments: [
        DemoClient(id: DemoClient.id(for: "script"), name: "Script", spa: ["http://localhost:9/spa"]),
        DemoClient(id: DemoClient.id(for: "web"), name: "Web", secret: "secret", web: ["http://localhost:9/web"]),
        DemoClient(id: DemoClient.id(for: "alone"), name: "ID alone"),
    ])
    func `an application with native authentication has public client flows, whatever its redirect URIs are`(
        registered: DemoClient
    ) async throws {
        let register = { (configuration: inout DemoTenantConfiguration) in
            var client = registered
            client.hasNativeAuthentication = true
            configuration.clients.append(client)
        }
        try await TestTenant.run(configured: register) { (tenant) async throws in
            let answer = try await NativeApp(tenant, registered).signIn()
            #expect(answer.claims("id_token") != nil, "\(answer.text)")
        }
    }

    @Test(arguments: ["customer@fabrikam.example ", " Customer@Fabrikam.Example", "\tcustomer@fabrikam.example  "])
    func `spaces around a name and capitals in it make no other person, in no request`(name: String) async throws {
        try await TestTenant.run { (tenant) async throws in
            let app = NativeApp(tenant)
            #expect(try await app.signIn(name).claims("id_token")?["preferred_username"]?.string == Self.person)
            // MSAL sends the name once more with the password.
            _ = try await app.begin("oauth2/v2.0/initiate", Self.person)
            _ = try await app.challenge("oauth2/v2.0/challenge")
            #expect(try await app.tokens("password", ["username": name, "password": "demo"]).status == 200)
            let rule: JSONValue = [
                "rules": [
                    [
                        "when": ["user": .string(Self.person)], "times": 1,
                        "native_failure": ["endpoint": "oauth2/v2.0/initiate", "error": "redirect"],
                    ]
                ]
            ]
            #expect(try await app.browser.control(rule).status == 200)
            #expect(try await app.begin("oauth2/v2.0/initiate", name).outcome == "redirect")
        }
    }

    @Test func `a person whose name has spaces around it signs up and in`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let app = NativeApp(tenant)
            let typed = " Casey@Customer.Example "
            _ = try await app.startSignUp(["password": Self.password], as: typed)
            let code = try await app.code(to: Self.newcomer)
            #expect(try await app.send("signup/v1.0/continue", ["grant_type": "oob", "oob": code]).status == 200)
            #expect(try await app.tokens("continuation_token", ["username": typed]).claims("id_token") != nil)
        }
    }

    @Test func `a person signs in by a code, of which only the newest counts`() async throws {
        try await TestTenant.run(configured: Self.register) { (tenant) async throws in
            let app = NativeApp(tenant)
            _ = try await app.begin("oauth2/v2.0/initiate", "coder@fabrikam.example")
            let challenge = try await app.challenge("oauth2/v2.0/challenge")
            #expect(challenge.outcome == "oob")
            #expect(challenge.member("challenge_target_label") == "c***r@fabrikam.example")
            #expect(challenge.member("challenge_channel") == "email" && challenge.json?["code_length"] == 8)
            #expect(challenge.member("binding_method") == "prompt" && challenge.json?["interval"] == 300)
            let old = try await app.code(to: "coder@fabrikam.example")
            _ = try await app.challenge("oauth2/v2.0/challenge")
            let wrong = try await app.tokens("oob", ["oob": old])
            #expect(wrong.outcome == "invalid_grant invalid_oob_value" && wrong.status == 400)
            let code = try await app.code(to: "coder@fabrikam.example")
            let answer = try await app.tokens("oob", ["oob": code])
            #expect(answer.claims("id_token") != nil, "\(answer.text)")
            let states = try await app.browser.get("/outbox").json?["messages"]?.array?.map { $0["state"]?.string }
            #expect(states == ["used", "void"])
        }
    }

    // MARK: The second factor

    @Test(arguments: [("mailed", "email", "mfa_oob"), ("texted", "sms", "mfa_oob"), ("texted", "sms", "oob")])
    func `a second factor is listed, chosen, sent and shown`(
        name: String, channel: String, grant: String
    ) async throws {
        try await TestTenant.run(configured: Self.register) { (tenant) async throws in
            let app = NativeApp(tenant)
            let demand = try await app.signIn("\(name)@fabrikam.example", password: "Sommar-2026")
            #expect(demand.outcome == "invalid_grant mfa_required" && demand.status == 400)
            let list = try await app.send("oauth2/v2.0/introspect")
            let method = try #require(list.json?["methods"]?.array?.first)
            #expect(method["challenge_type"] == "oob" && method["challenge_channel"]?.string == channel)
            let target = channel == "sms" ? "+46 70 555 0199" : "\(name)@fabrikam.example"
            #expect(method["login_hint"]?.string == (channel == "sms" ? "+4******99" : "m***d@fabrikam.example"))
            let unknown = try await app.challenge("oauth2/v2.0/challenge", ["id": "another"])
            #expect(unknown.outcome == "invalid_request")
            let sent = try await app.challenge("oauth2/v2.0/challenge", ["id": method["id"]?.string ?? ""])
            #expect(sent.member("challenge_channel") == channel, "\(sent.text)")
            #expect(try await app.tokens(grant, ["oob": "00000000"]).outcome == "invalid_grant invalid_oob_value")
            let answer = try await app.tokens(grant, ["oob": try await app.code(to: target)])
            #expect(answer.claims("id_token") != nil, "\(answer.text)")
        }
    }

    @Test func `the first second factor is registered, and counts from then on`() async throws {
        try await TestTenant.run(configured: Self.register) { (tenant) async throws in
            let app = NativeApp(tenant)
            let name = "fresh@fabrikam.example"
            let demand = try await app.signIn(name, password: "Sommar-2026")
            #expect(demand.outcome == "invalid_grant registration_required")
            let list = try await app.send("register/v1.0/introspect")
            #expect(list.json?["methods"]?.array?.compactMap { $0["id"]?.string } == ["email", "sms"])
            let rows: [([String: String], Int?)] = [
                (["challenge_channel": "email", "challenge_target": "nobody"], 901_001),
                (["challenge_channel": "sms", "challenge_target": "0701"], 901_001),
                (["challenge_channel": "pigeon", "challenge_target": "a@b.example"], 901_001),
            ]
            for (fields, number) in rows {
                let refusal = try await app.send(
                    "register/v1.0/challenge", fields.merging(["challenge_type": "oob"]) { $1 })
                #expect(refusal.number == number && refusal.outcome == "invalid_request", "\(refusal.text)")
            }
            let other = "other@customer.example"
            let sent = try await app.send(
                "register/v1.0/challenge",
                ["challenge_type": "oob", "challenge_channel": "email", "challenge_target": other])
            #expect(sent.outcome == "oob" && sent.member("challenge_target") == other)
            let wrong = try await app.send("register/v1.0/continue", ["grant_type": "oob", "oob": "00000000"])
            #expect(wrong.outcome == "invalid_grant invalid_oob_value")
            let code = try await app.code(to: other)
            #expect(try await app.send("register/v1.0/continue", ["grant_type": "oob", "oob": code]).status == 200)
            #expect(try await app.tokens("continuation_token", ["username": name]).claims("id_token") != nil)
            // At the next sign-in it is there.
            #expect(try await app.signIn(name, password: "Sommar-2026").outcome == "invalid_grant mfa_required")
        }
    }

    @Test(arguments: ["fresh@fabrikam.example", " Fresh@fabrikam.example "])
    func `an address that was confirmed before needs no code`(target: String) async throws {
        try await TestTenant.run(configured: Self.register) { (tenant) async throws in
            let app = NativeApp(tenant)
            let name = "fresh@fabrikam.example"
            _ = try await app.signIn(name, password: "Sommar-2026")
            let answer = try await app.send(
                "register/v1.0/challenge",
                ["challenge_type": "oob", "challenge_channel": "email", "challenge_target": target])
            #expect(answer.outcome == "preverified")
            #expect(
                try await app.send("register/v1.0/continue", ["grant_type": "continuation_token"]).status == 200)
            #expect(try await app.tokens("continuation_token").claims("id_token") != nil)
        }
    }

    @Test func `codes to a contact without reputation are refused`() async throws {
        try await TestTenant.run(configured: Self.register) { (tenant) async throws in
            let app = NativeApp(tenant)
            _ = try await app.signIn("blocked@fabrikam.example", password: "Sommar-2026")
            let id = try await app.send("oauth2/v2.0/introspect").json?["methods"]?.array?.first?["id"]?.string
            let challenge = try await app.challenge("oauth2/v2.0/challenge", ["id": id ?? ""])
            #expect(challenge.outcome == "access_denied provider_blocked_by_rep")
            _ = try await app.signIn("unlisted@fabrikam.example", password: "Sommar-2026")
            let registration = try await app.send(
                "register/v1.0/challenge",
                ["challenge_type": "oob", "challenge_channel": "email", "challenge_target": "a@b.example"])
            #expect(registration.outcome == "access_denied provider_blocked_by_rep")
        }
    }

    @Test(arguments: [("mailed", "mfa_required"), ("fresh", "registration_required")])
    func `without the capability the app is sent to the browser`(name: String, capability: String) async throws {
        try await TestTenant.run(configured: Self.register) { (tenant) async throws in
            for (capabilities, outcome) in [
                (nil, "redirect"), ("other", "redirect"), (capability, "invalid_grant \(capability)"),
            ] {
                let app = NativeApp(tenant, capabilities: capabilities)
                let answer = try await app.signIn("\(name)@fabrikam.example", password: "Sommar-2026")
                #expect(answer.outcome == outcome)
            }
        }
    }

    private static let contexts: [(String, String, String)] = [
        ("customer", AuthenticationContext.claims(idToken: ["c1"]), "invalid_grant mfa_required"),
        ("customer", AuthenticationContext.claims(accessToken: ["c1"]), "invalid_grant mfa_required"),
        ("customer", #"{"access_token":{"capolids":{"essential":true,"values":["a"]}}}"#, "invalid_grant mfa_required"),
        ("coder", AuthenticationContext.claims(idToken: ["c1"]), "invalid_grant mfa_required"),
        ("customer", AuthenticationContext.claims(idToken: ["c3", "c1"]), "invalid_grant message_only"),
        ("customer", AuthenticationContext.claims(idToken: ["c2", "c4"]), "ok"), ("customer", "{}", "ok"),
        ("customer", "no JSON", "invalid_request"),
    ]

    @Test(arguments: contexts)
    func `the claims of a request demand the second factor that their authentication context needs`(
        name: String, claims: String, outcome: String
    ) async throws {
        func configure(_ configuration: inout DemoTenantConfiguration) {
            Self.register(&configuration)
            configuration.contexts["c3"] = .blocked
        }
        try await TestTenant.run(configured: configure) { (tenant) async throws in
            let (app, username) = (NativeApp(tenant), "\(name)@fabrikam.example")
            _ = try await app.begin("oauth2/v2.0/initiate", username)
            let isByCode = try await app.challenge("oauth2/v2.0/challenge").outcome == "oob"
            let secret = try await isByCode ? app.code(to: username) : "demo"
            let grant = isByCode ? "oob" : "password"
            let first = try await app.tokens(grant, [grant: secret, "claims": claims])
            #expect(first.outcome == outcome, "\(first.text)")
            guard outcome.hasSuffix("mfa_required") else { return }
            let id = try await app.send("oauth2/v2.0/introspect").json?["methods"]?.array?.first?["id"]?.string
            _ = try await app.challenge("oauth2/v2.0/challenge", ["id": id ?? ""])
            let code = try await app.code(to: isByCode ? "+46 70 555 0199" : username)
            let answer = try await app.tokens("mfa_oob", ["oob": code, "claims": claims])
            #expect(answer.status == 200, "\(answer.text)")
            let expected: JSONValue? = claims.contains("id_token") ? ["c1"] : nil
            #expect(answer.claims("id_token")?["acrs"] == expected)
        }
    }

    @Test func `without the capability, claims send the app to the browser`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let app = NativeApp(tenant, capabilities: nil)
            _ = try await app.begin("oauth2/v2.0/initiate", Self.person)
            _ = try await app.challenge("oauth2/v2.0/challenge")
            let claims = AuthenticationContext.claims(accessToken: ["c1"])
            #expect(try await app.tokens("password", ["password": "demo", "claims": claims]).outcome == "redirect")
        }
    }

    // MARK: Sign-up

    @Test func `a person signs up by a code and a password, and is signed in`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let app = NativeApp(tenant)
            let challenge = try await app.startSignUp()
            #expect(challenge.member("challenge_target_label") == "c***y@customer.example")
            let code = try await app.code(to: Self.newcomer)
            let continued = try await app.send("signup/v1.0/continue", ["grant_type": "oob", "oob": code])
            #expect(continued.outcome == "credential_required" && continued.number == 55103)
            #expect(try await app.challenge("signup/v1.0/challenge").outcome == "password")
            let done = try await app.send(
                "signup/v1.0/continue", ["grant_type": "password", "password": Self.password])
            #expect(done.status == 200 && done.json?["expires_in"] == 600)
            let answer = try await app.tokens("continuation_token", ["username": Self.newcomer])
            #expect(answer.claims("id_token")?["name"]?.string == "casey", "\(answer.text)")
            #expect(try await app.signIn(Self.newcomer, password: Self.password).claims("id_token") != nil)
            #expect(try await app.startSignUp().outcome == "invalid_request")
            #expect(try await app.begin("signup/v1.0/start", Self.newcomer).outcome == "user_already_exists")
        }
    }

    @Test func `a person signs up with the password and the attributes in the first request`() async throws {
        try await TestTenant.run(configured: Self.register) { (tenant) async throws in
            let app = NativeApp(tenant, Self.collecting)
            _ = try await app.startSignUp([
                "password": Self.password, "attributes": #"{"displayName": "Casey", "age": 44, "unknown": 1}"#,
            ])
            let code = try await app.code(to: Self.newcomer)
            #expect(try await app.send("signup/v1.0/continue", ["grant_type": "oob", "oob": code]).status == 200)
            #expect(
                try await app.tokens("continuation_token").claims("id_token")?["name"]?.string == "Casey")
        }
    }

    @Test func `missing attributes are named with their types, and wrong ones by name`() async throws {
        try await TestTenant.run(configured: Self.register) { (tenant) async throws in
            let app = NativeApp(tenant, Self.collecting)
            let start = try await app.begin(
                "signup/v1.0/start", Self.newcomer, ["attributes": #"{"displayName": "casey", "news": "perhaps"}"#])
            #expect(start.outcome == "invalid_grant attribute_validation_failed")
            #expect(start.json?["invalid_attributes"] == [["name": "displayName"], ["name": "news"]])
            _ = try await app.startSignUp(["password": Self.password])
            let code = try await app.code(to: Self.newcomer)
            let demand = try await app.send("signup/v1.0/continue", ["grant_type": "oob", "oob": code])
            #expect(demand.outcome == "attributes_required")
            #expect(
                demand.json?["required_attributes"] == [
                    ["name": "displayName", "type": "string", "required": true, "options": ["regex": "^[A-Z]"]],
                    ["name": "age", "type": "integer", "required": true],
                ])
            let wrong = try await app.send(
                "signup/v1.0/continue",
                ["grant_type": "attributes", "attributes": #"{"displayName": "C", "age": "x"}"#])
            #expect(wrong.json?["invalid_attributes"] == [["name": "age"]])
            let more = try await app.send(
                "signup/v1.0/continue", ["grant_type": "attributes", "attributes": #"{"displayName": "C"}"#])
            #expect(more.json?["required_attributes"]?.array?.count == 1)
            let done = try await app.send(
                "signup/v1.0/continue", ["grant_type": "attributes", "attributes": #"{"age": "44"}"#])
            #expect(done.status == 200, "\(done.text)")
        }
    }

    @Test func `where people sign in by codes, nobody is asked for a password`() async throws {
        try await TestTenant.run(configured: Self.register) { (tenant) async throws in
            let app = NativeApp(tenant, Self.codes, challengeTypes: "oob redirect")
            _ = try await app.startSignUp(["password": "ignored"])
            let code = try await app.code(to: Self.newcomer)
            #expect(try await app.send("signup/v1.0/continue", ["grant_type": "oob", "oob": code]).status == 200)
            #expect(try await app.begin("resetpassword/v1.0/start", Self.newcomer).number == 500_222)
            _ = try await app.begin("oauth2/v2.0/initiate", Self.newcomer)
            #expect(try await app.challenge("oauth2/v2.0/challenge").outcome == "oob")
        }
    }

    // MARK: Passwords

    private static let refusals: [(String, String)] = [
        ("Short-1", "password_too_short"), (String(repeating: "Aa1-", count: 65), "password_too_long"),
        ("Vinter-2027-å", "password_is_invalid"), ("My-Casey-2027", "password_banned"),
        ("onlylowercase", "password_too_weak"), ("12345678901", "password_too_weak"),
    ]

    @Test(arguments: refusals)
    func `a new password that breaks a rule is refused by that rule's name, and the flow stays`(
        password: String, suberror: String
    ) async throws {
        try await TestTenant.run { (tenant) async throws in
            let app = NativeApp(tenant)
            let refusal = "invalid_grant \(suberror)"
            #expect(
                try await app.begin("signup/v1.0/start", Self.newcomer, ["password": password]).outcome == refusal)
            _ = try await app.startSignUp()
            let code = try await app.code(to: Self.newcomer)
            _ = try await app.send("signup/v1.0/continue", ["grant_type": "oob", "oob": code])
            _ = try await app.challenge("signup/v1.0/challenge")
            let answer = try await app.send("signup/v1.0/continue", ["grant_type": "password", "password": password])
            #expect(answer.outcome == refusal)
            _ = try await app.reset()
            let submitted = try await app.send("resetpassword/v1.0/submit", ["new_password": password])
            #expect(submitted.outcome == refusal)
            #expect(
                try await app.send("resetpassword/v1.0/submit", ["new_password": Self.password]).status == 200)
        }
    }

    @Test func `a reset ends earlier tokens, and the old password is refused as recently used`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let app = NativeApp(tenant)
            let old = try await app.signIn().member("refresh_token")
            let continued = try await app.reset()
            #expect(continued.json?["expires_in"] == 600)
            let submitted = try await app.send("resetpassword/v1.0/submit", ["new_password": Self.password])
            #expect(submitted.json?["poll_interval"] == 2)
            let early = try await app.send("resetpassword/v1.0/poll_completion")
            #expect(early.member("status") == "in_progress")
            tenant.clock.advance(2)
            let done = try await app.send("resetpassword/v1.0/poll_completion")
            #expect(done.member("status") == "succeeded" && done.json?["expires_in"] == 600)
            #expect(try await app.tokens("continuation_token").claims("id_token") != nil)
            let silent = try await app.browser.refresh(old, client: .nativeSample, segment: "fabrikam.example")
            #expect(silent.outcome.hasPrefix("invalid_grant"))
            #expect(try await app.signIn().number == 50126)
            #expect(try await app.signIn(password: Self.password).claims("id_token") != nil)
            _ = try await app.reset()
            #expect(
                try await app.send("resetpassword/v1.0/submit", ["new_password": Self.password]).outcome
                    == "invalid_grant password_recently_used")
        }
    }
}
