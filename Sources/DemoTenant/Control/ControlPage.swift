import WebFormats

/// The control page for people.
struct ControlPage: Page {
    /// The state as the JSON interface returns it.
    let state: JSONValue
    let accounts: [DemoAccount]
    let notice: HTML?
    /// The control page's address, for the example.
    let address: String
    /// The application's page that linked here, or else its start page.
    let backURL: String?
    /// The address for the forms, with the parameters of this page.
    let action: String

    var title: HTML { "Failures on demand" }
    var layout: String { "wide-layout" }

    var footLink: HTML { backURL.map { "<a href=\"\($0)\">\(HTML(saying: "Back to Companion"))</a>" } ?? "" }

    private let lead: HTML =
        "Make this identity platform and its Graph fail on purpose, and see what the application does. "
        + "Settings stay until you reset them or the process ends."

    var content: HTML {
        """
        \(backURL.map { "<p><a class=\"back\" href=\"\($0)\">\(HTML(saying: "Back to Companion"))</a></p>" as HTML } ?? "")
        <h1>\(HTML(saying: title))</h1>
        <p class="lead">\(HTML(saying: lead))</p>
        <p><a href="/clients?ui_locales=\(DemoLanguage.tag)">\(HTML(saying: "Your apps’ requests"))</a></p>
        \(notice.map { "<p class=\"notice calm\" role=\"status\">\($0)</p>" as HTML } ?? "")
        <div class="panels">
        \(answers)
        \(lifetimes)
        \(accountForms)
        \(tokens)
        \(numbers)
        \(scopes)
        \(counts)
        \(script)
        </div>
        """
    }

    private var answers: HTML {
        panel(
            "Wrong responses",
            [
                answerForm(
                    "token_error", "Token endpoint", ControlForm.tokenPresets,
                    effect: "The next token requests get this response: signing in or renewing a token fails."),
                answerForm(
                    "graph_error", "Graph", ControlForm.graphPresets,
                    effect: "The next calls of Graph get this response: the application cannot show the profile."),
                choiceForm(
                    "close_connection", "Close the connection without a response",
                    effect: "The next request there gets no response, as if the network had failed.",
                    [("", "Never"), ("token", "Token endpoint, next request"), ("graph", "Graph, next request")],
                    selected: state["close_connection"]?.string ?? ""),
                switchForm(
                    "lost_token_answer", on: "Drop the next token response", off: "Deliver the next token response",
                    effect:
                        "The next token request succeeds, but the application gets a 504 instead of the tokens."
                ),
                choiceForm(
                    "provider_down", "Identity provider",
                    effect: "While it is down, no token can be renewed. People who are signed in stay signed in.",
                    [
                        ("", "Available"), ("workforce", "Entra ID is down"),
                        ("external", "The external tenant is down"),
                        ("b2c", "B2C is down"), ("all", "All are down"),
                    ], selected: state["provider_down"]?.string ?? ""),
                numberForm(
                    "token_delay_ms", "Delay of the token endpoint (ms)",
                    effect: "Signing in and renewing a token take this much longer."),
                numberForm(
                    "graph_delay_ms", "Delay of Graph (ms)", effect: "Each call of Graph takes this much longer."),
            ])
    }

    private var lifetimes: HTML {
        panel(
            "Lifetimes",
            [
                numberForm(
                    "access_token_seconds", "Access tokens (seconds)",
                    effect: "When an access token expires, the application renews it without asking."),
                numberForm(
                    "refresh_token_seconds", "Refresh tokens (seconds)",
                    effect: "When a refresh token expires, the person has to sign in again."),
                switchForm(
                    "refresh_token_single_use", on: "Refresh tokens: good for one use",
                    off: "Refresh tokens: good for many uses",
                    effect: "A single-use token that is used twice revokes all tokens of its sign-in."),
            ])
    }

    private var accountForms: HTML {
        let names = accounts.map { ($0.username, $0.displayName) }
        let pending = state["require_mfa"].map { value -> [String] in
            if case .array(let names) = value { names.compactMap(\.string) } else { [] }
        }
        let note: HTML =
            pending.map {
                let names: HTML = "\($0.joined(separator: ", "))"
                return $0.isEmpty
                    ? "" : "<p class=\"small\">\(HTML(saying: "Second factor required of: %@.", names))</p>" as HTML
            } ?? ""
        return panel(
            "Accounts",
            [
                choiceForm(
                    "revoke", "Revoke refresh tokens and sessions",
                    effect: "At the next renewal of a token, the application asks this person to sign in again.",
                    names: names, verb: "Revoke"),
                choiceForm(
                    "require_consent", "Ask for consent again",
                    effect: "The next sign-in of this person shows the page with the permissions.",
                    names: names, verb: "Require"),
                choiceForm(
                    "require_mfa", "Require a second factor",
                    effect: "The next silent request fails, so the application opens the sign-in page.",
                    names: names, verb: "Require"), note,
            ])
    }

