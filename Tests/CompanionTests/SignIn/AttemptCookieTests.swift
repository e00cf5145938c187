import Foundation
import HTTPTypes
import StoreTesting
import Testing
import WebFormats

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn

/// A sign-in that the browser keeps until it comes back.
@Suite struct AttemptCookieTests {
    private func setCookies(_ answer: Visitor.Answer) -> [String] { answer.fields[values: .setCookie] }

    private func isRefused(_ answer: Visitor.Answer) -> Bool {
        answer.status == 400 && answer.text.contains("state_mismatch")
    }

    /// The reads of the database until now.
    private func reads(_ site: Site) async throws -> Int {
        let monitoring = Visitor(site)
        // The first one counts the sessions, for a while.
        _ = try await monitoring.metrics()
        return Int(try await monitoring.metrics()["companion_database_duration_seconds_count{operation=\"read\"}"])
    }

    @Test(arguments: ["", "/portal"])
    func `beginning a sign-in sets a mark and the attempt's cookie, and makes no session`(_ path: String) async throws {
        try await Site.run(below: path, configured: { _ in }) { site in
            let visitor = Visitor(origin: site.origin, client: site.client, below: path)
            let cookies = setCookies(try await visitor.get("\(path)/auth/ios/sign-in"))
            #expect(cookies.count == 2)
            let attempt = try #require(cookies.first { $0.hasPrefix(visitor.attempts) })
            #expect(attempt.hasSuffix("; Path=\(path)/auth; Max-Age=1800; HttpOnly; SameSite=Lax"))
            #expect(attempt.firstMatch(of: /^companion-\d+-attempt-[0-9a-f]{8}=/) != nil)
            #expect(cookies.contains { $0.hasPrefix(visitor.cookieName + "-mark=") && $0.contains("; Path=/;") })
            // The mark stays as it is.
            let again = setCookies(try await visitor.get("\(path)/auth/ios/sign-in"))
            #expect(again.count == 1 && again[0].hasPrefix(visitor.attempts))
        }
    }

    @Test func `over https the attempt's cookie is one that only https sets`() throws {
        var configuration = CompanionConfiguration(port: 0, applications: [])
        configuration.publicURL = try PublicURL("https://portal.example/here")
        let cookies = AttemptCookies(configuration: configuration, now: Date.init)
        #expect(cookies.name(of: "s").hasPrefix("__Secure-companion-attempt-"))
    }

    enum Change: String, CaseIterable {
        case noAttempt, noMark, otherMark, othersAttempt, changedByte, cut, otherState
    }

    @Test(arguments: Change.allCases)
    func `only the browser that began a sign-in can finish it, and a stranger costs no look-up`(_ change: Change)
        async throws
    {
        try await Site.run { site in
            let visitor = Visitor(site)
            var location = try #require(try await visitor.walkToCallback().location)
            let other = Visitor(site)
            _ = try await other.get("/auth/ios/sign-in")
            let (name, value) = try #require(visitor.cookies(named: visitor.attempts).first)
            let mark = visitor.cookies(named: visitor.cookieName + "-mark")[visitor.cookieName + "-mark"]
            switch change {
            case .noAttempt: visitor.setCookie(name, nil)
            case .noMark: visitor.setCookie(visitor.cookieName + "-mark", nil)
            case .otherMark:
                visitor.setCookie(
                    visitor.cookieName + "-mark",
                    other.cookies(named: visitor.cookieName + "-mark")[visitor.cookieName + "-mark"])
            case .othersAttempt: visitor.setCookie(name, other.cookies(named: other.attempts).values.first)
            case .changedByte: visitor.setCookie(name, value.dropLast(8) + "AAAAAAAA")
            case .cut: visitor.setCookie(name, String(value.dropLast(4)))
            case .otherState: location = location.replacing(/state=[^&]*/, with: "state=x")
            }
            let before = try await reads(site)
            #expect(isRefused(try await visitor.get(location)))
            #expect(try await reads(site) == before)
            guard change != .otherState else { return }
            // Nothing was consumed.
            visitor.setCookie(name, value)
            visitor.setCookie(visitor.cookieName + "-mark", mark)
            #expect(try await visitor.get(location).location == "/ios")
        }
    }

    @Test func `a browser keeps five sign-ins, and the oldest makes room`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            var locations: [String] = []
            for _ in 0..<6 {
                locations.append(try #require(try await visitor.walkToCallback().location))
                site.clock.advance(1)
            }
            #expect(visitor.cookies(named: visitor.attempts).count == 5)
            #expect(isRefused(try await visitor.get(locations[0])))
            for location in locations.dropFirst() { #expect(try await visitor.get(location).location == "/ios") }
        }
    }

    @Test(arguments: [TimeInterval(60), 3600, 1e9])
    func `cookies of another host with a date ahead of now push out no sign-in under way`(ahead: TimeInterval)
        async throws
    {
        try await Site.run { site in
            let visitor = Visitor(site)
            let location = try #require(try await visitor.walkToCallback().location)
            let (_, value) = try #require(visitor.cookies(named: visitor.attempts).first)
            // The date is in the clear: a sibling host needs no key for it.
            let bytes = try #require(Base64URL.decode(Array(value.utf8)))
            let date = site.clock.now().addingTimeInterval(ahead)
            let time = withUnsafeBytes(of: Int64(date.timeIntervalSince1970 * 1000).bigEndian) { Array($0) }
            for number in 0..<5 {
                visitor.setCookie("\(visitor.attempts)0000000\(number)", Base64URL.encode(time + bytes.dropFirst(8)))
            }
            _ = try await visitor.leave(app: "macos")
            #expect(try await visitor.get(location).location == "/ios")
        }
    }

