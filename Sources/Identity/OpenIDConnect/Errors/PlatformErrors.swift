/// The numbers of the platform that refine an error's code. `error` and `suberror` decide; the numbers may change. A test
/// compares them with `Public/data/aadsts.json`, which explains all of them.
enum PlatformErrors {
    static let consentMissing = 65001
    static let consentDeclined = 65004
    static let adminConsent: Set<Int> = [90094, 90095]
    static let redirectURIMismatch: Set<Int> = [50011, 500112]
    /// The client ID, redirect URI, secret, assertion or client type is wrong.
    static let clientFaults: Set<Int> = [
        50011, 500112, 700016, 50194, 7_000_218, 700025, 7_000_215, 7_000_222, 700027,
    ]
    /// The secret, certificate or assertion is missing, wrong or expired, or a public client has sent one.
    static let credentialFaults: Set<Int> = [7_000_215, 7_000_218, 7_000_222, 700025, 700027]
    /// The same at a B2C user flow, which says `invalid_request` of a secret that is missing (AADB2C90079).
    static let policyCredentialFaults: Set<Int> = [90079, 90081, 90084]
    /// The application itself is not assigned to a role of the application whose token it asks for.
    static let applicationUnassigned = 501_051
    /// The account may not use this application.
    static let accountRefused: Set<Int> = [50020, 50105, 53003]
    /// AADB2C90091: the person cancelled on a B2C page.
    static let policyCancelled = 90091
    /// AADB2C90118: "Forgot your password?" on a B2C page.
    static let passwordForgotten = 90118

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
