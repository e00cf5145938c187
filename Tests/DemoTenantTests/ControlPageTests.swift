import Foundation
import Testing
import WebFormats

@testable import TenantControl
@testable import TenantDirectory
@testable import TenantGraph
@testable import TenantServer
@testable import TenantSignIn

@Suite("The control page")
struct ControlPageTests {
    private static let html = [("Accept", "text/html")]

    @Test func `what is set for a chosen app and person is a rule, which the page lists and ends`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let query = "client=\(TestTenant.native.id)&user=adele@contoso.example&times=2"
            let page = try await browser.get("/control?\(query)&ui_locales=en", headers: Self.html)
            #expect(page.text.contains("What you set now becomes a rule for this choice alone."))
            #expect(
                page.text.contains(
                    "<option value=\"\(TestTenant.native.id)\" selected>Native &lt;tutorial&gt;: a native app</option>")
            )
            #expect(page.text.contains("<option value=\"adele@contoso.example\" selected>Adele Vance</option>"))
            #expect(page.text.contains("name=\"times\" type=\"number\" min=\"1\" value=\"2\""))
            // A field that no rule can have, or that its number says already, is not offered.
            for name in ["rotate_key", "revoke", "require_mfa", "key_set", "clock_seconds"] {
                #expect(!page.text.contains("name=\"\(name)\""), "\(name)")
            }
            #expect(page.text.ranges(of: "name=\"times\" type=\"number\"").count == 1)
            #expect(!page.text.contains("<option value=\"\">Normal</option>"))
            let action = try #require(page.text.firstMatch(of: /<form method="post" action="([^"]*)"/)?.output.1)
                .replacing("&amp;", with: "&")

            for (name, value) in [("graph_error", "throttled"), ("claims_challenge", "true"), ("token_delay_ms", "5")] {
                let done = try await browser.post(String(action), [(name, value)], headers: Self.html)
                #expect(done.status == 303)
                #expect(
                    done["Location"]?.hasPrefix("/control?done=\(name)&client=\(TestTenant.native.id)&user=") == true)
            }
            let state = try await browser.get("/control").json
            let rules = try #require(state?["rules"]?.array)
            #expect(rules.count == 3 && state?["graph_error"] == .null)
            #expect(rules[0]["graph_error"]?["status"] == 429 && rules[0]["graph_error"]?["times"] == nil)
            for rule in rules {
                #expect(
                    rule["when"]
                        == ["client": .string(TestTenant.native.id), "user": "adele@contoso.example"])
                #expect(rule["times"] == 2)
            }
            let done = try await browser.get("/control?done=graph_error&ui_locales=en&\(query)", headers: Self.html)
                .text
            #expect(done.contains("Graph: 429, retry after 5 s, for Native &lt;tutorial&gt;, Adele Vance."))
            let listed = try await browser.get("/control?ui_locales=en", headers: Self.html).text
            #expect(listed.ranges(of: "<strong>Native &lt;tutorial&gt;, Adele Vance</strong>").count == 3)
            #expect(listed.contains("Graph: 429, retry after 5 s<br>Requests left: 2."))
            #expect(listed.contains("Begin a claims challenge at Graph<br>Requests left: 2."))
            #expect(listed.contains("Delay of the token endpoint (ms): <code>5</code><br>"))
            for rule in rules {
                let id = rule["id"]?.integer ?? 0
                let ended = try await browser.post("/control", [("remove", "\(id)")], headers: Self.html)
                #expect(ended["Location"] == "/control?done=remove")
            }
            #expect(try await browser.get("/control").json?["rules"] == [])
        }
    }

    @Test(
        arguments: [
            ("", nil), ("&times=2", nil),
            ("&client=\(TestTenant.native.id.uppercased())", "Only for Native &lt;tutorial&gt;"),
            ("&user=adele@contoso.example&times=2", "Only for Adele Vance"),
            (
                "&client=\(TestTenant.native.id)&user=new@contoso.example",
                "Only for Native &lt;tutorial&gt;, new@contoso.example"
            ),
        ])
    func `above the switches of a choice stands whom they are for, and the way back to everyone`(
        _ choice: String, _ title: String?
    ) async throws {
        try await TestTenant.run { (tenant) async throws in
            let address = "/control?ui_locales=en&return_to=/ios\(choice)"
            let page = try await tenant.browser().get(address, headers: Self.html).text
            guard let title else {
                #expect(page.contains("<div id=\"chosen\" tabindex=\"-1\"></div>"))
                return
            }
            #expect(page.contains("<div id=\"chosen\" tabindex=\"-1\"><h2>\(title)</h2>"))
            let back = "<a href=\"/control?ui_locales=en&amp;return_to=%2Fios\">Back to everyone</a>"
            #expect(page.contains(back), "\(page)")
        }
    }

    @Test(arguments: [
        ("client=nobody", "token_delay_ms", "5", "when: client: "),
        ("user=nobody", "token_delay_ms", "5", "when: user: "),
        ("user=adele@contoso.example&times=x", "token_delay_ms", "5", "'times' has to be"),
        ("user=adele@contoso.example", "bad_id_token", "", "a rule needs an effect"),
    ])
    func `a rule that cannot be made is refused on the page`(
        _ query: String, _ name: String, _ value: String, _ reason: String
    ) async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let answer = try await browser.post("/control?\(query)", [(name, value)], headers: Self.html)
            let location = try #require(answer["Location"])
            #expect(location.hasPrefix("/control?refused="))
            #expect(try await browser.get(location, headers: Self.html).text.contains(HTML(escaping: reason).text))
            #expect(try await browser.get("/control").json?["rules"] == [])
        }
    }

    @Test func `actions and the reset work while an app is chosen`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            _ = try await browser.control(["token_delay_ms": 5])
            let answer = try await browser.post(
                "/control?client=\(TestTenant.web.id)", [("reset", "seed")], headers: Self.html)
            #expect(answer["Location"] == "/control?done=reset&client=\(TestTenant.web.id)")
            #expect(try await browser.get("/control").json?["token_delay_ms"] == 0)
        }
    }

    @Test(
        arguments: [
            ([("token_error", "unavailable")], 2), ([("token_error", "unavailable"), ("times", "")], 2),
            ([("token_error", "unavailable"), ("times", "1")], 1), ([("token_error", "throttled")], 1),
            ([("token_error", "invalid_grant")], 1), ([("graph_error", "unavailable")], 1),
            ([("close_connection", "token")], 2), ([("close_connection", "graph")], 1),
            ([("lost_token_answer", "true")], 2), ([("token_platform_error", "50076")], 1),
            ([("token_platform_error", "90033")], 2), ([("authorize_platform_error", "90033")], 1),
        ] as [([(String, String)], Int)])
    func `what a person chooses happens as often as an app with MSAL notices`(
        _ fields: [(String, String)], _ times: Int
    ) throws {
        let members = try #require(ControlForm.members(Array(FormEncoding.encode(fields).utf8)))
        let known = ControlChange.Known(accounts: [], clients: [])
        guard case .rule(let rule, _)? = try ControlChange.parse(members, known, isForm: true).first else {
            Issue.record("it is no rule")
            return
        }
        #expect(rule.times == times)
        // JSON says itself how often, and once if it says nothing.
        guard case .rule(let other, _)? = try ControlChange.parse(members, known).first else { return }
        #expect(other.times == (fields.last?.1 == "1" ? times : 1))
    }

    @Test(
        arguments: [
            (["claims_challenge": true], "claims_challenge", "Begin a claims challenge at Graph: on, for everyone."),
            ([:], "claims_challenge", "Begin a claims challenge at Graph: off, for everyone."),
            (
                ["authorize_platform_error": 50057], "authorize_platform_error",
                "The next sign-in: <span lang=\"en\">AADSTS50057: account disabled</span>, for everyone."
            ),
            (["graph_error": ["status": 418]], "graph_error", "Graph: <code>418</code>, for everyone."),
            ([:], "graph_error", "Graph: Normal, for everyone."),
            ([:], "key_set", "The published keys: Normal, for everyone."),
            (
                ["access_token_seconds": 5], "access_token_seconds",
                "Access tokens (seconds): <code>5</code>, for everyone."
            ),
            ([:], "access_token_seconds", "Access tokens (seconds): None, for everyone."),
        ] as [([String: JSONValue], String, String)])
    func `what is said after a change names the failure, how it is set and for whom, and leads to where it is met`(
        _ settings: [String: JSONValue], _ key: String, _ said: String
    ) async throws {
        try await TestTenant.run(configured: { $0.clients[0].homeURL = "http://localhost:8080/" }) {
            (tenant) async throws in
            let browser = tenant.browser()
            _ = try await browser.control(.object(settings))
            let page = try await browser.get("/control?ui_locales=en&done=\(key)", headers: Self.html).text
            #expect(page.contains("<p class=\"notice calm\">\(said) <a href=\"http://localhost:8080/ios"), "\(page)")
        }
    }

    @Test func `everything is reset where something is active, and nowhere else`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            for (settings, count) in [([:], 0), (["token_delay_ms": 5], 1)] as [(JSONValue, Int)] {
                _ = try await browser.control(settings)
                let page = try await browser.get("/control?ui_locales=en", headers: Self.html).text
                #expect(page.ranges(of: "name=\"reset\" value=\"true\"").count == count)
                #expect(page.ranges(of: "name=\"reset\" value=\"seed\"").count == 1)
            }
        }
    }

    @Test func `the page says why a failure happens twice, but of a rule's number it is silent`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let page = try await browser.get("/control?ui_locales=en", headers: Self.html).text
            #expect(page.ranges(of: "MSAL for iOS and macOS repeats").count == 1)
            #expect(page.contains("name=\"times\" type=\"number\" min=\"1\" value=\"\">"))
            #expect(page.contains("answers the same silent request from memory, even after a reset"))
            let query = "?ui_locales=en&client=\(TestTenant.native.id)"
            let rules = try await browser.get("/control\(query)", headers: Self.html).text
            #expect(!rules.contains("MSAL for iOS and macOS repeats"))
        }
    }

    @Test func `a switch says its state, and what is active says to whom and takes it back for everyone`() async throws
    {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            func page(_ query: String = "") async throws -> String {
                try await browser.get("/control?ui_locales=en\(query)", headers: Self.html).text
            }
            let button = "id=\"expire_tokens\" role=\"switch\" aria-checked="
            #expect(try await page().contains(button + "\"false\" name=\"expire_tokens\" value=\"true\""))
            #expect(try await page().contains("<p>Everything works normally.</p>"))
            _ = try await browser.post("/control", [("expire_tokens", "true")], headers: Self.html)
            let active = try await page()
            #expect(active.contains(button + "\"true\" name=\"expire_tokens\" value=\"false\""))
            #expect(active.contains("<strong>Every app, everyone</strong><br>Let all access tokens expire<br>"))
            #expect(active.contains("<button name=\"undo\" value=\"expire_tokens\""))
            // The choice of one person has a switch of its own, which ends that person's rule.
            let choice = "&user=adele@contoso.example"
            #expect(try await page(choice).contains(button + "\"false\" name=\"expire_tokens\" value=\"true\""))
            _ = try await browser.post(
                "/control?user=adele@contoso.example", [("expire_tokens", "true")], headers: Self.html)
            let id = try #require(try await browser.get("/control").json?["rules"]?.array?.first?["id"]?.integer)
            #expect(try await page(choice).contains(button + "\"true\" name=\"remove\" value=\"\(id)\""))
            let undone = try await browser.post(
                "/control?user=adele@contoso.example", [("undo", "expire_tokens")], headers: Self.html)
            #expect(undone["Location"] == "/control?done=remove&user=adele%40contoso.example")
            let state = try await browser.get("/control").json
            #expect(state?["expire_tokens"] == false && state?["rules"]?.array?.count == 1)
            // A rule for one sign-on session is for nobody else who is that person.
            _ = try await browser.control(["reset": true])
            let when: JSONValue = ["user": "adele@contoso.example", "session": "a-session"]
            _ = try await browser.control([
                "rules": [["when": ["session": "a-session"], "revoked": true], ["when": when, "expire_tokens": true]]
            ])
            #expect(try await page(choice).contains(button + "\"false\" name=\"expire_tokens\" value=\"true\""))
            #expect(try await page().contains("<strong>Every app, one sign-in</strong><br><code>revoked</code><br>"))
        }
    }

    @Test(arguments: [
        ("", "Every sign-in", "Until you undo it."), ("&times=2", "The next sign-in", "Requests left: 2."),
    ])
    func `a rule that stays says so, and its list begins with no choice`(
        times: String, title: String, end: String
    ) async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let address = "/control?ui_locales=en&user=adele@contoso.example\(times)"
            let before = try await browser.get(address, headers: Self.html).text
            _ = try await browser.post(address, [("authorize_platform_error", "50105")], headers: Self.html)
            let page = try await browser.get(address, headers: Self.html).text
            #expect(page.contains("<label for=\"authorize_platform_error\">\(title)</label>"))
            let words = try #require(PlatformError.numbered(50105)).message
            #expect(
                page.contains(
                    "\(title): <span lang=\"en\">AADSTS50105: \(HTML(escaping: words).text)</span><br>\(end)<br>"))
            #expect(page.contains("<option value=\"50105\" selected") && !before.contains("50105\" selected"))
            let lists = before.matches(
                of: /<select id="([a-z_]*)" name="[a-z_]*" aria-describedby[^>]*>(<option[^>]*>)/
            )
            .filter { !$0.output.1.hasPrefix("when_") }
            #expect(lists.count > 1)
            for list in lists {
                #expect(list.output.0.contains(" required>") && list.output.2 == "<option value=\"\" selected>")
            }
        }
    }

    @Test func `the numbers of a list stand in order, in groups by their moment and those of B2C`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let page = try await tenant.browser().get("/control?ui_locales=en", headers: Self.html).text
            for (key, titles) in [
                (
                    "authorize_platform_error",
                    [
                        "Before an account is chosen", "Once an account is chosen", "After the account has signed in",
                    ]
                ),
                ("token_platform_error", ["About the application or the request", "About the account"]),
            ] {
                let form = try #require(page.split(separator: "<form ").first { $0.contains("data-key=\"\(key)\"") })
                let groups = form.split(separator: "<optgroup label=\"").dropFirst()
                #expect(groups.map { String($0.prefix { $0 != "\"" }) } == titles + ["Azure AD B2C"])
                let numbers = groups.map { $0.matches(of: /<option value="([0-9]+)"/).compactMap { Int($0.output.1) } }
                #expect(numbers == numbers.map { $0.sorted() } && numbers.joined().sorted() == PlatformError.numbers)
                #expect(numbers[titles.count - 1].contains(50105))
                let prefixes = groups.map { Set($0.matches(of: />(AADSTS|AADB2C)/).map(\.output.1)) }
                #expect(prefixes == titles.map { _ in ["AADSTS"] } + [["AADB2C"]])
            }
        }
    }

    @Test(arguments: [nil, "http://localhost:8080/"])
    func `a claims challenge asks for no second factor, and leads to its mission where there is one`(
        _ companion: String?
    ) async throws {
        try await TestTenant.run(configured: { $0.clients[0].homeURL = companion }) { (tenant) async throws in
            let page = try await tenant.browser().get("/control?ui_locales=en", headers: Self.html).text
            #expect(page.contains("No second factor follows unless “Require a second factor” is set"))
            let link = "In Learn, “<a href=\"http://localhost:8080/ios#mission=second_factor\">"
            #expect(page.contains(link) == (companion != nil) && page.contains("In Learn, ") == (companion != nil))
        }
    }

    @Test func `the failures for everyone are listed with their names in a language, the newest first`() async throws {
        try await TestTenant.run { (tenant) async throws in
            _ = try await tenant.browser().control([
                "claims_challenge": true, "rules": [["when": ["user": "adele@contoso.example"], "token_delay_ms": 5]],
            ])
            _ = try await tenant.browser().control(["rules": [["graph_error": ["status": 503]]]])
            let expected: [JSONValue] = [
                ["name": "Graph", "place": "now"],
                ["name": "Börja med en anspråksutmaning i Graph", "place": "claims_challenge"],
            ]
            #expect(tenant.tenant.failuresForEveryone(in: "sv") == expected)
            #expect(
                tenant.tenant.failuresForEveryone(in: "en").last?["name"] == "Begin a claims challenge at Graph")
            _ = try await tenant.browser().control(["reset": true])
            #expect(tenant.tenant.failuresForEveryone(in: "en") == [])
        }
    }

    @Test func `of a rule that stays, nothing says that it is about the next request`() {
        for key in ControlKey.effects where key.isForRules {
            let words = "\((key.lastingTitle ?? key.title)?.text ?? "") \(key.meaning.text)"
            #expect(key.title == nil || !words.localizedCaseInsensitiveContains("next"), "\(key.name): \(words)")
        }
    }

    @Test(
        arguments: [
            ("bad_id_token", "nonce", "issuer", ["issuer"]), ("bad_id_token", "nonce", "", []),
            ("token_delay_ms", "5", "7", ["7"]), ("token_delay_ms", "5", "", []), ("graph_error", "throttled", "", []),
        ] as [(String, String, String, [String])])
    func `the next choice of a setting takes the place of its rule, and none ends it`(
        _ key: String, _ first: String, _ second: String, _ expected: [String]
    ) async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            _ = try await browser.control(["rules": [["token_delay_ms": 9]], "graph_delay_ms": 3])
            let address = "/control?ui_locales=en&user=adele@contoso.example"
            _ = try await browser.post(address, [(key, first)], headers: Self.html)
            let page = try await browser.get(address, headers: Self.html).text
            let form = try #require(page.split(separator: "<form ").first { $0.contains("data-key=\"\(key)\"") })
            #expect(!form.contains(" required"), "it cannot be ended")
            let former = try #require(form.firstMatch(of: /name="remove" value="([0-9]+)"/)?.output.1)
            _ = try await browser.post(address, [("remove", String(former)), (key, second)], headers: Self.html)
            let state = try await browser.get("/control").json
            let rules = try #require(state?["rules"]?.array)
            #expect(rules.first?["token_delay_ms"] == 9 && state?["graph_delay_ms"] == 3)
            #expect(state?[key] == ControlKey.named(key)?.normal, "it was for one person")
            #expect(rules.dropFirst().map { ($0[key]?.string ?? $0[key]?.text) } == expected)
        }
    }

    @Test(arguments: ["unavailable", "throttled", ""])
    func `a list of responses shows the one that is set, and how often it still comes`(_ chosen: String) async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            _ = try await browser.post("/control", [("graph_error", chosen), ("times", "4")], headers: Self.html)
            let page = try await browser.get("/control?ui_locales=en", headers: Self.html).text
            #expect(page.contains("<option value=\"\(chosen)\" selected>"))
            let times = "id=\"graph_error_times\" name=\"times\" type=\"number\" min=\"1\" value="
            #expect(page.contains(times + (chosen.isEmpty ? "\"1\"" : "\"4\"")))
            // A program's own response has no name.
            _ = try await browser.control(["graph_error": ["status": 418]])
            let other = try await browser.get("/control?ui_locales=en", headers: Self.html).text
            #expect(other.contains("<option value=\"418\" selected>418</option>"))
        }
    }

    @Test func `a rule that ends by itself says when, and leaves the page when it has ended`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            func page(after mark: Substring? = nil) async throws -> Answer {
                try await browser.get(
                    "/control?ui_locales=en\(mark.map { "&after=\($0)" } ?? "")", headers: Self.html)
            }
            let rule: JSONValue = ["expire_tokens": true]
            _ = try await browser.control(["rules": [["seconds": 60, "graph_throttled": true], rule]])
            let text = try await page().text
            let end = tenant.clock.now.addingTimeInterval(60).formatted(.iso8601)
            let shown = end.replacing("T", with: " ").dropLast()
            #expect(text.contains("Ends by itself at <time datetime=\"\(end)\">\(shown)</time> (UTC).<br>"))
            #expect(text.ranges(of: "Ends by itself").count == 1)
            let mark = try #require(text.firstMatch(of: /data-mark="([^"]*)"/)?.output.1)
            tenant.clock.advance(59)
            #expect(try await page(after: mark).status == 204)
            tenant.clock.advance(1)
            let after = try await page(after: mark)
            #expect(after.status == 200 && !after.text.contains("Ends by itself"))
            #expect(after.text.ranges(of: "<button name=\"remove\"").count == 1)
        }
    }

    @Test(
        arguments: [
            ([], ["suberror": .null, "code": .null]),
            ([("suberror", "password_banned"), ("code", "50057")], ["suberror": "password_banned", "code": 50057]),
            ([("suberror", ""), ("code", "")], ["suberror": .null, "code": .null]),
            ([("suberror", "else")], nil), ([("code", "12345678")], nil), ([("code", "x")], nil),
        ] as [([(String, String)], [String: JSONValue]?)])
    func `a failure of native authentication is chosen as an endpoint with its error`(
        _ more: [(String, String)], _ expected: [String: JSONValue]?
    ) async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let failure = ("native_failure", "oauth2/v2.0/token invalid_grant")
            let answer = try await browser.post("/control", [failure] + more, headers: Self.html)
            let state = try await browser.get("/control").json?["native_failure"]
            guard let expected else {
                #expect(answer["Location"]?.hasPrefix("/control?refused=") == true && state == .null)
                return
            }
            #expect(answer["Location"] == "/control?done=native_failure")
            #expect(state?["endpoint"] == "oauth2/v2.0/token" && state?["error"] == "invalid_grant")
            for (name, value) in expected { #expect(state?[name] == value) }
            let page = try await browser.get("/control?ui_locales=en", headers: Self.html).text
            #expect(page.contains("<option value=\"oauth2/v2.0/token invalid_grant\" selected>invalid_grant</option>"))
            _ = try await browser.post("/control", [("native_failure", "")], headers: Self.html)
            #expect(try await browser.get("/control").json?["native_failure"] == .null)
        }
    }

    @Test(arguments: [
        ("http://localhost:8080/", "Web tutorial: every page of this Companion"), (nil, "Web tutorial"),
    ])
    func `the list of apps says which is the companion and which are native`(home: String?, web: String) async throws {
        try await TestTenant.run(configured: { $0.clients[0].homeURL = home }) { (tenant) async throws in
            let page = try await tenant.browser().get("/control?ui_locales=en", headers: Self.html).text
            for title in [web, "Native &lt;tutorial&gt;: a native app", "Script tutorial"] {
                #expect(page.contains("\">\(title)</option>"), "\(title)")
            }
        }
    }

    @Test(arguments: [("http://localhost:8080/c/", 2), (nil, 0)])
    func `each group leads to the tutorial for iOS, where there is one`(home: String?, count: Int) async throws {
        try await TestTenant.run(configured: { $0.clients[0].homeURL = home }) { (tenant) async throws in
            let page = try await tenant.browser().get("/control?ui_locales=en", headers: Self.html).text
            #expect(page.ranges(of: "<a href=\"http://localhost:8080/c/ios\">Open Learn for iOS</a>").count == count)
            // Who is signed in already would not meet what happens at a sign-in.
            let signIn = "http://localhost:8080/c/ios#sign-in"
            #expect(page.ranges(of: "<a href=\"\(signIn)\">Sign in now in Learn for iOS</a>").count == count)
            for title in ["The sign-in page", "Tokens", "Graph and APIs", "The network"] {
                #expect(page.contains("<h2>\(title)</h2>"))
            }
        }
    }

    @Test(
        arguments: [
            ([:], "", "Tokens", 0),
            (["token_delay_ms": 5], "", "The network", 1),
            (["expire_tokens": true, "missing_scope": "Mail.Read"], "", "Graph and APIs", 2),
            (["require_mfa": "adele@contoso.example"], "", "The sign-in page", 1),
            (["refresh_token_seconds": 7_776_000], "", "Tokens", 0),
            (["rules": [forAdele]], "", "Graph and APIs", 0),
            (["rules": [forAdele]], "&user=adele@contoso.example", "Graph and APIs", 1),
            (["token_delay_ms": 5], "&user=adele@contoso.example", "The network", 0),
        ] as [([String: JSONValue], String, HTML, Int)])
    func `a group is folded unless something in it is on, and then its title says how many are`(
        _ settings: [String: JSONValue], _ choice: String, _ title: HTML, _ on: Int
    ) async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            _ = try await browser.control(.object(settings))
            let page = try await browser.get("/control?ui_locales=en\(choice)", headers: Self.html).text
            let count = on == 0 ? "" : "<span class=\"small\">On: \(on)</span>"
            #expect(
                page.contains(
                    """
                    <details class="panel group" data-on="\(on)"\(on == 0 ? "" : " open")>
                    <summary><h2>\(title.text)</h2> \(count)</summary>
                    """))
        }
    }

    private static let forAdele: JSONValue = [
        "when": ["user": "adele@contoso.example"], "graph_error": ["status": 503],
    ]

    @Test func `every effect is on the page, or in JSON alone`() {
        let shown = Set(ControlKey.groups.flatMap(\.keys).map(\.name))
        #expect(
            Set(ControlKey.effects.map(\.name)).subtracting(shown) == [
                "b2c_issuer_with_policy", "generic_provider", "graph_throttled", "hold", "id_token_claims",
                "no_permissions", "omit_auth_time", "revoked", "second_factor", "unknown_key",
            ])
        #expect(Set(ControlKey.all.map(\.name)).count == ControlKey.all.count)
    }

    /// The row of a key in the recipes' table.
    private static func row(_ key: ControlKey) -> String {
        let value =
            switch key.field {
            case .number(let limit, _): "0 to \(limit)"
            case .text: "a scope"
            case .choice(let choices): choices.dropFirst().map { "`\($0.value)`" }.joined(separator: ", ")
            case .platformError: "a number of the page's list"
            case .answer: "`status`, `body`, `headers`, `times`"
            case .nativeFailure: "`endpoint`, `error`, `suberror`, `code`"
            case .toggle: "`true`"
            case .account: "a username"
            case .button("seed", _, _): "`\"seed\"`"
            case .button(let value, _, _): "`\(value)`"
            case .json(let values): values
            }
        return "| `\(key.name)` | \(value)\(key.effect?.isOnce == true ? ", once" : "") | \(key.meaning.text) |"
    }

    @Test func `the recipes list every key with its values and its meaning`() throws {
        let rows = ([.reset, .seed] + ControlKey.all.dropFirst()).map(Self.row)
        let table = (["| key | value | what it does |", "|---|---|---|"] + rows).joined(separator: "\n")
        let guide = URL(fileURLWithPath: TestTenant.publicFolder).deletingLastPathComponent()
            .appendingPathComponent("deploy/recipes/README.md")
        #expect(try String(contentsOf: guide, encoding: .utf8).contains(table + "\n"), "\(table)")
    }
}
