/// The meaning of one of the platform's error numbers, for people.
public struct ErrorExplanation: Sendable, Hashable {
    /// The person who can fix it.
    public enum Audience: String, Sendable, Hashable, CaseIterable {
        /// The person who signs in.
        case user
        /// An administrator of the person's or the application's tenant.
        case administrator
        /// The person who configures the application.
        case `operator`
    }

    /// The number in the platform's form: `AADSTS50058`, `AADB2C90118`.
    public let number: String
    /// One sentence about the cause.
    public let cause: String
    /// The person who can fix it.
    public let audience: Audience
    /// One sentence with the remedy; an application may replace it by one that names its own settings.
    public var remedy: String

    /// Every number that has an explanation.
    public static var all: [ErrorExplanation] {
        Array(PlatformErrors.workforce.values) + PlatformErrors.userFlows.values
    }
}

/// Knowledge about the platform's error numbers. `error` and `suberror` decide. The numbers, which may change, refine
/// the code within that, and explain it.
enum PlatformErrors {
    static let consentMissing = 65001
    static let consentDeclined = 65004
    static let adminConsent: Set<Int> = [90094, 90095]
    static let redirectURIMismatch: Set<Int> = [50011, 500112]
    /// The client ID, redirect URI, secret, assertion or client type is wrong.
    static let clientFaults: Set<Int> = [
        50011, 500112, 700016, 50194, 7_000_218, 700025, 7_000_215, 7_000_222, 700027,
    ]
    /// The account may not use this application.
    static let accountRefused: Set<Int> = [50020, 50105, 53003]
    /// AADB2C90091: the person cancelled on a B2C page.
    static let policyCancelled = 90091
    /// AADB2C90118: "Forgot your password?" on a B2C page.
    static let passwordForgotten = 90118

    /// The explanations for Entra ID, by the number after `AADSTS`.
    static let workforce: [Int: ErrorExplanation] = explanations(
        prefix: "AADSTS",
        [
            (50058, .user, "You are not signed in at the provider.", "Sign in."),
            (16000, .user, "The provider cannot determine which account to use.", "Sign in and choose the account."),
            (50076, .user, "The organization requires a second factor.", "Sign in again and confirm it."),
            (50079, .user, "A second factor has to be set up first.", "Sign in again and follow the set-up."),
            (65001, .user, "The application's permissions have not been granted yet.", "Sign in and accept them."),
            (65004, .user, "The permissions were declined.", "Sign in again and accept them if you want to continue."),
            (
                90094, .administrator, "In this organization, only administrators can grant these permissions.",
                "Open the consent address and accept for everyone."
            ),
            (
                90095, .administrator, "The organization requires an administrator to review this application.",
                "Request approval on the provider's page, or ask an administrator to open the consent address."
            ),
            (70008, .user, "The code or the sign-in has expired.", "Sign in again."),
            (700082, .user, "The sign-in was not used for 90 days.", "Sign in again."),
            (50173, .user, "The sign-in was revoked, for example after a password change.", "Sign in again."),
            (70043, .user, "The sign-in is older than the organization allows.", "Sign in again."),
            (54005, .user, "The code of this sign-in has already been used.", "Start the sign-in again."),
            (
                50011, .operator, "The redirect URI is not registered.",
                "Register it exactly as the application sends it."
            ),
            (
                500112, .operator, "The redirect URI differs from the one that the sign-in began with.",
                "Send the same redirect URI with the code, and register exactly that one."
            ),
            (
                7_000_218, .operator, "The registration requires a client secret or assertion, but none is configured.",
                "Configure one, or register the redirect URI under mobile and desktop applications."
            ),
            (
                700025, .operator, "The registration is a public client, which must not send a secret.",
                "Remove the secret, or register the redirect URI under Web."
            ),
            (
                7_000_215, .operator, "The client secret is wrong.",
                "Configure the secret's value, not its ID. If the value is lost, create a new secret."
            ),
            (
                7_000_222, .operator, "The client secret has expired.",
                "Create a new one in the app registration and configure it."
            ),
            (
                700027, .operator, "The client's certificate or assertion is not accepted.",
                "Upload the certificate to the app registration, and check this machine's clock."
            ),
            (
                700016, .operator, "The tenant does not know this application.",
                "Check client_id and authority, or ask an administrator of that tenant to add the application."
            ),
            (
                50194, .operator, "The application is for one tenant only.",
                "Configure its own tenant as the authority, or register it as multi-tenant."
            ),
            (
                50020, .user, "The account is not in the application's tenant.",
                "Use an account from that tenant, or ask its administrator to invite yours."
            ),
            (
                50105, .administrator, "The account is not assigned to the application.",
                "Assign it under Enterprise applications, Users and groups."
            ),
            (
                53003, .administrator, "A conditional access policy blocks this sign-in.",
                "Look up the correlation ID in the sign-in log to find the policy."
            ),
            (
                50196, .operator, "The provider stopped a loop of requests.",
                "Wait a few minutes, then look for the repeating request."
            ),
            (
                70011, .operator, "A scope is not valid.",
                "Check the configured scopes. They must be spelled exactly and belong to one resource."
            ),
        ])

    /// The explanations for Azure AD B2C, by the number after `AADB2C`.
    static let userFlows: [Int: ErrorExplanation] = explanations(
        prefix: "AADB2C",
        [
            (90118, .user, "You asked to reset the password.", "Set a new one on the next page."),
            (90091, .user, "You cancelled on the sign-in page.", "Start again if you want to continue."),
            (90077, .user, "You are not signed in at the provider.", "Sign in."),
        ])

    private static func explanations(
        prefix: String, _ rows: [(Int, ErrorExplanation.Audience, String, String)]
    ) -> [Int: ErrorExplanation] {
        Dictionary(
            rows.map { number, audience, cause, remedy in
                (
                    number,
                    ErrorExplanation(number: "\(prefix)\(number)", cause: cause, audience: audience, remedy: remedy)
                )
            }
        ) { first, _ in first }
    }

    static func hint(for code: OpenIDError.Code) -> String {
        switch code {
        case .interactionRequired: "The provider requires a new sign-in."
        case .consentRequired: "The application's permissions have not been granted: sign in and grant them."
        case .adminConsentRequired: "An administrator must grant the application's permissions."
        case .cancelled: "The sign-in was cancelled."
        case .passwordResetRequested: "The person asked to reset the password."
        case .accessDenied: "The provider refuses access for this account."
        case .providerRejectedClient: "The provider rejects this application's registration: check the configuration."
        case .providerRejectedRequest: "The provider rejects the request: check the configured scopes."
        default: "The identity provider is not available: try again later."
        }
    }
}
