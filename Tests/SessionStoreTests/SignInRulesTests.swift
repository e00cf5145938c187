import Foundation
import Testing

@testable import SessionStore

/// The decisions from a stored row, one row of a table for each case. Times are seconds since the attempt began.
@Suite struct SignInRulesTests {
    private static let attemptSeconds: Int64 = 1800
    private static let begun = SHA256Hash(of: "begun")
    private static let current = SHA256Hash(of: "current")
    private static let rules = SignInRules(
        lifetimes: Lifetimes(idle: 3_600_000, maxAge: 36_000_000, attempt: attemptSeconds * 1000))

    private static func session(
        hasAccounts: Bool = true, remembers: Bool = false, createdAt: Int64 = 0, lastSeenAt: Int64 = 0,
        lastAttemptAt: Int64? = 0, id: SHA256Hash = begun
    ) -> SessionRow {
        SessionRow(
            key: SessionKey(1), idHash: id, createdAt: createdAt * 1000, lastSeenAt: lastSeenAt * 1000,
            hasAccounts: hasAccounts, remembersSomebody: remembers, lastAttemptAt: lastAttemptAt.map { $0 * 1000 })
    }

    /// Consumed at 10 seconds with the code "c".
    private static func consumed(_ change: (inout AttemptRow) -> Void = { _ in }) -> AttemptRow {
        var row = AttemptRow(
            session: SessionKey(1), begunAt: 0, consumedAt: 10_000, codeHash: SHA256Hash(of: "c"))
        change(&row)
        return row
    }

    /// Completed at 20 seconds, which gave the session the id "current".
    private static let completed = consumed {
        $0.completedAt = 20_000
        $0.issuedIDHash = current
    }

    private static let rotated = session(id: current)
    private static let wentOn = session(id: SHA256Hash(of: "later"))

    /// The session in which it began, and the id that this had.
    private static let origin = BegunSignIn.Origin(session: SessionKey(1), idHash: begun)

    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var isNewcomer: Bool
        var attempt: AttemptRow?
        var session: SessionRow?
        var cookie: SHA256Hash?
        var code: String?
        var at: Int64
        var decision: CallbackDecision

        init(
            _ name: String, _ attempt: AttemptRow?, in session: SessionRow?, cookie: SHA256Hash?, code: String? = "c",
            at seconds: Int64 = 30, _ decision: CallbackDecision, newcomer: Bool = false
        ) {
            testDescription = (newcomer ? "a newcomer: " : "") + name
            isNewcomer = newcomer
            self.attempt = attempt
            self.session = session
            self.cookie = cookie
            self.code = code
            at = seconds
            self.decision = decision
        }

