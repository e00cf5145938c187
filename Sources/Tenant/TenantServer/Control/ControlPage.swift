import TenantControl
import TenantDirectory
import TenantSignIn
import WebFormats

/// The page for people: the failures, the rules in force, and below them the applications' requests.
struct ControlPage: Page {
    let bar: HTML?
    /// The state as the JSON interface returns it.
    let state: JSONValue
    /// The rules in force, with those of the top level.
    let active: [Rule]
    let accounts: [DemoAccount]
    let clients: [DemoClient]
    let requests: ClientsSection
    var notice: HTML?
    /// The control page's address, for the example.
    let address: String
    /// The companion's start page; nil if the tenant runs alone.
    let companionURL: String?
    /// The parameters that the page keeps.
    let kept: ControlQuery

    var title: HTML { "Failures on demand" }
    var layout: String { "wide-layout" }

    var head: HTML { "<script type=\"module\" src=\"/assets/clients.js\" blocking=\"render\"></script>\n" }

    var footLink: HTML { "" }
    private let lead: HTML =
        "Make this identity platform and its Graph fail on purpose, and see what the application does. "
        + "Each failure lasts as “Active now” says, and can be undone there."

    /// Learn has failures that nobody else meets.
    private var ownFailures: HTML {
        guard let companionURL else { return "" }
        let link: HTML = "<a href=\"\(companionURL)ios#missions\">\(HTML(saying: "Things that go wrong"))</a>"
        return " \(HTML(saying: "In Learn, “%@” is for your own session only.", link))"
    }

    var content: HTML {
        """
        <h1>\(HTML(saying: title))</h1>
        <p class="lead">\(HTML(saying: lead))</p>
        <div id="notice" role="status">\(notice ?? "")</div>
        <div class="columns">
        <div class="search scripted"><label for="search">\(HTML(saying: "Search the failures"))</label>
        <input type="search" id="search" autocomplete="off" aria-describedby="shown">
        <p class="small" id="shown" role="status" data-text="\(HTML(saying: "Shown: %@ of %@", "%1", "%2"))" \
        data-hits="\(HTML(saying: "Matches:"))" data-more="\(HTML(saying: "%@ more in the list", "%1"))"></p></div>
        <div class="side">
        <section class="panel" id="now">
        <h2 tabindex="-1">\(HTML(saying: "Active now"))</h2>
        \(activeRules)
        </section>
        <p class="small">\(HTML(saying: "Further down:")) <a href="#requests">\(HTML(saying: "Your apps’ requests"))</a> · \
        <a href="#rest">\(HTML(saying: "Start over"))</a></p>
        \(condition)
        </div>
        <div>
        <div id="chosen" tabindex="-1">\(chosen)</div>
        <div id="failures" data-for="\(kept.client ?? "") \(kept.user ?? "")">
        \(ControlKey.groups.map(group))
        </div>
        </div>
        </div>
        \(requests.content)
        <div class="panels" id="rest">
        \(panel("Start over", [element(.seed)]))
        \(script)
        </div>
        """
    }

    private func group(_ group: ControlGroup) -> HTML {
        let link = trial(of: group)
        let keys = group.keys.filter { !kept.isForSome || $0.isForRules }
        guard !keys.isEmpty else { return "" }
        let on = keys.count(where: isOn)
        let memory: HTML =
            group.keys.contains { $0.name == "token_error" }
            ? "<p class=\"small\">\(kept.isForSome ? "" : "\(HTML(saying: ControlKey.repeats)) " as HTML)\(HTML(saying: ControlKey.memory))</p>"
            : ""
        return """
            <details class="panel group" data-on="\(on)"\(on > 0 ? " open" : "" as HTML)>
            <summary><h2>\(HTML(saying: group.title))</h2> \
            \(on > 0 ? "<span class=\"small\">\(HTML(saying: "On: %@", "\(on)"))</span>" : "" as HTML)</summary>
            <p class="small">\(HTML(saying: group.lead))\(link)</p>
            \(keys.map(element))\(memory)
            </details>

            """
    }

