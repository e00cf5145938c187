import Foundation
import HTTPTypes
import Testing

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn

/// The main job over real HTTP: companion, demo tenant, libcurl, SQLite.
@Suite struct JourneyTests {
    @Test(arguments: ["ios", "macos"])
    func `people sign in, call Graph and sign out`(app: String) async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            #expect(try await visitor.get("/\(app)").status == 200)
            #expect(try await visitor.api(.get, "/api/\(app)/account").json["account"] is NSNull)

            let callback = try await visitor.signIn(app: app)
            #expect(callback.status == 303)
            #expect(callback.location == "/\(app)")

            let account = try await visitor.api(.get, "/api/\(app)/account").json["account"] as? [String: Any]
            #expect(account?["username"] as? String == "adele@contoso.example")
            let token = try await visitor.api(.post, "/api/\(app)/token", body: "{}")
            #expect(token.json["source"] as? String == "cache")
            #expect((token.json["token"] as? String)?.hasSuffix(" characters)") == true)
            let me = try await visitor.api(.get, "/api/\(app)/me")
            #expect(me.status == 200)
            #expect(me.json["userPrincipalName"] as? String == "adele@contoso.example")
            #expect(me.fields[.requestID] != nil)
            #expect(me.fields[.cacheControl] == "no-store")