        /// It began without a session: `session` is that of the browser's cookie of now, or that of the attempt.
        static func newcomer(
            _ name: String, _ attempt: AttemptRow?, in session: SessionRow?, cookie: SHA256Hash?, code: String? = "c",
            at seconds: Int64 = 30, _ decision: CallbackDecision
        ) -> Row {
            Row(name, attempt, in: session, cookie: cookie, code: code, at: seconds, decision, newcomer: true)
        }
    }

    private static let wentOnID = wentOn.idHash

    static let rows = [
        Row("the session is gone", nil, in: nil, cookie: begun, .otherBrowser),
        Row("no cookie", nil, in: session(), cookie: nil, .otherBrowser),
        Row("a cookie of neither time", nil, in: session(), cookie: SHA256Hash(of: "x"), .otherBrowser),
        Row("the first callback", nil, in: session(), cookie: begun, .consume(.session)),
        Row("the first callback, an error", nil, in: session(), cookie: begun, code: nil, .consume(.session)),
        Row("the session has another id by now", nil, in: rotated, cookie: begun, .consume(.newSession)),
        Row("from the session's other id", nil, in: rotated, cookie: current, .consume(.session)),
        Row("the last moment", nil, in: session(), cookie: begun, at: 1800, .consume(.session)),
        Row("a second late", nil, in: session(), cookie: begun, at: 1801, .expired),
        Row("a second late, from another browser", nil, in: session(), cookie: nil, at: 1801, .otherBrowser),
        Row(
            "the session's time ran out", nil, in: session(lastSeenAt: -3_571), cookie: begun,
            .consume(.emptiedSession)),
        Row(
            "the session's time ran out, and it has another id", nil,
            in: session(lastSeenAt: -3_571, id: current), cookie: begun, .consume(.newSession)),

        .newcomer("the first callback", nil, in: nil, cookie: nil, .consume(.newSession)),
        .newcomer("a cookie of no session", nil, in: nil, cookie: begun, .consume(.newSession)),
        .newcomer("the browser has a session by now", nil, in: session(), cookie: begun, .consume(.session)),
        .newcomer(
            "the browser's session is over", nil, in: session(lastSeenAt: -3_571), cookie: begun,
            .consume(.newSession)),
        .newcomer("the last moment", nil, in: nil, cookie: nil, at: 1800, .consume(.newSession)),
        .newcomer("a second late", nil, in: nil, cookie: nil, at: 1801, .expired),
        .newcomer("a second late, with a session", nil, in: session(), cookie: begun, at: 1801, .expired),
        .newcomer("again while it is redeemed", consumed(), in: session(), cookie: nil, at: 130, .inProgress),
        .newcomer("again after it was cut off", consumed(), in: session(), cookie: nil, at: 131, .failed),
        .newcomer("again with another code", consumed(), in: session(), cookie: nil, code: "d", .unknown),
        .newcomer(
            "again after it failed", consumed { $0.failedAt = 11_000 }, in: session(), cookie: nil, .failed),
        .newcomer("reloaded", completed, in: rotated, cookie: current, .replay),
        .newcomer("reloaded, the first answer was lost", completed, in: rotated, cookie: nil, .replay),
        .newcomer("the browser went on", completed, in: wentOn, cookie: nil, .otherBrowser),
        .newcomer("the browser went on and comes back", completed, in: wentOn, cookie: wentOnID, .replay),
        .newcomer("after the window", completed, in: rotated, cookie: nil, at: 621, .expired),

        Row("again, and the session is gone", consumed(), in: nil, cookie: begun, .otherBrowser),
        Row("again, no cookie", consumed(), in: session(), cookie: nil, .otherBrowser),
        Row("again, a cookie of neither time", consumed(), in: session(), cookie: wentOnID, .otherBrowser),
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
        Row("reloaded with another code", completed, in: rotated, cookie: current, code: "d", .completed),
        Row("the last moment of the window", completed, in: rotated, cookie: current, at: 620, .replay),
        Row("after the window", completed, in: rotated, cookie: current, at: 621, .expired),
        Row(
            "reloaded in a session that is over", completed, in: session(lastSeenAt: -3_571, id: current),
            cookie: current, .expired),
    ]

    @Test(arguments: rows) func `a callback is decided from attempt, session, cookie and code`(_ row: Row) {
        let callback = ArrivedCallback(
            state: SHA256Hash(of: "s"), code: row.code.map(SHA256Hash.init(of:)), cookie: row.cookie,
            fresh: SHA256Hash(of: "fresh"), begunAt: 0, origin: row.isNewcomer ? nil : Self.origin)
        #expect(Self.rules.decide(row.attempt, in: row.session, callback, now: row.at * 1000) == row.decision)
    }

    @Test(arguments: [(30_000, .emptiedSession), (28_000, .newSession)] as [(Int64, CallbackDecision.Destination)])
    func `a session that is over by a clock that may be wrong keeps its accounts`(
        _ deletionTime: Int64, _ destination: CallbackDecision.Destination
    ) {
        var rules = Self.rules
        rules.deletionTime = { deletionTime }
        let callback = ArrivedCallback(
            state: SHA256Hash(of: "s"), code: SHA256Hash(of: "c"), cookie: Self.begun, fresh: SHA256Hash(of: "fresh"),
            begunAt: 0, origin: Self.origin)
        let decision = rules.decide(nil, in: Self.session(lastSeenAt: -3_571), callback, now: 30_000)
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
    func `a session's row says whether it is over`(_ name: String, _ row: SessionRow, at seconds: Int64, isOver: Bool) {
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
            ("alive", 3600, true, .keep), ("over for less than two minutes", 3720, true, .keep),
            ("over", 3721, true, .delete), ("empty and over", 1921, false, .delete),
            ("empty, over for less than two minutes", 1920, false, .keep),
        ] as [(String, Int64, Bool, SignInRules.Purge)])
    func `a purge deletes sessions that have been over for two minutes`(
        _ name: String, at seconds: Int64, hasAccounts: Bool, _ expected: SignInRules.Purge
    ) {
        #expect(Self.rules.purge(Self.session(hasAccounts: hasAccounts), now: seconds * 1000) == expected, "\(name)")
    }

    /// Over by its age at 36,000 seconds; or nobody is in it, and no sign-in has come back.
    @Test(
        arguments: [
            ("somebody was there just now", true, false, 36_121, .empty), ("long ago", true, false, 38_041, .delete),
            ("at the last moment of an attempt", true, false, 38_040, .empty),
            ("empty already", false, false, 38_040, .keep),
            ("empty, nobody comes back", false, false, 38_041, .delete),
            ("a name alone", false, true, 38_041, .keep),
        ] as [(String, Bool, Bool, Int64, SignInRules.Purge)])
    func `a session that was used as lately as a sign-in may take is emptied, and deleted later`(
        _ name: String, hasAccounts: Bool, remembers: Bool, at seconds: Int64, _ expected: SignInRules.Purge
    ) {
        let row = Self.session(hasAccounts: hasAccounts, remembers: remembers, lastSeenAt: 36_120, lastAttemptAt: nil)
        #expect(Self.rules.purge(row, now: seconds * 1000) == expected, "\(name)")
        var rules = Self.rules
        rules.lastUse = { _ in 36_120_000 }
        var unwritten = row
        unwritten.lastSeenAt = 0
        #expect(rules.purge(unwritten, now: seconds * 1000) == expected, "\(name), a use that only memory knows of")
    }

    @Test(
        arguments: [
            (consumed(), 130, false), (consumed(), 131, true), (consumed { $0.failedAt = 20_000 }, 30, true),
        ] as [(AttemptRow, Int64, Bool)])
    func `an attempt that failed, or takes longer than a redemption, is cut off`(
        _ row: AttemptRow, at seconds: Int64, expected: Bool
    ) {
        #expect(Self.rules.isCutOff(row, now: seconds * 1000) == expected)
        #expect((row.consumedAt < Self.rules.oldestRedemption(now: seconds * 1000)) == (seconds == 131))
    }

    @Test func `an attempt that is neither completed nor failed may be completed`() {
        for row in [Self.consumed(), Self.consumed { $0.failedAt = 20_000 }, Self.completed] {
            #expect(SignInRules.isBeingRedeemed(row) == (row == Self.consumed()))
        }
    }

    @Test(arguments: [
        ("user.read", "user.read", true), ("mail.read user.read", "user.read", true), ("mail.read", "user.read", false),
        ("", "", true), ("", "user.read", false), ("user.read", "", false),
    ])
    func `a token is superseded by a newer one for some of its scopes`(_ old: String, by newer: String, expected: Bool)
    {
        #expect(SignInRules.isSuperseded(old, by: newer) == expected)
    }
}