    @Test func `the attempts that a browser keeps take at most six kilobytes`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            let claims = FormFieldsOf.claims(bytes: 1000)
            for _ in 0..<5 {
                _ = try await visitor.get("/auth/ios/sign-in?" + claims)
                site.clock.advance(1)
            }
            let kept = visitor.cookies(named: visitor.attempts)
            let bytes = kept.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
            #expect(kept.count >= 2 && bytes <= 6 << 10)
        }
    }

    @Test func `an attempt from before there was a session joins the one that the browser has by now`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            let second = try #require(
                try await visitor.walkToCallback(app: "macos", username: "megan@contoso.example").location)
            try await visitor.signIn()
            #expect(try await visitor.get(second).location == "/macos")
            for app in ["ios", "macos"] {
                #expect(try await visitor.api(.get, "/api/\(app)/account").json["account"] is [String: Any], "\(app)")
            }
        }
    }

    @Test func `a callback whose answer was lost signs in when it is loaded again`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            let location = try #require(try await visitor.walkToCallback().location)
            #expect(try await visitor.get(location).location == "/ios")
            visitor.sessionCookie = nil
            #expect(try await visitor.get(location).location == "/ios")
            #expect(try await visitor.api(.get, "/api/ios/account").json["account"] is [String: Any])
        }
    }

    @Test func `a newcomer's history begins with their return, even if the sign-in fails`()
        async throws
    {
        try await Site.run { site in
            let visitor = Visitor(site)
            let begun = site.clock.now()
            let location = try #require(
                try await visitor.walkToCallback(query: "domain_hint=contoso.example", consent: "cancel").location)
            #expect(visitor.sessionCookie == nil)
            site.clock.advance(20)
            let back = try await visitor.get(location)
            #expect(back.location?.hasPrefix("/ios?sign_in_error=") == true)
            #expect(visitor.sessionCookie != nil)
            let attempts = try await visitor.api(.get, "/api/attempts").json["attempts"] as? [[String: Any]]
            let attempt = try #require(attempts?.first)
            #expect(attempts?.count == 1)
            let began = try #require(attempt["began"] as? String)
            // A cookie has whole milliseconds, and a text has them rounded.
            #expect((Timeline.text(begun - 1)..<Timeline.text(begun + 15)).contains(began))
            #expect((attempt["settings"] as? [String: Any])?["domain_hint"] as? String == "contoso.example")
            let events = try await visitor.api(.get, "/api/ios/events").json["events"] as? [[String: Any]]
            let steps = try #require(events).compactMap { $0["step"] as? String }
            #expect(Set(steps) == ["authorize", "callback"])
            let first = try #require(events?.first { $0["step"] as? String == "authorize" })
            #expect((first["endpoint"] as? String)?.hasSuffix("/authorize") == true)
        }
    }

    @Test func `on a shared device attempts from before the start are over, and sign-out removes all of them`()
        async throws
    {
        try await Site.run(configured: { $0.deviceMode = .shared }) { site in
            let visitor = Visitor(site)
            let location = try #require(try await visitor.walkToCallback().location)
            #expect(setCookies(visitor.everything[0]).allSatisfy { !$0.contains("Max-Age") })
            site.clock.advance(1)
            try await site.restart()
            #expect(isRefused(try await visitor.get(location)))
            try await visitor.signIn()
            let other = try #require(try await visitor.walkToCallback(app: "macos").location)
            let out = try await visitor.api(.post, "/auth/ios/sign-out", body: "{}")
            #expect(out.status == 200)
            #expect(visitor.cookies(named: visitor.cookieName).isEmpty)
            #expect(isRefused(try await visitor.get(other)))
        }
    }

    @Test func `tabs that load the same callback at two servers are all signed in`() async throws {
        try await Site.run(keeping: MemoryContents(), configured: { _ in }) { site in
            try await site.beside { second in
                let visitor = Visitor(site)
                let location = try #require(try await visitor.walkToCallback().location)
                let tab = visitor.copy(at: second)
                try await site.hold()
                async let first = visitor.get(location)
                try await site.untilHeld()
                // The other one comes while the code is redeemed: the last one has the session's id.
                async let late = tab.get(location.replacing(site.origin, with: second))
                try await site.letGo()
                #expect(try await first.location == "/ios")
                #expect(try await late.location == "/ios")
                #expect(try await tab.api(.get, "/api/ios/account").json["account"] is [String: Any])
                #expect(try await site.count("token_code") == 1)
            }
        }
    }
}

private enum FormFieldsOf {
    static func claims(bytes: Int) -> String {
        FormEncoding.encode([("claims", #"{"a":"\#(String(repeating: "x", count: bytes))"}"#)])
    }
}
