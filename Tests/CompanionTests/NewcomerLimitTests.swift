import Foundation
import HTTPTypes
import SessionStore
import Testing
import WebFormats

@testable import Companion

/// What people without an account may make the server store.
@Suite struct NewcomerLimitTests {
    @Test func `when no more can be stored newcomers are refused, and everybody else goes on`() async throws {
        try await Site.run(configured: { $0.newcomers.signIns = 2 }) { site in
            let member = Visitor(site)
            try await member.signIn()
            let waiting = Visitor(site)
            let location = try #require(try await waiting.walkToCallback(app: "ios").location)
            #expect(try await Visitor(site).get("/auth/ios/sign-in").status == 302)

            let newcomer = Visitor(site)
            let page = try await newcomer.get("/auth/ios/sign-in")
            #expect(page.status == 503)
            #expect(page.text.contains("Too many sign-ins are under way"))
            #expect(page.fields[.setCookie] == nil)
            let refused = try await newcomer.api(.get, "/auth/ios/sign-in")
            #expect(refused.code == "storage_unavailable")
            #expect(refused.fields[.retryAfter] == "60")
            #expect(try await newcomer.api(.get, "/auth/ios/admin-consent").code == "storage_unavailable")
            #expect(site.log.all.contains { $0.contains("limits.pending_sign_ins") }, "the operator can find the limit")

            try await site.restart()
            #expect(try await newcomer.get("/auth/ios/sign-in").status == 503)
            #expect(try await member.get("/auth/macos/sign-in").status == 302)
            #expect(try await waiting.get(location).location == "/ios")
            // Who has just signed in has made room.
            #expect(try await newcomer.get("/auth/ios/sign-in").status == 302)
        }
    }

    @Test func `a cancelled sign-in can be tried again at the limit`() async throws {
        try await Site.run(configured: { $0.newcomers.signIns = 1 }) { site in
            let visitor = Visitor(site)
            let begun = try await visitor.get("/auth/ios/sign-in")
            let state = try #require(
                URLComponents(string: begun.location ?? "")?.queryItems?.first { $0.name == "state" }?.value)
            #expect(try await Visitor(site).get("/auth/ios/sign-in").status == 503)
            let back = try await visitor.get("/auth/callback?error=access_denied&state=\(state)")
            #expect(back.location?.hasPrefix("/ios?sign_in_error=") == true)
            try await visitor.signIn()
            #expect(try await visitor.api(.get, "/api/ios/account").json["account"] is [String: Any])
        }
    }

    @Test(arguments: [
        ("claims", #"{"a":"\#(String(repeating: "x", count: 2040))"}"#, 302),
        ("claims", #"{"a":"\#(String(repeating: "x", count: 2041))"}"#, 400),
        ("login_hint", String(repeating: "h", count: 256), 302),
        ("login_hint", String(repeating: "h", count: 257), 400),
        ("domain_hint", String(repeating: "h", count: 256), 302),
        ("domain_hint", String(repeating: "h", count: 257), 400),
        ("scope", String(repeating: "s", count: 512), 302), ("scope", String(repeating: "s", count: 513), 400),
    ])
    func `what an address asks for has a limit`(name: String, value: String, status: Int) async throws {
        try await Site.run { site in
            let path = "/auth/ios/sign-in?" + FormEncoding.encode([(name, value)])
            let answer = try await Visitor(site).api(.get, path)
            #expect(answer.status == status)
            if status == 400 { #expect((answer.json["detail"] as? String)?.contains("“\(name)”") == true) }
        }
    }

    @Test func `the limits are settings`() throws {
        func read(_ environment: [String: String]) throws -> CompanionConfiguration {
            try CompanionConfiguration.read(environment: environment, file: nil, needsApplications: false)
        }
        let standard = try read([:]).newcomers
        #expect(standard == SessionStore.NewcomerLimits(signIns: 20_000, bytes: 64 << 20, freeBytes: 64 << 20))
        let own = try read([
            "COMPANION_LIMITS_PENDING_SIGN_INS": "7", "COMPANION_LIMITS_PENDING_MEGABYTES": "2",
            "COMPANION_LIMITS_FREE_MEGABYTES": "0",
        ]).newcomers
        #expect(own == SessionStore.NewcomerLimits(signIns: 7, bytes: 2 << 20, freeBytes: 0))
        for (key, value) in [
            ("pending_sign_ins", "-1"), ("pending_sign_ins", "many"), ("pending_megabytes", "1.5"),
            ("free_megabytes", "9223372036854775807"),
        ] {
            let mistakes = try #require(throws: ConfigurationMistakes.self) {
                try read(["COMPANION_LIMITS_\(key.uppercased())": value])
            }
            #expect(mistakes.all.map(\.key) == ["limits.\(key)"])
        }
    }
}
