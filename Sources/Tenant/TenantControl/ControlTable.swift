import TenantDirectory
package import WebFormats

/// The keys that the page shows in one place.
package struct ControlGroup: Sendable {
    package let title: HTML
    package let lead: HTML
    /// The part of the companion's tutorials that shows it; nil if none does.
    package var trial: Trial? = .page

    package enum Trial: Sendable {
        /// A page, on which somebody is signed in perhaps.
        case page
        /// A new sign-in, because who is signed in does not meet it.
        case signIn
    }

    package let keys: [ControlKey]
}

extension ControlKey {
    /// The key of the clock, which is one for everyone, so that no rule has it.
    package static let clock = "clock_seconds"

    /// MSAL's answers from memory, which no key changes.
    package static let memory: HTML =
        "After a failure, MSAL for iOS and macOS answers the same silent request from memory, even after a reset: after an OAuth error for 120 seconds or until someone signs in, after 429 or 5xx for 60 seconds or as long as Retry-After says."

    /// All of them, in the order in which they are applied: first the reset, then the effects.
    package static let all = {
        let keys = groups.flatMap(\.keys) + inJSON
        return [reset] + keys.filter(\.isEffect) + keys.filter { !$0.isEffect }
    }()

    /// The reason for which a failure of the token endpoint happens twice.
    package static let repeats: HTML =
        "MSAL for iOS and macOS repeats a token request after a 5xx or a dropped connection, so the app would not notice a single failure."

    // MARK: On the page

    /// The page's buttons for everything; both have the same key.
    package static let reset = ControlKey(
        "reset", "Reset everything",
        "Every setting returns to normal, and the counts restart at 0. Sign-ins, consents and new accounts stay.",
        .reset("true"), done: begun)
    package static let seed = ControlKey(
        "reset", "Start over",
        "Resets everything, signs everyone out, and forgets consents, revocations and new accounts. The signing keys stay.",
        .reset("seed"), done: begun)

