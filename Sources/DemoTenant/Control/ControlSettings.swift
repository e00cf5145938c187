import WebFormats

/// One setting of the control page: its key in the JSON interface, its name, and what changes for people.
struct ControlSetting: Sendable {
    /// The kinds of forms.
    enum Form: Sendable {
        case number
        case text
        /// One of these sentences and names. The names are the same in every language.
        case choice([(String, HTML)], names: [(String, String)] = [])
        case answer([ControlForm.Preset])
        /// One of the accounts, for a change that happens at once.
        case account(verb: HTML)
        /// A change that happens at once.
        case button(value: String, style: String = "")
        case toggle(off: HTML)
    }

    let key: String
    let title: HTML
    let effect: HTML
    let form: Form

    init(_ key: String, _ title: HTML, _ form: Form, effect: HTML) {
        self.key = key
        self.title = title
        self.form = form
        self.effect = effect
    }

    /// Whether a rule for one app or person can have it.
    var isForRules: Bool { EffectKey.named(key) != nil && key != "unknown_key" }

    static let reset = ControlSetting(
        "reset", "Reset everything", .button(value: "true", style: "danger"),
        effect: "Every setting returns to normal, and the counts restart at 0.")
    static let seed = ControlSetting(
        "reset", "Start over", .button(value: "seed", style: "danger"),
        effect:
            "Resets everything, signs everyone out, and forgets consents, revocations and new accounts. The signing keys stay."
    )
}

/// The settings that show in one place.
struct ControlGroup: Sendable {
    let title: HTML
    let lead: HTML
    let settings: [ControlSetting]

