import Foundation
import HTTPTypes

@testable import Companion

/// A law that did not hold, or an answer that is not what the model says.
struct LawBroken: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// Does a schedule's steps to a real companion and its tenant, and looks after each whether the model's laws hold.
final class LifecycleDriver {
    private typealias Call = LifecycleModel.Call
    private typealias Outcome = LifecycleModel.Outcome
    private typealias Slot = LifecycleModel.Slot

    private let site: Site
    private let lock: StoreLock
    /// Account ids by username.
    private let ids: [String: String]
    private let schedule: LifecycleSchedule
    let visitor: Visitor
    private var model: LifecycleModel
    /// How many token requests the tenant had when it was last asked.
    private var requests = 0

    /// - Parameter browser: one that is signed in at the provider alone, which spares the pages for passwords.
    init(_ schedule: LifecycleSchedule, _ site: Site, browser: Visitor, lock: StoreLock, ids: [String: String]) {
        self.schedule = schedule
        self.site = site
        self.lock = lock
        self.ids = ids
        visitor = browser.copy()
        visitor.sessionCookie = nil
        model = LifecycleModel(isSingleUse: schedule.isSingleUse)
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
                try await take(step)
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

    private func tick(_ seconds: Int) {
        site.clock.advance(TimeInterval(seconds))
        model.now += seconds
    }

    private func take(_ step: LifecycleStep) async throws {
        // libcurl repeats what was sent on a connection that it had used before: the failure is one on a new connection.
        if model.failure == .closed { try await fail(.closed) }
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
        case .fail(let failure): try await fail(failure)
        case .providerGoes: try await setDown(true)
        case .providerComes: try await setDown(false)
        case .revoke(let person):
            try await site.control(#"{"revoke":"\#(person)"}"#)
            model.revoke(person)
        case .lockStore: try await setLocked(true)
        case .unlockStore: try await setLocked(false)
        case .lockStoreDuringRefresh(let slot): try await lockStoreDuringRefresh(slot)
        case .restart: try await restart()
        case .restartDuringRefresh(let slot): try await restartDuringRefresh(slot)
        }
    }

    /// All failures are over: who is signed in can work, without a sign-in unless the provider itself wants one.
    private func end() async throws {
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

    private func check() async throws {
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

    private func counts() async throws -> (codeReplayed: Int, replayed: Int, requests: Int) {
        let counts = try await site.counts()
        requests = counts["token_requests"] ?? -1
        return (counts["code_replayed"] ?? -1, counts["refresh_replayed"] ?? -1, requests)
    }

    private func demand(_ holds: Bool, _ text: @autoclosure () -> String) throws {
        if !holds { throw LawBroken(text()) }
    }

    // MARK: Sign-in and sign-out

    /// To the provider and back, up to the callback's URL, which is kept.
    private func begin(_ slot: Slot) async throws {
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
        try demand(!model.isLocked && !model.isDown, "a sign-in began that cannot")
        model.attempts.append(
            LifecycleModel.Attempt(
                slot: slot, callback: location, begunAt: model.now, cookie: visitor.sessionCookie ?? cookie))
    }

    private func callback(before: Int, _ arrival: LifecycleStep.Arrival) async throws {
        let index = model.attempts.count - 1 - before
        guard model.attempts.indices.contains(index) else { return }
        let attempt = model.attempts[index]
        switch arrival {
        case .once:
            let expected = model.callback(index)
            try expect(try await visitor.landing(of: attempt), expected)
        case .twiceAtOnce:
            let renewsCookie = model.isGood(index) || attempt.isCompleted
            let expected = model.callback(index)
            // Whoever comes when the first has ended: it may have given the browser another cookie, which this one does
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
            try expect(try await stranger.landing(of: attempt), model.isLocked ? .unavailable : .otherBrowser)
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

    private func expect(_ landing: LifecycleModel.Landing, _ expected: LifecycleModel.Landing) throws {
        try demand(landing == expected, "the callback came to \(landing), not \(expected)")
    }

    /// After answers that may have come in any order, the browser has the cookie of one of them.
    private func adopt(_ tabs: [Visitor], _ app: String) async throws {
        for tab in tabs {
            let accounts = try await tab.api(.get, "/api/\(app)/accounts").json["accounts"] as? [Any]
            if accounts?.count == model.list(app).count {
                visitor.sessionCookie = tab.sessionCookie
                return
            }
        }
    }

    private func signOut(_ slot: Slot) async throws {
        let isLocked = model.isLocked && model.accounts[slot] != nil
        let answer = try await visitor.api(
            .post, "/auth/\(slot.app)/sign-out", body: #"{"account":"\#(ids[slot.person] ?? "")"}"#)
        try demand(answer.status == (isLocked ? 503 : 200), "sign-out: \(answer.status) \(answer.text)")
        if !isLocked { model.signOut(slot) }
    }

    private func switchTo(_ slot: Slot) async throws {
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

    // MARK: Refreshes

    private func refresh(_ slot: Slot, _ calls: [Call]) async throws {
        // One after the other would wait for the lock; what was not saved is saved by the first.
        if calls.count == 1 || model.isLocked || model.accounts[slot]?.unsaved != nil {
            return try await refresh(slot, calls.first ?? .ordinary)
        }
        let allowed = model.outcomes(slot, calls)
        let answers = try await withThrowingTaskGroup(of: (Call, Outcome).self) { group in
            for call in calls {
                group.addTask { [visitor, ids] in (call, try await visitor.outcome(of: call, slot, ids)) }
            }
            return try await group.reduce(into: []) { $0.append((call: $1.0, outcome: $1.1)) }
        }
        for answer in answers {
            try demand(
                allowed.contains(answer.outcome), "\(answer.call) came to \(answer.outcome), none of \(allowed)")
        }
        let wasReplayed = try await wasReplayed(slot)
        model.absorb(slot, answers, wasReplayed: wasReplayed)
    }

    private func refresh(_ slot: Slot, _ call: Call) async throws {
        let before = (asked: requests, expected: model.requests)
        let expected = model.call(slot, call)
        let outcome = try await visitor.outcome(of: call, slot, ids)
        try demand(
            outcome == expected || call == .me && outcome == .cache && expected == .refreshed
                || expected == .notSignedIn && outcome == .refused("interaction_required"),
            "\(call) came to \(outcome), not \(expected)")
        let asked = try await counts().requests - before.asked
        let allowed = model.requests - before.expected
        try demand(asked == allowed, "\(call) made \(asked) token requests, not \(allowed)")
    }

    /// Whether one more refresh token was used twice, which law 3 has to allow.
    private func wasReplayed(_ slot: Slot) async throws -> Bool {
        guard try await counts().replayed == model.replays + 1 else { return false }
        try demand(model.mayBeReplayed(slot), "law 3: a refresh token was used twice")
        return true
    }

    private func refreshDuringSignOut(_ slot: Slot, _ call: Call) async throws {
        guard !model.isLocked else { return try await refresh(slot, call) }
        let allowed = model.outcomes(slot, [call]).union([.notSignedIn, .refused("interaction_required")])
        let tab = visitor.copy()
        let (visitor, ids) = (visitor, ids)
        async let refresh = tab.outcome(of: call, slot, ids)
        async let signOut = visitor.api(
            .post, "/auth/\(slot.app)/sign-out", body: #"{"account":"\#(ids[slot.person] ?? "")"}"#)
        let (outcome, answer) = try await (refresh, signOut)
        try demand(answer.status == 200, "sign-out: \(answer.status) \(answer.text)")
        try demand(allowed.contains(outcome), "\(call) came to \(outcome), none of \(allowed)")
        if try await wasReplayed(slot) { model.replays += 1 }
        model.signOut(slot)
        // It may have met its request, or not.
        try await fail(nil)
    }

    private func refreshDuringCallback(_ slot: Slot, _ call: Call) async throws {
        guard !model.isLocked, !model.isDown else { return try await refresh(slot, call) }
        try await fail(nil)
        try await begin(slot)
        let allowed = model.outcomes(slot, [call]).union([.notSignedIn, .refused("interaction_required")])
        let index = model.attempts.count - 1
        let attempt = model.attempts[index]
        let tab = visitor.copy()
        let (visitor, ids) = (visitor, ids)
        async let refresh = tab.outcome(of: call, slot, ids)
        async let callback = visitor.landing(of: attempt)
        let (outcome, landing) = try await (refresh, callback)
        try demand(allowed.contains(outcome), "\(call) came to \(outcome), none of \(allowed)")
        if try await wasReplayed(slot) { model.replays += 1 }
        try expect(landing, model.callback(index))
        if outcome == .refreshed { model.absorb(slot, [(call, outcome)], wasReplayed: false) }
    }

    private func signInDuringRefusal(_ slot: Slot) async throws {
        guard !model.isLocked, !model.isDown, model.accounts[slot] != nil else {
            return try await refresh(slot, .forced)
        }
        try await fail(nil)
        try await take(.revoke(slot.person))
        try await begin(slot)
        let index = model.attempts.count - 1
        let attempt = model.attempts[index]
        let tab = visitor.copy()
        try await site.control(#"{"token_delay_ms":30}"#)
        let before = requests
        let (visitor, ids) = (visitor, ids)
        async let callback = visitor.landing(of: attempt)
        try await site.untilRequested(after: before)
        // The refusal comes when the sign-in is complete.
        try await site.control(#"{"token_delay_ms":80}"#)
        let outcome = try await tab.outcome(of: .forced, slot, ids)
        let landing = try await callback
        try await site.control(#"{"token_delay_ms":0}"#)
        try demand(
            [.refused("interaction_required"), .refreshed, .notSignedIn].contains(outcome), "came to \(outcome)")
        try expect(landing, model.callback(index))
    }

    // MARK: Failures

    private func fail(_ failure: LifecycleModel.Failure?) async throws {
        func answer(_ status: Int, _ rest: String) -> String { #"{"status":\#(status),\#(rest)}"# }
        let answer: String =
            switch failure {
            case .unavailable: answer(503, #""body":"down""#)
            case .garbage: answer(200, #""body":"<p>A proxy was here.</p>""#)
            case .throttled: answer(429, #""body":"{}","headers":{"Retry-After":"17"}"#)
            case .invalidClient: answer(401, #""body":{"error":"invalid_client","error_codes":[7000222]}"#)
            case .invalidGrant: answer(400, #""body":{"error":"invalid_grant","error_codes":[50173]}"#)
            case .closed, .lostAnswer, nil: "null"
            }
        try await site.control(
            #"{"token_error":\#(answer),"close_connection":\#(failure == .closed ? #""token""# : "null"),"#
                + #""lost_token_answer":\#(failure == .lostAnswer)}"#)
        model.failure = failure
    }

    private func setDown(_ isDown: Bool) async throws {
        guard model.isDown != isDown else { return }
        try await site.control(#"{"provider_down":\#(isDown ? #""all""# : "null")}"#)
        model.isDown = isDown
    }

    private func setLocked(_ isLocked: Bool) async throws {
        guard model.isLocked != isLocked else { return }
        try isLocked ? lock.take() : lock.release()
        model.isLocked = isLocked
    }

    /// The store fails when the provider has been asked: what it gives cannot be stored.
    private func lockStoreDuringRefresh(_ slot: Slot) async throws {
        guard !model.isLocked, !model.isDown, let held = model.accounts[slot], !held.isRevoked, !held.isSpent,
            held.unsaved == nil
        else { return try await refresh(slot, .forced) }
        try await fail(nil)
        try await site.control(#"{"token_delay_ms":60}"#)
        let before = requests
        let (visitor, ids) = (visitor, ids)
        async let refresh = visitor.outcome(of: .forced, slot, ids)
        try await site.untilRequested(after: before)
        try await setLocked(true)
        let outcome = try await refresh
        try await site.control(#"{"token_delay_ms":0}"#)
        switch outcome {
        case .refreshed: model.absorb(slot, [(.forced, outcome)], wasReplayed: false)
        case .refused("storage_unavailable"): model.keepUnsaved(slot)
        default: throw LawBroken("with a store that fails a refresh came to \(outcome)")
        }
    }

    private func restart() async throws {
        try await site.restart()
        model.restart()
    }

    private func restartDuringRefresh(_ slot: Slot) async throws {
        guard !model.isLocked, !model.isDown, model.accounts[slot]?.unsaved == nil else { return try await restart() }
        try await fail(nil)
        let allowed = model.outcomes(slot, [.forced]).union([.none])
        let (visitor, ids) = (visitor, ids)
        async let refresh = visitor.outcome(of: .forced, slot, ids)
        try await restart()
        let outcome = try await refresh
        try demand(allowed.contains(outcome), "during a restart a refresh came to \(outcome), none of \(allowed)")
        let wasReplayed = try await wasReplayed(slot)
        model.absorb(slot, [(.forced, outcome)], wasReplayed: wasReplayed)
        // What the browser did not learn, it asks again.
        try await self.refresh(slot, .forced)
    }
}

extension Site {
    /// Waits until the tenant has one more token request, which it may still hold back.
    func untilRequested(after before: Int) async throws {
        for _ in 0..<2000 {
            if try await count("token_requests") > before { return }
            await Task.yield()
        }
        throw TestFailure("no token request came")
    }
}

extension Visitor {
    /// Where a callback comes out.
    func landing(of attempt: LifecycleModel.Attempt) async throws -> LifecycleModel.Landing {
        let answer = try await get(attempt.callback)
        switch (answer.status, answer.location) {
        case (303, "/\(attempt.slot.app)"): return .page
        case (303, let location?) where location.hasPrefix("/\(attempt.slot.app)?sign_in_error="): return .error
        case (503, nil): return .unavailable
        case (400..<500, nil): return .otherBrowser
        default: throw LawBroken("the callback came to \(answer.status) \(answer.location ?? answer.text)")
        }
    }

    /// What a call for an account comes to.
    func outcome(
        of call: LifecycleModel.Call, _ slot: LifecycleModel.Slot, _ ids: [String: String]
    ) async throws -> LifecycleModel.Outcome {
        let id = ids[slot.person] ?? ""
        let answer: Answer?
        if call == .me {
            answer = try? await api(.get, "/api/\(slot.app)/me?account=\(id)")
        } else {
            let wishes =
                switch call {
                case .forced: #","force_refresh":true"#
                case .mail: #","scopes":["mail.read"]"#
                case .ordinary, .me: ""
                }
            answer = try? await api(.post, "/api/\(slot.app)/token", body: #"{"account":"\#(id)"\#(wishes)}"#)
        }
        guard let answer else { return .none }
        switch (answer.status, answer.code) {
        case (200, _): return answer.json["source"] as? String == "refreshed" ? .refreshed : .cache
        case (404, _), (401, "session_expired"): return .notSignedIn
        case (_, let code?): return .refused(code)
        default: throw LawBroken("\(call) came to \(answer.status) \(answer.text)")
        }
    }
}

/// SQLite's write lock, in the hands of another program.
final class StoreLock {
    private let process: Process
    private let input: FileHandle
    private let output: FileHandle

    init(_ database: String) throws {
        (process, input, output) = try SQLiteShell.start(database)
        try run(".timeout 5000")
    }

    func take() throws { try run("BEGIN IMMEDIATE;") }
    func release() throws { try run("ROLLBACK;") }

    func close() throws {
        try input.close()
        process.waitUntilExit()
    }

    private func run(_ statement: String) throws {
        input.write(Data("\(statement)\nSELECT 'done';\n".utf8))
        let answer = String(decoding: output.availableData, as: UTF8.self)
        guard answer == "done\n" else { throw TestFailure("sqlite3: \(statement) \(answer)") }
    }
}
