import Foundation
import HTTPTypes

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn

/// A law that did not hold, or an answer that is not what the model says.
struct LawBroken: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// Does a schedule's steps to a real companion and its tenant, and looks after each whether the model's laws hold.
final class LifecycleDriver {
    typealias Call = LifecycleModel.Call
    typealias Outcome = LifecycleModel.Outcome
    typealias Slot = LifecycleModel.Slot

    let site: Site
    /// Makes every write fail, or ends that.
    let refuseWrites: (Bool) throws -> Void
    /// Account ids by username.
    let ids: [String: String]
    private let schedule: LifecycleSchedule
    let visitor: Visitor
    var model: LifecycleModel
    /// The tenant's count of token requests when it was last read.
    var requests = 0
    var hasRotated = false
    /// Whether the tenant still gives responses that cannot be checked.
    var isCheckFailing = false

    /// - Parameter browser: one that is signed in at the provider alone, which spares the pages for passwords.
    init(
        _ schedule: LifecycleSchedule, _ site: Site, isAtTwo: Bool, browser: Visitor, ids: [String: String],
        refuseWrites: @escaping (Bool) throws -> Void
    ) {
        self.schedule = schedule
        self.site = site
        self.refuseWrites = refuseWrites
        self.ids = ids
        visitor = browser.copy()
        visitor.sessionCookie = nil
        model = LifecycleModel(isSingleUse: schedule.isSingleUse, isClustered: site.isClustered, isAtTwo: isAtTwo)
    }

    /// The people whose accounts the steps name: signed in once, so that the tenant has their consent.
    static func people(in visitor: Visitor) async throws -> [String: String] {
        var ids: [String: String] = [:]
        for person in ["adele@contoso.example", "megan@contoso.example"] {
            try await visitor.signIn(query: "scope=mail.read", username: person)
            let account = try await visitor.api(.get, "/api/ios/account").json["account"] as? [String: Any]
            ids[person] = account?["id"] as? String
        }
        return ids
    }

    // MARK: The schedule

