import TenantControl
import TenantDirectory
import WebFormats

/// The form of one key on the control page.
struct ControlElement {
    let key: ControlKey
    /// The present value; nil for normal.
    let value: JSONValue?
    let accounts: [DemoAccount]
    /// The address for the form, with the parameters of its page.
    let action: String
    /// The rule of the page's choice that has the setting alone; nil if there is none.
    var rule: Int?
    /// The companion's start page; nil if the tenant runs alone.
    let companionURL: String?
    /// Whether it makes a rule for one app or person: then the page says how often, and a list begins with no choice.
    let isForRule: Bool
    /// Whether that rule stays until someone ends it.
    let isLasting: Bool

    private var name: String { key.name }
    private var title: HTML { (isLasting ? key.lastingTitle : nil) ?? key.title ?? "" }
    /// Two buttons have the same key.
    private var effectID: String {
        if case .button("seed", _, _) = key.field { "\(name)_seed_effect" } else { "\(name)_effect" }
    }

    /// The elements refer to the sentence that says what the key changes for people.
    var html: HTML {
        """
        <form method="post" action="\(action)" class="setting \(style)" data-key="\(name)"\(words)>
        \(elements)
        \(message)<p class="small" id="\(effectID)">\(HTML(saying: key.meaning))\(missionNote)\(timesNote)</p>
        </form>

        """
    }

    private var words: HTML { key.searchWords.isEmpty ? "" : " data-words=\"\(key.searchWords)\"" }

    /// A script sends the direct ones when something has been chosen. The options of the long ones are whole sentences.
    private var style: HTML {
        switch key.field {
        case .toggle: "switched"
        case .button(_, .some, _): ""
        case .button: "pressed"
        case .number, .text, .choice: "direct"
        case .platformError, .answer, .nativeFailure: "direct long"
        case .account, .json: ""
        }
    }

    private var elements: HTML {
        switch key.field {
        case .number(_, let unset):
            input(
                "type=\"number\" min=\"0\" placeholder=\"\(unset)\"\(required)",
                "\(value?.integer.map(String.init) ?? "")")
        case .text:
            input(
                "type=\"text\" autocomplete=\"off\" spellcheck=\"false\" placeholder=\"Mail.Read\"\(required)",
                "\(value?.string ?? "")")
        case .choice(let choices): select(choices, [], selected: value?.string ?? "")
        case .platformError(let groups):
            select(
                [("", "None")], [], selected: value?.integer.map(String.init) ?? "",
                groups: groups.map { title, moments in
                    platformErrors(HTML(saying: title)) { !$0.isOfUserFlow && moments.contains($0.moment) }
                } + [platformErrors("Azure AD B2C", \.isOfUserFlow)])
        case .account(let verb):
            select([], accounts.map { ($0.username, $0.displayName) }, selected: "", verb: verb)
        case .answer(let presets): answer(presets)
        case .button(let value, let verb, let style): button(value, verb, style: style)
        case .toggle: toggle
        case .nativeFailure: nativeFailure
        case .json: ""
        }
    }

    /// In the order of their numbers, among which those with another prefix would stand as if there were none.
    private func platformErrors(_ title: HTML, _ belongs: (PlatformError) -> Bool) -> HTML {
        let errors = PlatformError.numbers.compactMap(PlatformError.numbered).filter(belongs)
        let chosen = value?.integer.map(String.init) ?? ""
        let options = errors.map { error -> HTML in
            let selected: HTML = "\(error.number)" == chosen ? " selected" : ""
            return """
                <option value="\(error.number)"\(selected) title="\(error.message)">\(error.option)</option>
                """
        }
        return group(title, options)
    }

    /// The platform's own words for the error that is chosen.
    private var message: HTML {
        guard case .platformError = key.field, let error = value?.integer.flatMap(PlatformError.numbered) else {
            return ""
        }
        return "<p class=\"small\" lang=\"en\">\(error.message)</p>\n"
    }

