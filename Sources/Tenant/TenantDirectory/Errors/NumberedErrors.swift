/// The platform's errors by number, for `token_platform_error` and `authorize_platform_error`. Each can be caused here
/// on demand, whatever causes it on the real platform.
extension PlatformError {
    // Azure AD B2C.
    package static let passwordForgotten = Self(
        error: "access_denied", number: 90118, message: "The user has forgotten their password.", prefix: userFlowPrefix
    )
    package static let userFlowCancelled = Self(
        error: "access_denied", number: 90091, message: "The user has cancelled entering self-asserted information.",
        prefix: userFlowPrefix)
    package static let notSignedInAtUserFlow = Self(
        error: "interaction_required", number: 90077,
        message: "User does not have an existing session and request prompt parameter has a value of 'None'.",
        prefix: userFlowPrefix)
    package static let socialSignInCancelled = Self(
        error: "access_denied", number: 90273,
        message: "An invalid response was received : 'Error: access_denied,Error Description: The person cancelled.'",
        prefix: userFlowPrefix)

    /// Returns the error of a tenant whose social provider does not respond.
    package static func socialProviderDown(at segment: TenantSegment) -> Self {
        guard segment.userFlow != nil else {
            return Self(
                error: "temporarily_unavailable", number: 40010,
                message: "There was an issue with your federated Identity Provider. Contact your IDP to resolve this "
                    + "issue.")
        }
        return Self(
            error: "server_error", number: 90289,
            message: "We encountered an error connecting to the identity provider. Please try again later.",
            prefix: userFlowPrefix)
    }

    private static let others: [PlatformError] = [
        Self(
            error: "interaction_required", number: 50079,
            message: "Due to a configuration change made by your administrator, you must enroll in multi-factor "
                + "authentication to access the resource.", suberror: "basic_action",
            claims: SecondFactor.claimsChallenge),
        Self(
            error: "invalid_grant", number: 65001,
            message: "The user or administrator has not consented to use the application.", suberror: "consent_required"
        ),
        Self(
            error: "invalid_grant", number: 70043,
            message:
                "The refresh token has expired or is invalid due to sign-in frequency checks by conditional access.",
            suberror: "bad_token"),
        Self(
            error: "invalid_client", number: 50011,
            message: "The redirect URI specified in the request does not match those configured for the application."),
        Self(
            error: "invalid_client", number: 500112,
            message: "The reply address does not match the reply address provided when requesting Authorization code."),
        Self(
            error: "invalid_client", number: 7_000_215, message: "Invalid client secret provided.",
            status: .unauthorized),
        Self(
            error: "invalid_client", number: 7_000_222,
            message: "The provided client secret keys are expired. Create new keys for your app.",
            status: .unauthorized),
        Self(
            error: "invalid_client", number: 700027,
            message: "The certificate with identifier used to sign the client assertion is not registered on "
                + "application.", status: .unauthorized),
        Self(
            error: "unauthorized_client", number: 700016,
            message: "Application was not found in the directory. It has not been installed by the administrator."),
        Self(
            error: "unauthorized_client", number: 50194,
            message: "Application is not configured as a multi-tenant application. Usage of the /common endpoint is "
                + "not supported for such apps."),
        Self(
            error: "invalid_grant", number: 50020,
            message: "User account from identity provider does not exist in tenant and cannot access the application."),
        Self(
            error: "access_denied", number: 50105,
            message: "The signed in user is not assigned to a role for the application."),
        Self(
            error: "invalid_grant", number: 50196,
            message: "The server terminated an operation because it encountered a client request loop."),
        Self(
            error: "invalid_scope", number: 70011,
            message: "The provided value for the input parameter 'scope' is not valid."),
        Self(
            error: "invalid_grant", number: 50034,
            message: "The user account does not exist in the directory. To sign into this application, the account "
                + "must be added to the directory.", suberror: "bad_token"),
        Self(
            error: "invalid_grant", number: 50055, message: "The password is expired.",
            suberror: "user_password_expired"),
        Self(error: "invalid_grant", number: 50057, message: "The user account is disabled."),
        Self(
            error: "access_denied", number: 53000,
            message: "Device is not in required device state: compliant. Conditional Access policy requires a "
                + "compliant device, and the device is not compliant."),
        Self(
            error: "access_denied", number: 53001,
            message: "Device is not in required device state: domain_joined. Conditional Access policy requires a "
                + "domain joined device, and the device is not domain joined."),
        // An app that is told so loads Intune's policies (MSIDAADOauth2Factory.m:108).
        Self(
            error: "unauthorized_client", number: 53005,
            message: "Application needs to enforce Intune protection policies.",
            suberror: "protection_policy_required"),
        Self(
            error: "invalid_request", number: 90002,
            message: "Tenant not found. Check to make sure you have the correct tenant ID and are signing into the "
                + "correct cloud."),
        Self(
            error: "invalid_resource", number: 500_011,
            message: "The resource principal was not found in the tenant. \(notInstalled)"),
    ]

    private static let byNumber = Dictionary(
        (others + [
            notSignedIn, ambiguousAccount, secondFactorNeeded, consentDeclined, adminConsentNeeded, codeExpired,
            refreshTokenExpired, grantRevoked, codeRedeemed, secretMissing, secretNotAllowed, blockedByPolicy,
            passwordForgotten, userFlowCancelled, notSignedInAtUserFlow, serverError,
        ]).map { ($0.number, $0) }
    ) { first, _ in first }

    /// Returns the error with this number; nil for a number that the tenant does not know.
    package static func numbered(_ number: Int) -> PlatformError? { byNumber[number] }

    /// All numbers, in order.
    package static let numbers = byNumber.keys.sorted()

    /// The part of a sign-in in which the platform finds an error.
    package enum Moment: Int, Sendable, CaseIterable, Comparable {
        case request, account, authentication

        package static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
    }

    /// The numbers that depend on who has signed in: the state of the account, its device, its assignment, the policies
    /// for it and its consents; and of the request what is only said then (t2-authz-06).
    private static let ofAuthenticated: Set = [
        50020, 50055, 50057, 50076, 50079, 50105, 53000, 53001, 53003, 53005, 65001, 65004, 90094, 500_011,
    ]

    /// The moment of a sign-in at which this error comes.
    package var moment: Moment {
        guard prefix == Self.workforcePrefix else { return .request }
        return Self.ofAuthenticated.contains(number) ? .authentication : number == 50034 ? .account : .request
    }
}
