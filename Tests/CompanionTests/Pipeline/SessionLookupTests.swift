import Foundation
import HTTPTypes
import Testing

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn

/// A request looks its session up once, whatever comes of it.
@Suite struct SessionLookupTests {
    private static let reads = #"companion_database_duration_seconds_count{operation="read"}"#

    /// A kind of request: its name, and how it is sent.
    enum Asking: String, CaseIterable {
        case account, namedAccount, apps, attempts, me, begin, adminConsent, signOut, health

        func send(_ visitor: Visitor) async throws -> Visitor.Answer {
            switch self {
            case .account: try await visitor.api(.get, "/api/ios/account")
            case .namedAccount: try await visitor.api(.get, "/api/ios/account?account=x")
            case .apps: try await visitor.api(.get, "/api/apps")
            case .attempts: try await visitor.api(.get, "/api/attempts")
            case .me: try await visitor.api(.get, "/api/ios/me")
            case .begin: try await visitor.api(.get, "/auth/ios/sign-in")
            case .adminConsent: try await visitor.api(.get, "/auth/ios/admin-consent")
            case .signOut: try await visitor.api(.post, "/auth/ios/sign-out", body: "{}")
            case .health: try await visitor.api(.get, "/api/macos/health")
            }
        }
    }

    private static func run(_ test: (Site) async throws -> Void) async throws {
        try await Site.run(configured: { $0.applications[1].page = .portal }, test)
    }

    /// The answer to a request, and how often it read the database.
    private static func ask(_ asking: Asking, _ visitor: Visitor, at site: Site) async throws -> (
        status: Int, reads: Int
    ) {
        let monitoring = Visitor(site)
        // The first one counts the sessions, for a while.
        _ = try await monitoring.metrics()
        let before = try await monitoring.metrics()[reads]
        let answer = try await asking.send(visitor)
        return (answer.status, Int(try await monitoring.metrics()[reads] - before))
    }

    @Test(
        arguments: [
            (.account, 200), (.namedAccount, 200), (.apps, 200), (.attempts, 200), (.me, 401), (.begin, 302),
            (.adminConsent, 302), (.signOut, 200), (.health, 401),
        ] as [(Asking, Int)])
    func `a session that does not exist, or is over, is looked up once`(asking: Asking, status: Int) async throws {
        try await Self.run { site in
            let forger = Visitor(site)
            forger.sessionCookie = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
            #expect(try await Self.ask(asking, forger, at: site) == (status, 1))
            #expect(try await Self.ask(asking, Visitor(site), at: site) == (status, 0), "no cookie")
            let visitor = Visitor(site)
            try await visitor.signIn()
            site.clock.advance(60 * 60 + 1)
            #expect(try await Self.ask(asking, visitor, at: site) == (status, 1), "its time is over")
        }
    }

    @Test(
        arguments: [
            (.account, 200, 1), (.namedAccount, 200, 1), (.attempts, 200, 1),
            // The last checks, for an operator.
            (.apps, 200, 2),
            // Its access token.
            (.me, 200, 2),
            (.begin, 302, 1), (.adminConsent, 302, 1),
            // The ID token and the refresh token.
            (.signOut, 200, 3),
            // The last checks, before and at the new ones.
            (.health, 200, 3),
        ] as [(Asking, Int, Int)])
    func `a session that is not in memory is read once`(asking: Asking, status: Int, reads: Int) async throws {
        try await Self.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            try await visitor.signIn(app: "macos")
            try await site.restart()
            #expect(try await Self.ask(asking, visitor, at: site) == (status, reads))
        }
    }

    @Test func `a session that cannot be read fails requests that need it, and the limits count it as none`()
        async throws
    {
        try await Site.run(configured: {
            $0.applications[1].page = .portal
            $0.limits.signInsPerMinute = 1
            $0.limits.signInBurst = 3
        }) { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            // It would count as the browser's.
            visitor.take("\(visitor.cookieName)-mark=; Max-Age=0")
            site.clock.advance(60)
            try await site.restart()
            _ = try SQLiteShell.run(site.database, "ALTER TABLE account RENAME TO account_away;")
            for asking in Asking.allCases where asking != .adminConsent {
                let answer = try await asking.send(visitor)
                #expect(answer.status == 503 && answer.code == "storage_unavailable", "\(asking) \(answer.text)")
            }
            // With the one above.
            for _ in 0..<2 { #expect(try await Asking.begin.send(visitor).status == 503) }
            #expect(try await Asking.begin.send(visitor).status == 429)
            #expect(try await Asking.begin.send(Visitor(site)).status == 429, "the address's, not the session's")
            _ = try SQLiteShell.run(site.database, "ALTER TABLE account_away RENAME TO account;")
            #expect(try await Asking.me.send(visitor).status == 200)
            #expect(try await Asking.begin.send(visitor).status == 302, "the session's own")
        }
    }
}