    private var tokens: HTML {
        let faults: [(String, HTML)] = [("", "Normal")] + DemoIDTokenFault.allCases.map { ($0.rawValue, $0.title) }
        return panel(
            "Tokens and keys",
            [
                choiceForm(
                    "bad_id_token", "ID token of the next code",
                    effect: "An application that checks the ID token refuses the next sign-in.", faults,
                    selected: state["bad_id_token"]?.string ?? ""),
                switchForm(
                    "claims_challenge", on: "Begin a claims challenge at Graph", off: "End the claims challenge",
                    effect:
                        "Graph refuses every token until the application requests one with the named claims."
                ),
                buttonForm(
                    "rotate_key", "true", "Rotate the signing keys",
                    effect: "The next ID token is signed with a new key, which the application has to fetch."),
                switchForm(
                    "unknown_key", on: "Publish a key of an unknown type too", off: "Publish RSA keys only",
                    effect:
                        "Applications that skip unknown keys work as before. Others cannot sign people in."
                ),
                switchForm(
                    "omit_auth_time", on: "ID tokens without auth_time", off: "ID tokens with auth_time",
                    effect: "Without this claim, an application does not learn when the person entered the password."),
                switchForm(
                    "ignore_max_age", on: "Ignore prompt=login and max_age", off: "Respect prompt=login and max_age",
                    effect: "When it is ignored, the application gets an earlier sign-in and has to refuse it."),
            ])
    }

    /// All known errors of the platform, for any endpoint.
    private var numbers: HTML {
        let errors = PlatformError.numbers.compactMap { number in
            PlatformError.numbered(number).map { ("\(number)", "\($0.prefix)\(number): \($0.message)") }
        }
        return panel(
            "Errors by number",
            [
                choiceForm(
                    "token_platform_error", "The next token request",
                    effect: "The application shows what the error means and who can fix it.", [("", "None")],
                    names: errors,
                    selected: state["token_platform_error"]?.integer.map(String.init) ?? ""),
                choiceForm(
                    "authorize_platform_error", "The next sign-in",
                    effect: "The sign-in ends with this error, in the application or on a page of the platform.",
                    [("", "None")], names: errors,
                    selected: state["authorize_platform_error"]?.integer.map(String.init) ?? ""),
            ])
    }

    private var scopes: HTML {
        panel(
            "Scopes and B2C",
            [
                textForm(
                    "missing_scope", "A scope that the APIs require",
                    effect: "A call without this scope is refused with 403, and the application can ask for it."),
                textForm(
                    "declined_scope", "A scope that is never granted",
                    effect: "The sign-in succeeds, but its tokens lack this scope."),
                switchForm(
                    "b2c_issuer_without_policy", on: "B2C: issuer without the user flow",
                    off: "B2C: issuer with the user flow",
                    effect: "Without it, ID tokens name the user flow in the claim acr instead of tfp."),
                switchForm(
                    "generic_provider", on: "Behave like a generic OpenID provider",
                    off: "Behave like Microsoft’s platform",
                    effect: "A generic provider gives no additional scopes at a renewal, and can revoke tokens."),
            ])
    }

    private var counts: HTML {
        let rows = Controls.Counter.allCases.map { counter -> HTML in
            let count = state["counts"]?[counter.rawValue]?.integer ?? 0
            return "<tr><th scope=\"row\">\(HTML(saying: counter.title))</th><td>\(count)</td></tr>\n"
        }
        return panel(
            "Requests so far",
            [
                "<table><caption class=\"hidden\">\(HTML(saying: "Requests so far"))</caption><tbody>\n\(rows)</tbody></table>",
                buttonForm(
                    "reset", "true", "Reset everything", style: "danger",
                    effect: "Every setting returns to normal, and the counts restart at 0."),
            ])
    }

    private var script: HTML {
        panel(
            "From a script",
            [
                """
                <p>\(HTML(saying: "The same as JSON: <code>GET</code> and <code>POST /control</code>."))</p>
                <pre tabindex="0" aria-label="\(HTML(saying: "Example command"))"><code>curl -d '{"token_error":{"status":503,"body":"","times":2}}' \
                \(address)</code></pre>
                """
            ])
    }

    // MARK: Elements

    private func panel(_ title: HTML, _ elements: [HTML]) -> HTML {
        "<section class=\"panel\">\n<h2>\(HTML(saying: title))</h2>\n\(elements)\n</section>"
    }

