import TenantDirectory
import WebFormats

/// The first registration of a second factor in an app's own screens.
extension NativeRequest {
    /// `POST register/v1.0/introspect`
    func introspectRegistration() throws -> JSONValue {
        let flow = try registering(.registration, .registrationCode, .preverified)
        // The address is a suggestion, with which the app fills its field.
        let methods: [JSONValue] = [
            [
                "id": "email", "challenge_type": "oob", "challenge_channel": "email",
                "login_hint": .string(flow.username),
            ], ["id": "sms", "challenge_type": "oob", "challenge_channel": "sms"],
        ]
        var next = flow
        next.step = .registration
        return ["continuation_token": .string(try advance(next)), "methods": .array(methods)]
    }

    /// `POST register/v1.0/challenge`
    func challengeRegistration() throws -> JSONValue {
        let type = try fields.required("challenge_type")
        guard type.split(separator: " ").contains("oob") else { throw PlatformError.unknownChallenge(type) }
        let target = try fields.required("challenge_target")
        var flow = try registering(.registration, .registrationCode, .preverified)
        let account = try person(flow)
        let contact = try contact(target)
        guard !account.isContactBlocked else { throw PlatformError.contactBlocked }
        // The mailbox was confirmed at sign-up, or by the code before.
        guard contact.target != account.username else {
            flow.code = NativeFlow.SentCode(text: "", contact: contact, expires: now)
            flow.step = .preverified
            return ["continuation_token": .string(try advance(flow)), "challenge_type": "preverified"]
        }
        var members = try send(to: contact, flow, step: .registrationCode)
        members["challenge_target"] = .string(contact.target)
        return .object(members)
    }

    /// `POST register/v1.0/continue`
    func continueRegistration() throws -> JSONValue {
        var flow: NativeFlow
        switch try fields.required("grant_type") {
        case "oob":
            flow = try registering(.registrationCode)
            try checkCode(flow)
        case "continuation_token": flow = try registering(.preverified)
        case let other: throw PlatformError.unsupportedNativeGrant(other)
        }
        let account = try person(flow)
        guard let contact = flow.code?.contact else { throw continuationInvalid }
        (flow.step, flow.hasSecondFactor) = (.done, true)
        let token = try advance(flow)
        people.register(contact, for: account)
        return ["continuation_token": .string(token)]
    }

    private func registering(_ steps: NativeFlow.Step...) throws(PlatformError) -> NativeFlow {
        let flow = try flow(
            .signIn, .signUp, .passwordReset, at: .registration, .registrationCode, .preverified)
        guard steps.contains(flow.step) else { throw continuationInvalid }
        return flow
    }

    /// Returns the contact that the request names.
    private func contact(_ target: String) throws(PlatformError) -> VerifiedContact {
        let target = SignUp.comparable(target)
        switch fields.text("challenge_channel") ?? "email" {
        case "email" where SignUp.refusal(username: target, displayName: "-") == nil:
            return VerifiedContact(channel: .email, target: target)
        case "sms" where Self.isNumber(target): return VerifiedContact(channel: .sms, target: target)
        default: throw .contactInvalid
        }
    }

    /// Whether a text is a telephone number with its country.
    private static func isNumber(_ text: String) -> Bool {
        text.hasPrefix("+") && text.utf8.allSatisfy { " +-()".utf8.contains($0) || (0x30...0x39).contains($0) }
            && (7...15).contains(text.count { $0.isNumber }) && text.utf8.count <= 32
    }
}
