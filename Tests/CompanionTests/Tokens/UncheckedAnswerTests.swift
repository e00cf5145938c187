import Foundation
import StoreTesting
import TestSupport
import Testing

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn

/// A response that cannot be checked now. Its refresh token is stored before anything is checked, and the check is
/// repeated, not the request: with refresh tokens that are good for one use, anything else signs the person out.
@Suite struct UncheckedAnswerTests {
    private static let keysLater = [
        #"{"rotate_key":true,"key_set":"late"}"#, #"{"rotate_key":true,"key_set":"unavailable"}"#,
    ]

    /// Somebody whose access token has run out, at a tenant whose refresh tokens are good for one use.
    private static func expired(
        keeping contents: MemoryContents? = nil, checks: Duration = .seconds(1),
        recheck: Duration = .milliseconds(20),
        _ test: (Site, Visitor) async throws -> Void
    ) async throws {
        try await Site.run(
            keeping: contents,
            configured: {
                $0.refreshTimes.checks = checks
                $0.refreshTimes.recheck = recheck
            }
        ) { site in
            try await site.control(#"{"refresh_token_single_use":true,"access_token_seconds":1200}"#)
            let visitor = Visitor(site)
            try await visitor.signIn()
            // Keys are fetched again while a call waits for them.
            site.clock.run()
            site.clock.advance(1300)
            try await test(site, visitor)
        }
    }

    /// Whether a call was refused because its response cannot be checked: on a slow machine, not even once in time.
    private static func isUnchecked(_ answer: Visitor.Answer) -> Bool {
        ["invalid_id_token", "provider_unavailable"].contains(answer.code)
    }

    private static func requests(_ site: Site) async throws -> Int { try await site.count("token_requests") }

    @Test(arguments: keysLater, [false, true])
    func `keys that come later sign nobody out, and cost no second request`(fault: String, isClustered: Bool)
        async throws
    {
        // A call checks once: it would wait for keys that do not come.
        try await Self.expired(keeping: isClustered ? MemoryContents() : nil, recheck: .seconds(1)) { site, visitor in
            try await site.control(fault)
            let asked = try await Self.requests(site)
            for _ in 0..<2 {
                let refused = try await visitor.api(.get, "/api/ios/me")
                #expect(Self.isUnchecked(refused), "\(refused.text)")
                #expect(refused.json["action"] == nil || refused.json["action"] is NSNull)
                site.clock.advance(31)
            }
            #expect(try await Self.requests(site) == asked + 1)
            try await site.control(#"{"key_set":null}"#)
            let answer = try await visitor.api(.get, "/api/ios/me")
            #expect(answer.status == 200, "\(answer.text)")
            #expect(try await Self.requests(site) == asked + 1)
            // The refresh token is the newest.
            let forced = try await visitor.api(.post, "/api/ios/token", body: #"{"force_refresh":true}"#)
            #expect(forced.json["source"] as? String == "refreshed", "\(forced.text)")
            #expect(try await site.count("refresh_replayed") == 0)
        }
    }

    @Test func `a call waits for a key that is published while it waits`() async throws {
        try await Self.expired(checks: .seconds(60)) { site, visitor in
            try await site.control(#"{"rotate_key":true,"key_set":"late"}"#)
            let looks = try await site.count("keys")
            async let answer = visitor.api(.get, "/api/ios/me")
            let isLooked = await eventually { (try? await site.count("keys")).map { $0 > looks } ?? false }
            #expect(isLooked)
            try await site.control(#"{"key_set":null}"#)
            // However often the keys were fetched meanwhile, they may be fetched again after a minute.
            site.clock.advance(60)
            #expect(try await answer.status == 200)
        }
    }

    @Test func `a sign-in waits for a key that is published while it waits`() async throws {
        try await Self.expired(checks: .seconds(60)) { site, _ in
            try await site.control(#"{"rotate_key":true,"key_set":"late"}"#)
            let looks = try await site.count("keys")
            let newcomer = Visitor(site)
            async let answer = newcomer.signIn(username: "megan@contoso.example")
            let isLooked = await eventually { (try? await site.count("keys")).map { $0 > looks } ?? false }
            #expect(isLooked)
            try await site.control(#"{"key_set":null}"#)
            // However often the keys were fetched meanwhile, they may be fetched again after a minute.
            site.clock.advance(60)
            #expect(try await answer.location == "/ios")
        }
    }

    @Test func `the next refresh token survives a restart before its response is checked`() async throws {
        try await Self.expired { site, visitor in
            try await site.control(#"{"rotate_key":true,"key_set":"late"}"#)
            #expect(Self.isUnchecked(try await visitor.api(.get, "/api/ios/me")))
            try await site.restart()
            try await site.control(#"{"key_set":null}"#)
            #expect(try await visitor.api(.get, "/api/ios/me").status == 200)
            #expect(try await site.count("refresh_replayed") == 0)
        }
    }

    @Test func `another server goes on with the refresh token of a response that was not checked`() async throws {
        try await Self.expired(keeping: MemoryContents(trust: .zero)) { site, visitor in
            try await site.beside { other in
                try await site.control(#"{"rotate_key":true,"key_set":"late"}"#)
                #expect(Self.isUnchecked(try await visitor.api(.get, "/api/ios/me")))
                try await site.control(#"{"key_set":null}"#)
                #expect(try await visitor.copy(at: other).api(.get, "/api/ios/me").status == 200)
                site.clock.advance(1300)
                // This one's response is outdated.
                #expect(try await visitor.api(.get, "/api/ios/me").status == 200)
                #expect(try await site.count("refresh_replayed") == 0)
            }
        }
    }

    @Test func `a response that can be neither checked nor stored is kept until it can`() async throws {
        let contents = MemoryContents()
        try await Self.expired(keeping: contents) { site, visitor in
            try await site.control(#"{"rotate_key":true,"key_set":"late","hold":"token"}"#)
            async let refused = visitor.api(.get, "/api/ios/me")
            try await site.untilHeld()
            contents.refuseWrites(true)
            try await site.letGo()
            #expect(try await refused.status >= 500)
            contents.refuseWrites(false)
            try await site.untilSettled()
            try await site.control(#"{"key_set":null}"#)
            site.clock.advance(31)
            #expect(try await visitor.api(.get, "/api/ios/me").status == 200)
            #expect(try await site.count("refresh_replayed") == 0)
        }
    }

    @Test func `a clock that is behind signs nobody out, and its response is good when the clock is right`()
        async throws
    {
        try await Self.expired { site, visitor in
            let issued = Int(site.clock.now().timeIntervalSince1970) + 400
            try await site.control(#"{"id_token_claims":{"iat":\#(issued),"nbf":\#(issued)}}"#)
            let asked = try await Self.requests(site)
            for _ in 0..<2 { #expect(try await visitor.api(.get, "/api/ios/me").code == "invalid_id_token") }
            #expect(try await Self.requests(site) == asked + 1)
            site.clock.advance(101)
            #expect(try await visitor.api(.get, "/api/ios/me").status == 200)
            #expect(try await Self.requests(site) == asked + 1)
            #expect(try await site.count("refresh_replayed") == 0)
        }
    }

    @Test func `a response is used once, however soon its token runs out`() async throws {
        try await Self.expired { site, visitor in
            try await site.control(
                #"{"refresh_token_single_use":false,"access_token_seconds":60,"rotate_key":true,"key_set":"late"}"#)
            let asked = try await Self.requests(site)
            #expect(Self.isUnchecked(try await visitor.api(.get, "/api/ios/me")))
            try await site.control(#"{"key_set":null}"#)
            site.clock.advance(31)
            #expect(try await visitor.api(.get, "/api/ios/me").status == 200)
            #expect(try await Self.requests(site) == asked + 1)
            site.clock.advance(61)
            #expect(try await visitor.api(.get, "/api/ios/me").status == 200)
            #expect(try await Self.requests(site) == asked + 2)
        }
    }

    @Test func `a response that stays unchecked for five minutes is replaced by another`() async throws {
        try await Self.expired { site, visitor in
            try await site.control(#"{"id_token_claims":{"exp":1000000000}}"#)
            let asked = try await Self.requests(site)
            #expect(try await visitor.api(.get, "/api/ios/me").code == "invalid_id_token")
            try await site.control(#"{"id_token_claims":{}}"#)
            site.clock.advance(299)
            #expect(try await visitor.api(.get, "/api/ios/me").code == "invalid_id_token")
            #expect(try await Self.requests(site) == asked + 1)
            site.clock.advance(1)
            #expect(try await visitor.api(.get, "/api/ios/me").status == 200)
            #expect(try await Self.requests(site) == asked + 2)
        }
    }

    @Test func `the refresh token of a response about another person is not kept`() async throws {
        try await Self.expired { site, visitor in
            try await site.control(#"{"id_token_claims":{"sub":"somebody-else"}}"#)
            #expect(try await visitor.api(.get, "/api/ios/me").code == "invalid_id_token")
            try await site.control(#"{"id_token_claims":{}}"#)
            // The spent one is stored again, so the provider has the last word.
            #expect(try await visitor.api(.get, "/api/ios/me").code == "interaction_required")
            #expect(try await site.count("refresh_replayed") == 1)
        }
    }
}
