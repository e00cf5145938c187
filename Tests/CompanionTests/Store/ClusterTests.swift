import Foundation
import Languages
import StoreTesting
import TestSupport
import Testing

@testable import Companion
@testable import CompanionCore
@testable import CompanionPages
@testable import CompanionSignIn

/// Two companions on one store, each request to whichever of them.
@Suite struct ClusterTests {
    /// Somebody who is signed in at the first companion, with an access token that has just expired, and the same browser
    /// at both.
    private static func expired(_ test: @escaping (Site, [Visitor]) async throws -> Void) async throws {
        try await Site.run(keeping: MemoryContents(trust: .zero), configured: { _ in }) { site in
            try await site.beside { other in
                try await site.control(#"{"access_token_seconds": 1200}"#)
                let first = Visitor(site)
                try await first.signIn()
                let second = Visitor(origin: other, pagesFrom: site.origin, client: site.client)
                second.sessionCookie = first.sessionCookie
                let warmed = try await second.api(.get, "/api/ios/me").status
                #expect(warmed == 200)
                site.clock.advance(1300)
                try await test(site, [first, second])
            }
        }
    }

    @Test func `60 calls at expiry at both servers make one refresh`() async throws {
        try await Self.expired { site, visitors in
            let before = try await site.count("token_refresh")
            try await site.control(#"{"token_delay_ms": 300}"#)
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<60 {
                    group.addTask { try await visitors[number % 2].api(.get, "/api/ios/me").status }
                }
                return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
            }
            #expect(statuses == [200: 60])
            #expect(try await site.count("token_refresh") == before + 1)
        }
    }

    @Test func `a refresh that fails at one server leaves the account as it was, and the other tries at once`()
        async throws
    {
        try await Self.expired { site, visitors in
            try await site.control(#"{"token_error": {"status": 503, "body": "down", "times": 1}}"#)
            let failed = try await visitors[0].api(.post, "/api/ios/token")
            #expect(failed.code == "provider_unavailable")
            let answer = try await visitors[1].api(.post, "/api/ios/token")
            #expect(answer.json["source"] as? String == "refreshed")
            #expect(try await visitors[0].api(.post, "/api/ios/token").json["source"] as? String == "cache")
        }
    }

    @Test(arguments: [
        (429, "throttled", "There were too many requests."),
        (503, "provider_unavailable", "The identity provider returned 503, and is not asked for a while."),
    ])
    func `a pause that the provider asks of one server is kept by the other too, and each says why`(
        status: Int, code: String, sentence: String
    ) async throws {
        try await Self.expired { site, visitors in
            try await site.control(
                #"{"token_error": {"status": \#(status), "body": "", "headers": {"Retry-After": "900"}, "times": 1}}"#)
            #expect(try await visitors[0].api(.post, "/api/ios/token").code == code)
            let asked = try await site.count("token_requests")
            for visitor in visitors {
                let paused = try await visitor.api(.post, "/api/ios/token")
                #expect(paused.status == status && paused.code == code, "\(paused.text)")
                #expect((paused.json["detail"] as? String)?.hasPrefix(sentence) == true, "\(paused.text)")
                #expect((890...901).contains(try #require(paused.fields[.retryAfter].flatMap(Int.init))))
            }
            #expect(try await site.count("token_requests") == asked)
            // A new sign-in is a new token.
            try await visitors[0].signIn()
            #expect(try await visitors[0].api(.get, "/api/ios/me").status == 200)
        }
    }

    @Test func `a sign-out at one server holds at the other`() async throws {
        try await Self.expired { _, visitors in
            let old = visitors[0].sessionCookie
            #expect(try await visitors[1].api(.post, "/auth/ios/sign-out", body: "{}").status == 200)
            visitors[0].sessionCookie = old
            let account = try await visitors[0].api(.get, "/api/ios/account").json["account"]
            #expect(account is NSNull)
            #expect(try await visitors[0].api(.get, "/api/ios/me").status == 401)
        }
    }

    @Test func `a page reads its own changes, even at a companion that trusts its memory`() async throws {
        try await Site.run(keeping: MemoryContents(trust: .seconds(600)), configured: { _ in }) { site in
            try await site.beside { other in
                let first = Visitor(site)
                try await first.signIn()
                let adele = try #require(try await first.account?["id"] as? String)
                try await first.signIn(username: "megan@contoso.example")
                let second = first.copy(at: other)
                let stranger = first.copy(at: other)
                #expect(try await second.account?["username"] as? String == "megan@contoso.example")

                let switched = try await first.api(.put, "/api/ios/account", body: #"{"id":"\#(adele)"}"#)
                #expect(switched.status == 200)
                let cookie = try #require(switched.fields[values: .setCookie].first)
                #expect(cookie.hasPrefix(first.cookieName + "-version="))
                #expect(cookie.hasSuffix("; Path=/; Max-Age=602; HttpOnly; SameSite=Lax"), "\(cookie)")
                // A browser without the cookie gets the session that the other companion trusts for ten minutes.
                #expect(try await stranger.account?["username"] as? String == "megan@contoso.example")
                second.take(cookie)
                #expect(try await second.account?["username"] as? String == "adele@contoso.example")
                #expect(try await second.send(.get, "/api/ios/account").fields[.setCookie] == nil)
            }
        }
    }

    @Test func `a browser that has read a change from memory reads nothing older at another companion`() async throws {
        try await Site.run(keeping: MemoryContents(trust: .seconds(600)), configured: { _ in }) { site in
            try await site.beside { other in
                let first = Visitor(site)
                try await first.signIn()
                let adele = try #require(try await first.account?["id"] as? String)
                try await first.signIn(username: "megan@contoso.example")
                let second = first.copy(at: other)
                #expect(try await second.account?["username"] as? String == "megan@contoso.example")
                #expect(try await first.api(.put, "/api/ios/account", body: #"{"id":"\#(adele)"}"#).status == 200)
                let reader = first.copy()
                // The first answer is made, the others come from memory.
                for _ in 0..<3 {
                    reader.setCookie(reader.cookieName + "-version", nil)
                    #expect(try await reader.account?["username"] as? String == "adele@contoso.example")
                }
                let elsewhere = try await reader.copy(at: other).account?["username"] as? String
                #expect(elsewhere == "adele@contoso.example")
            }
        }
    }

    @Test(arguments: ["x", "-1", "99999999999999999999", ""])
    func `an invented version is ignored, or causes one more read of the session`(value: String) async throws {
        try await Site.run(keeping: MemoryContents(trust: .seconds(600)), configured: { _ in }) { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            visitor.take("\(visitor.cookieName)-version=\(value)")
            #expect(try await visitor.account?["username"] as? String == "adele@contoso.example")
            visitor.take("\(visitor.cookieName)-version=999999999")
            #expect(try await visitor.account?["username"] as? String == "adele@contoso.example")
        }
    }

    @Test func `a server that stops says so first, and still serves`() async throws {
        try await Site.run(configured: { $0.drain = .seconds(600) }) { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            #expect(try await visitor.get("/readyz").status == 200)
            try await site.stop {
                let isSaid = await eventually { (try? await visitor.get("/readyz"))?.status == 503 }
                #expect(isSaid)
                let status = try await visitor.get("/readyz").json["status"] as? String
                #expect(status == "stopping")
                #expect(try await visitor.get("/readyz?exclude=database").status == 503)
                let served = try await visitor.api(.get, "/api/ios/me").status
                #expect(served == 200)
            }
            #expect(try await visitor.get("/readyz").status == 200)
            #expect(try await visitor.api(.get, "/api/ios/me").status == 200)
        }
    }

    @Test func `a server whose version the place refuses is not ready, says why, and recovers`() async throws {
        let contents = MemoryContents()
        try await Site.run(keeping: contents, configured: { _ in }) { (site) async throws in
            let visitor = Visitor(site)
            #expect(try await visitor.get("/readyz").json["beside_others"] as? String == "ok")
            contents.refuseVersion(.newerSchema("It is a newer version's."))
            // The first round of the background work comes at once.
            try await site.restart()
            let isSaid = await eventually { (try? await visitor.get("/readyz"))?.status == 503 }
            #expect(isSaid)
            #expect(try await visitor.get("/readyz").json["beside_others"] as? String == "It is a newer version's.")
            #expect(try await visitor.get("/readyz?exclude=database").status == 503)
            let line = "error It is a newer version's. Until then this server is not ready."
            #expect(site.log.all.filter { $0.hasPrefix(line) }.count == 1)
            contents.refuseVersion(nil)
            try await site.restart()
            #expect(try await visitor.get("/readyz").status == 200)
        }
    }

    @Test func `the clock's deviation is a metric, and no session depends on it`() async throws {
        try await Site.run(keeping: MemoryContents(), configured: { _ in }) { (site) async throws in
            let visitor = Visitor(site)
            try await visitor.signIn()
            #expect(abs(try await visitor.metrics()["companion_database_clock_skew_seconds"]) < 1)
            site.clock.setWrong(by: 7200)
            #expect(abs(try await visitor.metrics()["companion_database_clock_skew_seconds"] - 7200) < 1)
            #expect(try await visitor.account?["username"] as? String == "adele@contoso.example")
        }
    }

    @Test(arguments: [("companion.sqlite", false), ("postgresql://companion@db.example/companion", true)])
    func `the portal says when several servers share the sessions`(database: String, isSaid: Bool) throws {
        let configuration = try CompanionConfiguration.read(
            environment: [
                "COMPANION_APPS": "ios", "COMPANION_APPS_IOS_CLIENT_ID": "abc", "COMPANION_DATABASE": database,
            ], file: nil)
        let languages = try Languages(folder: Site.publicFolder + "/languages", cookieName: "language")
        let note = try FixedContent(configuration: configuration).filling(
            "{{servers_note}}", in: #require(languages.all.first), for: nil
        ) { $0 }
        #expect(note.contains("<p class=\"lead\">") == isSaid)
        #expect(note.isEmpty == !isSaid)
    }
}

extension Visitor {
    /// The current account, as a page reads it.
    fileprivate var account: [String: Any]? {
        get async throws { try await api(.get, "/api/ios/account").json["account"] as? [String: Any] }
    }
}