    /// Returns a form whose elements refer to the sentence that says what the setting changes for people.
    private func form(_ key: String, _ elements: HTML, effect: HTML) -> HTML {
        """
        <form method="post" action="\(action)" class="setting">
        \(elements)
        <p class="small" id="\(key)_effect">\(HTML(saying: effect))</p>
        </form>

        """
    }

    private func setButton(_ title: HTML, verb: HTML = "Set") -> HTML {
        "<button>\(HTML(saying: verb))<span class=\"hidden\">: \(HTML(saying: title))</span></button>"
    }

    private func numberForm(_ key: String, _ title: HTML, effect: HTML) -> HTML {
        form(
            key,
            """
            <label for="\(key)">\(HTML(saying: title))</label>
            <div class="row"><input id="\(key)" name="\(key)" type="number" min="0" required \
            aria-describedby="\(key)_effect" value="\(state[key]?.integer ?? 0)">\(setButton(title))</div>
            """, effect: effect)
    }

    private func textForm(_ key: String, _ title: HTML, effect: HTML) -> HTML {
        form(
            key,
            """
            <label for="\(key)">\(HTML(saying: title))</label>
            <div class="row"><input id="\(key)" name="\(key)" type="text" autocomplete="off" spellcheck="false" \
            aria-describedby="\(key)_effect" placeholder="Mail.Read" value="\(state[key]?.string ?? "")">\
            \(setButton(title))</div>
            """, effect: effect)
    }

    /// Returns a form with a list of sentences and names. The names are the same in every language.
    private func choiceForm(
        _ key: String, _ title: HTML, effect: HTML, _ choices: [(String, HTML)] = [], names: [(String, String)] = [],
        selected: String = "", verb: HTML = "Set"
    ) -> HTML {
        form(
            key,
            """
            <label for="\(key)">\(HTML(saying: title))</label>
            <div class="row"><select id="\(key)" name="\(key)" aria-describedby="\(key)_effect">\
            \(options(choices, names, selected))</select>\(setButton(title, verb: verb))</div>
            """, effect: effect)
    }

    private func answerForm(_ key: String, _ title: HTML, _ presets: [ControlForm.Preset], effect: HTML) -> HTML {
        let pending = state[key]?["status"]?.integer
        let times = state[key]?["times"]?.integer ?? 0
        let now: HTML =
            pending.map {
                "<p class=\"small\">\(HTML(saying: "Now: status %@, %@ more times.", "\($0)", "\(times)"))</p>" as HTML
            } ?? ""
        let choices: [(String, HTML)] = [("", "Normal")] + presets.map { ($0.name, $0.title) }
        return form(
            key,
            """
            <label for="\(key)">\(HTML(saying: title))</label>
            <div class="row"><select id="\(key)" name="\(key)" aria-describedby="\(key)_effect">\
            \(options(choices))</select>\
            <label class="count">\(HTML(saying: "Times"))<span class="hidden">: \(HTML(saying: title))</span>\
            <input class="times" name="times" type="number" min="1" value="1"></label>\
            \(setButton(title))</div>
            \(now)
            """, effect: effect)
    }

    private func buttonForm(
        _ key: String, _ value: String, _ title: HTML, style: String = "", effect: HTML
    ) -> HTML {
        form(
            key,
            """
            <button class="wide \(style)" name="\(key)" value="\(value)" aria-describedby="\(key)_effect">\
            \(HTML(saying: title))</button>
            """, effect: effect)
    }

    private func switchForm(_ key: String, on: HTML, off: HTML, effect: HTML) -> HTML {
        let isOn = state[key]?.bool == true
        return buttonForm(key, isOn ? "false" : "true", isOn ? off : on, effect: effect)
    }

    private func options(
        _ choices: [(String, HTML)], _ names: [(String, String)] = [], _ selected: String = ""
    ) -> [HTML] {
        (choices.map { ($0, HTML(saying: $1)) } + names.map { ($0, "\($1)" as HTML) }).map { value, title in
            value == selected
                ? "<option value=\"\(value)\" selected>\(title)</option>"
                : "<option value=\"\(value)\">\(title)</option>"
        }
    }
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

extension Controls.Counter {
    var title: HTML {
        switch self {
        case .authorize: "Authorization requests"
        case .tokenCode: "Codes redeemed"
        case .tokenRefresh: "Tokens refreshed"
        case .tokenClientCredentials: "Applications’ own tokens"
        case .tokenDevice: "Device codes redeemed"
        case .deviceCode: "Device codes issued"
        case .tokenFailed: "Token requests refused"
        case .tokenRequests: "Token requests"
        case .codeReplayed: "Codes redeemed again"
        case .refreshReplayed: "Refresh tokens used again"
        case .tokenRevoked: "Tokens revoked"
        case .graphMe: "Graph /me"
        case .logout: "Sign-outs"
        case .keys: "Key requests"
        case .discovery: "Metadata requests"
        }
    }
}
