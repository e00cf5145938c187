import CompanionCore
package import Languages
package import WebFormats

/// The bar of every page but the kiosk's.
extension FixedContent {
    /// The rooms, in the order of the bar. A page that belongs to none of them names itself.
    private enum Place: String, CaseIterable {
        case learn, own, portal, failures, paste
    }

    /// Returns the bar of a page.
    ///
    /// - Parameters:
    ///   - place: the page's room, or the name of a page outside them; behind a space, the page has a menu of accounts.
    ///   - here: the path to which the page of the failures leads back.
    ///   - languages: that page's own choice of a language.
    func bar(
        _ place: Substring, in language: Language, for application: Application?, here: String? = nil,
        below origin: String = "", languages: HTML? = nil
    ) -> HTML {
        let words = place.split(separator: " ")
        let current = words.first ?? ""
        let menu: HTML =
            words.contains("accounts")
            ? "<details class=\"menu\" id=\"accounts\"><summary>\(text("accounts.title", in: language))</summary></details>"
            : ""
        let rooms = Place.allCases.compactMap { place in
            address(of: place, in: language, here: here ?? path(of: current, application), from: here).map { address in
                RoomBar.Room(
                    title: "\(text("bar.\(place.rawValue)", in: language))",
                    address: address.hasPrefix("/") ? origin + address : address,
                    isCurrent: place.rawValue == current)
            }
        }
        // A person who is led through one message chooses the language below it.
        let keeps: HTML = ["own", "paste"].contains(current) ? " data-keeps=\"values\"" : ""
        return RoomBar(
            start: RoomBar.Room(
                title: "<span>Companion</span>", address: origin + publicURL.homePath, isCurrent: current == "home"),
            rooms: rooms, menu: "\(text("bar.menu", in: language))",
            language: languages
                ?? (current == "message" ? "" : "<div class=\"language\" id=\"language\"\(keeps)></div>"),
            content: ["own", "paste", "message"].contains(current)
                ? menu
                : "<p class=\"demo-note\" id=\"demo\">\(demoNote(in: language, for: application))</p>\(menu)"
        ).html
    }

    /// Returns the bar of the demo tenant's page of failures.
    package func barOfFailures(in language: Language, here: String?, languages: HTML) -> HTML {
        bar("failures", in: language, for: nil, here: here, below: publicURL.origin, languages: languages)
    }

    private func path(of current: Substring, _ application: Application?) -> String {
        switch current {
        case "own": publicURL.prefix + "/native"
        case "paste": publicURL.prefix + "/paste"
        default: application.map(publicURL.pagePath) ?? publicURL.homePath
        }
    }

    /// Returns the address of a room; nil if this server does not have it.
    ///
    /// - Parameter left: the page that was left for the failures, to which its room leads back.
    private func address(of place: Place, in language: Language, here: String, from left: String?) -> String? {
        func path(_ isOfRoom: (Application.Page) -> Bool) -> String? {
            let paths = applications.filter { isOfRoom($0.page) }.map(publicURL.pagePath)
            return paths.first { $0 == left } ?? paths.first
        }
        return switch place {
        case .learn: path { $0 != .portal && $0 != .kiosk }
        case .own: publicURL.prefix + "/native"
        case .portal: path { $0 == .portal }
        case .failures:
            demoControlURL.map { "\($0)?ui_locales=\(language.tag)&return_to=\(FormEncoding.escaped(here))" }
        case .paste: isOnSharedDevice ? nil : publicURL.prefix + "/paste"
        }
    }

    /// The application on whose page a learner begins.
    var firstTutorial: Application? { applications.first { $0.page != .portal && $0.page != .kiosk } }
}