    static let all: [ControlGroup] = [
        ControlGroup(
            title: "The sign-in page", lead: "What people see while they sign in.",
            settings: [
                ControlSetting(
                    "authorize_platform_error", "The next sign-in", .choice([("", "None")], names: errors),
                    effect: "The sign-in ends with this error, in the application or on a page of the platform."),
                ControlSetting(
                    "require_consent", "Ask for consent again", .account(verb: "Require"),
                    effect: "The next sign-in of this person shows the page with the permissions."),
                ControlSetting(
                    "require_mfa", "Require a second factor", .account(verb: "Require"),
                    effect: "The next silent request fails, so the application opens the sign-in page."),
                ControlSetting(
                    "revoke", "Revoke refresh tokens and sessions", .account(verb: "Revoke"),
                    effect: "At the next renewal of a token, the application asks this person to sign in again."),
                ControlSetting(
                    "ignore_max_age", "Ignore prompt=login and max_age",
                    .toggle(off: "Respect prompt=login and max_age"),
                    effect: "When it is ignored, the application gets an earlier sign-in and has to refuse it."),
            ]),
        ControlGroup(
            title: "Tokens", lead: "What the application gets when it redeems a code or renews a token.",
            settings: [
                ControlSetting(
                    "token_error", "Token endpoint", .answer(ControlForm.tokenPresets),
                    effect: "The next token requests get this response: signing in or renewing a token fails."),
                ControlSetting(
                    "token_platform_error", "The next token request", .choice([("", "None")], names: errors),
                    effect: "The application shows what the error means and who can fix it."),
                ControlSetting(
                    "access_token_seconds", "Access tokens (seconds)", .number,
                    effect: "When an access token expires, the application renews it without asking."),
                ControlSetting(
                    "refresh_token_seconds", "Refresh tokens (seconds)", .number,
                    effect: "When a refresh token expires, the person has to sign in again."),
                ControlSetting(
                    "refresh_token_single_use", "Refresh tokens: good for one use",
                    .toggle(off: "Refresh tokens: good for many uses"),
                    effect: "A single-use token that is used twice revokes all tokens of its sign-in."),
                ControlSetting(
                    "declined_scope", "A scope that is never granted", .text,
                    effect: "The sign-in succeeds, but its tokens lack this scope."),
                ControlSetting(
                    "bad_id_token", "ID token of the next code",
                    .choice([("", "Normal")] + DemoIDTokenFault.allCases.map { ($0.rawValue, $0.title) }),
                    effect: "An application that checks the ID token refuses the next sign-in."),
                ControlSetting(
                    "omit_auth_time", "ID tokens without auth_time", .toggle(off: "ID tokens with auth_time"),
                    effect: "Without this claim, an application does not learn when the person entered the password."),
                ControlSetting(
                    "b2c_issuer_without_policy", "B2C: issuer without the user flow",
                    .toggle(off: "B2C: issuer with the user flow"),
                    effect: "Without it, ID tokens name the user flow in the claim acr instead of tfp."),
                ControlSetting(
                    "rotate_key", "Rotate the signing keys", .button(value: "true"),
                    effect: "The next ID token is signed with a new key, which the application has to fetch."),
                ControlSetting(
                    "unknown_key", "Publish a key of an unknown type too", .toggle(off: "Publish RSA keys only"),
                    effect: "Applications that skip unknown keys work as before. Others cannot sign people in."),
                ControlSetting(
                    "generic_provider", "Behave like a generic OpenID provider",
                    .toggle(off: "Behave like Microsoft’s platform"),
                    effect: "A generic provider gives no additional scopes at a renewal, and can revoke tokens."),
            ]),
        ControlGroup(
            title: "Graph and APIs", lead: "What a call with an access token returns.",
            settings: [
                ControlSetting(
                    "graph_error", "Graph", .answer(ControlForm.graphPresets),
                    effect: "The next calls of Graph get this response: the application cannot show the profile."),
                ControlSetting(
                    "expire_tokens", "Let all access tokens expire", .toggle(off: "Accept these access tokens again"),
                    effect: "Graph and the APIs refuse every access token issued until now. A renewed one is accepted."),
                ControlSetting(
                    "claims_challenge", "Begin a claims challenge at Graph", .toggle(off: "End the claims challenge"),
                    effect: "Graph refuses every token until the application requests one with the named claims."),
                ControlSetting(
                    "missing_scope", "A scope that the APIs require", .text,
                    effect: "A call without this scope is refused with 403, and the application can ask for it."),
            ]),
        ControlGroup(
            title: "The network", lead: "Responses that come late, get lost or never arrive.",
            settings: [
                ControlSetting(
                    "provider_down", "Identity provider",
                    .choice([
                        ("", "Available"), ("workforce", "Entra ID is down"),
                        ("external", "The external tenant is down"), ("b2c", "B2C is down"), ("all", "All are down"),
                    ]),
                    effect: "While it is down, no token can be renewed. People who are signed in stay signed in."),
                ControlSetting(
                    "token_delay_ms", "Delay of the token endpoint (ms)", .number,
                    effect: "Signing in and renewing a token take this much longer."),
                ControlSetting(
                    "graph_delay_ms", "Delay of Graph (ms)", .number,
                    effect: "Each call of Graph takes this much longer."),
                ControlSetting(
                    "close_connection", "Close the connection without a response",
                    .choice([
                        ("", "Never"), ("token", "Token endpoint, next request"), ("graph", "Graph, next request"),
                    ]),
                    effect: "The next request there gets no response, as if the network had failed."),
                ControlSetting(
                    "lost_token_answer", "Drop the next token response",
                    .toggle(off: "Deliver the next token response"),
                    effect: "The next token request succeeds, but the application gets a 504 instead of the tokens."),
            ]),
    ]

    /// All known errors of the platform, for any endpoint.
    private static let errors = PlatformError.numbers.compactMap { number in
        PlatformError.numbered(number).map { ("\(number)", "\($0.prefix)\(number): \($0.message)") }
    }

    /// The name of a setting.
    static func title(of key: String) -> HTML? { all.lazy.flatMap(\.settings).first { $0.key == key }?.title }
}

extension DemoIDTokenFault {
    var title: HTML {
        switch self {
        case .signature: "Wrong signature"
        case .issuer: "Wrong issuer"
        case .audience: "Wrong audience"
        case .nonce: "Wrong nonce"
        case .expired: "Expired"
        case .notYetValid: "Not yet valid"
        case .algorithmNone: "Algorithm none"
        case .unknownKeyID: "Unknown key ID"
        case .tenant: "Tenant and issuer differ"
        }
    }
}
