import Foundation

@testable import Companion

/// Failures of the provider and of the store, and restarts.
extension LifecycleDriver {
    /// - Parameter failure: keys are rotated once in a schedule. The tenant forgets the key before the previous one, with
    ///   which access tokens of this schedule may be signed.
    func fail(_ failure: LifecycleModel.Failure?) async throws {
        let rotates = failure == .lateKey || failure == .noKeys
        if rotates {
            guard !hasRotated else { return try await fail(nil) }
            hasRotated = true
        }
        func answer(_ status: Int, _ rest: String) -> String { #"{"status":\#(status),\#(rest)}"# }
        let answer: String =
            switch failure {
            case .unavailable: answer(503, #""body":"down""#)
            case .garbage: answer(200, #""body":"<p>A proxy was here.</p>""#)
            case .throttled: answer(429, #""body":"{}","headers":{"Retry-After":"\#(site.isClustered ? 0 : 17)"}"#)
            case .invalidClient: answer(401, #""body":{"error":"invalid_client","error_codes":[7000222]}"#)
            case .invalidGrant: answer(400, #""body":{"error":"invalid_grant","error_codes":[50173]}"#)
            case .closed, .lostAnswer, .lateKey, .noKeys, .clockBehind, nil: "null"
            }
        let issued = Int(site.clock.now().timeIntervalSince1970) + LifecycleModel.clockLag
        let claims = failure == .clockBehind ? #"{"iat":\#(issued),"nbf":\#(issued)}"# : "{}"
        let keys = failure == .lateKey ? #""late""# : failure == .noKeys ? #""unavailable""# : "null"
        try await site.control(
            #"{"token_error":\#(answer),"close_connection":\#(failure == .closed ? #""token""# : "null"),"#
                + #""lost_token_answer":\#(failure == .lostAnswer),"id_token_claims":\#(claims),"key_set":\#(keys)"#
                + (rotates ? #","rotate_key":true}"# : "}"))
        model.failure = failure
        isCheckFailing = failure?.isOfCheck == true
    }

    /// Ends a failure of checks with the response that it has met, and moves its times with the clock until then.
    func settleChecks() async throws {
        guard isCheckFailing, model.failure == nil || model.failure == .clockBehind else { return }
        // A check that nobody waits for any more would still succeed.
        try await site.untilSettled()
        try await fail(model.failure)
    }

    func setDown(_ isDown: Bool) async throws {
        // Whether a response can be checked then depends on whether its key has come with another one meanwhile.
        guard model.isDown != isDown, !isDown || !model.isAnyUnchecked else { return }
        try await site.control(#"{"provider_down":\#(isDown ? #""all""# : "null")}"#)
        model.isDown = isDown
    }

    func setLocked(_ isLocked: Bool) async throws {
        guard model.isLocked != isLocked else { return }
        try refuseWrites(isLocked)
        model.isLocked = isLocked
        guard !isLocked else { return }
        try await site.untilSettled()
        model.settle()
    }

    /// The store fails when the provider has been asked: what it gives cannot be stored.
    func lockStoreDuringRefresh(_ slot: Slot) async throws {
        guard !model.isLocked, !model.isDown, let held = model.accounts[slot], !held.isRevoked, !held.isSpent,
            held.unsaved == nil, !held.isRefusedForAll, !model.isRefused(slot, .main)
        else { return try await refresh(slot, .forced) }
        try await fail(nil)
        try await site.hold()
        let (visitor, ids) = (visitor, ids)
        async let refresh = visitor.outcome(of: .forced, slot, ids)
        try await site.untilHeld()
        try await setLocked(true)
        try await site.letGo()
        let outcome = try await refresh
        switch outcome {
        case .refreshed: model.absorb(slot, [(.forced, outcome)], wasReplayed: false)
        // The caller of a machine that stalls has left before the answer.
        case .refused("storage_unavailable"), .refused("provider_unavailable"): model.keepUnsaved(slot)
        default: throw LawBroken("with a store that fails a refresh came to \(outcome)")
        }
    }

    /// The provider answers when nobody waits any more.
    func answerLate(_ slot: Slot) async throws {
        guard !model.isLocked, !model.isDown, let held = model.accounts[slot], !held.isRevoked, !held.isSpent,
            !held.isRefusedForAll, !model.isRefused(slot, .main)
        else { return try await refresh(slot, .forced) }
        try await fail(nil)
        try await site.hold()
        let outcome = try await visitor.outcome(of: .forced, slot, ids)
        try demand(outcome == .refused("provider_unavailable"), "nobody waits so long, but it came to \(outcome)")
        try await site.letGo()
        try await site.untilSettled()
        model.takeLateAnswer(slot)
    }

    func restart() async throws {
        if model.mayHaveUnwrittenUses { try await setLocked(false) }
        try await site.restart()
        model.restart()
    }

    func restartDuringRefresh(_ slot: Slot) async throws {
        guard !model.isLocked, !model.isDown, model.accounts[slot]?.unsaved == nil else { return try await restart() }
        try await fail(nil)
        // A server that stops begins no refresh.
        let allowed = model.outcomes(slot, [.forced]).union([.none, .refused("provider_unavailable")])
        let (visitor, ids) = (visitor, ids)
        async let refresh = visitor.outcome(of: .forced, slot, ids)
        try await restart()
        let outcome = try await refresh
        try demand(allowed.contains(outcome), "during a restart a refresh came to \(outcome), none of \(allowed)")
        let wasReplayed = try await wasReplayed(slot)
        model.absorb(slot, [(.forced, outcome)], wasReplayed: wasReplayed)
        model.accounts[slot]?.mayHaveForgotten = true
        // The browser asks again for an answer that it did not get.
        try await self.refresh(slot, .forced)
    }
}
