import Foundation
import OpenIDConnect
import SessionStore

/// What an attempt is for, as it is kept, sealed, until its callback: the second half of the flow trusts nothing else.
struct AttemptPurpose: Sendable {
    enum Kind: String, Sendable, Codable {
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

        /// The user flow in which somebody signs in; nil where an administrator agrees.
        var userFlow: Application.UserFlow? {
            switch self {
            case .signIn: .signIn
            case .editProfile: .editProfile
            case .resetPassword: .resetPassword
            case .adminConsent: nil
            }
        }
    }

    let kind: Kind
    let authority: Authority
    /// Where the answer has to come to, as the provider knows it, and with which the code is redeemed.
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
        guard let stored = Stored(attempt), let authority = try? Authority(stored.authority, kind: application.kind)
        else {
            throw Problem(.stateMismatch, "The application's settings changed during this sign-in. Start again.")
        }
        self.init(
            stored.kind, at: authority, redirectURI: stored.redirectURI,
            claims: stored.claims.flatMap(ClaimsRequest.init(json:)), mark: stored.mark, maxAge: stored.maxAge)
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
                "The identity provider was asked for a fresh sign-in but used an older one. Tell the operator.",
                reason: "auth_time is older than max_age and prompt allow")
        }
    }

    /// What it is for, which can be read even when the application was configured otherwise since.
    static func kind(of attempt: SignInAttempt) -> Kind { Stored(attempt)?.kind ?? .signIn }

    /// The mark alone, which can be read even when the application was configured otherwise since.
    static func mark(of attempt: SignInAttempt) -> String? { Stored(attempt)?.mark }

    /// What the attempt keeps of it.
    var payload: String {
        let stored = Stored(
            kind: kind, authority: authority.description, redirectURI: redirectURI, claims: claims?.json, mark: mark,
            maxAge: maxAge)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        // Encoding strings and a number cannot fail; were it to, the callback would ask to begin again.
        return (try? encoder.encode(stored)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
}

/// The form in which an attempt keeps its purpose.
private struct Stored: Codable {
    var kind: AttemptPurpose.Kind
    var authority: String
    var redirectURI: String
    var claims: String?
    var mark: String?
    var maxAge: Int?
}

extension Stored {
    /// Nil for a sign-in that an earlier version began.
    fileprivate init?(_ attempt: SignInAttempt) {
        guard let stored = try? JSONDecoder().decode(Stored.self, from: Data(attempt.payload.utf8)) else { return nil }
        self = stored
    }
}
