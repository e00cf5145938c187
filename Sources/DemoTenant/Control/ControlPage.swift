import HTTPTypes
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
    var status: HTTPResponse.Status = .ok

    var title: HTML { "Failures on demand" }
    var layout: String { "wide-layout" }

    var footLink: HTML { backURL.map { "<a href=\"\($0)\">\(HTML(saying: "Back to Companion"))</a>" } ?? "" }

    private let lead: HTML =
        "Make this identity platform and its Graph misbehave, and see how the application copes. "
        + "Settings last until you reset them or the process ends."

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
            "Wrong answers",
            [
                answerForm("token_error", "Token endpoint", ControlForm.tokenPresets),
                answerForm("graph_error", "Graph", ControlForm.graphPresets),
                choiceForm(
                    "close_connection", "Close the connection without an answer",
                    [("", "Never"), ("token", "Token endpoint, next request"), ("graph", "Graph, next request")],
                    selected: state["close_connection"]?.string ?? ""),
                switchForm(
                    "lost_token_answer", on: "Drop the next token response",
                    off: "Deliver the next token response"),
                choiceForm(
                    "provider_down", "No answer from the identity provider",
                    [
                        ("", "Available"), ("workforce", "Entra ID is down"),
                        ("external", "The external tenant is down"),
                        ("b2c", "B2C is down"), ("all", "All are down"),
                    ], selected: state["provider_down"]?.string ?? ""),
                numberForm("token_delay_ms", "Delay of the token endpoint (ms)"),
                numberForm("graph_delay_ms", "Delay of Graph (ms)"),
            ])
    }

    private var lifetimes: HTML {
        panel(
            "Lifetimes",
            [
                numberForm("access_token_seconds", "Access tokens (seconds)"),
                numberForm("refresh_token_seconds", "Refresh tokens (seconds)"),
                switchForm(
                    "refresh_token_single_use", on: "Refresh tokens: good for one use",
                    off: "Refresh tokens: good for many uses"),
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
                    ? "" : "<p class=\"small\">\(HTML(saying: "Second factor demanded of: %@.", names))</p>" as HTML
            } ?? ""
        return panel(
            "Accounts",
            [
                choiceForm("revoke", "Revoke refresh tokens and sessions", names: names, verb: "Revoke"),
                choiceForm("require_consent", "Ask for consent again", names: names, verb: "Require"),
                choiceForm("require_mfa", "Demand a second factor", names: names, verb: "Demand"), note,
            ])
    }

    private var tokens: HTML {
        let faults: [(String, HTML)] = [("", "Normal")] + DemoIDTokenFault.allCases.map { ($0.rawValue, $0.title) }
        return panel(
            "Tokens and keys",
            [
                choiceForm(
                    "bad_id_token", "ID token of the next code", faults,
                    selected: state["bad_id_token"]?.string ?? ""),
                switchForm(
                    "claims_challenge", on: "Begin a claims challenge at Graph", off: "End the claims challenge"),
                buttonForm("rotate_key", "true", "Rotate the signing keys"),
                switchForm(
                    "unknown_key", on: "Publish a key of an unknown type too", off: "Publish RSA keys only"),
                switchForm("omit_auth_time", on: "ID tokens without auth_time", off: "ID tokens with auth_time"),
                switchForm(
                    "ignore_max_age", on: "Ignore prompt=login and max_age", off: "Respect prompt=login and max_age"),
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
                    "token_platform_error", "The next token request", [("", "None")], names: errors,
                    selected: state["token_platform_error"]?.integer.map(String.init) ?? ""),
                choiceForm(
                    "authorize_platform_error", "The next sign-in", [("", "None")], names: errors,
                    selected: state["authorize_platform_error"]?.integer.map(String.init) ?? ""),
            ])
    }

    private var scopes: HTML {
        panel(
            "Scopes and B2C",
            [
                textForm("missing_scope", "A scope that the APIs miss"),
                textForm("declined_scope", "A scope that is never granted"),
                switchForm(
                    "b2c_issuer_without_policy", on: "B2C: issuer without the user flow",
                    off: "B2C: issuer with the user flow"),
                switchForm(
                    "generic_provider", on: "Behave like a generic OpenID provider",
                    off: "Behave like Microsoft’s platform"),
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
                buttonForm("reset", "true", "Reset everything", style: "danger"),
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

    private func form(_ elements: HTML) -> HTML {
        "<form method=\"post\" action=\"\(action)\" class=\"setting\">\n\(elements)\n</form>\n"
    }

    private func numberForm(_ key: String, _ title: HTML) -> HTML {
        form(
            """
            <label for="\(key)">\(HTML(saying: title))</label>
            <div class="row"><input id="\(key)" name="\(key)" type="number" min="0" required \
            value="\(state[key]?.integer ?? 0)"><button>\(HTML(saying: "Set"))<span class="hidden">: \(HTML(saying: title))</span></button></div>
            """)
    }

    private func textForm(_ key: String, _ title: HTML) -> HTML {
        form(
            """
            <label for="\(key)">\(HTML(saying: title))</label>
            <div class="row"><input id="\(key)" name="\(key)" type="text" autocomplete="off" spellcheck="false" \
            placeholder="Mail.Read" value="\(state[key]?.string ?? "")"><button>\(HTML(saying: "Set"))\
            <span class="hidden">: \(HTML(saying: title))</span></button></div>
            """)
    }

    /// Returns a form with a list of sentences and names. The names are the same in every language.
    private func choiceForm(
        _ key: String, _ title: HTML, _ choices: [(String, HTML)] = [], names: [(String, String)] = [],
        selected: String = "", verb: HTML = "Set"
    ) -> HTML {
        form(
            """
            <label for="\(key)">\(HTML(saying: title))</label>
            <div class="row"><select id="\(key)" name="\(key)">\(options(choices, names, selected))</select>\
            <button>\(HTML(saying: verb))<span class="hidden">: \(HTML(saying: title))</span></button></div>
            """)
    }

    private func answerForm(_ key: String, _ title: HTML, _ presets: [ControlForm.Preset]) -> HTML {
        let pending = state[key]?["status"]?.integer
        let times = state[key]?["times"]?.integer ?? 0
        let now: HTML =
            pending.map {
                "<p class=\"small\">\(HTML(saying: "Now: status %@, %@ more times.", "\($0)", "\(times)"))</p>" as HTML
            } ?? ""
        let choices: [(String, HTML)] = [("", "Normal")] + presets.map { ($0.name, $0.title) }
        return form(
            """
            <label for="\(key)">\(HTML(saying: title))</label>
            <div class="row"><select id="\(key)" name="\(key)">\(options(choices))</select>\
            <label class="count">\(HTML(saying: "Times"))<span class="hidden">: \(HTML(saying: title))</span>\
            <input class="times" name="times" type="number" min="1" value="1"></label>\
            <button>\(HTML(saying: "Set"))<span class="hidden">: \(HTML(saying: title))</span></button></div>
            \(now)
            """)
    }

    private func buttonForm(_ key: String, _ value: String, _ title: HTML, style: String = "") -> HTML {
        form("<button class=\"wide \(style)\" name=\"\(key)\" value=\"\(value)\">\(HTML(saying: title))</button>")
    }

    private func switchForm(_ key: String, on: HTML, off: HTML) -> HTML {
        let isOn = state[key]?.bool == true
        return buttonForm(key, isOn ? "false" : "true", isOn ? off : on)
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
        case .unknownKeyID: "Unknown key id"
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
        case .tokenFailed: "Token requests refused"
        case .tokenRequests: "Token requests"
        case .codeReplayed: "Codes redeemed again"
        case .refreshReplayed: "Refresh tokens used again"
        case .tokenRevoked: "Tokens revoked"
        case .graphMe: "Graph /me"
        case .logout: "Sign-outs"
        case .keys: "Key fetches"
        case .discovery: "Discovery fetches"
        }
    }
}
