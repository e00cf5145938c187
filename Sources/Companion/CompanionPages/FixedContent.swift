package import CompanionCore
package import HTTPServer
package import Languages
import OpenIDConnect
import WebFormats

/// Content that depends only on the configuration and stays the same while the server runs: the home page's cards,
/// the device mode and the note about the demo. It is part of the HTML, so that nothing moves while the page loads
/// and no script is needed.
package struct FixedContent: Sendable {
    let applications: [Application]
    let deviceMode: DeviceMode
    let kioskTiles: [String]
    let demoControlURL: String?
    /// Whether several servers use the same sessions.
    private let hasSeveralServers: Bool
    let publicURL: PublicURL
    private let kiosk: KioskLook

    package init(configuration: CompanionConfiguration) {
        applications = configuration.applications
        deviceMode = configuration.deviceMode
        demoControlURL = configuration.demoControlURL
        hasSeveralServers = configuration.database.isClustered
        publicURL = configuration.publicURL
        kioskTiles = configuration.kioskTiles
        kiosk = KioskLook(configuration: configuration)
    }

    /// Whether several people use the browser, one after another.
    var isOnSharedDevice: Bool { deviceMode == .shared }

    /// Whether the pages go without this part. Nobody should paste a token on a device that others use too.
    func omits(part: Substring) -> Bool { part == "paste-box" && isOnSharedDevice }

    /// Whether the home page is a learner's, which tells what the demo shows; a team's begins with its registrations.
    var isDemo: Bool { demoControlURL != nil }

    /// Assets that are not in the folder of the pages.
    package var assets: [String: Asset] { kiosk.assets }

    /// Returns a page with its placeholders `{{applications}}`, `{{device_mode}}`, `{{mode}}`,
    /// `{{servers_note}}`, `{{demo_note}}` and `{{bar …}}` filled in, and a kiosk's placeholders of ``KioskLook``.
    ///
    /// - Parameters:
    ///   - application: the page's application; nil for home and messages.
    ///   - rewritten: replaces asset names in a text by those with the content's hash.
    func filling(
        _ html: String, in language: Language, for application: Application?, rewritten: (String) -> String
    ) -> String {
        PageTemplate.filled(html) { place in
            switch place {
            case "applications": cards(in: language, rewritten)
            case "first_press": firstPress(in: language)
            case "first_screen": firstScreen(in: language)
            case "device_mode": "\(deviceMode.rawValue)"
            case "mode": "\(text("home.mode.\(deviceMode.rawValue)", in: language))"
            case "servers_note": serversNote(in: language)
            case "demo_note": demoNote(in: language, for: application)
            case _ where place.hasPrefix("bar "): bar(place.dropFirst(4), in: language, for: application)
            case "paste_title":
                isOnSharedDevice ? "" : "<h2 id=\"paste-title\">\(text("paste_page.title", in: language))</h2>"
            case "paste_refusal": isOnSharedDevice ? "\(text("paste_page.shared", in: language))" : ""
            case "native_play": playLink(text("play_page.title", in: language))
            case "kiosk_preview": kioskPreview(in: language)
            case "kiosk_lead": kioskLead(in: language, for: application)
            case "kiosk_start": kioskStart(in: language, for: application, rewritten)
            default:
                kiosk.content(of: place, in: language, below: publicURL.prefix) {
                    rewritten("/assets/pictures/favicon.svg")
                }
            }
        }
    }

    // MARK: The home page

    /// The page on which the first press is made, and its button there.
    private var pressPath: String? {
        firstTutorial.map { publicURL.pagePath(of: $0) + (isDemo ? "#call-graph=\(Self.demoAccount)" : "#call-graph") }
    }

    /// The account of the demo that the pages name.
    private static let demoAccount = "adele@contoso.example"

    /// Returns the button that begins the first application's sign-in.
    private func firstPress(in language: Language) -> HTML {
        guard let pressPath else { return "" }
        return """
            <a class="try" href="\(pressPath)">\(text("home.press", in: language))\
            <svg viewBox="0 0 24 24" aria-hidden="true"><path d="M4 12h15m-6-6 6 6-6 6"/></svg></a>
            """
    }

    /// Returns the first application's screen. Its buttons are links to those of the application.
    private func firstScreen(in language: Language) -> HTML {
        guard let firstTutorial, let pressPath else { return "" }
        let page = publicURL.pagePath(of: firstTutorial)
        return """
            <div class="phone"><div class="glass">
            <p class="clock" aria-hidden="true"><span>9:41</span><i class="island"></i><svg width="44" height="11" viewBox="0 0 44 11" \
            fill="currentColor"><path d="M0 7h2.5v4H0zM4 5h2.5v6H4zM8 2.5h2.5V11H8zM12 0h2.5v11H12z"/>\
            <rect x="20.5" y=".5" width="20" height="10" rx="3" fill="none" stroke="currentColor" opacity=".5"/>\
            <rect x="22" y="2" width="17" height="7" rx="1.8"/></svg></p>
            <p class="user" lang="en" data-first="\(firstTutorial.id)">Signed out</p>
            <a class="do first" lang="en" href="\(pressPath)">Call Microsoft Graph API</a>
            <a class="do" lang="en" href="\(page)">Get device info</a>
            <p class="console">\(text("home.console", in: language))</p>
            </div></div>
            """
    }

    private func cards(in language: Language, _ rewritten: (String) -> String) -> HTML {
        guard !applications.isEmpty else { return "<p class=\"state\">\(text("home.none", in: language))</p>" }
        // The rooms and the kiosk stand behind the tutorials.
        let (others, tutorials) = (
            applications.filter { [.portal, .kiosk].contains($0.page) },
            applications.filter { ![.portal, .kiosk].contains($0.page) }
        )
        let cards =
            tutorials.map { card($0, in: language, rewritten) } + (isDemo ? nativeCards(in: language, rewritten) : [])
            + others.map { card($0, in: language, rewritten) }
        let tenant = isDemo ? "<p class=\"authority\">\(text("home.authority_demo", in: language))</p>\n" as HTML : ""
        let list: HTML =
            "\(finder(in: language))\(tenant)<ul class=\"cards\(isDemo ? "" : " rows" as HTML)\" id=\"cards\">\n\(cards)</ul>"
        guard applications.contains(where: { $0.kind == .b2c }) else { return list }
        return list + "\n<p class=\"legal\">\(text("home.b2c_legal", in: language))</p>"
    }

    /// Returns a text of the pages.
    func text(_ key: String, in language: Language) -> String { language.page[key] ?? "" }

    /// Above this number of cards a search field appears.
    private static let manyCards = 7

    private func finder(in language: Language) -> HTML {
        guard applications.count > Self.manyCards else { return "" }
        return """
            <p class="find"><input type="search" id="find" autocomplete="off" spellcheck="false" placeholder="\(text("home.find", in: language))" \
            aria-label="\(text("home.find", in: language))" aria-controls="cards"></p>
            <p class="state" id="none-found" role="status" data-text="\(text("home.none_found", in: language))"></p>

            """
    }

    private func card(_ application: Application, in language: Language, _ rewritten: (String) -> String) -> HTML {
        let kind = text("home.kind.\(Self.accounts(of: application.authority))", in: language)
        return """
            <li class="card" data-app="\(application.id)">\
            \(head(application.page.picture, publicURL.pagePath(of: application), application.title(in: language), kind, rewritten))\
            <p class="purpose">\(text("home.page.\(application.page.rawValue)", in: language))</p>\
            \(authority(of: application, in: language))\
            <p class="foot"><span class="who">&nbsp;</span>\
            <span class="open" aria-hidden="true">\(text("home.open", in: language)) →</span></p></li>

            """
    }

    /// Returns the accounts that may sign in at an authority, as the key of their text.
    private static func accounts(of authority: Authority) -> String {
        guard authority.kind == .workforce else { return authority.kind.rawValue }
        return switch authority.segment {
        case .tenant: "tenant"
        case .organizations: "organizations"
        case .consumers: "consumers"
        case .common, nil: "workforce"
        }
    }

    /// Returns the cards that lead to the pages about the reader's own app, and about one without a browser.
    private func nativeCards(in language: Language, _ rewritten: (String) -> String) -> [HTML] {
        let rows = [
            ("/native", text("common_page.native", in: language), text("home.native", in: language)),
            ("/native/play", text("demo.native_play", in: language), text("home.native_play", in: language)),
        ]
        return rows.map { path, title, purpose in
            """
            <li class="card">\
            \(head("native", publicURL.prefix + path, title, text("home.native_kind", in: language), rewritten))\
            <p class="purpose">\(purpose)</p>\
            <p class="foot"><span></span><span class="open" aria-hidden="true">\(text("home.open", in: language)) →</span></p></li>

            """
        }
    }

    private func head(
        _ picture: String, _ path: String, _ title: String, _ kind: String, _ rewritten: (String) -> String
    ) -> HTML {
        """
        <div class="card-head"><span class="card-icon">\
        <img src="\(publicURL.prefix)\(rewritten("/assets/pictures/\(picture).svg"))" width="44" height="44" alt=""></span>\
        <div><h3><a href="\(path)">\(title)</a></h3><p class="kind">\(kind)</p></div></div>
        """
    }

    /// Returns the authority at which the application signs people in, without its scheme; nothing for the demo's own
    /// tenant, which is named once for all.
    private func authority(of application: Application, in language: Language) -> HTML {
        let address = application.authority.description
        if let demoControlURL, address.hasPrefix(demoControlURL.dropLast("control".count)) { return "" }
        let words = address.split(separator: "://", maxSplits: 1).last.map(String.init) ?? address
        return "<p class=\"authority mono\">\(words)</p>"
    }

    // MARK: The portal

    /// Returns the note that other servers may have more sessions; empty if there is only one server.
    private func serversNote(in language: Language) -> HTML {
        guard hasSeveralServers else { return "" }
        return "<p class=\"lead\">\(text("portal_page.several_servers", in: language))</p>"
    }

    // MARK: The demo

    /// Returns the note about the demo and its accounts; empty outside the demo. Where it has little room, it says
    /// account and password alone.
    func demoNote(in language: Language, for application: Application?) -> HTML {
        guard demoControlURL != nil else { return "" }
        let accounts = ["external": "customer@fabrikam.example", "b2c": "b2cuser@fabrikamb2c.example"]
        let usual = Self.demoAccount
        let account = application.flatMap { accounts[$0.kind.rawValue] } ?? usual
        // The portal's script shows the account of the application that is selected, or of the operator.
        var names = accounts.sorted { $0.key < $1.key }.map { " data-\($0.key)=\"\($0.value)\"" as HTML }
        if applications.contains(where: { $0.admitsOperators(at: publicURL, mode: deviceMode) }) {
            names.append(" data-operator=\"\(usual)\"")
        }
        let name: HTML = "<b id=\"demo-account\" data-usual=\"\(usual)\"\(names)>\(account)</b>"
        return """
            <span class="tag">\(text("demo.name", in: language))</span>\
            \(text("demo.account", in: language, with: "account", name))<span class="short"> / </span>\
            \(text("demo.password", in: language, with: "password", "<b>demo</b>"))
            """
    }

    /// Returns the link to the page that plays an app with native authentication; empty outside the demo.
    private func playLink(_ words: String) -> HTML {
        isDemo ? "<a href=\"\(publicURL.prefix)/native/play\">\(words)</a>" : ""
    }

    /// Returns a text of the pages with HTML in its placeholder. The words around it go where there is little room.
    private func text(_ key: String, in language: Language, with place: String, _ value: HTML) -> HTML {
        let parts = text(key, in: language).split(separator: "{\(place)}", omittingEmptySubsequences: false)
        let words = parts.map { "<span class=\"long\">\(String($0)) </span>" as HTML }
        return HTML(stringLiteral: words.map(\.text).joined(separator: value.text))
    }
}

extension Application {
    /// Returns the title that people see: the configured title, or the page's default title in their language.
    package func title(in language: Language) -> String {
        title == page.title ? language.page[page.titleKey] ?? title : title
    }
}

extension Application.Page {
    /// The key of the page's default title.
    var titleKey: String {
        switch self {
        case .ios, .macos, .external, .b2c: "app_page.\(rawValue)"
        case .portal, .kiosk: "\(rawValue)_page.title"
        }
    }

    /// The picture on the application's card.
    var picture: String {
        switch self {
        case .ios: "phone"
        case .external: "phone-api"
        case .b2c: "phone-flow"
        case .macos: "window"
        case .portal, .kiosk: rawValue
        }
    }
}
