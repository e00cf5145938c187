import Foundation
import OpenIDConnect
import TestSupport
import Testing

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn

/// Tokens that are still good are not renewed while the token endpoint fails, and a request that was swallowed is not
/// waited for.
@Suite struct EarlyRenewalTests {
    private static let people = ["adele@contoso.example", "megan@contoso.example", "alex@outlook.example"]

    /// People who are signed in for a while, with tokens that are valid for 1200 s.
    private static func signedIn(
        age: TimeInterval, configured set: @escaping (inout RefreshTimes) -> Void = { _ in },
        _ test: (Site, [Visitor]) async throws -> Void
    ) async throws {
        try await Site.run(configured: {
            $0.sessionIdle = .seconds(6 * 3600)
            set(&$0.refreshTimes)
        }) { site in
            try await site.control(#"{"access_token_seconds":1200}"#)
            var visitors: [Visitor] = []
            for person in people {
                visitors.append(Visitor(site))
                try await visitors.last?.signIn(username: person)
            }
            site.clock.advance(age)
            try await test(site, visitors)
        }
    }

    private static func fail(_ site: Site, _ isFailing: Bool) async throws {
        let answer = isFailing ? #"{"status":500,"body":"","times":1000}"# : "null"
        try await site.control(#"{"token_error":\#(answer)}"#)
    }

    @Test func `while the provider fails, people with good tokens ask it after pauses, and one goes first`()
        async throws
    {
        try await Self.signedIn(age: 950) { site, people in
            try await Self.fail(site, true)
            let asked = try await site.count("token_requests")
            var expected = 0
            for pause in [5, 10, 20, 40, 60] as [TimeInterval] {
                expected += 1
                for person in people + people {
                    #expect(try await person.api(.get, "/api/ios/me").status == 200)
                }
                #expect(try await site.count("token_requests") == asked + expected, "\(pause)")
                site.clock.advance(pause)
            }
            try await Self.fail(site, false)
            // The probe, and then everybody.
            for person in people {
                let answer = try await person.api(.post, "/api/ios/token")
                #expect(answer.json["source"] as? String == "refreshed", "\(answer.text)")
            }
        }
    }

    @Test func `while no response can be checked, people with good tokens are served at once`() async throws {
        try await Self.signedIn(
            age: 950,
            configured: {
                // A slow machine needs a part of a second for a check that succeeds.
                $0.checks = .seconds(2)
                $0.whileValid = .seconds(8)
            }
        ) { site, people in
            try await site.control(#"{"rotate_key":true,"key_set":"unavailable"}"#)
            let asked = try await site.count("token_requests")
            for person in people + people {
                #expect(try await person.api(.get, "/api/ios/me").status == 200)
            }
            #expect(try await site.count("token_requests") == asked + 1)
            try await site.control(#"{"key_set":null}"#)
            site.clock.advance(5)
            let first = try await people[0].api(.post, "/api/ios/token")
            #expect(first.json["source"] as? String == "refreshed", "\(first.text)")
            #expect(try await site.count("token_requests") == asked + 1)
        }
    }

    @Test func `people without a good token are not delayed by the failures of others`() async throws {
        try await Self.signedIn(age: 950) { site, people in
            try await Self.fail(site, true)
            #expect(try await people[0].api(.get, "/api/ios/me").status == 200)
            try await Self.fail(site, false)
            let forced = try await people[1].api(.post, "/api/ios/token", body: #"{"force_refresh":true}"#)
            #expect(forced.json["source"] as? String == "refreshed")
            // It has shown that the provider is well.
            #expect(try await people[0].api(.post, "/api/ios/token").json["source"] as? String == "refreshed")
        }
    }

    @Test func `failures that come together count once, and pauses grow to a minute`() throws {
        let clock = TestClock()
        let early = EarlyRenewals(now: clock.now)
        let client = EarlyRenewals.Client(authority: try Authority("https://login.microsoftonline.com/common"), id: "a")
        for pause in [5, 10, 20, 40, 60, 60] as [TimeInterval] {
            #expect(early.mayBegin(at: client))
            for _ in 0..<20 { early.failed(client) }
            clock.advance(pause - 0.5)
            #expect(!early.mayBegin(at: client), "\(pause)")
            clock.advance(0.5)
        }
        #expect(early.mayBegin(at: client))
        #expect(!early.mayBegin(at: client), "the probe is under way")
        clock.advance(120)
        #expect(early.mayBegin(at: client), "it never came back")
        early.answered(client)
        #expect(early.mayBegin(at: client) && early.mayBegin(at: client))
    }

    // MARK: A request that was swallowed

    @Test(arguments: [("ios", 2), ("provider", 1)])
    func `a swallowed refresh is sent again when others were answered, if the token is good for several uses`(
        app: String, requests: Int
    ) async throws {
        try await Site.run(configured: {
            $0.refreshTimes.silence = .milliseconds(100)
            $0.refreshTimes.caller = .seconds(2)
        }) { site in
            try await site.control(#"{"access_token_seconds":1200}"#)
            let (adele, megan) = (Visitor(site), Visitor(site))
            try await adele.signIn(app: app)
            try await megan.signIn(username: "megan@contoso.example")
            site.clock.advance(1300)
            let asked = try await site.count("token_requests")
            // It holds the first request alone, which counts when it is let go.
            try await site.control(#"{"rules":[{"hold":"token","times":1}]}"#)
            async let swallowed = adele.api(.post, "/api/\(app)/token")
            try await site.untilHeld()
            #expect(try await megan.api(.post, "/api/ios/token").status == 200)
            let answer = try await swallowed
            #expect(answer.status == (requests == 2 ? 200 : 503), "\(answer.text)")
            #expect(try await site.count("token_requests") == asked + requests)
        }
    }

    @Test func `a silent provider that answers nobody is not asked twice`() async throws {
        try await Self.signedIn(
            age: 1300,
            configured: {
                $0.silence = .milliseconds(50)
                $0.caller = .milliseconds(500)
            }
        ) { site, people in
            let asked = try await site.count("token_requests")
            try await site.hold()
            #expect(try await people[0].api(.post, "/api/ios/token").code == "provider_unavailable")
            try await site.untilHeld()
            try await site.letGo()
            try await site.untilSettled()
            #expect(try await site.count("token_requests") == asked + 1)
            #expect(try await people[0].api(.post, "/api/ios/token").json["source"] as? String == "cache")
        }
    }
}
