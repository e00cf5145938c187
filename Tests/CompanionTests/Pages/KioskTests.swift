import Foundation
import HTTPTypes
import Testing

@testable import Companion
@testable import CompanionCore

/// A device that several people use one after the other.
@Suite struct KioskTests {
    private static let adele = "adele@contoso.example"
    private static let megan = "megan@contoso.example"

    /// A shared device whose first application is the kiosk.
    private static func run(_ test: (Site, Visitor) async throws -> Void) async throws {
        try await Site.run(configured: { configuration in
            configuration.deviceMode = .shared
            configuration.sessionIdle = .seconds(120)
            configuration.sessionMaximum = .seconds(900)
            configuration.applications[0].page = .kiosk
        }) { site in
            try await test(site, Visitor(site))
        }
    }

    private func username(_ visitor: Visitor) async throws -> String? {
        let account = try await visitor.api(.get, "/api/ios/account").json["account"] as? [String: Any]
        return account?["username"] as? String
    }

    @Test func `an idle kiosk signs out after a minute by itself, whatever its page does`() async throws {
        try await Self.run { site, visitor in
            try await visitor.signIn()
            // A second client with the same cookie: no page runs there.
            let other = visitor.copy()
            site.clock.advance(55)
            #expect(try await username(other) == Self.adele)
            site.clock.advance(55)
            #expect(try await username(other) == Self.adele, "a touch goes on")
            site.clock.advance(61)
            #expect(try await username(other) == nil)
            #expect(try await visitor.api(.get, "/api/ios/me").code == "session_expired")
            // The provider's session is still there, and is ended all the same.
            let out = try await visitor.api(.post, "/auth/ios/sign-out")
            #expect(try #require(out.json["redirect"] as? String).contains("/logout?"))
            #expect(out.fields[.clearSiteData] != nil)
        }
    }

    @Test func `time at the provider's pages is not idle time`() async throws {
        try await Self.run { site, visitor in
            let back = try await visitor.walkToCallback()
            site.clock.advance(300)
            #expect(try await visitor.get(try #require(back.location)).location == "/ios")
            #expect(try await username(visitor) == Self.adele)
        }
    }

    @Test(arguments: ["", "?prompt=select_account", "?prompt=none", "?prompt=if_necessary"])
    func `every sign-in asks for the password`(query: String) async throws {
        try await Self.run { _, visitor in
            let begun = try await visitor.get("/auth/ios/sign-in" + query)
            #expect(try #require(begun.location).contains("prompt=login"))
        }
    }

    @Test(arguments: ["", "?max_age=5000"])
    func `every sign-in asks the provider when the person proved who they are`(query: String) async throws {
        try await Self.run { _, visitor in
            let begun = try await visitor.get("/auth/ios/sign-in" + query)
            #expect(try #require(begun.location).contains("&max_age=10&"))
        }
    }

