import Foundation
import TenantDirectory
import WebFormats

/// The reset of a password in an app's own screens.
extension NativeRequest {
    /// The seconds that the platform takes to set a new password. A poll before says that it is in progress.
    private static let settlingSeconds: TimeInterval = 1
    private static let pollSeconds = 2

    /// `POST resetpassword/v1.0/start`
    func startReset() throws -> JSONValue {
        let flow = try begun(.passwordReset, username: username())
        guard try person(flow).signInMethod == .password else { throw PlatformError.noPassword }
        return asks(flow, by: .code) ? try answer(beginning: flow) : Self.redirect
    }

    /// `POST resetpassword/v1.0/challenge`
    func challengeReset() throws -> JSONValue {
        try checkChallengeTypes()
        let flow = try flow(.passwordReset, at: .begun, .code)
        return try answer(sendingTo: VerifiedContact(channel: .email, target: flow.username), flow, step: .code)
    }

    /// `POST resetpassword/v1.0/continue`
    func continueReset() throws -> JSONValue {
        let type = try fields.required("grant_type")
        guard type == "oob" else { throw PlatformError.unsupportedNativeGrant(type) }
        var flow = try flow(.passwordReset, at: .code)
        try checkCode(flow)
        flow.step = .newPassword
        return [
            "continuation_token": .string(try advance(flow)), "expires_in": .integer(ContinuationToken.lifetime),
        ]
    }

    /// `POST resetpassword/v1.0/submit`
    func submitPassword() throws -> JSONValue {
        let password = try fields.required("new_password")
        var flow = try flow(.passwordReset, at: .newPassword)
        let account = try person(flow)
        if let refusal = people.refusal(of: password, for: account) {
            throw PlatformError.passwordRefused(refusal)
        }
        (flow.step, flow.settled) = (.submitted, now.addingTimeInterval(Self.settlingSeconds))
        let token = try advance(flow)
        people.choose(StoredPassword(password, clock: platform.clock), for: account)
        return ["continuation_token": .string(token), "poll_interval": .integer(Self.pollSeconds)]
    }

    /// `POST resetpassword/v1.0/poll_completion`
    func pollReset() throws -> JSONValue {
        var flow = try flow(.passwordReset, at: .submitted)
        guard let settled = flow.settled, now >= settled else { return ["status": "in_progress"] }
        flow.step = .done
        return [
            "status": "succeeded", "continuation_token": .string(try advance(flow)),
            "expires_in": .integer(ContinuationToken.lifetime),
        ]
    }
}
