import Foundation
import HTTPTypes
import Synchronization
import Testing

@testable import Companion

@Suite struct FlowPartsTests {
    /// A clock that the test moves.
    private final class Clock: Sendable {
        private let time = Mutex(Date(timeIntervalSince1970: 1_800_000_000))
        var now: @Sendable () -> Date { { self.time.withLock { $0 } } }
        func advance(_ seconds: TimeInterval) { time.withLock { $0 += seconds } }
    }

    @Test func `the fourth trip to the provider within a minute has to wait`() {
        let clock = Clock()
        let trips = TripLimit(now: clock.now)
        for _ in 0..<3 { #expect(trips.begin(session: 1, app: "ios") == nil) }
        clock.advance(20)
        #expect(trips.begin(session: 1, app: "ios") == 40)
        #expect(trips.begin(session: 1, app: "macos") == nil, "another application")
        #expect(trips.begin(session: 2, app: "ios") == nil, "another session")
        clock.advance(40)
        #expect(trips.begin(session: 1, app: "ios") == nil, "a minute later")
    }

    @Test func `progress ends the count of trips`() {
        let trips = TripLimit(now: Clock().now)
        for _ in 0..<3 { #expect(trips.begin(session: 1, app: "ios") == nil) }
        trips.reset(session: 1, app: "ios")
        #expect(trips.begin(session: 1, app: "ios") == nil)
    }

    @Test func `a failed run fails for all who wait, and the next runs anew`() async throws {
        let flight = SingleFlight<String, Int>()
        await #expect(throws: Problem.self) { try await flight.run("key") { throw Problem(.throttled, "wait") } }
        #expect(try await flight.run("key") { 7 } == 7)
    }

    @Test func `a session's timeline keeps its last fifty steps`() {
        let timeline = Timeline(memory: SessionMemory(now: Clock().now))
        for number in 0..<60 { timeline.record(session: 1, app: "ios", step: "step \(number)") }
        let events = timeline.events(session: 1, app: "ios")
        #expect(events.count == 50)
        #expect(events.first?.step == "step 10")
        #expect(events.first?.time == "2027-01-15T08:00:00.000Z")
        #expect(timeline.events(session: 2, app: "ios").isEmpty)
    }

    @Test(arguments: [
        ("/auth/ios/sign-in", RoutePath(.signIn, app: "ios")), ("/auth/callback", RoutePath(.callback)),
        ("/auth/ios/sign-out", RoutePath(.signOut, app: "ios")), ("/api/ios/account", RoutePath(.account, app: "ios")),
        ("/api/ios/accounts/1", RoutePath(.removeAccount, app: "ios", id: "1")),
        ("/api/ios/accounts/*", RoutePath(.removeAccount, app: "ios", id: "*")),
        ("/api/ios/claims", RoutePath(.claims, app: "ios")), ("/api/ios/token", RoutePath(.token, app: "ios")),
        ("/api/ios/me", RoutePath(.me, app: "ios")), ("/api/ios/me/photo", RoutePath(.photo, app: "ios")),
        ("/api/ios/sessions/k", RoutePath(.revokeSession, app: "ios", id: "k")),
        ("/api/ios/events", RoutePath(.events, app: "ios")), ("/api/apps", RoutePath(.applications)),
        ("/api/device", RoutePath(.device)), ("/healthz", RoutePath(.health)), ("/readyz", RoutePath(.readiness)),
    ])
    func `a path is a route`(path: String, route: RoutePath) {
        #expect(RoutePath(path) == route)
    }

    @Test(arguments: [
        "", "/", "/ios", "/auth", "/auth/callback/", "/api/ios", "/api/ios/me/", "/api//me/x", "/healthz/x",
        "/api/*", "/api/ios/accounts/", "/api/ios/accounts/1/2", "/api/ios/me/photo/x/y", "/api/{app}", "none",
    ])
    func `another path is none`(path: String) {
        #expect(RoutePath(path) == nil)
    }

    @Test func `text becomes HTML text`() {
        #expect(
            PageTemplate.escaped(#"<a href="x" class='y'>&{{"#)
                == "&lt;a href=&quot;x&quot; class=&#39;y&#39;&gt;&amp;&#123;&#123;")
    }
}
