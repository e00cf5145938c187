import CompanionCore
import Foundation
import OpenIDConnect
import SessionStore
import WebFormats

/// The purpose and parameters of a sign-in attempt, encrypted until its callback. The second half of the flow trusts
/// nothing else.
struct AttemptPurpose: Sendable {
    let kind: SignInKind
    let authority: Authority
    /// The redirect URI that the provider knows. The response must arrive there, and the code is redeemed with it.
    let redirectURI: String
    /// The claims request, sent to the authorization endpoint and to the token endpoint.
    let claims: ClaimsRequest?
    /// The mark of the attempt in ``AttemptHistory``.
    let mark: String?
    /// The maximum age of the authentication in seconds; nil if it was not limited.
    let maxAge: Int?
    /// The username that the request named.
    var loginHint: String?
    /// The part that consent plays in the request.
    var consent = Consent.settled
    /// The request's parameters, for display on pages.
    let settings: AttemptSettings
    /// The authorization endpoint, for the timeline of a browser that had no session when it left.
    let departedTo: String?

    /// The part that consent plays in a request for `offline_access`.
    enum Consent: Int64 {
        /// It was asked for where it is needed, or cannot be.
        case settled
        /// It was not asked for, which some providers refuse.
        case missing
        /// It was asked for, because the provider has just refused the same request without it.
        case repeated
    }

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

    /// Returns nil if the application's configuration has changed since.
    init?(_ stored: StoredPurpose, _ application: Application) {
        guard let authority = try? Authority(stored.authority, kind: application.kind) else { return nil }
        self.init(
            stored.kind, at: authority, redirectURI: stored.redirectURI,
            claims: stored.claims.flatMap(ClaimsRequest.init(json:)), mark: stored.mark, maxAge: stored.settings.maxAge,
            settings: stored.settings, departedTo: stored.departedTo)
        (loginHint, consent) = (stored.loginHint, stored.consent)
    }

    /// Checks that the provider complied with `max_age` and `prompt=login` (OpenID Connect Core section 3.1.3.7, rule
    /// 13). Without an `auth_time` claim this cannot be checked, and the provider is trusted, unless the claim is required.
    ///
    /// - Parameter isRequired: whether the session of somebody who was here before may still be open at the provider.
    /// - Throws: ``Problem`` `invalid_id_token` if the authentication is too old.
    func checkAuthenticationTime(
        of claims: IDTokenClaims, _ attempt: SignInAttempt, isRequired: Bool, now: Date
    ) throws(Problem) {
        guard let time = claims.authenticationTime else {
            guard isRequired else { return }
            throw Problem(
                .invalidIDToken,
                "The identity provider does not report when you signed in, and it cannot sign you out. Therefore this shared device does not accept the sign-in. Tell the operator.",
                reason: "the ID token has no auth_time, and the provider no end_session_endpoint")
        }
        guard let maxAge = maxAge ?? (isRequired ? KioskRules.maxAge : nil) else { return }
        let age = attempt.prompt == Prompt.login.rawValue ? 0 : maxAge
        let earliest = min(attempt.begunAt.addingTimeInterval(-TimeInterval(age)), now)
        guard time.isWithin(earliest...now) else {
            throw Self.oldSignIn("auth_time is older than max_age and prompt allow")
        }
    }

    /// Returns the problem of a provider that was asked for the password and let somebody in without it.
    static func oldSignIn(_ reason: String) -> Problem {
        Problem(
            .invalidIDToken,
            "The identity provider was asked for a fresh sign-in but used an older one. Tell the operator.",
            reason: reason)
    }

    /// The bytes that the attempt stores.
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
        fields.append(settings.acrValues)
        fields.append(loginHint)
        fields.append(consent.rawValue)
        return fields.bytes
    }
}

/// The stored form of a purpose. It can be read even if the application's configuration has changed since.
struct StoredPurpose {
    let kind: SignInKind
    let authority: String
    let redirectURI: String
    let claims: String?
    let mark: String?
    let settings: AttemptSettings
    let departedTo: String?
    let loginHint: String?
    let consent: AttemptPurpose.Consent

    /// Parses the stored form; returns nil if it is not valid.
    init?(_ attempt: SignInAttempt) {
        var fields = PackedReader(attempt.payload)
        do {
            guard let kind = SignInKind(rawValue: try fields.text()) else { return nil }
            self.kind = kind
            var settings = AttemptSettings(
                prompt: kind == .adminConsent ? kind.rawValue : attempt.prompt, scopes: attempt.requestedScopes)
            authority = try fields.text()
            redirectURI = try fields.text()
            claims = try fields.optionalText()
            settings.claims = claims.map(AttemptSettings.short)
            mark = try fields.optionalText()
            let seconds = try fields.number()
            settings.maxAge = seconds < 0 ? nil : Int(clamping: seconds)
            settings.loginHint = try fields.number() > 0
            settings.domainHint = try fields.optionalText()
            settings.tenant = try fields.optionalText()
            settings.policy = try fields.optionalText()
            departedTo = try fields.optionalText()
            // Earlier versions end here.
            settings.acrValues = (try? fields.optionalText()) ?? nil
            loginHint = (try? fields.optionalText()) ?? nil
            consent = (try? fields.number()).flatMap(AttemptPurpose.Consent.init) ?? .settled
            self.settings = settings
        } catch {
            return nil
        }
    }
}
