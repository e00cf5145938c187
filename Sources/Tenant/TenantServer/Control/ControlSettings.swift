import TenantControl
import TenantDirectory
import WebFormats

/// One setting of the control page: its key in the JSON interface, its name, and what changes for people.
struct ControlSetting: Sendable {
    /// The kinds of forms.
    enum Form: Sendable {
        case number
        case text
        /// One of these sentences and names. The names are the same in every language.
        case choice([(String, HTML)], names: [(String, String)] = [])
        case answer([Controls.InjectedAnswer.Preset])
        /// One of the accounts, for a change that happens at once.
        case account(verb: HTML)
        /// A change that happens at once.
        case button(value: String, style: String = "")
        /// On or off.
        case toggle
        /// An error of an endpoint of native authentication.
        case nativeFailure
    }

    let key: String
    let title: HTML
    let effect: HTML
    /// The reason for the number of requests that fail; nil for one.
    let timesNote: HTML?
    let form: Form

    init(_ key: String, _ title: HTML, _ form: Form, effect: HTML, timesNote: HTML? = nil) {
        self.key = key
        self.title = title
        self.form = form
        self.effect = effect
        self.timesNote = timesNote
    }

    /// Whether a rule for one app or person can have it.
    ///
    /// The published keys are the same for everyone, because nobody says who reads them, and so is the clock.
    var isForRules: Bool { EffectKey.named(key) != nil && !["key_set", EffectKey.clock].contains(key) }

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
    /// Whether the tutorials of the companion show it.
    var isInTutorials = true

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
                    .toggle,
                    effect: "When it is ignored, the application gets an earlier sign-in and has to refuse it."),
            ]),
        ControlGroup(
            title: "Tokens", lead: "What the application gets when it redeems a code or renews a token.",
            settings: [
                ControlSetting(
                    "token_error", "Token endpoint", .answer(Controls.InjectedAnswer.ofToken),
                    effect: "The next token requests get this response: signing in or renewing a token fails.",
                    timesNote:
                        "Without a number, 503 is sent twice and any other response once. MSAL for iOS and macOS repeats a request after a 5xx, so the app would not notice a single one."
                ),
                ControlSetting(
                    "token_platform_error", "The next token request", .choice([("", "None")], names: errors),
                    effect: "The application shows what the error means and who can fix it.",
                    timesNote:
                        "AADSTS90033 happens twice. MSAL for iOS and macOS repeats a request after a 5xx, so the app would not notice a single one."
                ),
                ControlSetting(
                    "access_token_seconds", "Access tokens (seconds)", .number,
                    effect: "When an access token expires, the application renews it without asking."),
                ControlSetting(
                    "refresh_token_seconds", "Refresh tokens (seconds)", .number,
                    effect: "When a refresh token expires, the person has to sign in again."),
                ControlSetting(
                    EffectKey.clock, "The clock: seconds ahead", .number,
                    effect:
                        "Codes, tokens and sessions expire as if this time had passed. It goes only forward, and the reset puts it back. Applications with the right time refuse ID tokens from the future."
                ),
                ControlSetting(
                    "refresh_token_single_use", "Refresh tokens: good for one use",
                    .toggle,
                    effect: "A single-use token that is used twice revokes all tokens of its sign-in."),
                ControlSetting(
                    "declined_scope", "A scope that is never granted", .text,
                    effect: "The sign-in succeeds, but its tokens lack this scope."),
                ControlSetting(
                    "bad_id_token", "ID token of the next code",
                    .choice([("", "Normal")] + DemoIDTokenFault.allCases.map { ($0.rawValue, $0.title) }),
                    effect: "An application that checks the ID token refuses the next sign-in."),
                ControlSetting(
                    "rotate_key", "Rotate the signing keys", .button(value: "true"),
                    effect: "The next ID token is signed with a new key, which the application has to fetch."),
                ControlSetting(
                    "key_set", "The published keys",
                    .choice([("", "Normal"), ("late", "Without the newest key"), ("unavailable", "Not available")]),
                    effect:
                        "An application that has not read the newest key cannot check the next ID token. It should try again."
                ),
            ]),
        ControlGroup(
            title: "Graph and APIs", lead: "What a call with an access token returns.",
            settings: [
                ControlSetting(
                    "graph_error", "Graph", .answer(Controls.InjectedAnswer.ofGraph),
                    effect: "The next calls of Graph get this response: the application cannot show the profile."),
                ControlSetting(
                    "expire_tokens", "Let all access tokens expire", .toggle,
                    effect: "Graph and the APIs refuse every access token issued until now. A renewed one is accepted."),
                ControlSetting(
                    "claims_challenge", "Begin a claims challenge at Graph", .toggle,
                    effect: "Graph refuses every token until the application requests one with the named claims."),
                ControlSetting(
                    "missing_scope", "A scope that the APIs require", .text,
                    effect: "A call without this scope is refused with 403, and the application can ask for it."),
            ]),
        ControlGroup(
            title: "Native authentication", lead: "Sign-ins in an app’s own screens, which call these endpoints.",
            settings: [
                ControlSetting(
                    "native_failure", "The next request of native authentication", .nativeFailure,
                    effect: "The app’s delegate gets this error. With redirect, MSAL asks the app to open the browser.")
            ], isInTutorials: false),
        ControlGroup(
            title: "The network", lead: "Responses that come late, get lost or never arrive.",
            settings: [
                ControlSetting(
                    "provider_down", "Identity provider",
                    .choice([
                        ("", "Available"), ("workforce", "Entra ID is down"),
                        ("external", "The external tenant is down"), ("b2c", "B2C is down"),
                        ("social", "Contoso Social is down"), ("all", "All are down"),
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
                        ("", "Never"), ("token", "Token endpoint, next requests"), ("graph", "Graph, next request"),
                    ]),
                    effect: "The next requests there get no response, as if the network had failed.",
                    timesNote: repeated),
                ControlSetting(
                    "lost_token_answer", "Drop the next token responses",
                    .toggle,
                    effect: "The next token requests succeed, but the application gets a 504 instead of the tokens.",
                    timesNote: repeated),
            ]),
    ]

    private static let repeated: HTML =
        "At the token endpoint it happens twice. MSAL for iOS and macOS repeats such a request, so the app would not notice a single failure."

    /// MSAL's answers from memory, which no setting here changes.
    static let memory: HTML =
        "After a failure, MSAL for iOS and macOS answers the same silent request from memory, even after a reset: after an OAuth error for 120 seconds or until someone signs in, after 429 or 5xx for 60 seconds or as long as Retry-After says."

    /// All known errors of the platform, for any endpoint.
    private static let errors = PlatformError.numbers.compactMap { number in
        PlatformError.numbered(number).map { ("\(number)", "\($0.prefix)\(number): \($0.message)") }
    }

    /// The setting with a key; nil for one that JSON alone has.
    static func setting(_ key: String) -> ControlSetting? { all.lazy.flatMap(\.settings).first { $0.key == key } }
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
