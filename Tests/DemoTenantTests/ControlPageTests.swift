import Foundation
import Testing
import WebFormats

@testable import DemoTenant

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
                    "<option value=\"\(TestTenant.native.id)\" selected>Native &lt;tutorial&gt;</option>"))
            #expect(page.text.contains("<option value=\"adele@contoso.example\" selected>Adele Vance</option>"))
            #expect(page.text.contains("name=\"times\" type=\"number\" min=\"1\" value=\"2\""))
            // What no rule can have, or what its number says already, is not offered.
            for name in ["rotate_key", "revoke", "require_mfa", "unknown_key"] {
                #expect(!page.text.contains("name=\"\(name)\""), "\(name)")
            }
            #expect(page.text.ranges(of: "name=\"times\"").count == 1)
            #expect(!page.text.contains("<option value=\"\">Normal</option>"))
            let action = try #require(page.text.firstMatch(of: /<form method="post" action="([^"]*)"/)?.output.1)
                .replacing("&amp;", with: "&")

            for (name, value) in [("graph_error", "throttled"), ("claims_challenge", "true"), ("token_delay_ms", "5")] {
                let done = try await browser.post(String(action), [(name, value)], headers: Self.html)
                #expect(done.status == 303)
                #expect(done["Location"]?.hasPrefix("/control?done=rules&client=\(TestTenant.native.id)&user=") == true)
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
            let listed = try await browser.get("/control?done=rules&ui_locales=en", headers: Self.html).text
            #expect(listed.contains("The rule holds from now on."))
            #expect(listed.ranges(of: "<strong>Native &lt;tutorial&gt;, Adele Vance</strong>").count == 3)
            #expect(listed.contains("Graph: <code>429</code><br>Requests left: 2."))
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

    @Test(arguments: [("http://localhost:8080/c/", 4), (nil, 0)])
    func `each group leads to the tutorial for iOS, where there is one`(home: String?, count: Int) async throws {
        try await TestTenant.run(configured: { $0.clients[0].homeURL = home }) { (tenant) async throws in
            let page = try await tenant.browser().get("/control?ui_locales=en", headers: Self.html).text
            #expect(page.ranges(of: "<a href=\"http://localhost:8080/c/ios\">Try it in iOS</a>").count == count)
            for title in ["The sign-in page", "Tokens", "Graph and APIs", "The network"] {
                #expect(page.contains("<h2>\(title)</h2>"))
            }
        }
    }

    @Test func `every effect is on the page, or in JSON alone`() {
        let shown = Set(ControlGroup.all.flatMap(\.settings).map(\.key))
        #expect(Set(EffectKey.all.map(\.name)).subtracting(shown) == ["id_token_claims"])
    }
}
