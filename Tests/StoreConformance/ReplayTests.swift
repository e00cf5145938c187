import Foundation
import StoreTesting
import Testing

@testable import SessionStore

/// The meaning of a callback's code and cookie, one row for each case. That its state and browser are those of the attempt is
/// what `SealedSignInTests` proves.
@Suite(.closesStores) struct ReplayTests {
    enum Cookie: String, Sendable {
        case none, begun, issued
        /// The cookie of another person's session; for a newcomer, of the browser's current session.
        case other
        /// A cookie of no session.
        case unknown
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// Whether the browser had no session when it left.
        var isNewcomer: Bool
        /// The events before the callback of this row.
        var stage: Stage
        var code: String
        var cookie: Cookie
        var afterSeconds: Int
        var outcome: String

        init(
            _ name: String, _ stage: Stage, _ cookie: Cookie, code: String = "code", after seconds: Int = 0,
            _ outcome: String, newcomer: Bool = false
        ) {
            testDescription = (newcomer ? "a newcomer: " : "") + name
            isNewcomer = newcomer
            self.stage = stage
            self.cookie = cookie
            self.code = code
            afterSeconds = seconds
            self.outcome = outcome
        }

        static func newcomer(
            _ name: String, _ stage: Stage, _ cookie: Cookie, code: String = "code", after seconds: Int = 0,
            _ outcome: String
        ) -> Row { Row(name, stage, cookie, code: code, after: seconds, outcome, newcomer: true) }
    }

    enum Stage: Sendable {
        case begun, consumed, failed, completed
        /// Completed, then the browser went on and its id changed again.
        case wentOn
        /// Completed and replayed once.
        case replayed
        /// The session in which it began was revoked.
        case revoked
    }

    static let rows = [
        Row("the first callback", .begun, .begun, "attempt"),
        Row("no cookie", .begun, .none, "otherBrowser"),
        Row("another browser's cookie", .begun, .other, "otherBrowser"),
        Row("a cookie of no session", .begun, .unknown, "otherBrowser"),
        Row("its session is gone", .revoked, .begun, "otherBrowser"),
        Row("just within the attempt's lifetime", .begun, .begun, after: 1800, "attempt"),
        Row("after the attempt's lifetime", .begun, .begun, after: 1801, "expired"),

        Row("repeated while the code is redeemed", .consumed, .begun, "inProgress"),
        Row("repeated with another code while the code is redeemed", .consumed, .begun, code: "other", "unknown"),
        Row("repeated by another browser while the code is redeemed", .consumed, .other, "otherBrowser"),
        Row("repeated long after a redemption that was cut off", .consumed, .begun, after: 121, "failed"),
        Row("repeated after the sign-in failed", .failed, .begun, "failed"),

        Row("reloaded with the id that the sign-in gave", .completed, .issued, "replayed"),
        Row("reloaded when the first answer was lost", .completed, .begun, "replayed"),
        Row("repeated with another code", .completed, .issued, code: "other", "completed"),
        Row("repeated with another code and the old id", .completed, .begun, code: "other", "unknown"),
        Row("repeated without cookie", .completed, .none, "otherBrowser"),
        Row("repeated by another browser", .completed, .other, "otherBrowser"),
        Row("repeated just within ten minutes", .completed, .begun, after: 600, "replayed"),
        Row("repeated after ten minutes", .completed, .issued, after: 601, "expired"),
        Row("repeated after ten minutes with the old id", .completed, .begun, after: 601, "expired"),

        Row("repeated with the old id after the browser went on", .wentOn, .begun, "otherBrowser"),
        Row("repeated with the current id after the browser went on", .wentOn, .issued, "replayed"),
        Row("repeated a second time with the old id", .replayed, .begun, "replayed"),
        Row("repeated a second time with the current id", .replayed, .issued, "replayed"),

        .newcomer("the first callback", .begun, .none, "attempt"),
        .newcomer("the browser has a session by now", .begun, .other, "attempt"),
        .newcomer("the browser has a cookie of no session", .begun, .unknown, "attempt"),
        .newcomer("just within the attempt's lifetime", .begun, .none, after: 1800, "attempt"),
        .newcomer("after the attempt's lifetime", .begun, .none, after: 1801, "expired"),
        .newcomer("after the attempt's lifetime, with a session", .begun, .other, after: 1801, "expired"),

        .newcomer("repeated while the code is redeemed", .consumed, .none, "inProgress"),
        .newcomer("repeated with the new session's id meanwhile", .consumed, .begun, "inProgress"),
        .newcomer("repeated with another code", .consumed, .none, code: "other", "unknown"),
        .newcomer("repeated long after a redemption that was cut off", .consumed, .none, after: 121, "failed"),
        .newcomer("repeated after the sign-in failed", .failed, .begun, "failed"),
        .newcomer("repeated after the sign-in failed, without a cookie", .failed, .none, "failed"),

        .newcomer("reloaded with the id that the sign-in gave", .completed, .issued, "replayed"),
        .newcomer("reloaded when the first answer was lost", .completed, .none, "replayed"),
        .newcomer("repeated with another code after the sign-in", .completed, .issued, code: "other", "completed"),
        .newcomer("repeated with another code without a cookie", .completed, .none, code: "other", "unknown"),
        .newcomer("repeated with another code by another browser", .completed, .other, code: "other", "unknown"),
        .newcomer("repeated with another code after the sign-in failed", .failed, .begun, code: "other", "unknown"),
        .newcomer("repeated just within ten minutes", .completed, .none, after: 600, "replayed"),
        .newcomer("repeated after ten minutes", .completed, .issued, after: 601, "expired"),
        .newcomer("repeated after ten minutes without a cookie", .completed, .none, after: 601, "expired"),
        .newcomer("repeated without a cookie after the browser went on", .wentOn, .none, "otherBrowser"),
        .newcomer("repeated with the current id after the browser went on", .wentOn, .issued, "replayed"),
        .newcomer("repeated a second time without a cookie", .replayed, .none, "replayed"),
        .newcomer("repeated a second time with the current id", .replayed, .issued, "replayed"),
    ]