    /// Leads to the tutorial for iOS, where there is one.
    private func trial(of group: ControlGroup) -> HTML {
        guard let companionURL, let trial = group.trial else { return "" }
        switch trial {
        case .page: return " <a href=\"\(companionURL)ios\">\(HTML(saying: "Open Learn for iOS"))</a>"
        case .signIn:
            // The page begins it, so that it is told what came of it.
            return " <a href=\"\(companionURL)ios#sign-in\">\(HTML(saying: "Sign in now in Learn for iOS"))</a>"
        }
    }

    /// Whether a setting differs from normal: for the page's choice, or else for everyone.
    private func isOn(_ key: ControlKey) -> Bool {
        if kept.isForSome { return ownRules.contains { key.json($0.effects) != nil } }
        return key.isEffect ? state[key.name] != key.normal : !(state[key.name]?.array ?? []).isEmpty
    }

    private func element(_ key: ControlKey) -> HTML {
        ControlElement(
            key: key, value: ofRule(key) ?? state[key.name], accounts: accounts, action: kept.address(),
            rule: kept.isForSome ? ownRule(key) : nil, companionURL: companionURL, isForRule: kept.isForSome,
            isLasting: kept.isForSome && kept.times == nil
        ).html
    }

    /// The value for the present choice, which begins from nothing; nil without a choice.
    private func ofRule(_ key: ControlKey) -> JSONValue? {
        kept.isForSome ? ownRules.compactMap { key.json($0.effects) }.last ?? .null : nil
    }

    /// The rules of the present choice.
    private var ownRules: [Rule] {
        active.filter { rule in
            rule.key == nil && rule.when.clientID == kept.client?.lowercased()
                && rule.when.username == kept.user?.lowercased() && rule.when.session == nil
        }
    }

    /// The rule of the present choice that has this effect and no other.
    private func ownRule(_ key: ControlKey) -> Int? {
        ownRules.last { rule in ControlKey.effects.filter { $0.json(rule.effects) != nil }.map(\.name) == [key.name] }?
            .id
    }

    private var demands: HTML {
        let names = (state["require_mfa"]?.array ?? []).compactMap(\.string).joined(separator: ", ")
        return names.isEmpty
            ? "" : "<p class=\"small\">\(HTML(saying: "Second factor required of: %@.", "\(names)"))</p>"
    }

    // MARK: Rules

    private var condition: HTML {
        let clients = [("", HTML(saying: "Every app"))] + clients.map { ($0.id, kind(of: $0)) }
        let people = [("", HTML(saying: "Everyone"))] + accounts.map { ($0.username, "\($0.displayName)" as HTML) }
        func select(_ name: String, _ title: HTML, _ options: [(String, HTML)], _ selected: String?) -> HTML {
            """
            <label for="when_\(name)">\(HTML(saying: title))</label>
            <div class="row"><select id="when_\(name)" name="\(name)">\
            \(ControlElement.options(options, selected ?? ""))</select></div>

            """
        }
        return """
            <details class="panel" id="for">
            <summary><h2>\(forWhom)</h2></summary>
            <p class="small">\(HTML(saying: "Choose an app or a person. What you set after that is a rule for them alone."))\(ownFailures)</p>
            <form method="get" action="/control#chosen" id="choice">
            \(kept.hiddenFields)\(select("client", "App", clients, kept.client))\
            \(select("user", "Person", people, kept.user))\
            <label for="when_times">\(HTML(saying: "Number of requests"))</label>
            <div class="row"><input id="when_times" name="times" type="number" min="1" value="\(kept.times ?? "")" \
            aria-describedby="when_effect"><button>\(HTML(saying: "Choose for whom"))</button></div>
            <p class="small" id="when_effect">\(HTML(saying: "Without a number, the rule stays until you end it. Requests that name no app or person, such as those for keys, follow no such rule."))</p>
            </form>
            </details>

            """
    }

    /// The name alone does not say where people meet the application.
    private func kind(of client: DemoClient) -> HTML {
        if client.homeURL != nil { return HTML(saying: "%@: every page of this Companion", "\(client.name)") }
        guard client.isPublic, client.spaRedirectURIs.isEmpty else { return "\(client.name)" }
        return HTML(saying: "%@: a native app", "\(client.name)")
    }

