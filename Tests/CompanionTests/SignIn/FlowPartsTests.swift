import Foundation
import HTTPTypes
import SessionStore
import Synchronization
import Testing
import WebFormats

@testable import Companion
@testable import CompanionCore
@testable import CompanionPages
@testable import CompanionSignIn

@Suite struct FlowPartsTests {
    private func key(_ number: Int) throws -> SessionKey { try #require(SessionKey(String(number))) }

    /// A clock that the test moves.
    private final class Clock: Sendable {
        private let time = Mutex(Date(timeIntervalSince1970: 1_800_000_000))
        var now: @Sendable () -> Date { { self.time.withLock { $0 } } }
        func advance(_ seconds: TimeInterval) { time.withLock { $0 += seconds } }
    }

    @Test func `the fourth trip to the provider within a minute has to wait`() async throws {
        let clock = Clock()
        let memory = SessionMemory(clocks: Clocks(steady: clock.now))
        for _ in 0..<3 { #expect(try await memory.countTrip(of: key(1), app: "ios") == nil) }
        clock.advance(20)
        #expect(try await memory.countTrip(of: key(1), app: "ios") == 40)
        #expect(try await memory.countTrip(of: key(1), app: "macos") == nil, "another application")
        #expect(try await memory.countTrip(of: key(2), app: "ios") == nil, "another session")
        clock.advance(40)
        #expect(try await memory.countTrip(of: key(1), app: "ios") == nil, "a minute later")
    }

    @Test(arguments: [
        (step: "api", outcome: "ok", isProgress: true), ("api", "http_500", false), ("token", "ok", false),
        (nil, "", true),
    ])
    func `a call that succeeded and a person's act end the count of trips`(
        step: String?, outcome: String, isProgress: Bool
    ) async throws {
        let memory = SessionMemory(clocks: Clocks(steady: Clock().now))
        for _ in 0..<3 { #expect(try await memory.countTrip(of: key(1), app: "ios") == nil) }
        if let step {
            Timeline(memory: memory).record(TimelineStep(step, outcome: outcome), of: try key(1), app: "ios")
        } else {
            memory.note(.acted, of: try key(1), app: "ios", isSignedIn: false)
        }
        #expect(try await (memory.countTrip(of: key(1), app: "ios") == nil) == isProgress)
    }

    @Test func `a failed run fails for all who wait, and the next call runs again`() async throws {
        let flight = SingleFlight<String, Int>()
        await #expect(throws: Problem.self) { try await flight.run("key") { throw Problem(.throttled, "wait") } }
        #expect(try await flight.run("key") { 7 } == 7)
    }

    @Test func `a session's timeline keeps its last fifty steps`() async throws {
        let memory = SessionMemory(clocks: Clocks(wall: Clock().now))
        let timeline = Timeline(memory: memory)
        for number in 0..<60 { timeline.record(TimelineStep("step \(number)"), of: try key(1), app: "ios") }
        let events = try #require(try await memory.all(of: key(1))?.events["ios"])
        #expect(events.count == 50)
        #expect(events.first?.step == "step 10")
        #expect((events.first?.time).map(Timeline.text) == "2027-01-15T08:00:00.000Z")
        #expect(try await memory.all(of: key(2)) == nil)
    }

    @Test(
        arguments: [
            ("/auth/ios/sign-in", "/auth/{app}/sign-in", "ios", nil), ("/auth/callback", "/auth/callback", nil, nil),
            ("/auth/ios/callback", "/auth/{app}/callback", "ios", nil),
            ("/auth/ios/sign-out", "/auth/{app}/sign-out", "ios", nil),
            ("/api/ios/account", "/api/{app}/account", "ios", nil),
            ("/api/ios/accounts/1", "/api/{app}/accounts/{id}", "ios", "1"),
            ("/api/ios/accounts/*", "/api/{app}/accounts/{id}", "ios", "*"),
            ("/api/ios/claims", "/api/{app}/claims", "ios", nil), ("/api/ios/token", "/api/{app}/token", "ios", nil),
            ("/api/ios/me", "/api/{app}/me", "ios", nil), ("/api/ios/me/photo", "/api/{app}/me/photo", "ios", nil),
            ("/api/ios/sessions/k", "/api/{app}/sessions/{key}", "ios", "k"),
            ("/api/ios/events", "/api/{app}/events", "ios", nil), ("/api/apps", "/api/apps", nil, nil),
            ("/api/device", "/api/device", nil, nil), ("/healthz", "/healthz", nil, nil),
            ("/readyz", "/readyz", nil, nil),
        ] as [(String, String, String?, String?)])
    func `a path leads to its route`(path: String, pattern: String, app: String?, id: String?) {
        let found = Router(applications: []).match(path)
        #expect(found?.route.pattern == pattern)
        #expect(found.map { RouteNumber.names[$0.number] } == pattern)
        #expect(found?.app == app)
        #expect(found?.id == id)
    }

    @Test(arguments: [
        "", "/", "/ios", "/auth", "/auth/callback/", "/api/ios", "/api/ios/me/", "/api//me/x", "/healthz/x",
        "/api/*", "/api/ios/accounts/", "/api/ios/accounts/1/2", "/api/ios/me/photo/x/y", "/api/{app}", "none",
    ])
    func `any other path leads to no route`(path: String) {
        #expect(Router(applications: []).match(path)?.route.pattern == nil)
    }

    @Test func `text is escaped for HTML`() {
        #expect(
            HTML(escaping: #"<a href="x" class='y'>&{{"#).text
                == "&lt;a href=&quot;x&quot; class=&#39;y&#39;&gt;&amp;&#123;&#123;")
    }
}
