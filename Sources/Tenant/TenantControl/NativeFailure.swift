import WebFormats

extension Controls {
    /// The endpoints of native authentication, by their paths below a tenant's.
    package enum NativeEndpoint: String, Sendable, CaseIterable {
        case initiate = "oauth2/v2.0/initiate"
        case challenge = "oauth2/v2.0/challenge"
        case introspect = "oauth2/v2.0/introspect"
        case token = "oauth2/v2.0/token"
        case signUpStart = "signup/v1.0/start"
        case signUpChallenge = "signup/v1.0/challenge"
        case signUpContinue = "signup/v1.0/continue"
        case resetStart = "resetpassword/v1.0/start"
        case resetChallenge = "resetpassword/v1.0/challenge"
        case resetContinue = "resetpassword/v1.0/continue"
        case resetSubmit = "resetpassword/v1.0/submit"
        case resetPoll = "resetpassword/v1.0/poll_completion"
        case registerIntrospect = "register/v1.0/introspect"
        case registerChallenge = "register/v1.0/challenge"
        case registerContinue = "register/v1.0/continue"

        /// The errors that the platform can answer there, as MSAL reads them.
        package var errors: [String] {
            let own: [String] =
                switch self {
                case .initiate: ["user_not_found", "unsupported_challenge_type"]
                case .challenge: ["invalid_grant", "unsupported_challenge_type", "access_denied"]
                case .introspect, .registerIntrospect: []
                case .token:
                    [
                        "invalid_grant", "expired_refresh_token", "unsupported_challenge_type", "invalid_scope",
                        "authorization_pending", "slow_down", "user_not_found",
                    ]
                case .signUpStart:
                    [
                        "invalid_grant", "user_already_exists", "attributes_required", "unsupported_challenge_type",
                        "unsupported_auth_method",
                    ]
                case .signUpChallenge, .resetChallenge: ["unsupported_challenge_type"]
                case .signUpContinue:
                    [
                        "invalid_grant", "user_already_exists", "attributes_required", "verification_required",
                        "credential_required",
                    ]
                case .resetStart: ["user_not_found", "unsupported_challenge_type"]
                case .resetContinue: ["invalid_grant", "verification_required"]
                case .resetSubmit: ["invalid_grant"]
                case .resetPoll: ["invalid_grant", "user_not_found", "in_progress", "not_started", "failed"]
                case .registerChallenge: ["access_denied"]
                case .registerContinue: ["invalid_grant"]
                }
            return ["invalid_request", "unauthorized_client", "invalid_client", "expired_token", "redirect"] + own
        }
    }

    /// An error of an endpoint of native authentication, on demand.
    package struct NativeFailure: Sendable, Hashable {
        package var endpoint: NativeEndpoint
        /// The OAuth error, `redirect` for the way to the browser, or a status of the poll.
        package var error: String
        package var suberror: String?
        /// The number in `error_codes`; nil for none.
        package var code: Int?

        package static let suberrors = [
            "password_too_weak", "password_too_short", "password_too_long", "password_is_invalid",
            "password_recently_used", "password_banned", "attribute_validation_failed", "invalid_oob_value",
            "mfa_required", "registration_required", "provider_blocked_by_rep", "nativeauthapi_disabled",
        ]

        init(_ value: JSONValue) throws(ControlChange.Problem) {
            guard let members = value.object else {
                throw ControlChange.Problem(
                    message: "give null or an object with endpoint, error, suberror and code.")
            }
            for key in members.keys.sorted() where !["endpoint", "error", "suberror", "code"].contains(key) {
                throw ControlChange.Problem(message: "'\(key)' is none of endpoint, error, suberror, code.")
            }
            guard let endpoint = members["endpoint"]?.string.flatMap(NativeEndpoint.init(rawValue:)) else {
                let names = NativeEndpoint.allCases.map(\.rawValue).joined(separator: ", ")
                throw ControlChange.Problem(message: "'endpoint' has to be one of: \(names).")
            }
            guard let error = members["error"]?.string, endpoint.errors.contains(error) else {
                let names = endpoint.errors.joined(separator: ", ")
                throw ControlChange.Problem(message: "'error' has to be one of: \(names).")
            }
            let suberror = members["suberror"] ?? .null
            guard suberror == .null || suberror.string.map(Self.suberrors.contains) == true else {
                let names = Self.suberrors.joined(separator: ", ")
                throw ControlChange.Problem(message: "'suberror' has to be one of: \(names).")
            }
            let code = members["code"] ?? .null
            guard code == .null || code.integer.map((0...9_999_999).contains) == true else {
                throw ControlChange.Problem(message: "'code' has to be a number of at most seven digits.")
            }
            (self.endpoint, self.error, self.suberror, self.code) = (endpoint, error, suberror.string, code.integer)
        }

        var json: JSONValue {
            [
                "endpoint": .string(endpoint.rawValue), "error": .string(error), "suberror": JSONValue(suberror),
                "code": code.map(JSONValue.integer) ?? .null,
            ]
        }
    }

    /// Returns the failure that a request of native authentication ends with.
    package func takeNativeFailure(_ endpoint: NativeEndpoint) -> NativeFailure? {
        use(\.nativeFailure) { $0.endpoint == endpoint }
    }
}
