import Foundation
import Testing

@testable import SessionStore

/// What is decided from a row, one row of a table for each case. Times are seconds since the attempt began.
@Suite struct SignInRulesTests {
    private static let attemptSeconds: Int64 = 1800
    private static let begun = SHA256Hash(of: "begun")
    private static let current = SHA256Hash(of: "current")
    private static let rules = SignInRules(
        lifetimes: Lifetimes(idle: 3_600_000, maxAge: 36_000_000, attempt: attemptSeconds * 1000),
        newcomers: .init(signIns: 3, bytes: 1000))

    private static func session(
        hasAccounts: Bool = true, remembers: Bool = false, createdAt: Int64 = 0, lastSeenAt: Int64 = 0,
        lastAttemptAt: Int64? = 0, id: SHA256Hash = begun
    ) -> SessionRow {
        SessionRow(
            key: SessionKey(1), idHash: id, createdAt: createdAt * 1000, lastSeenAt: lastSeenAt * 1000,
            hasAccounts: hasAccounts, remembersSomebody: remembers, lastAttemptAt: lastAttemptAt.map { $0 * 1000 })
    }

    private static func attempt(_ change: (inout AttemptRow) -> Void = { _ in }) -> AttemptRow {
        var row = AttemptRow(
            session: SessionKey(1), begunIDHash: begun, app: "ios", returnTo: "/ios", prompt: nil,
            requestedScopes: "", expectedAccountID: nil, begunAt: 0, sealed: Data([1]))
        change(&row)
        return row
    }

    /// Consumed at 10 seconds with the code "c".
    private static func consumed(_ change: (inout AttemptRow) -> Void = { _ in }) -> AttemptRow {
        attempt {
            $0.sealed = nil
            $0.consumedAt = 10_000
            $0.codeHash = SHA256Hash(of: "c")
            change(&$0)
        }
    }

    /// Completed at 20 seconds, which gave the session the id "current".
    private static let completed = consumed {
        $0.completedAt = 20_000
        $0.issuedIDHash = current
    }

    private static let rotated = session(id: current)
    private static let wentOn = session(id: SHA256Hash(of: "later"))

    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var attempt: AttemptRow?
        var session: SessionRow?
        var cookie: SHA256Hash?
        var code: String?
        var at: Int64
        var decision: CallbackDecision

