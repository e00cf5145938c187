import Foundation
import HTTPTypes
import SessionStore
import Testing

@testable import Companion
@testable import CompanionSignIn

/// A clock that somebody sets while the companion runs: what lasts a minute lasts a minute.
@Suite struct SetClockTests {
    private static let jumps: [TimeInterval] = [-86_400, -3600, 1000]

    @Test(arguments: jumps) func `setting the clock does not change how the count of trips slides`(_ jump: TimeInterval)
        async throws
    {
        try await Site.run { (site) async throws in
            let visitor = Visitor(site)
            let automatic = "/auth/ios/sign-in?automatic=1"
            try await visitor.signIn(app: "macos")
            for _ in 0..<3 { #expect(try await visitor.get(automatic).status == 302) }
            site.clock.setWrong(by: jump)
            #expect(try await visitor.get(automatic).fields[.retryAfter] == "60")
            site.clock.advance(60)
            #expect(try await visitor.get(automatic).status == 302)
        }
    }

    @Test(arguments: jumps)
    func `setting the clock does not move the end of an API's pause or of the limit of forced refreshes`(
        _ jump: TimeInterval
    ) async throws {
        try await Site.run { (site) async throws in
            let visitor = Visitor(site)
            try await visitor.signIn()
            // Its own clock says when the token ends.
            try await site.control(#"{"access_token_seconds":200000}"#)
            for _ in 0..<ForcedRefreshLimit.maxRefreshes {
                #expect(try await visitor.api(.post, "/api/ios/token", body: #"{"force_refresh":true}"#).status == 200)
            }
            try await site.control(#"{"graph_error":{"status":429,"headers":{"Retry-After":"40"},"times":1}}"#)
            #expect(try await visitor.api(.get, "/api/ios/me").status == 429)
            site.clock.setWrong(by: jump)
            func forced() async throws -> Visitor.Answer {
                try await visitor.api(.post, "/api/ios/token", body: #"{"force_refresh":true}"#)
            }
            #expect(try await forced().fields[.retryAfter] == "60")
            #expect(try await visitor.api(.get, "/api/ios/me").fields[.retryAfter] == "40")
            // The provider's answers are of another day.
            site.clock.setWrong(by: 0)
            site.clock.advance(61)
            #expect(try await forced().status == 200)
            #expect(try await visitor.api(.get, "/api/ios/me").status == 200)
        }
    }

    @Test(arguments: jumps)
    func `setting the clock does not move the end of a token endpoint's pause or of the one after it`(
        _ jump: TimeInterval
    ) async throws {
        try await Site.run { (site) async throws in
            let visitor = Visitor(site)
            try await visitor.signIn()
            func forced() async throws -> Visitor.Answer {
                try await visitor.api(.post, "/api/ios/token", body: #"{"force_refresh":true}"#)
            }
            try await site.control(#"{"token_error":{"status":429,"headers":{"Retry-After":"40"},"times":1}}"#)
            #expect(try await forced().status == 429)
            site.clock.setWrong(by: jump)
            #expect(try await forced().fields[.retryAfter].flatMap { Int($0) }.map((35...40).contains) == true)
            site.clock.setWrong(by: 0)
            site.clock.advance(41)
            #expect(try await forced().status == 200)
            try await site.control(#"{"revoke":"adele@contoso.example"}"#)
            #expect(try await forced().code == "interaction_required")
            let asked = try await site.count("token_requests")
            site.clock.setWrong(by: jump)
            #expect(try await forced().code == "interaction_required")
            #expect(try await site.count("token_requests") == asked)
            site.clock.advance(121)
            #expect(try await forced().code == "interaction_required")
            #expect(try await site.count("token_requests") == asked + 1)
        }
    }

    @Test(arguments: jumps) func `setting the clock does not change how fast an address gets its share back`(
        _ jump: TimeInterval
    ) async throws {
        try await Site.run(configured: {
            $0.limits.signInsPerMinute = 2
            $0.limits.signInBurst = 2
        }) { (site) async throws in
            func begin() async throws -> Visitor.Answer { try await Visitor(site).get("/auth/ios/sign-in") }
            for _ in 0..<2 { #expect(try await begin().status == 302) }
            site.clock.setWrong(by: jump)
            #expect(try await begin().fields[.retryAfter].flatMap { Int($0) }.map((28...30).contains) == true)
            site.clock.advance(31)
            #expect(try await begin().status == 302)
        }
    }

    @Test(arguments: jumps)
    func `setting the clock does not change that notes of a session are forgotten after an hour`(_ jump: TimeInterval)
        async throws
    {
        let clock = TestClock()
        let memory = SessionMemory(clocks: clock.clocks)
        let key = try #require(SessionKey("1"))
        Timeline(memory: memory).record(TimelineStep("step"), of: key, app: "ios")
        clock.setWrong(by: jump)
        #expect(memory.notes(of: key) != nil)
        clock.advance(3601)
        #expect(memory.notes(of: key) == nil)
    }
}
