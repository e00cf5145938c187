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
    private let demoControlURL: String?
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

    /// Assets that are not in the folder of the pages.
    package var assets: [String: Asset] { kiosk.assets }

    /// Returns a page with its placeholders `{{applications}}`, `{{device_mode}}`, `{{mode}}`, `{{mode_means}}`,
    /// `{{servers_note}}` and `{{demo_note}}` filled in, and a kiosk's placeholders of ``KioskLook``.
    ///
    /// - Parameters:
    ///   - application: the page's application; nil for home and messages.
    ///   - rewritten: replaces asset names in a text by those with the content's hash.
    func filling(
        _ html: String, in language: Language, for application: Application?, rewritten: (String) -> String
    ) -> String {
        let isHome = html.contains("{{applications}}")
        return PageTemplate.filled(html) { place in
            switch place {
            case "applications": cards(in: language, rewritten)
            case "try_now": tryNow(in: language)
            case "device_mode": "\(deviceMode.rawValue)"
            case "mode": "\(text("home.mode.\(deviceMode.rawValue)", in: language))"
            case "mode_means":
                "\(text("home.mode_means.\(deviceMode.rawValue)", in: language))\(previewLink(in: language))"
            case "servers_note": serversNote(in: language)
            case "demo_note": demoNote(in: language, for: application, isHome: isHome)
            case "kiosk_preview": kioskPreview(in: language)
            case "kiosk_lead": kioskLead(in: language, for: application)
            case "kiosk_start": kioskStart(in: language, for: application, rewritten)
            default:
                kiosk.content(of: place, in: language, below: publicURL.prefix) { rewritten("/assets/favicon.svg") }
            }
        }
    }

    // MARK: The home page

    /// Returns the button that leads to the first application.
    private func tryNow(in language: Language) -> HTML {
        guard let first = applications.first else { return "" }
        return """
            <a class="try" href="\(publicURL.pagePath(of: first))">\(text("home.try_now", in: language))\
            <svg viewBox="0 0 24 24" aria-hidden="true"><path d="M4 12h15m-6-6 6 6-6 6"/></svg></a>
            """
    }

    private func cards(in language: Language, _ rewritten: (String) -> String) -> HTML {
        // The preview of a kiosk has a link of its own.
        let applications = applications.filter { !isPreview || $0.page != .kiosk }
        guard !applications.isEmpty else { return "<p class=\"state\">\(text("home.none", in: language))</p>" }
        let cards = applications.map { card($0, in: language, rewritten) } + [nativeCard(in: language, rewritten)]
        let list: HTML = "\(finder(in: language))<ul class=\"cards\" id=\"cards\">\n\(cards)</ul>"
        guard applications.contains(where: { $0.kind == .b2c }) else { return list }
        return list + "\n<p class=\"legal\">\(text("home.b2c_legal", in: language))</p>"
    }

    /// Returns a text of the pages.
    func text(_ key: String, in language: Language) -> String { language.page[key] ?? "" }

    /// Above this number of cards a search field appears.
    private static let manyCards = 12

    private func finder(in language: Language) -> HTML {
        guard applications.count > Self.manyCards else { return "" }
        return """
            <p class="find"><input type="search" id="find" autocomplete="off" spellcheck="false" placeholder="\(text("home.find", in: language))" \
            aria-label="\(text("home.find", in: language))" aria-controls="cards"></p>
            <p class="state" id="none-found" role="status" data-text="\(text("home.none_found", in: language))"></p>

            """
    }

    private func card(_ application: Application, in language: Language, _ rewritten: (String) -> String) -> HTML {
        let kind = language.page["home.kind.\(application.kind.rawValue)"] ?? application.kind.rawValue
        return """
            <li class="card" data-app="\(application.id)">\
            \(head(application.page.picture, publicURL.pagePath(of: application), application.title(in: language), kind, rewritten))\
            <p class="purpose">\(text("home.page.\(application.page.rawValue)", in: language))</p>\
            \(authority(of: application, in: language))\
            <p class="foot"><span class="who">&nbsp;</span>\
            <span class="open" aria-hidden="true">\(text("home.open", in: language)) →</span></p></li>

            """
    }

    /// Returns the card that leads to the pages about the reader's own app.
    private func nativeCard(in language: Language, _ rewritten: (String) -> String) -> HTML {
        let title = text("common_page.native", in: language)
        return """
            <li class="card">\
            \(head("native", publicURL.prefix + "/native", title, text("home.native_kind", in: language), rewritten))\
            <p class="purpose">\(text("home.native", in: language))</p>\
            <p class="foot"><span></span><span class="open" aria-hidden="true">\(text("home.open", in: language)) →</span></p></li>

            """
    }

    private func head(
        _ picture: String, _ path: String, _ title: String, _ kind: String, _ rewritten: (String) -> String
    ) -> HTML {
        """
        <div class="card-head"><span class="card-icon">\
        <img src="\(publicURL.prefix)\(rewritten("/assets/\(picture).svg"))" width="44" height="44" alt=""></span>\
        <div><h3><a href="\(path)">\(title)</a></h3><p class="kind">\(kind)</p></div></div>
        """
    }

    /// Returns where the application signs people in: in words for the demo's own tenant, else the authority without
    /// its scheme.
    private func authority(of application: Application, in language: Language) -> HTML {
        let address = application.authority.description
        if let demoControlURL, address.hasPrefix(demoControlURL.dropLast("control".count)) {
            return "<p class=\"authority\">\(text("home.authority_demo", in: language))</p>"
        }
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

    /// Returns the note about the demo and its accounts; empty outside the demo. On the home page and the portal it
    /// has a link to the page where failures can be switched on.
    private func demoNote(in language: Language, for application: Application?, isHome: Bool) -> HTML {
        guard let demoControlURL else { return "" }
        let accounts = ["external": "customer@fabrikam.example", "b2c": "b2cuser@fabrikamb2c.example"]
        let usual = "adele@contoso.example"
        let account = application.flatMap { accounts[$0.kind.rawValue] } ?? usual
        // The portal's script shows the account of the application that is selected.
        let names = accounts.sorted { $0.key < $1.key }.map { " data-\($0.key)=\"\($0.value)\"" as HTML }
        let name: HTML = "<b id=\"demo-account\" data-usual=\"\(usual)\"\(names)>\(account)</b>"
        let note: HTML = """
            <span class="tag">\(text("demo.name", in: language))</span>\
            <span class="long">\(text("demo.account", in: language, with: "account", name)) </span>\
            \(text("demo.password", in: language, with: "password", "<b>demo</b>"))
            """
        guard isHome || application?.page == .portal else { return note }
        let here = application.map(publicURL.pagePath) ?? publicURL.homePath
        let address = "\(demoControlURL)?ui_locales=\(language.tag)&return_to=\(FormEncoding.escaped(here))"
        return note + " <a href=\"\(address)\">\(text("demo.control", in: language))</a>"
    }

    /// Returns a text of the pages with HTML in its placeholder.
    private func text(_ key: String, in language: Language, with place: String, _ value: HTML) -> HTML {
        let parts = text(key, in: language).split(separator: "{\(place)}", omittingEmptySubsequences: false)
        return HTML(stringLiteral: parts.map { HTML(escaping: String($0)).text }.joined(separator: value.text))
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
