import TenantControl
import TenantDirectory
import WebFormats

// Errors of native authentication. A number without a source in Microsoft's reference is that of the same cause elsewhere.
extension PlatformError {
    static let nativeDisabled = Self(
        error: "invalid_client", number: 7_000_218,
        message: "The application is not enabled for native authentication and for public client flows.",
        status: .unauthorized, suberror: "nativeauthapi_disabled")
    /// The word of Microsoft's reference is another one at two of the challenges and at the token endpoint (t2-na-10).
    static func continuationInvalid(at endpoint: Controls.NativeEndpoint) -> Self {
        let isGrant = [.challenge, .signUpChallenge, .token].contains(endpoint)
        return Self(
            error: isGrant ? "invalid_grant" : "invalid_request", number: 55200,
            message: "The continuation_token provided is not valid for this endpoint.")
    }
    static let continuationExpired = Self(
        error: "expired_token", number: 552_003, message: "The continuation_token is expired.")
    static let noRedirectChallenge = Self(
        error: "unsupported_challenge_type", number: 901_007,
        message: "The challenge_type list parameter does not include the 'redirect' challenge type.")
    static func unknownChallenge(_ name: String) -> Self {
        Self(
            error: "invalid_request", number: 901_007,
            message: "'\(name)' is not a supported challenge type. Use oob, password and redirect.")
    }
    static let usernameInvalid = Self(
        error: "invalid_request", number: 90100, message: "username parameter is empty or not valid.")
    static let clientIDInvalid = Self(
        error: "invalid_request", number: 90100, message: "client_id parameter is empty or not valid.")
    static func userNotFound(_ username: String) -> Self {
        Self(
            error: "user_not_found", number: 50034,
            message: "The user account '\(username)' does not exist in the directory '\(Tenant.fabrikamDomain)'. To "
                + "sign into this application, the account must be added to the directory.")
    }
    static let userAlreadyExists = Self(
        error: "user_already_exists", number: 1_003_037, message: "It looks like you may already have an account.")
    static let tooManyRequests = Self(
        error: "temporarily_unavailable", number: 90055,
        message: "There are too many requests. Wait for a second.", status: .tooManyRequests)
    static let tooManyTries = Self(
        error: "invalid_grant", number: 50053,
        message: "Sign-in was blocked because there were too many wrong tries from this network.")
    static let codeWrong = Self(
        error: "invalid_grant", number: 50126, message: "Unable to validate the one-time passcode.",
        suberror: "invalid_oob_value")
    static let noPassword = Self(
        error: "invalid_request", number: 500_222, message: "The user does not have a password to reset.")
    static let noUserFlow = Self(
        error: "invalid_request", number: 90100,
        message: "No user flow with sign-up is assigned to the application.")
    static let credentialRequired = Self(
        error: "credential_required", number: 55103, message: "Credential required.")
    static func attributesRequired(_ attributes: [DemoClient.Attribute]) -> Self {
        var error = Self(
            error: "attributes_required", number: 90100, message: "One or more user attributes are required.")
        error.members["required_attributes"] = .array(attributes.map(\.json))
        return error
    }
    static func attributesInvalid(_ names: [String]) -> Self {
        var error = Self(
            error: "invalid_grant", number: 90100, message: "User attribute validation failed.",
            suberror: "attribute_validation_failed")
        error.members["invalid_attributes"] = .array(names.map { ["name": .string($0)] })
        return error
    }
    static func passwordRefused(_ refusal: PasswordRefusal) -> Self {
        let message =
            switch refusal {
            case .tooShort: "New password is fewer than \(PasswordRefusal.leastCharacters) characters."
            case .tooLong: "New password is longer than \(PasswordRefusal.mostCharacters) characters."
            case .invalid: "New password has characters that are not allowed."
            case .banned: "New password contains a word, phrase, or pattern that is banned."
            case .recentlyUsed: "New password must not be the same as one recently used."
            case .tooWeak: "New password is too weak."
            }
        return Self(error: "invalid_grant", number: 399_246, message: message, suberror: refusal.rawValue)
    }
    static let nativeSecondFactorNeeded = Self(
        error: "invalid_grant", number: 50076,
        message: "Due to a configuration change made by your administrator, you must use multi-factor authentication.",
        suberror: "mfa_required")
    static let registrationNeeded = Self(
        error: "invalid_grant", number: 50072,
        message: "You must enroll in multi-factor authentication.", suberror: "registration_required")
    static let contactBlocked = Self(
        error: "access_denied", number: 53003,
        message: "The verification contact is blocked because of its reputation.",
        suberror: "provider_blocked_by_rep")
    static let contactInvalid = Self(
        error: "invalid_request", number: 901_001, message: "The challenge_target is not a valid contact.")

    /// Returns an error with a new continuation token, after which the flow goes on.
    func with(_ token: String) -> Self {
        var error = self
        error.members["continuation_token"] = .string(token)
        return error
    }

    /// Returns the error of a failure on demand.
    init(_ failure: Controls.NativeFailure) {
        self.init(
            error: failure.error, number: failure.code ?? 0,
            message: failure.code == 90100 ? Self.usernameInvalid.message : "A failure that was asked for at /control.",
            status: failure.error == "invalid_client" ? .unauthorized : .badRequest, suberror: failure.suberror)
        if failure.code == nil { members["error_codes"] = [] }
        if failure.suberror == "attribute_validation_failed" {
            members["invalid_attributes"] = [["name": "displayName"]]
        }
    }
}

extension DemoClient.Attribute {
    fileprivate var json: JSONValue {
        var members: [String: JSONValue] = [
            "name": .string(name), "type": .string(kind.rawValue), "required": .bool(isRequired),
        ]
        if let pattern { members["options"] = ["regex": .string(pattern)] }
        return .object(members)
    }
}
