import Foundation
import OpenIDConnect
import SessionStore

/// What an attempt is for, as it is kept, sealed, until its callback: the second half of the flow trusts nothing else.
struct AttemptPurpose: Sendable {
    enum Kind: String, Sendable {
        case signIn = "sign_in"
        case editProfile = "edit_profile"
        case resetPassword = "reset_password"
        case adminConsent = "admin_consent"

        init(_ flow: Application.UserFlow) {
            self =
                switch flow {
                case .signIn: .signIn
                case .editProfile: .editProfile
                case .resetPassword: .resetPassword
                }
        }
    }

    let kind: Kind
    let authority: Authority
    /// Where the answer has to come to, as the provider was told, and with which the code is redeemed.
    let redirectURI: String
    /// What the token is asked to satisfy, at the authorization endpoint and at the token endpoint alike.
    let claims: ClaimsRequest?
    /// Its mark in ``AttemptHistory``.
    let mark: String?
    /// How long ago the person may have proved who they are, in seconds; nil when that was not asked for.
    let maxAge: Int?

    init(
        _ kind: Kind, at authority: Authority, redirectURI: String, claims: ClaimsRequest? = nil, mark: String? = nil,
        maxAge: Int? = nil
    ) {
        self.kind = kind
        self.authority = authority
        self.redirectURI = redirectURI
        self.claims = claims
        self.mark = mark
        self.maxAge = maxAge
    }

    init(_ options: SignInOptions, redirectURI: String, mark: String) {
        self.init(
            Kind(options.userFlow), at: options.authority, redirectURI: redirectURI, claims: options.claims, mark: mark,
            maxAge: options.maxAge)
    }

    /// - Throws: when the application was configured otherwise since.
    init(_ attempt: SignInAttempt, _ application: Application) throws(Problem) {
        guard let kind = attempt.attributes["purpose"].flatMap(Kind.init(rawValue:)),
            let authority = attempt.attributes["authority"].flatMap({ try? Authority($0, kind: application.kind) })
        else {
            throw Problem(.stateMismatch, "The application was configured anew since this sign-in began. Start again.")
        }
        self.init(
            kind, at: authority,
            redirectURI: attempt.attributes["redirect_uri"] ?? application.registration.redirectURI,
            claims: attempt.attributes["claims"].flatMap(ClaimsRequest.init(json:)),
            mark: AttemptPurpose.mark(of: attempt), maxAge: attempt.attributes["max_age"].flatMap { Int($0) })
    }

    /// Whether the provider did as `max_age` and `prompt=login` asked (OpenID Connect Core section 3.1.3.7, rule 13). Where
    /// it does not say when the person proved who they are, it has to be believed.
    ///
    /// - Throws: ``Problem`` `invalid_id_token`.
    func checkAuthenticationTime(of claims: IDTokenClaims, _ attempt: SignInAttempt, now: Date) throws(Problem) {
        guard let maxAge, let time = claims.authenticationTime else { return }
        let age = attempt.prompt == Prompt.login.rawValue ? 0 : maxAge
        let earliest = min(attempt.begunAt.addingTimeInterval(-TimeInterval(age)), now)
        guard time.isWithin(earliest...now) else {
            throw Problem(
                .invalidIDToken,
                "The identity provider was asked for a fresh sign-in, and it took an older one. Tell the operator.",
                reason: "auth_time is older than max_age and prompt allow")
        }
    }

    /// What it is for, which can be read even when the application was configured otherwise since.
    static func kind(of attempt: SignInAttempt) -> Kind {
        attempt.attributes["purpose"].flatMap(Kind.init(rawValue:)) ?? .signIn
    }

    /// The mark alone, which can be read even when the application was configured otherwise since.
    static func mark(of attempt: SignInAttempt) -> String? { attempt.attributes["mark"] }

    var attributes: [String: String] {
        var attributes = [
            "purpose": kind.rawValue, "authority": authority.description, "redirect_uri": redirectURI,
        ]
        attributes["claims"] = claims?.json
        attributes["mark"] = mark
        attributes["max_age"] = maxAge.map(String.init)
        return attributes
    }
}
