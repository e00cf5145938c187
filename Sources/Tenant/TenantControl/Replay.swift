package import TenantDirectory

/// A failure of one sign-in, which the companion asks for with the parameter `companion_replay`, to repeat a case. Nobody
/// else's sign-in is concerned.
package enum Replay: String, Sendable, Codable, CaseIterable {
    // At the authorization endpoint.
    case signInNeeded = "sign_in_needed"
    case accountChoice = "account_choice"
    case cancelled
    case adminConsent = "admin_consent"
    case notAssigned = "not_assigned"
    case blocked
    // At the token endpoint, when the code is redeemed.
    case wrongSecret = "wrong_secret"
    case expiredSecret = "expired_secret"
    case codeRedeemed = "code_redeemed"
    case codeExpired = "code_expired"

    /// The error at the authorization endpoint; nil if the sign-in goes on.
    package var authorizationError: PlatformError? {
        switch self {
        case .signInNeeded: .numbered(50058)
        case .accountChoice: .numbered(16000)
        case .cancelled: .numbered(65004)
        case .adminConsent: .numbered(90094)
        case .notAssigned: .numbered(50105)
        case .blocked: .numbered(53003)
        case .wrongSecret, .expiredSecret, .codeRedeemed, .codeExpired: nil
        }
    }

    /// The error when the code is redeemed; nil if there is none.
    package var redemptionError: PlatformError? {
        switch self {
        case .wrongSecret: .numbered(7_000_215)
        case .expiredSecret: .numbered(7_000_222)
        case .codeRedeemed: .numbered(54005)
        case .codeExpired: .numbered(70008)
        case .signInNeeded, .accountChoice, .cancelled, .adminConsent, .notAssigned, .blocked: nil
        }
    }
}
