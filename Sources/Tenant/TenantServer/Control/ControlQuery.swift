import HTTPServer
import HTTPWire
import Languages
import TenantControl
import TenantSignIn
import WebFormats

/// The query parameters that the control page keeps from one request to the next.
struct ControlQuery {
    /// The requested language.
    var language: Language?
    /// The application's page to return to, as its path and query.
    var returnTo: String?
    /// The client ID and the username that the settings are for, and the number of requests.
    var client: String?
    var user: String?
    var times: String?

    /// Reads the parameters of a request. Those that are empty were not chosen.
    init(_ request: Request, language: Language) {
        let query = request.head.query.flatMap { try? FormFields(query: $0) }
        self.language = query?["ui_locales"] == nil ? nil : language
        returnTo = query?["return_to"]
        client = query?.text("client")
        user = query?.text("user")
        times = query?.text("times")
    }

    /// Whether the settings are for one app or person, and so become rules.
    var isForSome: Bool { client != nil || user != nil }

    /// The parameters without the choice.
    var forEveryone: ControlQuery {
        var query = self
        (query.client, query.user, query.times) = (nil, nil, nil)
        return query
    }

    /// The condition and the times of a rule, as members of the JSON interface.
    var rule: [String: JSONValue] {
        let when = ["client": client, "user": user].compactMapValues { $0.map(JSONValue.string) }
        return ["when": .object(when)].merging(
            times.map { ["times": Int($0).map(JSONValue.integer) ?? .string($0)] } ?? [:]
        ) { $1 }
    }

    private var pageParameters: [(String, String?)] { [("ui_locales", language?.tag), ("return_to", returnTo)] }

    /// Returns the control page's address with these parameters, and with the change that was `done` or, encrypted, why it
    /// was `refused`.
    func address(done: String? = nil, refused: String? = nil) -> String {
        "/control".appending(
            query: ([("done", done), ("refused", refused), ("client", client), ("user", user), ("times", times)]
                + pageParameters)
                .compactMap { name, value in value.map { (name: name, value: $0) } })
    }

    /// The parameters that the form for a condition keeps.
    var hiddenFields: [HTML] { Self.hidden(pageParameters) }

    /// Returns the form that shows the page in another language.
    func languageMenu(_ languages: [Language]) -> HTML {
        let fields = [("return_to", returnTo), ("client", client), ("user", user), ("times", times)]
        let options = languages.map { language -> HTML in
            let selected: HTML = language.tag == DemoLanguage.tag ? " selected" : ""
            return "<option value=\"\(language.tag)\" lang=\"\(language.tag)\"\(selected)>\(language.name)</option>"
        }
        return """
            <form method="get" action="/control" class="language">\(Self.hidden(fields))\
            <select id="language-choice" name="ui_locales" aria-label="\(HTML(saying: "Language"))">\(options)</select>\
            <button>\(HTML(saying: "Choose"))</button></form>
            """
    }

    private static func hidden(_ parameters: [(String, String?)]) -> [HTML] {
        parameters.compactMap { name, value in
            value.map { "<input type=\"hidden\" name=\"\(name)\" value=\"\($0)\">\n" }
        }
    }
}