    /// To whom the failures below it happen, if not to everyone, what to do next, and the way back.
    private var chosen: HTML {
        guard kept.isForSome else { return "" }
        return """
            <h2>\(HTML(saying: "Only for %@", choice))</h2>
            <p>\(HTML(saying: "What you set now becomes a rule for this choice alone.")) \(HTML(saying: next))</p>
            <p><a href="\(kept.forEveryone.address())">\(HTML(saying: "Back to everyone"))</a></p>
            """
    }

    /// The names of the chosen app and person.
    private var choice: HTML {
        "\([kept.client.flatMap(appName), kept.user.map(personName)].compactMap { $0 }.joined(separator: ", "))"
    }

    private var forWhom: HTML {
        kept.isForSome ? HTML(saying: "For: %@", choice) : HTML(saying: "For: every app, everyone")
    }

    /// Says of a failure that was set how it is set now, for whom, and where to try it.
    func confirmation(of key: ControlKey) -> HTML {
        let value = ofRule(key) ?? state[key.name] ?? .null
        let title = (kept.isForSome && kept.times == nil ? key.lastingTitle : nil) ?? key.title ?? ""
        let words = key.words(now: value)
        let whole =
            kept.isForSome
            ? HTML(saying: "%@: %@, for %@.", HTML(saying: title), words, choice)
            : HTML(saying: "%@: %@, for everyone.", HTML(saying: title), words)
        let link = ControlKey.groups.first { $0.keys.contains { $0.name == key.name } }.map(trial) ?? ""
        return "\(whole)\(link)"
    }

    private let next: HTML =
        "Next, open a group below and set a failure. It is then listed under “Active now”, where you can undo it."

    private func appName(_ id: String) -> String? { clients.first { $0.id.lowercased() == id.lowercased() }?.name }

    /// Newcomers have no name yet.
    private func personName(_ username: String) -> String {
        accounts.first { $0.username == username }?.displayName ?? username
    }

    /// All that differs from normal, the newest first, with the way back.
    private var activeRules: HTML {
        isNormal
            ? "<p>\(HTML(saying: "Everything works normally."))</p>"
            : "<ul class=\"rules\">\n\(active.sorted { $0.id > $1.id }.map(line))</ul>\n\(demands)\(element(.reset))"
    }

    private var isNormal: Bool { active.isEmpty && demands.text.isEmpty }

    private func line(_ rule: Rule) -> HTML {
        let json = rule.json
        let client = rule.when.clientID.flatMap(appName)
        let user = rule.when.username.map(personName)
        let keys = ControlKey.effects.filter { json[$0.name] != nil }
        let effects = keys.map { key -> HTML in
            let value = json[key.name]
            let stays = rule.times == nil && rule.key == nil
            let title =
                ((stays ? key.lastingTitle : nil) ?? key.title).map { HTML(saying: $0) } ?? "<code>\(key.name)</code>"
            return value == true
                ? "\(title)<br>"
                : "\(title): \(value.flatMap(key.words(of:)) ?? "<code>\(value?.string ?? value?.text ?? "")</code>")<br>"
        }
        let meanings = keys.filter { $0.title != nil }.map { HTML(saying: $0.meaning) }
        let everyone: HTML = rule.when.session == nil ? "everyone" : "one sign-in"
        let who: HTML =
            "\(client.map { "\($0)" } ?? HTML(saying: "Every app")), \(user.map { "\($0)" } ?? HTML(saying: everyone))"
        let left: HTML = rule.times.map { "\(HTML(saying: "Requests left: %@.", "\($0)"))<br>" } ?? ""
        let end: HTML = rule.end.map { "\(HTML(saying: "Ends by itself at %@ (UTC).", $0.dayAndClock))<br>" } ?? ""
        let lasting: HTML =
            rule.key == nil && rule.times == nil && rule.end == nil
            ? "\(HTML(saying: "Until you undo it."))<br>" : ""
        let (name, value) = rule.key.map { ("undo", $0) } ?? ("remove", "\(rule.id)")
        let id = "rule_\(rule.id)"
        return """
            <li><form method="post" action="\(kept.address())"><p id="\(id)"><strong>\(who)</strong><br>\
            \(effects)\(left)\(end)\(lasting)<span class="small">\(meanings.map { "\($0) " as HTML })</span></p>
            <button name="\(name)" value="\(value)" aria-describedby="\(id)">\(HTML(saying: "Undo"))</button></form></li>

            """
    }

    // MARK: The rest

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