    private func group(_ title: HTML, _ options: [HTML]) -> HTML {
        "<optgroup label=\"\(title)\">\(options)</optgroup>"
    }

    private var missionNote: HTML {
        guard let companionURL, let mission = key.mission else { return "" }
        let link: HTML = "<a href=\"\(companionURL)ios#mission=\(mission.id)\">\(HTML(saying: mission.title))</a>"
        return " \(HTML(saying: "In Learn, “%@” shows it whole.", link))"
    }

    /// A rule says itself how often.
    private var timesNote: HTML {
        guard let note = key.repetition?.note, !isForRule else { return "" }
        return " \(HTML(saying: note))"
    }

    /// A rule that is there is ended by choosing nothing.
    private var required: HTML { (isForRule ? rule == nil : key.normal != .null) ? " required" : "" }
    /// The title, and the rule that a choice replaces.
    private var label: HTML {
        let replaced: HTML = rule.map { "<input type=\"hidden\" name=\"remove\" value=\"\($0)\">\n" } ?? ""
        return "<label for=\"\(name)\">\(HTML(saying: title))</label>\n\(replaced)"
    }

    private func input(_ attributes: HTML, _ value: HTML) -> HTML {
        """
        \(label)<div class="row"><input id="\(name)" name="\(name)" \(attributes) aria-describedby="\(effectID)" \
        value="\(value)">\(setButton())</div>
        """
    }

    private func select(
        _ choices: [(String, HTML)], _ names: [(String, String)], selected: String, verb: HTML = "Set",
        beside: HTML = "", groups: [HTML] = []
    ) -> HTML {
        """
        \(label)<div class="row"><select id="\(name)" name="\(name)" aria-describedby="\(effectID)"\(required)>\
        \(options(choices, names, selected))\(groups)</select>\(beside)\(setButton(verb: verb))</div>
        """
    }

    private func answer(_ presets: [Controls.InjectedAnswer.Preset]) -> HTML {
        let choices: [(String, HTML)] = [("", "Normal")] + presets.map { ($0.name, $0.title) }
        let chosen = presets.first { $0.matches(value) }
        // One that a program has set.
        let other = chosen == nil ? value?["status"]?.text : nil
        let left = value?["times"]?.text
        let times: HTML =
            isForRule
            ? ""
            : """
            <label class="count">\(HTML(saying: "Times"))<span class="hidden">: \(HTML(saying: title))</span>\
            <input class="times" placeholder="1–2" id="\(name)_times" name="times" type="number" min="1" \
            value="\(left ?? (key.repetition == nil ? "1" : ""))"></label>
            """
        return select(
            choices, other.map { [($0, $0)] } ?? [], selected: chosen?.name ?? other ?? "", beside: times)
    }

    /// A switch says what it is, and pressing it sends the other state; a rule's ends the rule.
    private var toggle: HTML {
        let isOn = value?.bool == true
        let (sent, next) = rule.flatMap { isOn ? ("remove", "\($0)") : nil } ?? (name, isOn ? "false" : "true")
        return """
            <span class="title" id="\(name)_title">\(HTML(saying: title))</span>
            <div class="row"><button class="switch" id="\(name)" role="switch" aria-checked="\(isOn ? "true" : "false")" \
            name="\(sent)" value="\(next)" aria-labelledby="\(name)_title" aria-describedby="\(effectID)"></button></div>
            """
    }

