import TenantDirectory
import WebFormats

/// A message above the form; of an account of another tenant, instead of it.
enum SignInNotice: Sendable, Codable {
    case unknownAccount(String)
    case unknownPerson(String)
    case wrongKind(isPersonal: Bool)
    case notInTenant(username: String)
    case wrongPassword
    case wrongOwnPassword
    case wrongCode
    case codeExpired
    case tooManyCodes
    case passwordRefused(PasswordRefusal)
    case cancelledAtProvider
    case noDisplayName
    case refused(SignUp.Refusal)
}

extension SignInNotice {
    var html: HTML {
        let message: HTML =
            switch self {
            case .unknownAccount(let name):
                HTML(
                    saying: "We couldn’t find an account named “%@”. Pick one of the demo accounts.", "\(name)")
            case .unknownPerson(let name): HTML(saying: "We couldn’t find an account named “%@”.", "\(name)")
            case .notInTenant: ""
            case .wrongKind(isPersonal: true):
                HTML(saying: "You can’t sign in here with a personal account. Use a work or school account instead.")
            case .wrongKind(isPersonal: false):
                HTML(saying: "You can’t sign in here with a work or school account. Use a personal account instead.")
            case .refused(let refusal): "\(refusal.message)"
            case .noDisplayName: HTML(saying: "Give a name of 1 to 64 characters.")
            case .wrongPassword:
                HTML(
                    saying: "Your account or password is incorrect. The password of every demo account is %@.",
                    .demoPassword)
            case .wrongOwnPassword: HTML(saying: "Your account or password is incorrect.")
            // The sentences of B2C's pages (ver_fail_retry, ver_fail_code_expired, ver_fail_no_retry).
            case .wrongCode: HTML(saying: "That code is incorrect. Please try again.")
            case .codeExpired: HTML(saying: "That code is expired. Please request a new code.")
            case .tooManyCodes: HTML(saying: "You’ve made too many incorrect attempts. Please try again later.")
            case .passwordRefused(let refusal): HTML(saying: refusal.sentence)
            case .cancelledAtProvider: HTML(saying: "You cancelled the sign-in at Contoso Social.")
            }
        return "<p class=\"notice\" id=\"notice\" role=\"alert\">\(message)</p>"
    }
}
