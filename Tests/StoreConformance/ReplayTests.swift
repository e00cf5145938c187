import Foundation
import StoreTesting
import Testing

@testable import SessionStore

/// What a callback's state, code and cookie lead to, one row for each case.
@Suite struct ReplayTests {
    enum Cookie: String, Sendable {
        case none, stranger, begun, issued
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// What happened before the callback of this row.
        var stage: Stage
        var code = "code-of-s1"
        var state = "s1"
        var cookie: Cookie
        var afterSeconds = 0
        var outcome: String

        init(
            _ name: String, _ stage: Stage, _ cookie: Cookie, code: String = "code-of-s1", state: String = "s1",
            after seconds: Int = 0, _ outcome: String
        ) {
            testDescription = name
            self.stage = stage
            self.cookie = cookie
            self.code = code
            self.state = state
            afterSeconds = seconds
            self.outcome = outcome
        }
    }

    enum Stage: Sendable {
        case begun, consumed, failed, completed
        /// Completed, then the browser went on and its id changed again.
        case wentOn
        /// Completed and replayed once.
        case replayed
    }

    static let rows = [
        Row("the first callback", .begun, .begun, "attempt"),
        Row("a state that nobody sent", .begun, .begun, state: "s2", "unknown"),
        Row("an empty state", .begun, .begun, state: "", "unknown"),
        Row("no cookie", .begun, .none, "otherBrowser"),
        Row("another browser's cookie", .begun, .stranger, "otherBrowser"),
        Row("just within the attempt's lifetime", .begun, .begun, after: 1800, "attempt"),
        Row("after the attempt's lifetime", .begun, .begun, after: 1801, "expired"),

        Row("repeated while the code is redeemed", .consumed, .begun, "inProgress"),
        Row("repeated with another code while the code is redeemed", .consumed, .begun, code: "other", "unknown"),
        Row("repeated by another browser while the code is redeemed", .consumed, .stranger, "otherBrowser"),
        Row("repeated long after a redemption that was cut off", .consumed, .begun, after: 121, "failed"),
        Row("repeated after the sign-in failed", .failed, .begun, "failed"),

        Row("reloaded with the id that the sign-in gave", .completed, .issued, "replayed"),
        Row("reloaded when the first answer was lost", .completed, .begun, "replayed"),
        Row("repeated with another code", .completed, .issued, code: "other", "unknown"),
        Row("repeated with another code and the old id", .completed, .begun, code: "other", "unknown"),
        Row("repeated without cookie", .completed, .none, "otherBrowser"),
        Row("repeated by another browser", .completed, .stranger, "otherBrowser"),
        Row("repeated just within ten minutes", .completed, .begun, after: 600, "replayed"),
        Row("repeated after ten minutes", .completed, .issued, after: 601, "expired"),
        Row("repeated after ten minutes with the old id", .completed, .begun, after: 601, "expired"),

        Row("repeated with the old id after the browser went on", .wentOn, .begun, "otherBrowser"),
        Row("repeated with the current id after the browser went on", .wentOn, .issued, "replayed"),
        Row("repeated a second time with the old id", .replayed, .begun, "replayed"),
        Row("repeated a second time with the current id", .replayed, .issued, "replayed"),
    ]

    @Test(arguments: TestedBackend.allCases, rows) func callback(_ backend: TestedBackend, _ row: Row) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        let stranger = try await store.signIn("mallory", at: fixture.clock)
        let begun = try await store.beginSignIn(.sample(state: "s1"), cookie: nil).sessionID
        let issued = try await reach(row.stage, begun, store, fixture.clock)
        fixture.clock.advance(by: .seconds(row.afterSeconds))
        let cookie: SessionID? =
            switch row.cookie {
            case .none: nil
            case .stranger: stranger
            case .begun: begun
            case .issued: issued
            }
        let before = try await store.list()
        let outcome = try await store.consumeAttempt(state: row.state, code: row.code, cookie: cookie)
        #expect(outcome.name == row.outcome)
        if case .replayed(let app, let returnTo, let id) = outcome {
            #expect(app == "ios")
            #expect(returnTo == "/ios")
            #expect(id != issued && id != begun)
            #expect(try await store.session(id)?.currentAccount(for: "ios")?.id == "adele.tenant")
            #expect(try await store.session(issued) == nil)
            #expect(try await store.session(begun) == nil)
        } else if row.outcome != "attempt" {
            // A refusal changes nothing, for the person least of all.
            #expect(try await store.list() == before)
            if row.stage == .completed { #expect(try await store.session(issued) != nil) }
        }
        await store.close()
    }

    /// The browser has the new id; what it had before opens nothing, not even from memory.
    @Test(arguments: TestedBackend.allCases) func `a callback that came again leaves nothing under the earlier id`(
        _ backend: TestedBackend
    ) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        let begun = try await store.beginSignIn(.sample(state: "s1"), cookie: nil).sessionID
        let issued = try await reach(.completed, begun, store, fixture.clock)
        #expect(try await store.session(issued) != nil)
        #expect(store.cachedSession(issued).session != nil)
        let outcome = try await store.consumeAttempt(state: "s1", code: "code-of-s1", cookie: issued)
        #expect(outcome.name == "replayed")
        #expect(store.cachedSession(issued).session == nil)
        #expect(try await store.session(issued) == nil)
        await store.close()
    }

    private func reach(_ stage: Stage, _ begun: SessionID, _ store: SessionStore, _ clock: StoreClock) async throws
        -> SessionID
    {
        if stage == .begun { return begun }
        let attempt = try await store.consume("s1", cookie: begun)
        switch stage {
        case .begun, .consumed: return begun
        case .failed:
            try await store.failSignIn(attempt)
            return begun
        case .completed, .wentOn, .replayed:
            let id = try await store.completeSignIn(attempt, account: .sample("adele"), tokens: .sample("a", at: clock))
            if stage == .completed { return id }
            if stage == .wentOn { return try await store.signIn("megan", app: "macos", cookie: id, at: clock) }
            let outcome = try await store.consumeAttempt(state: "s1", code: "code-of-s1", cookie: begun)
            guard case .replayed(_, _, let newID) = outcome else { throw UnexpectedOutcome(name: outcome.name) }
            return newID
        }
    }
}
