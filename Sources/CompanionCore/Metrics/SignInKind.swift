/// What a browser went to the provider for, as metrics, the audit log and the attempt name it.
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

    /// The user flow in which somebody signs in; nil where an administrator agrees.
    package var userFlow: Application.UserFlow? {
        switch self {
        case .signIn: .signIn
        case .editProfile: .editProfile
        case .resetPassword: .resetPassword
        case .adminConsent: nil
        }
    }
}