        init(
            _ name: String, _ attempt: AttemptRow?, in session: SessionRow?, cookie: SHA256Hash?, code: String? = "c",
            at seconds: Int64 = 30, _ decision: CallbackDecision
        ) {
            testDescription = name
            self.attempt = attempt
            self.session = session
            self.cookie = cookie
            self.code = code
            at = seconds
            self.decision = decision
        }
    }

    static let rows = [
        Row("no such state", nil, in: nil, cookie: begun, .unknown),
        Row("the session is gone", attempt(), in: nil, cookie: begun, .otherBrowser),
        Row("no cookie", attempt(), in: session(), cookie: nil, .otherBrowser),
        Row("a cookie of neither time", attempt(), in: session(), cookie: SHA256Hash(of: "x"), .otherBrowser),
        Row("the first callback", attempt(), in: session(), cookie: begun, .consume(.session)),
        Row("the first callback, an error", attempt(), in: session(), cookie: begun, code: nil, .consume(.session)),
        Row("the session has another id by now", attempt(), in: rotated, cookie: begun, .consume(.newSession)),
        Row("from the session's other id", attempt(), in: rotated, cookie: current, .consume(.session)),
        Row("the last moment", attempt(), in: session(), cookie: begun, at: 1800, .consume(.session)),
        Row("a second late", attempt(), in: session(), cookie: begun, at: 1801, .expired),
        Row("without its secrets", attempt { $0.sealed = nil }, in: session(), cookie: begun, .expired),
        Row(
            "the session's time ran out", attempt(), in: session(lastSeenAt: -3_571), cookie: begun,
            .consume(.emptiedSession)),
        Row(
            "the session's time ran out, and it has another id", attempt(),
            in: session(lastSeenAt: -3_571, id: current), cookie: begun, .consume(.newSession)),

        Row("again while it is redeemed", consumed(), in: session(), cookie: begun, at: 130, .inProgress),
        Row("again after it was cut off", consumed(), in: session(), cookie: begun, at: 131, .failed),
        Row("again with another code", consumed(), in: session(), cookie: begun, code: "d", .unknown),
        Row("again with an error", consumed(), in: session(), cookie: begun, code: nil, .unknown),
        Row("again after it failed", consumed { $0.failedAt = 11_000 }, in: session(), cookie: begun, .failed),
        Row("an error again", consumed { $0.codeHash = nil }, in: session(), cookie: begun, code: nil, .inProgress),

        Row("reloaded", completed, in: rotated, cookie: current, .replay),
        Row("reloaded, the first answer was lost", completed, in: rotated, cookie: begun, .replay),
        Row("the browser went on", completed, in: wentOn, cookie: begun, .otherBrowser),
        Row("the browser went on and comes back", completed, in: wentOn, cookie: wentOn.idHash, .replay),
        Row("reloaded with another code", completed, in: rotated, cookie: current, code: "d", .unknown),
        Row("the last moment of the window", completed, in: rotated, cookie: current, at: 620, .replay),
        Row("after the window", completed, in: rotated, cookie: current, at: 621, .expired),
        Row(
            "reloaded in a session that is over", completed, in: session(lastSeenAt: -3_571, id: current),
            cookie: current, .expired),
    ]

    @Test(arguments: rows) func `a callback is decided from attempt, session, cookie and code`(_ row: Row) {
        let callback = ArrivedCallback(
            state: SHA256Hash(of: "s"), code: row.code.map(SHA256Hash.init(of:)), cookie: row.cookie,
            fresh: SHA256Hash(of: "fresh"))
        #expect(Self.rules.decide(row.attempt, in: row.session, callback, now: row.at * 1000) == row.decision)
    }

    @Test(arguments: [(30_000, .emptiedSession), (28_000, .newSession)] as [(Int64, CallbackDecision.Destination)])
    func `a session that is over by a clock that may be wrong keeps who is in it`(
        _ deletionTime: Int64, _ destination: CallbackDecision.Destination
    ) {
        var rules = Self.rules
        rules.deletionTime = { deletionTime }
        let callback = ArrivedCallback(
            state: SHA256Hash(of: "s"), code: SHA256Hash(of: "c"), cookie: Self.begun, fresh: SHA256Hash(of: "fresh"))
        let decision = rules.decide(
            Self.attempt(), in: Self.session(lastSeenAt: -3_571), callback, now: 30_000)
        #expect(decision == .consume(destination))
    }

    @Test(
        arguments: [
            ("used just now", session(lastSeenAt: 100), 3700, false), ("idle", session(lastSeenAt: 100), 3701, true),
            ("old", session(lastSeenAt: 36_000), 36_001, true),
            ("as old as it may be", session(lastSeenAt: 36_000), 36_000, false),
            ("nobody in it, a sign-in under way", session(hasAccounts: false, lastSeenAt: -9999), 1800, false),
            ("nobody in it, the sign-in is over", session(hasAccounts: false, lastSeenAt: 1801), 1801, true),
            ("nobody in it, no sign-in", session(hasAccounts: false, lastAttemptAt: nil), 0, true),
            ("who was in it is remembered", session(hasAccounts: false, remembers: true), 3600, false),
            ("remembered and idle", session(hasAccounts: false, remembers: true), 3601, true),
        ] as [(String, SessionRow, Int64, Bool)])
    func `a session is over by its row`(_ name: String, _ row: SessionRow, at seconds: Int64, isOver: Bool) {
        #expect(Self.rules.isOver(row, now: seconds * 1000) == isOver, "\(name)")
        #expect(Self.rules.isPurgeable(row, now: (seconds + 120) * 1000) == isOver, "\(name), two minutes later")
    }

    @Test func `a use that only memory knows of keeps a session alive`() {
        var rules = Self.rules
        rules.lastUse = { $0 == SessionKey(1) ? 3_000_000 : .min }
        #expect(!rules.isOver(Self.session(), now: 3_601_000))
        var other = Self.session()
        other.key = SessionKey(2)
        #expect(rules.isOver(other, now: 3_601_000))
    }

    @Test(
        arguments: [
            ("alive", 3600, false, true, .keep), ("over for less than two minutes", 3720, false, true, .keep),
            ("over", 3721, false, true, .delete), ("over, somebody is at the provider", 3721, true, true, .empty),
            ("empty already", 3721, true, false, .keep), ("empty, nobody comes back", 3721, false, false, .delete),
        ] as [(String, Int64, Bool, Bool, SignInRules.Purge)])
    func `a purge deletes, empties or keeps`(
        _ name: String, at seconds: Int64, isAwaited: Bool, hasAccounts: Bool, _ expected: SignInRules.Purge
    ) {
        let row = Self.session(hasAccounts: hasAccounts)
        #expect(Self.rules.purge(row, isAwaited: isAwaited, now: seconds * 1000) == expected, "\(name)")
    }

    @Test(
        arguments: [
            (100, 0, 0, true), (100, 2, 900, true), (101, 2, 900, false), (100, 3, 0, false),
        ] as [(Int64, Int64, Int64, Bool)])
    func `newcomers have room up to both limits`(_ weight: Int64, count: Int64, bytes: Int64, expected: Bool) {
        #expect(Self.rules.hasRoom(for: weight, beside: count, bytes) == expected)
    }

    @Test(
        arguments: [
            (attempt(), 1800, false), (attempt(), 1801, true), (consumed(), 30, false),
            (consumed { $0.failedAt = 20_000 }, 30, true), (completed, 30, true),
        ] as [(AttemptRow, Int64, Bool)])
    func `an ended attempt makes room for the next`(_ row: AttemptRow, at seconds: Int64, expected: Bool) {
        #expect(Self.rules.makesRoom(row, now: seconds * 1000) == expected)
        #expect(SignInRules.isBeingRedeemed(row) == (row == Self.consumed()))
    }

    @Test(arguments: [
        ("user.read", "user.read", true), ("mail.read user.read", "user.read", true), ("mail.read", "user.read", false),
        ("", "", true), ("", "user.read", false), ("user.read", "", false),
    ])
    func `a token goes when one for some of its scopes comes`(_ old: String, by newer: String, expected: Bool) {
        #expect(SignInRules.isSuperseded(old, by: newer) == expected)
    }
}