    @Test func `a provider that reuses the previous person's session is detected`() async throws {
        try await Self.run { site, visitor in
            try await visitor.signIn()
            // Signed out here; the provider's session is left, and the provider passes over what it is asked.
            _ = try await visitor.api(.post, "/auth/ios/sign-out")
            try await site.control(#"{"ignore_max_age": true}"#)
            site.clock.advance(400)
            let refused = try await visitor.signIn()
            #expect(try #require(refused.location).hasPrefix("/ios?sign_in_error=invalid_id_token"))
            #expect(try await username(visitor) == nil)
            let told = try await visitor.api(.get, "/api/ios/sign-in-failure").json["failure"] as? [String: Any]
            #expect(
                (told?["detail"] as? String)?.hasPrefix("The identity provider was asked for a fresh sign-in") == true)
            // It is the provider's fault, so the operator reads of it.
            #expect(site.log.all.contains { $0.hasPrefix("warning request") && $0.contains("auth_time is older") })

            try await site.control(#"{"ignore_max_age": false}"#)
            #expect(try await visitor.signIn().location == "/ios")
            #expect(try await username(visitor) == Self.adele)
        }
    }

    @Test(arguments: [1, 250, 400] as [TimeInterval])
    func `a sign-in from whose request somebody has taken the prompt is refused`(pause: TimeInterval) async throws {
        try await Self.run { site, visitor in
            try await visitor.signIn()
            // Signed out here; the provider's session is left.
            _ = try await visitor.api(.post, "/auth/ios/sign-out")
            site.clock.advance(pause)
            let begun = try #require(try await visitor.get("/auth/ios/sign-in").location)
            let stripped = begun.replacing(/(?:prompt|max_age)=[^&]*&/, with: "")
            #expect(!stripped.contains("prompt=") && !stripped.contains("max_age="))
            let back = try await visitor.walk(from: try await visitor.get(stripped), password: "password=unknown")
            let refused = try await visitor.get(try #require(back.location, "\(back.text)"))
            #expect(try #require(refused.location).hasPrefix("/ios?sign_in_error=invalid_id_token"))
            #expect(try await username(visitor) == nil)

            #expect(try await visitor.signIn().location == "/ios")
            #expect(try await username(visitor) == Self.adele)
        }
    }

    @Test(arguments: [901, 1700] as [TimeInterval])
    func `nor is one that began before the other person's, as long as it lives`(pause: TimeInterval) async throws {
        try await Self.run { site, visitor in
            let begun = try #require(try await visitor.get("/auth/ios/sign-in").location)
            try await visitor.signIn()
            site.clock.advance(pause)
            let stripped = begun.replacing(/(?:prompt|max_age)=[^&]*&/, with: "")
            let back = try await visitor.walk(from: try await visitor.get(stripped), password: "password=unknown")
            let refused = try await visitor.get(try #require(back.location, "\(back.text)"))
            #expect(try #require(refused.location).hasPrefix("/ios?sign_in_error=invalid_id_token"))
            #expect(try await username(visitor) == nil)
        }
    }

    @Test func `a provider that does not report the time of the sign-in is believed`() async throws {
        try await Self.run { site, visitor in
            try await site.control(#"{"omit_auth_time": true}"#)
            #expect(try await visitor.signIn().location == "/ios")
            #expect(try await username(visitor) == Self.adele)
        }
    }

    @Test func `signing out takes everything of the person from the browser and from the server`() async throws {
        try await Self.run { site, visitor in
            let callback = try await visitor.signIn()
            #expect(callback.fields[.setCookie]?.contains("Max-Age") == false)
            #expect(try await visitor.api(.get, "/api/ios/me").status == 200)
            let out = try await visitor.api(.post, "/auth/ios/sign-out", body: #"{"browser": false}"#)
            #expect(try #require(out.json["redirect"] as? String).contains("/logout?"))
            #expect(out.fields[.clearSiteData] == #""cache", "cookies", "storage""#)
            #expect(visitor.sessionCookie == nil)

            try await visitor.signIn(username: Self.megan)
            let attempts = try await visitor.api(.get, "/api/attempts").json["attempts"] as? [[String: Any]]
            #expect(attempts?.count == 1)
            let steps = try await visitor.api(.get, "/api/ios/events").json["events"] as? [[String: Any]]
            #expect(steps?.contains { $0["step"] as? String == "api" } == false)
        }
    }

    @Test func `the next person at the same cookie sees nothing of the one before`() async throws {
        try await Self.run { site, visitor in
            try await visitor.signIn()
            let stale = visitor.copy()
            _ = try await visitor.api(.post, "/auth/ios/sign-out")
            #expect(try await username(stale) == nil)
            for path in ["events", "attempts"] {
                let url = path == "events" ? "/api/ios/events" : "/api/attempts"
                #expect((try await stale.api(.get, url).json[path] as? [Any])?.isEmpty == true)
            }
        }
    }

    @Test func `tokens are never shown`() async throws {
        try await Self.run { _, visitor in
            try await visitor.signIn()
            #expect(try await visitor.api(.post, "/api/ios/token").json["token"] is NSNull)
            #expect(try await visitor.api(.get, "/api/ios/tokens").code == "access_denied")
        }
    }

    @Test func `sessions end when the server is restarted`() async throws {
        try await Self.run { site, visitor in
            try await visitor.signIn()
            try await site.restart()
            #expect(try await username(visitor) == nil)
        }
    }

    @Test func `the browser is not sent to a provider that does not answer`() async throws {
        try await Self.run { site, visitor in
            try await visitor.signIn()
            await site.stopTenant()
            let out = try await visitor.api(.post, "/auth/ios/sign-out")
            #expect(out.status == 200)
            #expect(out.json["redirect"] is NSNull)
            #expect(try await username(visitor) == nil)
            let begun = try await visitor.get("/auth/ios/sign-in")
            #expect(try #require(begun.location).hasPrefix("/ios?sign_in_error=provider_unavailable"))
        }
    }

    @Test func `the page learns the times of its idle countdown, and no cache keeps it`() async throws {
        try await Self.run { _, visitor in
            let device = try await visitor.api(.get, "/api/device").json
            #expect(device["session_idle_seconds"] as? Int == 60)
            let kiosk = try #require(device["kiosk"] as? [String: Int])
            #expect(kiosk == ["countdown_after_seconds": 20, "idle_seconds": 60])
            #expect(try await visitor.get("/ios").fields[.cacheControl] == "no-store")
        }
    }
}