    @Test(arguments: TestedBackend.kinds, rows)
    func `the code and cookie of a callback decide its outcome`(_ backend: TestedBackend, _ row: Row) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        let other = try await store.signIn("mallory", at: fixture.clock)
        let begun = row.isNewcomer ? nil : try await store.failNewcomer("before")
        let attempt = try await store.begin("s1", cookie: begun)
        let (given, issued) = try await reach(row.stage, attempt, begun, store, fixture.clock)
        fixture.clock.advance(by: .seconds(row.afterSeconds))
        let cookie: SessionID? =
            switch row.cookie {
            case .none: nil
            case .other: other
            case .begun: given
            case .issued: issued
            case .unknown: SessionID(randomBytes: SessionStore.secureRandomBytes)
            }
        let before = try await store.list()
        let outcome = try await store.consume(attempt, code: row.code, cookie: cookie)
        #expect(outcome.name == row.outcome)
        switch outcome {
        case .replayed(let id):
            #expect(id != issued && id != begun)
            #expect(try await store.session(id)?.currentAccount(for: "ios")?.id == "adele.tenant")
            for old in [issued, begun].compactMap(\.self) { #expect(try await store.session(old) == nil) }
        case .attempt(let consumed, let newID):
            // A new session is made for a newcomer alone, who has none by now; its id opens it.
            #expect((newID != nil) == (row.isNewcomer && row.cookie != .other))
            if let newID { #expect(try await store.session(newID)?.key == consumed.session) }
            if let known = row.cookie == .other ? other : begun {
                #expect(try await store.session(known)?.key == consumed.session)
            }
            #expect(try await store.list().count == before.count + (newID == nil ? 0 : 1))
        default:
            // A refusal changes nothing, for the person least of all.
            #expect(try await store.list() == before)
            if row.stage == .completed, let issued { #expect(try await store.session(issued) != nil) }
        }
    }

    /// The browser has the new id; what it had before opens nothing, not even from memory.
    @Test(arguments: TestedBackend.allCases) func `a callback that came again leaves nothing under the earlier id`(
        _ backend: TestedBackend
    ) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        let attempt = try await store.begin("s1")
        let issued = try #require(try await reach(.completed, attempt, nil, store, fixture.clock).issued)
        #expect(try await store.session(issued) != nil)
        #expect(store.cachedSession(issued).session != nil)
        let outcome = try await store.consume(attempt, code: "code", cookie: issued)
        #expect(outcome.name == "replayed")
        #expect(store.cachedSession(issued).session == nil)
        #expect(try await store.session(issued) == nil)
    }

    /// - Returns: the id that the browser has until the sign-in gives another, and that one.
    private func reach(
        _ stage: Stage, _ begun: BegunSignIn, _ cookie: SessionID?, _ store: SessionStore, _ clock: StoreClock
    ) async throws -> (given: SessionID?, issued: SessionID?) {
        if stage == .begun { return (cookie, nil) }
        if stage == .revoked {
            let key = try #require(begun.origin?.session)
            #expect(try await store.revoke(key))
            return (cookie, nil)
        }
        let outcome = try await store.consume(begun, code: "code", cookie: cookie)
        guard case .attempt(let attempt, let new) = outcome else { throw UnexpectedOutcome(name: outcome.name) }
        let given = cookie ?? new
        switch stage {
        case .begun, .consumed, .revoked: return (given, nil)
        case .failed:
            try await store.failSignIn(attempt)
            return (given, nil)
        case .completed, .wentOn, .replayed:
            let id = try await store.completeSignIn(attempt, account: .sample("adele"), tokens: .sample("a", at: clock))
            if stage == .completed { return (given, id) }
            if stage == .wentOn {
                return (given, try await store.signIn("megan", app: "macos", cookie: id, at: clock))
            }
            let again = try await store.consume(begun, code: "code", cookie: cookie)
            guard case .replayed(let newID) = again else { throw UnexpectedOutcome(name: again.name) }
            return (given, newID)
        }
    }
}