    package static let groups = [
        ControlGroup(
            title: "The sign-in page", lead: "What people see while they sign in.", trial: .signIn,
            keys: [
                ControlKey(
                    "authorize_platform_error", "The next sign-in",
                    "The sign-in ends with this error, in the application or on a page of the platform.",
                    .platformError(
                        \.authorizePlatformError,
                        [
                            ("Before an account is chosen", .request ... .request),
                            ("Once an account is chosen", .account ... .account),
                            ("After the account has signed in", .authentication ... .authentication),
                        ]), lastingTitle: "Every sign-in"),
                ControlKey(
                    "require_consent", "Ask for consent again",
                    "The next sign-in of this person shows the page with the permissions.",
                    .account(verb: "Require") { .requireConsent($0) }, done: "The account is asked for consent again.",
                    searchWords: "permissions approval scopes"),
                ControlKey(
                    "require_mfa", "Require a second factor",
                    "The next silent request fails, so the application opens the sign-in page. For a claims challenge, see “Graph and APIs”.",
                    .account(verb: "Require") { .requireSecondFactor($0) },
                    done: "The next silent request for the account requires a second factor.",
                    searchWords: "MFA multi-factor two-factor 2FA conditional access step-up interaction required"),
                ControlKey(
                    "revoke", "Revoke refresh tokens and sessions",
                    "At the next renewal of a token, the application asks this person to sign in again.",
                    .account(verb: "Revoke") { .revoke($0) },
                    done: "The account’s refresh tokens and sessions no longer work.",
                    searchWords: "sign out everywhere log out invalid_grant AADSTS50173"),
                ControlKey(
                    "ignore_max_age", "Ignore prompt=login and max_age",
                    "When it is ignored, the application gets an earlier sign-in and has to refuse it.",
                    .toggle(\.ignoresFreshness), searchWords: "reauthentication auth_time fresh sign-in"),
            ]),
        ControlGroup(
            title: "Tokens", lead: "What the application gets when it redeems a code or renews a token.",
            trial: .signIn,
            keys: [
                ControlKey(
                    "token_error", "Token endpoint",
                    "Token requests get this response: signing in or renewing a token fails.",
                    .answer(\.tokenError, Controls.InjectedAnswer.ofToken),
                    repetition: Repetition(
                        note:
                            "Without a number, 503 is sent twice and any other response once."
                    ) { ($0["status"]?.integer ?? 0) >= 500 }),
                ControlKey(
                    "token_platform_error", "The next token request",
                    "The application shows what the error means and who can fix it.",
                    .platformError(
                        \.tokenPlatformError,
                        [
                            ("About the application or the request", .request ... .request),
                            ("About the account", .account ... .authentication),
                        ]),
                    repetition: Repetition(
                        note:
                            "AADSTS90033 happens twice."
                    ) { ($0.integer.flatMap(PlatformError.numbered)?.status.code ?? 0) >= 500 },
                    lastingTitle: "Every token request"),
                ControlKey(
                    "access_token_seconds", "Access tokens (seconds)",
                    "When an access token expires, the application renews it without asking.",
                    .number(\.accessTokenSeconds, normal: .null, upTo: tenYears, unset: "3599–86399"), done: lifetime),
                ControlKey(
                    "refresh_token_seconds", "Refresh tokens (seconds)",
                    "When a refresh token expires, the person has to sign in again.",
                    .number(\.refreshTokenSeconds, normal: .integer(90 * 24 * 3600), upTo: tenYears), done: lifetime),
                ControlKey(
                    clock, "The clock: seconds ahead",
                    "Codes, tokens and sessions expire as if this time had passed. It goes only forward, and the reset puts it back. Applications with the right time refuse ID tokens from the future.",
                    .number(\.clockSeconds, normal: 0, upTo: tenYears), isForEveryone: true),
                ControlKey(
                    "refresh_token_single_use", "Refresh tokens: good for one use",
                    "A single-use token that is used twice revokes all tokens of its sign-in.",
                    .toggle(\.hasSingleUseRefreshTokens)),
                ControlKey(
                    "declined_scope", "A scope that is never granted",
                    "The sign-in succeeds, but its tokens lack this scope.", .scope(\.declinedScope),
                    searchWords: "permission consent"),
                ControlKey(
                    "bad_id_token", "ID token of the next code",
                    "An application that checks the ID token refuses the sign-in.",
                    .choice(
                        \.idTokenFault, isOnce: true, normal: "Normal",
                        [
                            (.signature, "Wrong signature"), (.issuer, "Wrong issuer"), (.audience, "Wrong audience"),
                            (.nonce, "Wrong nonce"), (.expired, "Expired"), (.notYetValid, "Not yet valid"),
                            (.algorithmNone, "Algorithm none"), (.unknownKeyID, "Unknown key ID"),
                            (.tenant, "Tenant and issuer differ"),
                        ]), lastingTitle: "ID token of every code"),
                ControlKey(
                    "rotate_key", "Rotate the signing keys",
                    "The next ID token is signed with a new key, which the application has to fetch.",
                    Kind(.button(value: "true", verb: "Rotate")) { (value, _) throws(Problem) in
                        try value.flag() ? [.rotateKey] : []
                    }, done: "From now on, tokens are signed with new keys.", searchWords: "JWKS key rollover kid"),
                ControlKey(
                    "key_set", "The published keys",
                    "An application that has not read the newest key cannot check the next ID token. It should try again.",
                    .choice(
                        \.keySetFault, normal: "Normal",
                        [(.late, "Without the newest key"), (.unavailable, "Not available")]), isForEveryone: true,
                    searchWords: "JWKS key rollover kid"),
            ]),
        ControlGroup(
            title: "Graph and APIs", lead: "What a call with an access token returns.",
            keys: [
                ControlKey(
                    "graph_error", "Graph",
                    "Calls of Graph get this response: the application cannot show the profile.",
                    .answer(\.graphError, Controls.InjectedAnswer.ofGraph)),
                ControlKey(
                    "expire_tokens", "Let all access tokens expire",
                    "Graph and the APIs refuse every access token issued until now. A renewed one is accepted.",
                    .mark(\.tokenExpiry), searchWords: "401 expired CAE continuous access evaluation"),
                ControlKey(
                    "claims_challenge", "Begin a claims challenge at Graph",
                    "Graph refuses every token until the application requests one with the named claims. No second factor follows unless “Require a second factor” is set for the person as well.",
                    .mark(\.claimsChallenge),
                    searchWords:
                        "second factor MFA multi-factor 2FA conditional access step-up CAE continuous access evaluation 401",
                    mission: ("second_factor", "A second factor (claims challenge)")),
                ControlKey(
                    "missing_scope", "A scope that the APIs require",
                    "A call without this scope is refused with 403, and the application can ask for it.",
                    .scope(\.missingScope), searchWords: "permission consent forbidden insufficient_scope"),
            ]),
        ControlGroup(
            title: "Native authentication", lead: "Sign-ins in an app’s own screens, which call these endpoints.",
            trial: nil,
            keys: [
                ControlKey(
                    "native_failure", "The next request of native authentication",
                    "The app’s delegate gets this error. With redirect, MSAL asks the app to open the browser.",
                    .nativeFailure(\.nativeFailure), lastingTitle: "Every request of native authentication",
                    searchWords: "MFA second factor password SSPR sign up")
            ]),
        ControlGroup(
            title: "The network", lead: "Responses that come late, get lost or never arrive.",
            keys: [
                ControlKey(
                    "provider_down", "Identity provider",
                    "While it is down, no token can be renewed. People who are signed in stay signed in.",
                    .choice(
                        \.outage, normal: "Available",
                        [
                            (.workforce, "Entra ID is down"), (.external, "The external tenant is down"),
                            (.b2c, "B2C is down"), (.social, "Contoso Social is down"), (.all, "All are down"),
                        ])),
                ControlKey(
                    "token_delay_ms", "Delay of the token endpoint (ms)",
                    "Signing in and renewing a token take this much longer.",
                    .number(\.tokenDelay, normal: 0, upTo: tenMinutes), searchWords: "slow latency timeout"),
                ControlKey(
                    "graph_delay_ms", "Delay of Graph (ms)", "Each call of Graph takes this much longer.",
                    .number(\.graphDelay, normal: 0, upTo: tenMinutes), searchWords: "slow latency timeout"),
                ControlKey(
                    "close_connection", "Close the next connection without a response",
                    "Requests there get no response, as if the network had failed.",
                    .choice(
                        \.closedConnection, isOnce: true, normal: "Never",
                        [(.token, "Token endpoint"), (.graph, "Graph")]),
                    repetition: Repetition(note: dropped) { $0 == "token" },
                    lastingTitle: "Close every connection without a response", searchWords: "offline timeout lost reset"
                ),
                ControlKey(
                    "lost_token_answer", "Drop the next token responses",
                    "Token requests succeed, but the application gets a 504 instead of the tokens.",
                    .toggle(\.losesTokenAnswer, isOnce: true), repetition: Repetition(note: dropped) { _ in true },
                    lastingTitle: "Drop every token response", searchWords: "lost timeout 504 gateway"),
            ]),
    ]

