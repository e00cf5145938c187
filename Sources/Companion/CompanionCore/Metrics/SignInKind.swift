/// The purpose of a browser's visit to the provider, with its name in metrics, the audit log and the stored attempt.
package enum SignInKind: String, Sendable, Codable {
    case signIn = "sign_in"
    case editProfile = "edit_profile"
    case resetPassword = "reset_password"
    case adminConsent = "admin_consent"

    package init(_ flow: Application.UserFlow) {
        self =
            switch flow {
            case .signIn: .signIn
            case .editProfile: .editProfile
            case .resetPassword: .resetPassword
            }
    }

    /// The user flow of the sign-in; nil for an administrator's consent.
    package var userFlow: Application.UserFlow? {
        switch self {
        case .signIn: .signIn
        case .editProfile: .editProfile
        case .resetPassword: .resetPassword
        case .adminConsent: nil
        }
    }
}
