import Foundation

@testable import Companion
@testable import CompanionCore

/// Refreshes, one by one and at the same time as something else.
extension LifecycleDriver {
    func refresh(_ slot: Slot, _ calls: [Call]) async throws {
        // One after the other would wait for the lock; what was not saved is saved by the first.
        if calls.count == 1 || model.isLocked || model.accounts[slot]?.unsaved != nil
            || model.accounts[slot]?.unchecked != nil
        {
            return try await refresh(slot, calls.first ?? .ordinary)
        }
        // Whether the next failure meets them depends on which of two companions is asked.
        if model.forgetful(slot) != nil { try await fail(nil) }
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
        let isOfCheck = model.failure?.isOfCheck == true
        model.absorb(slot, answers, wasReplayed: wasReplayed)
        guard isOfCheck else { return }
        // Which response was the last and is kept is not known. Its refresh token is good.
        try await settleChecks()
        tick(61)
        try await refresh(slot, .forced)
    }

    func refresh(_ slot: Slot, _ call: Call) async throws {
        let before = (asked: requests, expected: model.requests)
        let candidates = ([model] + [model.unharmed, model.forgetful(slot)].compactMap { $0 })
            .flatMap { [$0] + [$0.unkept(slot)].compactMap { $0 } }
        // libcurl repeats what it sent on a connection that had ended.
        let repeats = model.unharmed == nil ? 0 : 1
        var outcome = try await visitor.outcome(of: call, slot, ids)
        // `/me` does not say whether a token was renewed for it.
        func seen(_ outcome: Outcome) -> Outcome { call == .me && outcome == .refreshed ? .cache : outcome }
        let asked = try await counts().requests - before.asked
        var expectations: [String] = []
        for candidate in candidates {
            var candidate = candidate
            let expected = candidate.call(slot, call)
            if expected == .notSignedIn, outcome == .refused("interaction_required") { outcome = .notSignedIn }
            let allowed = candidate.requests - before.expected
            if seen(outcome) == seen(expected), (allowed...allowed + repeats).contains(asked) {
                model = candidate
                return
            }
            expectations.append("\(expected) after \(allowed) token requests")
        }
        throw LawBroken("\(call) came to \(outcome) after \(asked) token requests, not to any of \(expectations)")
    }

    /// Whether one more refresh token was used twice, which law 3 has to allow.
    func wasReplayed(_ slot: Slot) async throws -> Bool {
        guard try await counts().replayed == model.replays + 1 else { return false }
        try demand(model.mayBeReplayed(slot), "law 3: a refresh token was used twice")
        return true
    }

    func refreshDuringSignOut(_ slot: Slot, _ call: Call) async throws {
        guard !model.isLocked, model.accounts[slot]?.unchecked == nil else { return try await refresh(slot, call) }
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

    func refreshDuringCallback(_ slot: Slot, _ call: Call) async throws {
        guard !model.isLocked, !model.isDown, model.accounts[slot]?.unchecked == nil else {
            return try await refresh(slot, call)
        }
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

    func signInDuringRefusal(_ slot: Slot) async throws {
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
}