    private static let tenYears = 10 * 365 * 86_400
    private static let tenMinutes = 600_000
    private static let begun: HTML = "Everything works normally again."
    private static let lifetime: HTML = "Tokens issued from now on have this lifetime."
    private static let dropped: HTML = "At the token endpoint it happens twice."

    // MARK: For programs

    private static let inJSON = [
        ControlKey(
            "hold", nil,
            "Requests there wait, with nothing done for them, until the rule ends or ten minutes have passed. `held` says how many wait; more than 100 do not. Whoever breaks off is forgotten.",
            .choice(\.hold)),
        ControlKey(
            "b2c_issuer_with_policy", nil, "The issuer of B2C names the user flow.", .toggle(\.hasIssuerWithPolicy)),
        ControlKey(
            "id_token_claims", nil,
            "ID tokens have these claims in place of the real ones; a claim that is null is left out.",
            .claims(\.idTokenClaims)),
        ControlKey("omit_auth_time", nil, "ID tokens lack `auth_time`.", .toggle(\.omitsAuthTime)),
        ControlKey(
            "generic_provider", nil,
            "A refresh cannot request more than was granted, and there is a revocation endpoint, as at other providers.",
            .toggle(\.isGeneric)),
        ControlKey(
            "unknown_key", nil, "The published keys include one of a type that clients do not know.",
            .toggle(\.publishesUnknownKey)),
        ControlKey(
            "second_factor", nil, "Graph and the renewal of tokens require a second factor of the sign-in.",
            .toggle(\.requiresSecondFactor)),
        ControlKey("graph_throttled", nil, "Graph asks for a pause.", .toggle(\.hasThrottledGraph, isOnce: true)),
        ControlKey(
            "no_permissions", nil, "The registration lists no API, so that tokens for one cannot be renewed.",
            .toggle(\.listsNoAPI)),
        ControlKey(
            "revoked", nil,
            "Sign-ins before it are revoked. In a rule for a session, they have ended, and the next one asks for the password.",
            .revocation(\.revokedAt)),
        ControlKey(
            "remove", nil, "Ends the rule with this `id`, or all for this `session`.",
            Kind(.json("a number, `{\"session\": …}`")) { (value, _) throws(Problem) in
                [try ControlChange.remove(value)]
            }, done: "The rule has ended."),
        ControlKey(
            "rules", nil, "Adds rules: effects for one application or person. `[]` ends all.",
            Kind(.json("an array"), act: ControlChange.rules)),
    ]
}
