import Foundation

@testable import Companion
@testable import CompanionCore

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
    /// The place at which a callback ends.
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

    /// The outcome of a call for an account.
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
        case (_, "invalid_id_token"): return .refused(LifecycleModel.unchecked)
        case (_, let code?): return .refused(code)
        default: throw LawBroken("\(call) came to \(answer.status) \(answer.text)")
        }
    }
}