    func run() async throws {
        var done: [String] = []
        do {
            try await site.control(
                #"{"reset":true,"access_token_seconds":\#(LifecycleModel.accessTokenSeconds),"#
                    + #""refresh_token_single_use":\#(schedule.isSingleUse)}"#)
            for step in schedule.steps {
                tick(61)
                done.append("\(step)")
                try await settleChecks()
                try await take(step)
                try await settleChecks()
                try await check()
            }
            done.append("the end")
            try await end()
        } catch {
            try? await setLocked(false)
            throw LawBroken(
                """
                \(error)
                Schedule \(schedule.seed)\(schedule.isSingleUse ? ", single-use refresh tokens" : "") (LIFECYCLE_SEED=\(schedule.seed) \
                LIFECYCLE_SCHEDULES=1 runs it again):
                  \(done.joined(separator: "\n  "))
                """)
        }
    }

    func tick(_ seconds: Int) {
        site.clock.advance(TimeInterval(seconds))
        model.now += seconds
    }

    func take(_ step: LifecycleStep) async throws {
        switch step {
        case .begin(let slot): try await begin(slot)
        case .callback(let before, let arrival): try await callback(before: before, arrival)
        case .refresh(let slot, let calls): try await refresh(slot, calls)
        case .refreshDuringSignOut(let slot, let call): try await refreshDuringSignOut(slot, call)
        case .refreshDuringCallback(let slot, let call): try await refreshDuringCallback(slot, call)
        case .signInDuringRefusal(let slot): try await signInDuringRefusal(slot)
        case .signOut(let slot): try await signOut(slot)
        case .switchTo(let slot): try await switchTo(slot)
        case .wait(let seconds): tick(seconds)
        case .wrongClock(let seconds): try await wrongClock(seconds)
        case .fail(let failure): try await fail(failure)
        case .providerGoes: try await setDown(true)
        case .providerComes: try await setDown(false)
        case .revoke(let person):
            try await site.control(#"{"revoke":"\#(person)"}"#)
            model.revoke(person)
        case .lockStore: try await setLocked(true)
        case .unlockStore: try await setLocked(false)
        case .lockStoreDuringRefresh(let slot): try await lockStoreDuringRefresh(slot)
        case .lateAnswer(let slot): try await answerLate(slot)
        case .restart: try await restart()
        case .restartDuringRefresh(let slot): try await restartDuringRefresh(slot)
        }
    }

    /// All failures are over: who is signed in can work, without a sign-in unless the provider itself wants one.
    func end() async throws {
        try await setLocked(false)
        try await setDown(false)
        try await fail(nil)
        try await check()
        for slot in model.accounts.keys.sorted(by: { ($0.app, $0.person) < ($1.app, $1.person) }) {
            tick(61)
            try await refresh(slot, [.me])
            guard model.accounts[slot]?.needsSignIn == true else { continue }
            try await begin(slot)
            try await callback(before: 0, .once)
            try await check()
            try await refresh(slot, [.forced])
        }
        try await check()
    }

    // MARK: The laws

    func check() async throws {
        for app in Set(model.attempts.map(\.slot.app)).union(["ios"]).sorted() {
            let answer = try await visitor.api(.get, "/api/\(app)/accounts")
            guard let entries = answer.json["accounts"] as? [[String: Any]] else {
                throw LawBroken("\(app)'s accounts: \(answer.status) \(answer.text)")
            }
            let listed = entries.map { entry in
                LifecycleModel.Listed(
                    person: entry["username"] as? String ?? "?", isCurrent: entry["current"] as? Bool ?? false,
                    needsSignIn: entry["needs_sign_in"] is String)
            }.sorted()
            try demand(listed == model.list(app), "laws 1 and 4: \(app) has \(listed), not \(model.list(app))")
        }
        let counts = try await counts()
        try demand(counts.codeReplayed == 0, "law 2: a code was redeemed twice")
        try demand(
            counts.replayed == model.replays,
            "law 3: \(counts.replayed) refresh tokens were used twice, not \(model.replays)")
    }

    func counts() async throws -> (codeReplayed: Int, replayed: Int, requests: Int) {
        let counts = try await site.counts()
        requests = counts["token_requests"] ?? -1
        return (counts["code_replayed"] ?? -1, counts["refresh_replayed"] ?? -1, requests)
    }

    func demand(_ holds: Bool, _ text: @autoclosure () -> String) throws {
        if !holds { throw LawBroken(text()) }
    }

    /// Law 1: whatever the answers are meanwhile, who was signed in is when the clock is right.
    private func wrongClock(_ seconds: Int) async throws {
        site.clock.setWrong(by: TimeInterval(seconds))
        defer { site.clock.setWrong(by: 0) }
        for path in ["/api/ios/accounts", "/api/macos/account", "/ios"] {
            let answer = try await visitor.get(path)
            try demand(answer.status == 200, "\(path) with a wrong clock: \(answer.status) \(answer.text)")
        }
    }

    // MARK: Sign-in and sign-out

    /// To the provider and back, up to the callback's URL, which is kept.
    func begin(_ slot: Slot) async throws {
        let cookie = visitor.sessionCookie
        let hint = slot.person.replacing("@", with: "%40")
        // The provider does not answer browsers either while it is away.
        let answer = try? await visitor.walkToCallback(
            app: slot.app, query: "login_hint=\(hint)", username: slot.person)
        guard let location = answer?.location, location.contains("/auth/callback?code=") else {
            return try demand(
                model.isLocked && answer?.status == 503 || model.isDown,
                "the sign-in does not begin: \(answer?.status ?? 0) \(answer?.location ?? "") \(answer?.text.prefix(300) ?? "")"
            )
        }
        // Within a second of a write that was stored, nothing is known of a store that takes no other.
        try demand(!model.isDown, "a sign-in began that cannot")
        model.attempts.append(
            LifecycleModel.Attempt(
                slot: slot, callback: location, begunAt: model.now, cookie: visitor.sessionCookie ?? cookie))
    }

    func callback(before: Int, _ arrival: LifecycleStep.Arrival) async throws {
        let index = model.attempts.count - 1 - before
        guard model.attempts.indices.contains(index) else { return }
        let attempt = model.attempts[index]
        // One answer can be taken for a repeated request's, several cannot.
        if arrival != .once, model.failure == .closed { try await fail(nil) }
        switch arrival {
        case .once:
            let unharmed = model.unharmed
            let expected = model.callback(index)
            let landing = try await visitor.landing(of: attempt)
            // A session in which nobody signed in ends with its last attempt; then this is another session's.
            if landing == .otherBrowser, model.isOver(attempt), attempt.cookie != visitor.sessionCookie { return }
            try expect(landing, expected, or: unharmed) { $0.callback(index) }
        case .twiceAtOnce:
            guard !model.isOver(attempt) else { return try await callback(before: before, .once) }
            let renewsCookie = model.isGood(index) || attempt.isCompleted
            let expected = model.callback(index)
            // Anyone who comes when the first has ended: it may have given the browser another cookie, which this one does
            // not have; else the sign-in is over.
            let afterwards = renewsCookie ? .otherBrowser : model.callback(index)
            let tabs = [visitor.copy(), visitor.copy()]
            async let first = tabs[0].landing(of: attempt)
            async let second = tabs[1].landing(of: attempt)
            let landings = try await [first, second]
            try demand(
                landings.contains(expected) && landings.allSatisfy { $0 == expected || $0 == afterwards },
                "two callbacks at once came to \(landings), not \(expected)")
            try await adopt(tabs, attempt.slot.app)
        case .inAnotherBrowser:
            let stranger = Visitor(site)
            if !model.isLocked, !model.isDown { _ = try await stranger.get("/auth/\(attempt.slot.app)/sign-in") }
            try expect(try await stranger.landing(of: attempt), .otherBrowser)
            let account = try await stranger.api(.get, "/api/\(attempt.slot.app)/account")
            try demand(account.json["account"] is NSNull, "law 4: a stranger is signed in")
        case .withItsFirstAnswerLost:
            // Only a cookie that is the attempt's own proves that the browser has not gone on.
            guard attempt.state == .waiting, attempt.cookie == visitor.sessionCookie else {
                return try await callback(before: before, .once)
            }
            let expected = model.callback(index)
            try expect(try await visitor.copy().landing(of: attempt), expected)
            let again = model.callback(index)
            try expect(try await visitor.landing(of: attempt), again)
        }
    }

    func expect(_ landing: LifecycleModel.Landing, _ expected: LifecycleModel.Landing) throws {
        try demand(landing == expected, "the callback came to \(landing), not \(expected)")
    }

    /// Takes what was found as the model has it, or as the model has it where nothing failed, if that can be.
    func expect<Result: Equatable>(
        _ found: Result, _ expected: Result, or unharmed: LifecycleModel?, _ step: (inout LifecycleModel) -> Result
    ) throws {
        if found != expected, var other = unharmed, step(&other) == found {
            model = other
        } else {
            try demand(found == expected, "it came to \(found), not \(expected)")
        }
    }

    /// After answers that may have come in any order, the browser has the cookie of one of them.
    func adopt(_ tabs: [Visitor], _ app: String) async throws {
        for tab in tabs {
            let accounts = try await tab.api(.get, "/api/\(app)/accounts").json["accounts"] as? [Any]
            if accounts?.count == model.list(app).count {
                visitor.sessionCookie = tab.sessionCookie
                return
            }
        }
    }

    func signOut(_ slot: Slot) async throws {
        let isLocked = model.isLocked && model.accounts[slot] != nil
        let answer = try await visitor.api(
            .post, "/auth/\(slot.app)/sign-out", body: #"{"account":"\#(ids[slot.person] ?? "")"}"#)
        try demand(answer.status == (isLocked ? 503 : 200), "sign-out: \(answer.status) \(answer.text)")
        if !isLocked { model.signOut(slot) }
    }

    func switchTo(_ slot: Slot) async throws {
        let id = ids[slot.person] ?? ""
        let answer = try await visitor.api(.put, "/api/\(slot.app)/account", body: #"{"id":"\#(id)"}"#)
        if model.accounts[slot] == nil {
            try demand([401, 404].contains(answer.status), "switched to nobody: \(answer.status)")
        } else if model.isLocked {
            try demand(answer.status == 503, "switched while nothing can be stored: \(answer.status)")
        } else {
            try demand(answer.status == 200, "not switched: \(answer.status) \(answer.text)")
            model.current[slot.app] = slot.person
        }
    }
}
