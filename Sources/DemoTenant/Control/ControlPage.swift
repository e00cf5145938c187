import WebFormats

/// The control page for people.
struct ControlPage: Page {
    /// The state as the JSON interface returns it.
    let state: JSONValue
    let accounts: [DemoAccount]
    let clients: [DemoClient]
    let notice: HTML?
    /// The control page's address, for the example.
    let address: String
    /// The application's page that linked here, or else its start page.
    let backURL: String?
    /// The page on which the failures can be seen; nil if there is none.
    let tryURL: String?
    /// The parameters that the page keeps.
    let kept: ControlQuery

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
        \(condition)
        \(rules)
        \(ControlGroup.all.map(group))
        \(counts)
        \(script)
        </div>
        """
    }

    private func group(_ group: ControlGroup) -> HTML {
        let link: HTML = tryURL.map { " <a href=\"\($0)\">\(HTML(saying: "Try it in iOS"))</a>" } ?? ""
        let settings = group.settings.filter { !kept.isForSome || $0.isForRules }
        return panel(
            group.title,
            ["<p class=\"small\">\(HTML(saying: group.lead))\(link)</p>\n"] + settings.map(element)
                + (group.settings.contains { $0.key == "require_mfa" } ? [demands] : []))
    }

    private func element(_ setting: ControlSetting) -> HTML {
        // A rule begins from what is normal.
        let value = kept.isForSome ? EffectKey.named(setting.key)?.normal : state[setting.key]
        return ControlElement(
            setting: setting, value: value, accounts: accounts, action: kept.address(), isForRule: kept.isForSome
        ).html
    }

    private var demands: HTML {
        let names = (state["require_mfa"]?.array ?? []).compactMap(\.string).joined(separator: ", ")
        return names.isEmpty
            ? "" : "<p class=\"small\">\(HTML(saying: "Second factor required of: %@.", "\(names)"))</p>"
    }

    // MARK: Rules

    private var condition: HTML {
        let clients = [("", HTML(saying: "Every app"))] + clients.map { ($0.id, "\($0.name)" as HTML) }
        let people = [("", HTML(saying: "Everyone"))] + accounts.map { ($0.username, "\($0.displayName)" as HTML) }
        func select(_ name: String, _ title: HTML, _ options: [(String, HTML)], _ selected: String?) -> HTML {
            """
            <label for="when_\(name)">\(HTML(saying: title))</label>
            <div class="row"><select id="when_\(name)" name="\(name)">\
            \(ControlElement.options(options, selected ?? ""))</select></div>

            """
        }
        return panel(
            "For one app or person",
            [
                """
                <p class="small">\(HTML(saying: "Choose an app or a person. What you set after that is a rule for them alone."))</p>
                <form method="get" action="/control" class="setting">
                \(kept.hiddenFields)\(select("client", "App", clients, kept.client))\
                \(select("user", "Person", people, kept.user))\
                <label for="when_times">\(HTML(saying: "Number of requests"))</label>
                <div class="row"><input id="when_times" name="times" type="number" min="1" value="\(kept.times ?? "")" \
                aria-describedby="when_effect"><button>\(HTML(saying: "Choose"))</button></div>
                <p class="small" id="when_effect">\(HTML(saying: "Without a number, the rule stays until you end it. Requests that name no app or person, such as those for keys, follow no such rule."))</p>
                </form>
                """,
                kept.isForSome
                    ? "<p><strong>\(HTML(saying: "What you set now becomes a rule for this choice alone."))</strong></p>"
                    : "",
            ])
    }

    private var rules: HTML {
        let rules = state["rules"]?.array ?? []
        guard !rules.isEmpty else { return "" }
        return panel("Rules", ["<ul class=\"rules\">\n"] + rules.map(rule) + ["</ul>"])
    }

    private func rule(_ rule: JSONValue) -> HTML {
        let client = rule["when"]?["client"]?.string.flatMap { id in clients.first { $0.id.lowercased() == id } }
        let user = rule["when"]?["user"]?.string.flatMap { name in accounts.first { $0.username == name } }
        let effects = EffectKey.all.compactMap { key -> HTML? in
            guard let value = rule[key.name] else { return nil }
            let title = ControlGroup.title(of: key.name).map { HTML(saying: $0) } ?? "<code>\(key.name)</code>"
            return value == true
                ? title : "\(title): <code>\(value["status"]?.text ?? value.string ?? value.text)</code>"
        }
        let who: HTML =
            "\(client.map { "\($0.name)" } ?? HTML(saying: "Every app")), \(user.map { "\($0.displayName)" } ?? HTML(saying: "Everyone"))"
        let left: HTML = rule["times"]?.integer.map { "\(HTML(saying: "Requests left: %@.", "\($0)"))" } ?? ""
        let id = "rule_\(rule["id"]?.integer ?? 0)"
        return """
            <li><form method="post" action="\(kept.address())"><p id="\(id)"><strong>\(who)</strong><br>\
            \(effects.map { "\($0)<br>" as HTML })\(left)</p>
            <button name="remove" value="\(rule["id"]?.integer ?? 0)" aria-describedby="\(id)">\(HTML(saying: "End"))</button></form></li>

            """
    }

    // MARK: The rest

    private var counts: HTML {
        let rows = Controls.Counter.allCases.map { counter -> HTML in
            let count = state["counts"]?[counter.rawValue]?.integer ?? 0
            return "<tr><th scope=\"row\">\(HTML(saying: counter.title))</th><td>\(count)</td></tr>\n"
        }
        return panel(
            "Requests so far",
            [
                "<table><caption class=\"hidden\">\(HTML(saying: "Requests so far"))</caption><tbody>\n\(rows)</tbody></table>",
                element(.reset), element(.seed),
            ])
    }

    private var script: HTML {
        panel(
            "From a script",
            [
                """
                <p>\(HTML(saying: "The same as JSON: <code>GET</code> and <code>POST /control</code>."))</p>
                <pre tabindex="0" aria-label="\(HTML(saying: "Example command"))"><code>curl -d '{"rules":[{"when":{"user":"adele@contoso.example"},"times":2,\
                "token_error":{"status":503}}]}' \
                \(address)</code></pre>
                """
            ])
    }

    private func panel(_ title: HTML, _ elements: [HTML]) -> HTML {
        "<section class=\"panel\">\n<h2>\(HTML(saying: title))</h2>\n\(elements)\n</section>"
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
