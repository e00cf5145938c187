import CompanionCore
import Foundation
import OpenIDConnect
import SessionStore
import WebFormats

/// What an attempt is for, as it is kept, sealed, until its callback: the second half of the flow trusts nothing else.
struct AttemptPurpose: Sendable {
    let kind: SignInKind
    let authority: Authority
    /// Where the answer has to come to, as the provider knows it, and with which the code is redeemed.
    let redirectURI: String
    /// What the token is asked to satisfy, at the authorization endpoint and at the token endpoint alike.
    let claims: ClaimsRequest?
    /// Its mark in ``AttemptHistory``.
    let mark: String?
    /// How long ago the person may have proved who they are, in seconds; nil when that was not asked for.
    let maxAge: Int?
    /// Its request, as pages show it.
    let settings: AttemptSettings
    /// Where the browser went, for the timeline of somebody who had no session then.
    let departedTo: String?

    init(
        _ kind: SignInKind, at authority: Authority, redirectURI: String, claims: ClaimsRequest? = nil,
        mark: String? = nil,
        maxAge: Int? = nil, settings: AttemptSettings, departedTo: String? = nil
    ) {
        self.kind = kind
        self.authority = authority
        self.redirectURI = redirectURI
        self.claims = claims
        self.mark = mark
        self.maxAge = maxAge
        self.settings = settings
        self.departedTo = departedTo
    }

    /// - Throws: when the application was configured otherwise since.
    init(_ attempt: SignInAttempt, _ application: Application) throws(Problem) {
        guard let stored = Stored(attempt), let authority = try? Authority(stored.authority, kind: application.kind)
        else {
            throw Problem(.stateMismatch, "The application's settings changed during this sign-in. Start again.")
        }
        self.init(
            stored.kind, at: authority, redirectURI: stored.redirectURI,
            claims: stored.claims.flatMap(ClaimsRequest.init(json:)), mark: stored.mark, maxAge: stored.maxAge,
            settings: stored.settings(of: attempt), departedTo: stored.departedTo)
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
    static func kind(of attempt: SignInAttempt) -> SignInKind { Stored(attempt)?.kind ?? .signIn }

    /// The mark alone, which can be read even when the application was configured otherwise since.
    static func mark(of attempt: SignInAttempt) -> String? { Stored(attempt)?.mark }

    /// The beginning of the story of somebody who had no session, of which the same holds.
    static func beginning(
        of attempt: SignInAttempt
    ) -> (authority: String, settings: AttemptSettings, departedTo: String?)? {
        Stored(attempt).map { ($0.authority, $0.settings(of: attempt), $0.departedTo) }
    }

    /// What the attempt keeps of it.
    var payload: [UInt8] {
        var fields = PackedFields()
        fields.append(kind.rawValue)
        fields.append(authority.description)
        fields.append(redirectURI)
        fields.append(claims?.json)
        fields.append(mark)
        fields.append(Int64(maxAge ?? -1))
        fields.append(settings.loginHint ? 1 : 0)
        for text in [settings.domainHint, settings.tenant, settings.policy, departedTo] { fields.append(text) }
        return fields.bytes
    }
}

/// The form in which an attempt keeps its purpose.
private struct Stored {
    let kind: SignInKind
    let authority: String
    let redirectURI: String
    let claims: String?
    let mark: String?
    let maxAge: Int?
    private let hasLoginHint: Bool
    private let domainHint: String?
    private let tenant: String?
    private let policy: String?
    let departedTo: String?

    /// Nil for what has not this form.
    init?(_ attempt: SignInAttempt) {
        var fields = PackedReader(attempt.payload)
        do {
            guard let kind = SignInKind(rawValue: try fields.text()) else { return nil }
            self.kind = kind
            authority = try fields.text()
            redirectURI = try fields.text()
            claims = try fields.optionalText()
            mark = try fields.optionalText()
            let seconds = try fields.number()
            maxAge = seconds < 0 ? nil : Int(clamping: seconds)
            hasLoginHint = try fields.number() > 0
            domainHint = try fields.optionalText()
            tenant = try fields.optionalText()
            policy = try fields.optionalText()
            departedTo = try fields.optionalText()
        } catch {
            return nil
        }
    }

    func settings(of attempt: SignInAttempt) -> AttemptSettings {
        var settings = AttemptSettings(
            prompt: kind == .adminConsent ? kind.rawValue : attempt.prompt, scopes: attempt.requestedScopes,
            tenant: tenant)
        settings.loginHint = hasLoginHint
        settings.domainHint = domainHint
        settings.claims = claims.map(AttemptSettings.short)
        settings.policy = policy
        return settings
    }
}
