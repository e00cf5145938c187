import Foundation
import HTTPTypes
import Testing

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn

/// The demo's missions: what goes wrong on purpose, for one session alone.
@Suite struct MissionTests {
    /// The site as a demo, with two browsers in which the same person is signed in.
    private static func run(_ test: (Site, _ caller: Visitor, _ other: Visitor) async throws -> Void) async throws {
        try await Site.run(configured: { configuration in
            configuration.demoControlURL = configuration.applications[0].api.map { $0.origin + "/control" }
        }) { site in
            let (caller, other) = (Visitor(site), Visitor(site))
            try await caller.signIn()
            try await other.signIn()
            try await test(site, caller, other)
        }
    }

    private static func begin(_ failure: String?, for visitor: Visitor) async throws -> Visitor.Answer {
        let name = failure.map { "\"\($0)\"" } ?? "null"
        return try await visitor.api(.post, "/api/demo/mission", body: "{\"app\": \"ios\", \"failure\": \(name)}")
    }

    private static func me(_ visitor: Visitor) async throws -> Visitor.Answer {
        try await visitor.api(.get, "/api/ios/me")
    }

    /// A silent call, as the page makes it before each call of Graph.
    private static func token(_ visitor: Visitor, isForced: Bool = false) async throws -> Visitor.Answer {
        try await visitor.api(.post, "/api/ios/token", body: isForced ? #"{"force_refresh": true}"# : "")
    }

    /// The outcomes of the session's steps that are of this kind.
    private static func outcomes(_ step: String, of visitor: Visitor) async throws -> [String] {
        let events = try await visitor.api(.get, "/api/ios/events").json["events"] as? [[String: Any]] ?? []
        return events.filter { $0["step"] as? String == step }.compactMap { $0["outcome"] as? String }
    }

    @Test(arguments: [
        ("provider_down", 503, "provider_unavailable"), ("revoked", 401, "interaction_required"),
        ("permission", 502, "provider_rejected_client"),
    ])
    func `a failing refresh stays in its session until it is ended, and another browser notices nothing`(
        failure: String, status: Int, code: String
    ) async throws {
        try await Self.run { site, caller, other in
            site.clock.advance(1)
            #expect(try await Self.begin(failure, for: caller).status == 204)
            // The access token has expired where MSAL would keep it, so that the silent call fails and Graph is not asked.
            let failed = try await Self.token(caller)
            #expect(failed.status == status)
            #expect(failed.code == code)
            #expect(try await Self.outcomes("api", of: caller) == [])
            #expect(try await Self.token(other).json["source"] as? String == "cache")
            #expect(try await Self.token(other, isForced: true).status == 200)
            #expect(try await Self.begin(nil, for: caller).status == 204)
            // A refused refresh token is not sent again for two minutes.
            site.clock.advance(121)
            #expect(try await Self.token(caller).json["source"] as? String == "refreshed")
        }
    }

    @Test func `a second factor is a claims challenge of Graph, which only a sign-in with those claims meets`()
        async throws
    {
        try await Self.run { site, caller, other in
            #expect(try await Self.begin("second_factor", for: caller).status == 204)
            // MSAL's cache knows nothing of it.
            #expect(try await Self.token(caller).json["source"] as? String == "cache")
            let challenged = try await Self.me(caller)
            #expect(challenged.status == 401)
            #expect(challenged.code == "interaction_required")
            #expect(try await Self.outcomes("api", of: caller) == ["claims_challenge"])
            #expect(try await Self.outcomes("token", of: caller) == ["ok", "cache", "interaction_required"])
            #expect(try await Self.me(other).status == 200)
            let url = try #require((challenged.json["action"] as? [String: Any])?["url"] as? String)
            #expect(url.contains("capolids"), "the sign-in does not carry the claims of the challenge: \(url)")
            let back = try await caller.follow(url, username: "adele@contoso.example")
            #expect(back.location == "/ios")
            #expect(try await Self.me(caller).status == 200)
            #expect(try await Self.outcomes("api", of: caller) == ["claims_challenge", "ok"])
        }
    }

    @Test func `after a revocation the provider asks for the password, in this browser alone`() async throws {
        try await Self.run { site, caller, other in
            site.clock.advance(1)
            #expect(try await Self.begin("revoked", for: caller).status == 204)
            // The page ends the failure when it is left for the sign-in.
            #expect(try await Self.begin(nil, for: caller).status == 204)
            site.clock.advance(1)
            let query = "login_hint=adele@contoso.example"
            func answer(to visitor: Visitor) async throws -> Visitor.Answer {
                let departure = try await visitor.get("/auth/ios/sign-in?\(query)")
                let sent = try await visitor.get(try #require(departure.location))
                // A page of the provider has an address of its own.
                guard let page = sent.location, page.contains("/login?") else { return sent }
                let address = URL(string: page, relativeTo: URL(string: sent.url))?.absoluteString
                return try await visitor.get(try #require(address))
            }
            #expect(try await answer(to: caller).text.contains("name=\"password\""))
            #expect(try await answer(to: other).location?.contains("/auth/callback") == true, "single sign-on")
            try await caller.signIn(query: query)
            #expect(try await Self.token(caller, isForced: true).status == 200)
        }
    }

    @Test func `a failure ends although the person has signed out meanwhile`() async throws {
        try await Self.run { site, caller, _ in
            #expect(try await Self.begin("provider_down", for: caller).status == 204)
            #expect(try await caller.api(.post, "/auth/ios/sign-out", body: #"{"browser": false}"#).status == 200)
            #expect(try await Self.begin(nil, for: caller).status == 204)
            try await caller.signIn()
            #expect(try await Self.token(caller, isForced: true).status == 200)
        }
    }

    @Test func `Graph asks one session for a pause, once`() async throws {
        try await Self.run { site, caller, other in
            #expect(try await Self.begin("graph_throttles", for: caller).status == 204)
            let answer = try await Self.me(caller)
            #expect(answer.status == 429)
            #expect(answer.fields[.retryAfter] == "10")
            #expect(try await Self.me(other).status == 200)
            site.clock.advance(11)
            #expect(try await Self.me(caller).status == 200)
        }
    }

    @Test func `a token that ends is refreshed by the silent call, and Graph never sees the old one`() async throws {
        try await Self.run { _, caller, other in
            #expect(try await Self.begin("token_ends", for: caller).status == 204)
            let silent = try await Self.token(caller)
            #expect(silent.json["source"] as? String == "refreshed")
            #expect(try await Self.token(other).json["source"] as? String == "cache")
            #expect(try await Self.me(caller).status == 200)
            #expect(try await Self.outcomes("token", of: caller) == ["ok", "refreshed"])
            #expect(try await Self.outcomes("api", of: caller) == ["ok"])
            // It happens once.
            #expect(try await Self.token(caller).json["source"] as? String == "cache")
        }
    }

    @Test func `a failure ends by itself after ten minutes`() async throws {
        try await Self.run { site, caller, _ in
            let begun = try await Self.begin("provider_down", for: caller)
            #expect(begun.status == 204)
            #expect(try await Self.token(caller).code == "provider_unavailable")
            site.clock.advance(601)
            #expect(try await Self.token(caller).status == 200)
        }
    }

    @Test func `an unregistered redirect URI is refused on the tenant's own page, which the tenant remembers`()
        async throws
    {
        try await Self.run { site, _, _ in
            // It needs no sign-in.
            let stranger = Visitor(site)
            let begun = try await Self.begin("redirect_uri", for: stranger)
            #expect(begun.status == 200)
            let request = try #require(begun.json["request"] as? String)
            func errors(of request: String) async throws -> [String]? {
                try await stranger.api(.get, "/api/demo/mission?request=\(request)").json["errors"] as? [String]
            }
            #expect(try await errors(of: request) == [])
            let page = try await stranger.get(try #require(begun.json["location"] as? String))
            #expect(page.status == 400)
            #expect(page.text.contains("AADSTS50011") && page.text.contains("msauth.com.contoso.renamed://auth"))
            #expect(try await errors(of: request) == ["AADSTS50011"])
            #expect(try await errors(of: "00000000-0000-4000-8000-000000000000") == [])
        }
    }

    @Test func `the companion's own sign-in is none of another client`() async throws {
        try await Self.run { _, caller, _ in
            let seen = try await caller.api(.get, "/api/demo/mission?after=0").json
            #expect(seen["signed_in"] as? Bool == false)
            #expect(try #require(seen["count"] as? Int) > 0)
        }
    }

    @Test(arguments: ["", "Second_Factor", "unknown", "second-factor", #"a\"b"#])
    func `an unknown failure is refused`(failure: String) async throws {
        try await Self.run { _, caller, _ in
            let refused = try await Self.begin(failure, for: caller)
            #expect(refused.code == "bad_request")
            #expect(try await Self.me(caller).status == 200)
        }
    }

    @Test func `a mission needs a signed-in person and our own page`() async throws {
        try await Self.run { site, caller, _ in
            let nobody = Visitor(site)
            let refused = try await Self.begin("token_ends", for: nobody)
            #expect(refused.code == "interaction_required")
            let nothing = try await Self.begin(nil, for: nobody)
            #expect(nothing.status == 204)
            let foreign = try await caller.send(
                .post, "/api/demo/mission", headers: [.contentType: "application/json", .accept: "application/json"],
                body: #"{"app": "ios", "failure": "provider_down"}"#)
            #expect(foreign.code == "cross_site_request")
            let me = try await Self.me(caller)
            #expect(me.status == 200)
        }
    }

    @Test func `missions exist only in the demo`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            for failure in ["token_ends", "redirect_uri"] {
                let refused = try await Self.begin(failure, for: visitor)
                #expect(refused.code == "not_found")
            }
            #expect(try await visitor.api(.get, "/api/demo/mission").code == "not_found")
        }
    }

    @Test func `a mission reaches a tenant whose control page has a token`() async throws {
        try await Site.run(configured: { configuration in
            configuration.demoControlURL = configuration.applications[0].api.map { $0.origin + "/control" }
            configuration.demoControlToken = "the token"
        }) { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            #expect(try await Self.begin("revoked", for: visitor).status == 204)
            let asked = site.traffic.all.map(\.request.head).filter { $0.path == "/control" }
            #expect(asked.map { $0[.authorization] } == ["Bearer the token"])
        }
    }
}