            let before = visitor.sessionCookie
            let out = try await visitor.api(.post, "/auth/\(app)/sign-out", body: #"{"browser":false}"#)
            #expect(out.status == 200)
            #expect(out.json["redirect"] is NSNull)
            #expect(visitor.sessionCookie != before, "a new session id at every change of who is signed in")
            let after = try await visitor.api(.get, "/api/\(app)/account").json
            #expect(after["account"] is NSNull)
            #expect(after["previous_account"] as? String == "adele@contoso.example")
            #expect(try await visitor.api(.get, "/api/\(app)/me").code == "interaction_required")
        }
    }

    @Test func `people stay signed in over a restart`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            try await site.restart()
            #expect(try await visitor.api(.get, "/api/ios/me").status == 200)
        }
    }

    @Test func `signing out of the browser ends the provider's session and comes back`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            let out = try await visitor.api(.post, "/auth/ios/sign-out", body: #"{"browser":true}"#)
            let redirect = try #require(out.json["redirect"] as? String)
            #expect(redirect.contains("/oauth2/v2.0/logout?"))
            #expect(redirect.contains("logout_hint="))
            let answer = try await visitor.get(redirect)
            // The state that came back is what tells the page that the provider confirmed.
            let state = try #require(redirect.firstMatch(of: /[?&]state=([0-9a-f]{32})/)?.output.1)
            #expect(answer.location == site.origin + "/auth/signed-out?state=" + state)
            #expect(try await visitor.get("/auth/signed-out").status == 200)
            #expect(try await site.count("logout") == 1)
        }
    }

    @Test func `on a shared device sign-out always ends the provider's session, and does not show who it was`()
        async throws
    {
        try await Site.run(configured: { $0.deviceMode = .shared }) { site in
            let visitor = Visitor(site)
            let callback = try await visitor.signIn()
            #expect(callback.fields[.setCookie]?.contains("Max-Age") == false)
            let out = try await visitor.api(.post, "/auth/ios/sign-out", body: #"{"browser":false}"#)
            #expect(out.json["redirect"] is String)
            #expect(try await visitor.api(.get, "/api/ios/account").json["previous_account"] is NSNull)
        }
    }

    @Test func `the two applications of one session are signed in one by one`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn(app: "ios")
            #expect(try await visitor.api(.get, "/api/macos/account").json["account"] is NSNull)
            try await visitor.signIn(app: "macos", username: "megan@contoso.example")
            let apps = try await visitor.api(.get, "/api/apps").json["apps"] as? [[String: Any]]
            #expect(
                apps?.prefix(2).map { $0["signed_in_as"] as? String } == [
                    "adele@contoso.example", "megan@contoso.example",
                ])
        }
    }

    @Test func `two tabs that sign in at the same time are both signed in`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            let first = try await visitor.walkToCallback()
            let second = try await visitor.walkToCallback()
            #expect(try await visitor.get(try #require(first.location)).location == "/ios")
            #expect(try await visitor.get(try #require(second.location)).location == "/ios")
            #expect(try await visitor.api(.get, "/api/ios/me").status == 200)
        }
    }

    @Test func `a reloaded callback ends signed in, even if its first answer was lost`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            let location = try #require(try await visitor.walkToCallback().location)
            let lost = visitor.copy()
            #expect(try await lost.get(location).status == 303)
            // The browser still has the cookie from before.
            #expect(try await visitor.get(location).location == "/ios")
            #expect(try await visitor.api(.get, "/api/ios/me").status == 200)
            #expect(try await visitor.get(location).location == "/ios", "and once more")
            #expect(try await visitor.api(.get, "/api/ios/me").status == 200)
            #expect(try await site.count("token_code") == 1)
        }
    }

    @Test func `a callback that arrives twice at once is redeemed once`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            let location = try #require(try await visitor.walkToCallback().location)
            try await site.control(#"{"token_delay_ms": 200}"#)
            let tabs = (0..<5).map { _ in visitor.copy() }
            let answers = try await withThrowingTaskGroup(of: Visitor.Answer.self) { group in
                for tab in tabs { group.addTask { try await tab.get(location) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.map(\.location) == Array(repeating: "/ios", count: 5))
            #expect(try await site.count("token_code") == 1)
        }
    }

    @Test func `a callback is refused in another browser`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            let location = try #require(try await visitor.walkToCallback().location)
            let stranger = Visitor(site)
            #expect(try await stranger.api(.get, location).code == "state_mismatch")
            let page = try await stranger.get(location)
            #expect(page.status == 400)
            #expect(page.fields[.contentType] == "text/html; charset=utf-8")
            #expect(try await visitor.get(location).location == "/ios", "and the one who began it still signs in")
            #expect(try await stranger.api(.get, location).code == "state_mismatch")
        }
    }

    @Test func `an answer that comes as a form signs in`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            let location = try #require(try await visitor.walkToCallback().location)
            let query = try #require(URLComponents(string: location)?.percentEncodedQuery)
            // Cross-site, so that the SameSite=Lax cookie does not come with it.
            let posted = try await Visitor(site).send(
                .post, "/auth/callback", headers: [.contentType: "application/x-www-form-urlencoded"], body: query)
            let resumed = try #require(posted.location)
            #expect(!resumed.contains("code="))
            #expect(try await visitor.get(resumed).location == "/ios")
            #expect(try await visitor.get(resumed).location == "/ios", "reloaded")
            #expect(try await visitor.api(.get, "/api/ios/me").status == 200)
        }
    }

    @Test func `declining consent comes back to the page as cancelled`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            let callback = try await visitor.signIn(query: "return_to=%2Fios", consent: "cancel")
            #expect(callback.status == 303)
            #expect(callback.location?.hasPrefix("/ios?sign_in_error=cancelled") == true)
            #expect(try await visitor.api(.get, "/api/ios/account").json["account"] is NSNull)
        }
    }

    @Test(arguments: [
        ("signature", "invalid_id_token"), ("issuer", "invalid_id_token"), ("audience", "invalid_id_token"),
        ("nonce", "nonce_mismatch"), ("expired", "invalid_id_token"), ("not_yet_valid", "invalid_id_token"),
        ("algorithm_none", "invalid_id_token"), ("unknown_kid", "invalid_id_token"), ("tenant", "invalid_id_token"),
    ])
    func `a wrong ID token signs nobody in`(fault: String, code: String) async throws {
        // For so long a key is waited for that does not come.
        try await Site.run(configured: { $0.refreshTimes.checks = .seconds(3) }) { site in
            let visitor = Visitor(site)
            try await site.control(#"{"bad_id_token": "\#(fault)"}"#)
            let callback = try await visitor.signIn()
            #expect(callback.location?.hasPrefix("/ios?sign_in_error=\(code)") == true, "\(callback.location ?? "-")")
            #expect(try await visitor.api(.get, "/api/ios/account").json["account"] is NSNull)
        }
    }

    @Test func `keys that rotated are fetched again`() async throws {
        try await Site.run { site in
            try await Visitor(site).signIn()
            try await site.control(#"{"rotate_key": true}"#)
            // They are fetched for an answer once a second at most.
            site.clock.advance(1)
            #expect(try await Visitor(site).signIn().location == "/ios")
        }
    }

    @Test func `sessions end by idleness and by age`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            site.clock.advance(59 * 60)
            #expect(try await visitor.api(.get, "/api/ios/account").json["account"] is [String: Any])
            site.clock.advance(59 * 60)
            #expect(try await visitor.api(.get, "/api/ios/account").json["account"] is [String: Any])
            site.clock.advance(61 * 60)
            #expect(try await visitor.api(.get, "/api/ios/account").json["account"] is NSNull)
            #expect(try await visitor.api(.get, "/api/ios/me").code == "session_expired")
        }
    }
}