    private var nativeFailure: HTML {
        let now = "\(value?["endpoint"]?.string ?? "") \(value?["error"]?.string ?? "")"
        let endpoints = Controls.NativeEndpoint.allCases.map { endpoint -> HTML in
            let errors = endpoint.errors.map { ("\(endpoint.rawValue) \($0)", "\($0)" as HTML) }
            return group("\(endpoint.rawValue)", Self.options(errors, now))
        }
        let normal = Self.options([("", HTML(saying: "None"))], value?["endpoint"] == nil ? "" : now)
        let suberrors = Controls.NativeFailure.suberrors.map { ($0, "\($0)" as HTML) }
        return """
            \(label)<div class="row"><select id="\(name)" name="\(name)" aria-describedby="\(effectID)"\(required)>\
            \(normal)\(endpoints)</select>\
            <label class="count">\(HTML(saying: "Suberror"))<select id="suberror" name="suberror">\
            \(Self.options([("", HTML(saying: "No suberror"))] + suberrors, value?["suberror"]?.string ?? ""))</select></label>\
            <label class="count">\(HTML(saying: "Error number"))<input id="code" name="code" type="number" min="0" \
            max="9999999" placeholder="AADSTS" value="\(value?["code"]?.integer.map(String.init) ?? "")"></label>\
            \(setButton())</div>
            """
    }

    private func button(_ value: String, _ verb: HTML?, style: String) -> HTML {
        if let verb {
            return """
                <span class="title">\(HTML(saying: title))</span>
                <div class="row"><button name="\(name)" value="\(value)" aria-describedby="\(effectID)">\
                \(HTML(saying: verb))<span class="hidden">: \(HTML(saying: title))</span></button></div>
                """
        }
        return """
            <button class="wide \(style)" name="\(name)" value="\(value)" aria-describedby="\(effectID)">\
            \(HTML(saying: title))</button>
            """
    }

    private func setButton(verb: HTML = "Set") -> HTML {
        "<button>\(HTML(saying: verb))<span class=\"hidden\">: \(HTML(saying: title))</span></button>"
    }

    private func options(_ choices: [(String, HTML)], _ names: [(String, String)], _ selected: String) -> [HTML] {
        let choices = isForRule ? [("", "None")] + choices.filter { !$0.0.isEmpty } : choices
        return ControlElement.options(
            choices.map { ($0, HTML(saying: $1)) } + names.map { ($0, "\($1)" as HTML) }, selected)
    }

    static func options(_ options: [(String, HTML)], _ selected: String) -> [HTML] {
        options.map { value, title in
            value == selected
                ? "<option value=\"\(value)\" selected>\(title)</option>"
                : "<option value=\"\(value)\">\(title)</option>"
        }
    }
}

extension ControlKey {
    /// The words for its setting: on or off, an option, or a number.
    func words(now value: JSONValue) -> HTML {
        switch field {
        case .toggle: HTML(saying: value.bool == true ? "on" : "off")
        case .choice(let choices) where value == .null: HTML(saying: choices[0].title)
        case .answer where value == .null: HTML(saying: "Normal")
        case _ where value == .null: HTML(saying: "None")
        // In a sentence: the message is one of its own.
        case .platformError:
            "<span lang=\"en\">\(value.integer.flatMap(PlatformError.numbered)?.option ?? value.text)</span>"
        default: words(of: value) ?? "<code>\(value.string ?? value.text)</code>"
        }
    }

    /// The words of a value's option; nil if it is none, such as a number.
    func words(of value: JSONValue) -> HTML? {
        switch field {
        case .platformError:
            value.integer.flatMap(PlatformError.numbered).map {
                "<span lang=\"en\">\($0.prefix)\($0.number): \($0.message)</span>"
            }
        case .choice(let choices):
            choices.first { $0.value == value.string }.map { HTML(saying: $0.title) }
        case .answer(let presets):
            presets.first { $0.matches(value) }.map { HTML(saying: $0.title) }
                ?? value["status"].map { "<code>\($0.text)</code>" }
        case .nativeFailure:
            "<code>\(["endpoint", "error", "suberror"].compactMap { value[$0]?.string }.joined(separator: " "))</code>"
        default: nil
        }
    }
}

extension Controls.InjectedAnswer.Preset {
    fileprivate func matches(_ value: JSONValue?) -> Bool {
        answer["status"] == value?["status"] && answer["body"] == value?["body"]
    }
}
