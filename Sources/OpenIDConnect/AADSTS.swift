/// What is known about the platform's error numbers (facts/identity-platform.md). They refine the hint and the code
/// within what `error` and `suberror` already decided.
enum AADSTS {
    static let consentMissing = 65001
    static let consentDeclined = 65004
    static let adminConsent: Set<Int> = [90094, 90095]
    /// Client ID, redirect URI, secret, assertion or client type.
    static let clientFaults: Set<Int> = [
        50011, 500112, 700016, 50194, 7_000_218, 700025, 7_000_215, 7_000_222, 700027,
    ]
    /// This account may not use this application.
    static let accountRefused: Set<Int> = [50020, 50105, 53003]
    /// AADB2C90091: cancelled on a B2C page.
    static let policyCancelled = 90091

    static let hints: [Int: String] = [
        50058: "There is no session at the provider: sign in.",
        16000: "The provider cannot tell which account is meant: sign in and pick one.",
        50076: "A second factor is needed: sign in again.",
        50079: "A second factor must be set up: sign in again.",
        65001: "The application's permissions have not been agreed to yet: sign in and agree.",
        65004: "The permissions were declined.",
        90094: "An administrator must agree to the application's permissions.",
        90095: "An administrator must agree to the application's permissions.",
        70008: "The sign-in is too old: sign in again.",
        700082: "The sign-in was not used for too long: sign in again.",
        50173: "The sign-in was revoked: sign in again.",
        70043: "The sign-in is older than the organization allows: sign in again.",
        54005: "The code was already used: sign in again.",
        50011: "The redirect URI is not registered: register it exactly as configured.",
        500112: "The redirect URI is not the one of the authorization request: check the registration.",
        7_000_218: "The client secret is missing: the redirect URI is of the type web.",
        700025: "A client secret was sent for a redirect URI of the type mobile and desktop: remove one of the two.",
        7_000_215: "The client secret is wrong: configure the secret's value, not its ID.",
        7_000_222: "The client secret has expired: make a new one.",
        700027: "The client assertion is not accepted: check the certificate.",
        700016: "The tenant does not know the application: check client ID and authority.",
        50194: "The application is not multi-tenant: configure its tenant as the authority.",
        50020: "The account does not exist in the application's tenant: use another account.",
        50105: "The account is not assigned to the application: ask the administrator.",
        53003: "The organization's policy blocks this sign-in: ask the administrator.",
        50196: "The provider stopped a loop of requests: wait a few minutes.",
        70011: "A scope is not valid: check the configured scopes.",
    ]

    static func hint(for code: OpenIDError.Code) -> String {
        switch code {
        case .interactionRequired: "The provider wants a new sign-in."
        case .consentRequired: "The application's permissions have not been agreed to: sign in and agree."
        case .adminConsentRequired: "An administrator must agree to the application's permissions."
        case .cancelled: "The sign-in was cancelled."
        case .accessDenied: "The provider refuses access for this account."
        case .providerRejectedClient: "The provider rejects this application's registration: check the configuration."
        case .providerRejectedRequest: "The provider rejects the request: check the configured scopes."
        default: "The identity provider is not available: try again later."
        }
    }
}
