import Foundation
import Testing

@testable import SessionStore

/// The right to redeem a refresh token and to store the answer, one row of a table for each case. Times are seconds by the
/// place's clock.
@Suite struct LeaseRulesTests {
    private static let (seen, other) = (Data([1]), Data([2]))
    private static let free = RefreshState()

    private static func held(by holder: String = "a", until seconds: Int64 = 20) -> RefreshState {
        RefreshState(fence: 7, holder: holder, until: seconds * 1000, retryAt: 0)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var state: RefreshState
        var stored: Data?
        var at: Int64
        var back: Int64?
        var decision: SignInRules.LeaseDecision

        init(
            _ name: String, _ state: RefreshState, stored: Data? = seen, at seconds: Int64 = 5, back: Int64? = nil,
            _ decision: SignInRules.LeaseDecision
        ) {
            testDescription = name
            self.back = back
            (self.state, self.stored, at, self.decision) = (state, stored, seconds, decision)
        }
    }

    static let rows = [
        Row("nobody has asked before", free, .take),
        Row("another process has it", held(), .held(remaining: 15_000)),
        Row("its last moment", held(), at: 19, .held(remaining: 1000)),
        Row("its time is over", held(), at: 20, .take),
        Row("longer than a lease can be", held(until: 625), .held(remaining: 20_000)),
        Row(
            "its time is over, and the database was away a moment ago", held(), at: 21, back: 0, .held(remaining: 2000)),
        Row("its holder had time since the return", held(), at: 21, back: 2000, .take),
        Row("our own, and the database was away", held(by: "b"), at: 21, back: 0, .take),
        Row("given back, and the database was away", held().givenBack(pause: .zero, now: 5000), back: 0, .take),
        Row("it is our own", held(by: "b"), .take),
        Row("it was given back", held().givenBack(pause: .zero, now: 5000), .take),
        Row("it was given back with a pause", held().givenBack(pause: .seconds(3), now: 4000), .tooEarly(2000)),
        Row(
            "it was given back with a pause and its status",
            held().givenBack(pause: .seconds(3), status: 503, now: 4000), .tooEarly(2000, status: 503)),
        Row("the longest pause", held().givenBack(pause: .seconds(3600), now: 5000), .tooEarly(3_600_000)),
        Row("longer than a pause can be", held().givenBack(pause: .seconds(3601), now: 5000), .take),
        Row("the pause is over", held().givenBack(pause: .seconds(3), now: 4000), at: 7, .take),
        Row("a pause of the past is none", held().givenBack(pause: .seconds(-3), now: 5000), .take),
        Row("our own, and paused", held(by: "b").givenBack(pause: .seconds(3), now: 4000), .tooEarly(2000)),
        Row("somebody signed in meanwhile", held().givenBack(pause: .seconds(3), now: 4000).renewed, .take),
        Row("another refresh token is stored", free, stored: other, .changed),
        Row("another is stored, and one has the lease", held(), stored: other, .changed),
        Row("none is stored", held(), stored: nil, .changed),
    ]

    @Test(arguments: rows) func `the rules decide whether a lease is taken or waited for`(_ row: Row) {
        let decision = SignInRules.lease(
            row.state, refreshToken: row.stored, seen: Self.seen, by: "b", now: row.at * 1000,
            sinceReturn: row.back.map { .milliseconds($0) })
        #expect(decision == row.decision)
    }

    @Test func `a lease from before the clock was set back lasts no longer than a new one`() {
        #expect(Self.held(until: 625).broughtBack(now: 5000) == Self.held(until: 25))
        #expect(Self.held().broughtBack(now: 5000) == nil)
        #expect(Self.held().broughtBack(now: 0) == nil)
        #expect(Self.held().broughtBack(now: 25_000) == nil)
        #expect(Self.free.broughtBack(now: -99_000) == nil)
    }

    @Test func `each lease and each renewal of the tokens gets a number of its own`() {
        let taken = Self.free.taken(by: "a", for: .seconds(20), now: 1000)
        #expect(taken == RefreshState(fence: 1, holder: "a", until: 21_000, retryAt: 0))
        #expect(taken.taken(by: "b", for: .seconds(20), now: 30_000).fence == 2)
        #expect(taken.givenBack(pause: .seconds(1), now: 2000) == RefreshState(fence: 1, retryAt: 3000))
        #expect(taken.renewed == RefreshState(fence: 2))
        let paused = taken.givenBack(pause: .seconds(1), status: 503, now: 2000)
        #expect(paused.renewed == RefreshState(fence: 2))
        #expect(paused.taken(by: "b", for: .zero, now: 0).retryStatus == nil)
    }

    @Test(
        arguments: [
            ("the latest lease", 7, 7, seen, true), ("the latest, over another token", 7, 7, other, true),
            ("an older lease", 6, 7, other, false), ("an older one, over the token that it cost", 6, 7, seen, true),
            ("no leases here", nil, nil, seen, true), ("no leases here, another token", nil, nil, other, false),
            ("the token is gone", 6, 7, nil, false),
        ] as [(String, Int64?, Int64?, Data?, Bool)])
    func `an answer is stored under the latest lease, or over the token that it cost`(
        _ name: String, own: Int64?, latest: Int64?, stored: Data?, expected: Bool
    ) {
        let lease = RefreshLease(
            account: AccountKey(session: SessionKey(1), app: "ios", id: "a"), fence: own, spent: Self.seen)
        #expect(SignInRules.mayStore(under: lease, fence: latest, refreshToken: stored) == expected, "\(name)")
    }

    @Test(
        arguments: [("", 0, true), ("a", 6, false), ("a", 5, true), ("b", 6, true), ("a", 60_006, true)]
            as [(String, Int64, Bool)])
    func `a chore is taken when no other process has it`(_ holder: String, until: Int64, expected: Bool) {
        #expect(SignInRules.mayTake("b", from: holder, until: until, now: 5) == expected)
    }
}
