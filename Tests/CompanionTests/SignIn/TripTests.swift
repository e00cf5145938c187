import Foundation
import HTTPTypes
import Testing

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn

/// Sign-ins that a page begins by itself, and those that people begin.
@Suite struct TripTests {
    private static let automatic = "/auth/ios/sign-in?automatic=1"

    /// A browser with a session, in which nothing was counted yet.
    private static func run(_ test: (Site, Visitor) async throws -> Void) async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            #expect(try await visitor.signIn(app: "macos").location == "/macos")
            try await test(site, visitor)
        }
    }

    @Test func `the fourth trip that a page makes by itself within a minute stops, and says why`() async throws {
        try await Self.run { site, visitor in
            for _ in 0..<3 { #expect(try await visitor.get(Self.automatic).status == 302) }
            let stopped = try await visitor.get(Self.automatic)
            #expect(stopped.status == 429)
            #expect(stopped.fields[.retryAfter] == "60")
            #expect(stopped.text.contains("3 times within a minute"))
            #expect(try await visitor.get("/auth/ios/sign-in").status == 302, "a press goes on")
            site.clock.advance(60)
            #expect(try await visitor.get(Self.automatic).status == 302)
        }
    }

    @Test func `a browser that goes to the provider again and again is sent back to the page with a time to wait`()
        async throws
    {
        try await Self.run { _, visitor in
            for _ in 0..<3 { _ = try await visitor.get(Self.automatic) }
            let answer = try await visitor.send(
                .get, Self.automatic, headers: [.secFetchMode: "navigate", .accept: "text/html"])
            let location = try #require(answer.location)
            #expect(location.hasPrefix("/ios?sign_in_error=sign_in_loop&"))
            #expect(location.firstMatch(of: /&retry_after=\d+$/) != nil, "\(location)")
        }
    }

    @Test func `trips that a person starts are no loop, however many there are`() async throws {
        try await Self.run { (_, visitor) async throws in
            for _ in 0..<10 { #expect(try await visitor.get("/auth/ios/sign-in").status == 302) }
            #expect(try await visitor.get(Self.automatic).status == 302)
        }
    }

    @Test func `a person who cancels again and again can still sign in`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            for _ in 0..<4 {
                let answer = try await visitor.signIn(query: "automatic=1", consent: "cancel")
                #expect(answer.location?.hasPrefix("/ios?sign_in_error=cancelled&") == true)
            }
            #expect(try await visitor.signIn(query: "automatic=1").location == "/ios")
        }
    }

    @Test func `a trip that the limit refuses writes and fetches nothing`() async throws {
        try await Self.run { site, visitor in
            for _ in 0..<3 { _ = try await visitor.get(Self.automatic) }
            let count = "SELECT count(*) FROM sign_in_attempt;"
            let written = try SQLiteShell.run(site.database, count)
            let fetched = try await site.count("discovery")
            let noted = try await visitor.api(.get, "/api/attempts").text
            for _ in 0..<3 {
                #expect(try await visitor.get(Self.automatic + "&tenant=contoso.example").status == 429)
            }
            #expect(try SQLiteShell.run(site.database, count) == written)
            #expect(try await site.count("discovery") == fetched)
            #expect(try await visitor.api(.get, "/api/attempts").text == noted)
        }
    }

    @Test func `another site cannot use up the trips, and a call that succeeds gives them back`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            for _ in 0..<5 {
                let answer = try await visitor.send(.get, Self.automatic, headers: [.secFetchSite: "cross-site"])
                #expect(answer.status == 302)
            }
            for _ in 0..<3 { #expect(try await visitor.get(Self.automatic).status == 302) }
            #expect(try await visitor.get(Self.automatic).status == 429)
            #expect(try await visitor.api(.get, "/api/ios/me").status == 200)
            #expect(try await visitor.get(Self.automatic).status == 302)
        }
    }
}
