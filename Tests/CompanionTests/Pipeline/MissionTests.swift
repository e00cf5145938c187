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

    @Test(arguments: [
        ("second_factor", 401, "interaction_required"), ("provider_down", 503, "provider_unavailable"),
    ])
    func `a failure stays in its session until it is ended, and another browser notices nothing`(
        failure: String, status: Int, code: String
    ) async throws {
        try await Self.run { _, caller, other in
            #expect(try await Self.begin(failure, for: caller).status == 204)
            let failed = try await Self.me(caller)
            #expect(failed.status == status)
            #expect(failed.code == code)
            #expect(try await Self.me(other).status == 200)
            #expect(try await Self.begin(nil, for: caller).status == 204)
            if failure == "provider_down" { #expect(try await Self.me(caller).status == 200) }
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

    @Test func `a token that ends is renewed, and the call succeeds`() async throws {
        try await Self.run { _, caller, other in
            #expect(try await Self.begin("token_ends", for: caller).status == 204)
            #expect(try await Self.me(other).status == 200)
            #expect(try await Self.me(caller).status == 200)
            let events = try await caller.api(.get, "/api/ios/events").json["events"] as? [[String: Any]]
            #expect(events?.contains { $0["outcome"] as? String == "refreshed" } == true)
            let others = try await other.api(.get, "/api/ios/events").json["events"] as? [[String: Any]]
            #expect(others?.contains { $0["outcome"] as? String == "refreshed" } == false)
        }
    }

    @Test func `a failure ends by itself after ten minutes`() async throws {
        try await Self.run { site, caller, _ in
            let begun = try await Self.begin("provider_down", for: caller)
            #expect(begun.status == 204)
            #expect(try await Self.me(caller).code == "provider_unavailable")
            site.clock.advance(601)
            #expect(try await Self.me(caller).status == 200)
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
            let refused = try await Self.begin("token_ends", for: visitor)
            #expect(refused.code == "not_found")
        }
    }
}
