import TestSupport
import Testing
import WebFormats

@testable import TenantControl

/// Answers that wait until a test lets them go.
@Suite struct HoldTests {
    /// Two people who are signed in, each with a refresh token and an access token.
    private func run(
        _ body: @Sendable @escaping (Browser, _ adele: Answer, _ megan: Answer) async throws -> Void
    ) async throws {
        try await TestTenant.run { (tenant) async throws in
            let adele = try await tenant.browser().tokens("adele@contoso.example")
            let megan = try await tenant.browser().tokens("megan@contoso.example")
            try await body(tenant.browser(), adele, megan)
        }
    }

    @Test(arguments: ["token", "graph"])
    func `an answer is held until its key is null, and the state says how many wait`(_ endpoint: String) async throws {
        try await run { (browser, adele, _) async throws in
            #expect(try await browser.control(["hold": .string(endpoint)]).json?["hold"] == .string(endpoint))
            async let answer =
                endpoint == "token"
                ? browser.refresh(adele.member("refresh_token")) : browser.me(adele.member("access_token"))
            #expect(await browser.untilHeld(1, at: endpoint))
            #expect(try await browser.count("token_refresh") == 0)
            #expect(try await browser.count("graph_me") == 0)
            // The other endpoint answers.
            let other =
                endpoint == "token"
                ? try await browser.me(adele.member("access_token"))
                : try await browser.refresh(adele.member("refresh_token"))
            #expect(other.status == 200)
            let after = try await browser.control(["hold": .null]).json
            #expect(after?["hold"] == .null && after?["held"] == ["token": 0, "graph": 0])
            #expect(try await answer.status == 200)
        }
    }

    @Test(arguments: ["remove", "rules", "reset", "hold"])
    func `the end of a rule lets its answers go, and nobody else has waited`(_ end: String) async throws {
        try await run { (browser, adele, megan) async throws in
            // It is used up by the first request, which waits all the same.
            let rule: JSONValue = ["when": ["user": "adele@contoso.example"], "times": 1, "hold": "token"]
            let set = try await browser.control(["rules": [rule]])
            let id = try #require(set.json?["rules"]?.array?.first?["id"]?.integer)
            async let answer = browser.refresh(adele.member("refresh_token"))
            #expect(await browser.untilHeld(1, at: "token"))
            #expect(try await browser.refresh(megan.member("refresh_token")).status == 200)
            #expect(try await browser.refresh(adele.member("refresh_token")).status == 200, "it was for one request")
            // Another change lets nobody go.
            #expect(try await browser.control(["access_token_seconds": 60]).json?["held"]?["token"] == 1)
            let ends: [String: JSONValue] = ["remove": .integer(id), "rules": [], "reset": true, "hold": .null]
            let after = try await browser.control(.object([end: ends[end] ?? .null])).json
            // The key at the top level is another rule.
            #expect(after?["held"]?["token"] == (end == "hold" ? 1 : 0))
            if end == "hold" { _ = try await browser.control(["reset": true]) }
            #expect(try await answer.status == 200)
        }
    }

    @Test func `one more than a hundred is not held, and none is held for longer than ten minutes`() async throws {
        let controls = Controls(now: { .now })
        func begin() {
            var rule = Rule(key: "hold")
            rule.effects.hold = .token
            controls.begin(rule, hasEffect: true, now: .now)
        }
        begin()
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<Controls.HeldRequests.most { group.addTask { await controls.hold(at: .token) } }
            #expect(await eventually { controls.held(at: .token) == Controls.HeldRequests.most })
            #expect(await controls.hold(at: .token), "it goes on at once")
            #expect(await controls.hold(at: .graph))
            controls.reset()
            for await goesOn in group { #expect(goesOn) }
        }
        begin()
        #expect(await controls.hold(at: .token, atMost: .milliseconds(1)))
        #expect(controls.held(at: .token) == 0)
        #expect(Controls.longestHold == .seconds(600))
    }
}
