import Foundation
import HTTPTypes
import StoreTesting
import TestSupport
import Testing

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn

/// The recent history of a session, whichever of two companions it happened at.
@Suite struct ClusterStoryTests {
    /// Two companions, and the same browser at both.
    private static func run(_ test: @escaping (Site, Visitor, Visitor) async throws -> Void) async throws {
        try await Site.run(keeping: MemoryContents(trust: .zero), configured: { _ in }) { site in
            try await site.beside { other in
                try await test(site, Visitor(site), Visitor(origin: other, pagesFrom: site.origin, client: site.client))
            }
        }
    }

    /// The session of one browser in the other.
    private static func hand(_ first: Visitor, to second: Visitor) { second.sessionCookie = first.sessionCookie }

    private static func texts(_ visitor: Visitor) async throws -> [String] {
        try await ["/api/attempts", "/api/ios/events", "/api/ios/sign-in-failure"].asyncMap {
            try await visitor.api(.get, $0).text
        }
    }

    @Test func `both servers explain a failed sign-in in the same words`() async throws {
        try await Self.run { _, first, second in
            let answer = try await first.signIn(consent: "cancel")
            #expect(answer.location?.contains("sign_in_error=cancelled") == true)
            Self.hand(first, to: second)
            let failure = try await second.api(.get, "/api/ios/sign-in-failure").json["failure"] as? [String: Any]
            #expect(failure?["code"] as? String == "cancelled")
            #expect(failure?["detail"] as? String != "")
            let told = try await Self.texts(first)
            #expect(try await Self.texts(second) == told)
            let attempts = try await second.api(.get, "/api/attempts").json["attempts"] as? [[String: Any]]
            #expect((attempts?.first?["steps"] as? [[String: Any]])?.count == 2)
        }
    }

    @Test func `a sign-in that begins at one server and ends at the other is one attempt with all its steps`()
        async throws
    {
        try await Self.run { _, first, second in
            // The redirect URI is the front's, here the first's.
            try await second.signIn(query: "login_hint=adele@contoso.example&prompt=login")
            Self.hand(second, to: first)
            let attempts = try await first.api(.get, "/api/attempts").json["attempts"] as? [[String: Any]]
            #expect(attempts?.count == 1)
            let attempt = try #require(attempts?.first)
            #expect(attempt["outcome"] as? String == "ok")
            let settings = attempt["settings"] as? [String: Any]
            #expect(settings?["prompt"] as? String == "login" && settings?["login_hint"] as? Bool == true)
            let steps = attempt["steps"] as? [[String: Any]]
            #expect(steps?.compactMap { $0["step"] as? String } == ["authorize", "callback", "token"])
            #expect(try await first.api(.get, "/api/ios/me").status == 200)
            let seen = await eventually {
                let events = try? await second.api(.get, "/api/ios/events").json["events"] as? [[String: Any]]
                return events?.last?["step"] as? String == "api"
            }
            #expect(seen)
            let told = try await Self.texts(first)
            #expect(try await Self.texts(second) == told)
        }
    }

    @Test func `a sign-out at one server leaves nothing to read at the other`() async throws {
        try await Self.run { _, first, second in
            try await first.signIn()
            Self.hand(first, to: second)
            #expect(try await second.api(.post, "/auth/ios/sign-out").status == 200)
            Self.hand(second, to: first)
            let attempts = try await first.api(.get, "/api/attempts").json["attempts"] as? [Any]
            #expect(attempts?.isEmpty == true)
        }
    }

    @Test func `an answer that the provider posts to one server is fetched from the other`() async throws {
        try await Self.run { site, first, second in
            let location = try #require(try await first.walkToCallback().location)
            let fields = String(try #require(location.split(separator: "?", maxSplits: 1).last))
            let posted = try await second.send(
                .post, "/auth/callback", headers: [.contentType: "application/x-www-form-urlencoded"], body: fields)
            let resume = try #require(posted.location)
            #expect(resume.hasPrefix("/auth/callback?resume=") && !resume.contains("code"))
            site.clock.advance(59)
            #expect(try await first.get(resume).location == "/ios")
            #expect(try await first.api(.get, "/api/ios/account").json["account"] is [String: Any])
            site.clock.advance(2)
            #expect(try await first.get(resume).status == 400)
        }
    }

    @Test func `trips that a page makes by itself are counted together`() async throws {
        try await Self.run { site, first, second in
            try await first.signIn()
            Self.hand(first, to: second)
            let automatic = "/auth/ios/sign-in?automatic=1"
            for visitor in [first, second, first] { #expect(try await visitor.get(automatic).status == 302) }
            let stopped = try await second.get(automatic)
            #expect(stopped.status == 429)
            #expect(stopped.fields[.retryAfter] == "60")
            #expect(try await first.get(automatic).status == 429)
            // A call that succeeds at one ends the count at the other.
            #expect(try await first.api(.get, "/api/ios/me").status == 200)
            let isOver = await eventually { (try? await second.get(automatic).status) == 302 }
            #expect(isOver)
        }
    }
}
