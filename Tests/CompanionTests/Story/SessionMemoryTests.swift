import Foundation
import HTTPTypes
import SessionStore
import Testing
import WebFormats

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn

/// The memory about sessions, of which a stranger can fill only a small part.
@Suite struct SessionMemoryTests {
    private static func key(_ number: Int) throws -> SessionKey { try #require(SessionKey(String(number))) }

    private static func settings(_ bytes: Int = 500) -> AttemptSettings {
        AttemptSettings(prompt: "login", scopes: [String(repeating: "s", count: bytes)])
    }

    @discardableResult
    private func begin(_ history: AttemptHistory, _ session: Int, _ settings: AttemptSettings = settings()) throws
        -> Int
    {
        let id = history.nextID()
        history.begin(
            id, session: try Self.key(session), app: "ios", authority: "https://a.example/common", settings: settings)
        return id
    }

    // The history that the pages of a session can read.

    private func attempts(_ memory: SessionMemory, _ session: Int) async throws -> [AttemptRecord] {
        try await memory.all(of: Self.key(session))?.attempts ?? []
    }

    private func steps(_ memory: SessionMemory, _ session: Int) async throws -> [TimelineEvent] {
        try await memory.all(of: Self.key(session))?.events["ios"] ?? []
    }

    // MARK: Bounds

    @Test func `strangers take two megabytes at most, and push out no signed-in session`() async throws {
        let memory = SessionMemory(clocks: TestClock().clocks)
        let (history, timeline) = (AttemptHistory(memory: memory), Timeline(memory: memory))
        history.succeed(try begin(history, 1), session: try Self.key(1), granted: [], declined: [])
        for session in 2..<20_000 {
            try begin(history, session)
            timeline.record(
                TimelineStep("authorize", at: "https://a.example/authorize"), of: try Self.key(session), app: "ios")
        }
        #expect(memory.bytes.strangers <= 2 << 20)
        #expect(memory.bytes.strangers > 1 << 20)
        #expect(try await attempts(memory, 1).count == 1)
        #expect(try await attempts(memory, 2).isEmpty)
        #expect(try await attempts(memory, 19_999).count == 1)
        #expect(try await steps(memory, 19_999).count == 1)
    }

    @Test func `strangers' sessions are bounded in number, however small they are`() throws {
        let memory = SessionMemory(clocks: TestClock().clocks)
        let keys = try (1...6_000).map { try Self.key($0) }
        for key in keys { memory.change(key, isSignedIn: false) { _ in } }
        #expect(keys.count { memory.notes(of: $0) != nil } == 5_000)
    }

    @Test func `those who signed in take ten megabytes at most, and the ones used last stay`() async throws {
        let memory = SessionMemory(clocks: TestClock().clocks)
        let timeline = Timeline(memory: memory)
        for session in 1...4_000 {
            for _ in 0..<20 {
                timeline.record(
                    TimelineStep("api", at: "https://graph.example/v1.0/me"), of: try Self.key(session), app: "ios")
            }
            timeline.record(TimelineStep("api"), of: try Self.key(1), app: "ios")
        }
        #expect(memory.bytes.signedIn <= 10 << 20)
        #expect(memory.bytes.signedIn > 9 << 20)
        #expect(try await steps(memory, 1).count == 50)
        #expect(try await steps(memory, 2).isEmpty)
        #expect(try await steps(memory, 4_000).count == 20)
    }

    @Test func `a session has its last twenty attempts, and fewer where they are large`() async throws {
        let memory = SessionMemory(clocks: TestClock().clocks)
        let history = AttemptHistory(memory: memory)
        for _ in 0..<30 { try begin(history, 1) }
        #expect(try await attempts(memory, 1).map(\.id) == Array(11...30))
        for _ in 0..<30 { try begin(history, 2, Self.settings(7_000)) }
        #expect(try await attempts(memory, 2).map(\.id) == [57, 58, 59, 60])
    }

    @Test func `a provider's identifier is cut to 64 characters`() async throws {
        let memory = SessionMemory(clocks: TestClock().clocks)
        let timeline = Timeline(memory: memory)
        timeline.record(
            TimelineStep("api", correlationID: String(repeating: "x", count: 10_000)), of: try Self.key(1), app: "ios")
        #expect(try await steps(memory, 1).first?.correlationID?.count == 64)
    }

    @Test func `everything ends an hour after the session's last step`() async throws {
        let clock = TestClock()
        let memory = SessionMemory(clocks: clock.clocks)
        let (history, timeline) = (AttemptHistory(memory: memory), Timeline(memory: memory))
        try begin(history, 1)
        clock.advance(3_000)
        timeline.record(TimelineStep("api"), of: try Self.key(1), app: "ios")
        clock.advance(3_000)
        #expect(try await attempts(memory, 1).count == 1)
        clock.advance(601)
        #expect(try await attempts(memory, 1).isEmpty)
        #expect(try await steps(memory, 1).isEmpty)
    }

    @Test func `the count of trips forgets the oldest session when there are too many`() async throws {
        let memory = SessionMemory(clocks: TestClock().clocks)
        for _ in 0..<3 { #expect(try await memory.countTrip(of: Self.key(1), app: "ios") == nil) }
        for session in 2...4_000 { #expect(try await memory.countTrip(of: Self.key(session), app: "ios") == nil) }
        #expect(try await memory.countTrip(of: Self.key(1), app: "ios") != nil)
        #expect(try await memory.countTrip(of: Self.key(4_001), app: "ios") == nil)
        #expect(try await memory.countTrip(of: Self.key(1), app: "ios") == nil)
    }

    // MARK: Through the server

    private func attempts(_ visitor: Visitor) async throws -> [[String: Any]] {
        try await visitor.api(.get, "/api/attempts").json["attempts"] as? [[String: Any]] ?? []
    }

    private func steps(_ visitor: Visitor, _ app: String = "ios") async throws -> [String] {
        let events = try await visitor.api(.get, "/api/\(app)/events").json["events"] as? [[String: Any]]
        return events?.compactMap { $0["step"] as? String } ?? []
    }

    @Test func `a long claims request is kept as its length alone, a short one as it is`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            let short = #"{"id_token":{"acrs":{"essential":true}}}"#
            let long = #"{"id_token":{"\#(String(repeating: "a", count: 1_000))":null}}"#
            try await visitor.signIn()
            let before = site.memory.bytes
            for claims in [short, long] {
                let query = FormEncoding.encode([("claims", claims)])
                #expect(try await visitor.get("/auth/ios/sign-in?" + query).status == 302)
            }
            let kept = try await attempts(visitor).compactMap {
                ($0["settings"] as? [String: Any])?["claims"] as? String
            }
            #expect(kept == [#"{"…":"1022 bytes"}"#, short])
            #expect(site.memory.bytes.signedIn - before.signedIn < 3_500)
        }
    }

    @Test func `a sign-in that the trip limit refused is no attempt`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            let statuses = try await [1, 2, 3, 4, 5].asyncMap { _ in
                try await visitor.get("/auth/ios/sign-in?automatic=1").status
            }
            #expect(statuses == [302, 302, 302, 429, 429])
            #expect(try await attempts(visitor).count == 4)
        }
    }

    @Test func `a failed sign-in counts as a stranger's, a good one does not, and signing out takes no memory`()
        async throws
    {
        try await Site.run { site in
            let visitor = Visitor(site)
            _ = try await visitor.leave()
            #expect(site.memory.bytes.signedIn == 0 && site.memory.bytes.strangers == 0)
            try await visitor.signIn(consent: "cancel")
            #expect(site.memory.bytes.signedIn == 0)
            #expect(site.memory.bytes.strangers > 0)
            try await visitor.signIn()
            #expect(site.memory.bytes.strangers == 0)
            #expect(try await attempts(visitor).count == 2)
            #expect(try await steps(visitor) == ["authorize", "callback", "authorize", "callback", "token"])
        }
    }

    @Test func `a session's memory ends when its last account signs out, and not before`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            try await visitor.signIn(app: "macos")
            _ = try await visitor.api(.post, "/auth/macos/sign-out")
            #expect(try await attempts(visitor).count == 2)
            #expect(try await steps(visitor, "macos").last == "sign_out")
            _ = try await visitor.api(.post, "/auth/ios/sign-out")
            #expect(try await attempts(visitor).isEmpty)
            #expect(try await steps(visitor, "macos").isEmpty)
            #expect(try await steps(visitor) == ["sign_out"])
            #expect(site.memory.bytes.signedIn == 0)
        }
    }

    @Test func `a session's memory ends when an operator ends it`() async throws {
        try await Site.run(configured: { $0.applications[1].page = .portal }) { site in
            let (visitor, operating) = (Visitor(site), Visitor(site))
            try await visitor.signIn()
            try await operating.signIn(app: "macos", username: "megan@contoso.example")
            let both = site.memory.bytes.signedIn
            let listed = try await operating.api(.get, "/api/macos/sessions").json["sessions"] as? [[String: Any]]
            let other = try #require(listed?.first { $0["current"] as? Bool == false }?["key"] as? String)
            #expect(try await operating.api(.delete, "/api/macos/sessions/\(other)").status == 204)
            #expect(site.memory.bytes.signedIn < both)
            #expect(try await steps(operating, "macos").contains("token"))
        }
    }

    @Test func `at most ten new tenants that the requests of a network name are fetched in a minute`() async throws {
        try await Site.run(configured: { $0.limits.signInsPerMinute = 0 }) { site in
            func isThrottled(_ tenant: String) async throws -> Bool {
                let answer = try await Visitor(site).get("/auth/ios/sign-in?tenant=\(tenant).example")
                return try #require(answer.location).contains("sign_in_error=throttled")
            }
            for number in 0..<10 { #expect(try await !isThrottled("t\(number)")) }
            let asked = try await site.count("discovery")
            #expect(try await isThrottled("one-more"))
            #expect(try await site.count("discovery") == asked)
            #expect(try await Visitor(site).get("/auth/ios/sign-in").status == 302)
            site.clock.advance(60)
            #expect(try await !isThrottled("one-more"))
        }
    }
}

extension Sequence {
    /// The results of a function that waits, one after the other.
    func asyncMap<Result>(_ transform: (Element) async throws -> Result) async rethrows -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await transform(element)) }
        return results
    }
}
