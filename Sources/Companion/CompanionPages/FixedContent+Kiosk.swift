import CompanionCore
import Languages
import WebFormats

/// The configuration, as a kiosk's first screen tells it.
extension FixedContent {
    /// Whether a kiosk is shown on a private device, as in the demo.
    var isPreview: Bool { deviceMode == .private }

    /// Returns the note that a kiosk is a preview, with what can be set and the way back; empty on a shared device.
    func kioskPreview(in language: Language) -> HTML {
        guard isPreview else { return "" }
        let tiles = kioskTiles.isEmpty ? "" : text("kiosk_page.preview_tiles", in: language)
        return """
            <div class="demo-note preview notice" id="preview"><details><summary><span class="tag">\(text("kiosk_page.preview", in: language))</span> \
            \(text("kiosk_page.preview_about", in: language))</summary>\
            <p>\(text("kiosk_page.preview_means", in: language)) \(tiles)</p>\
            <p>\(withNames(text("kiosk_page.preview_settings", in: language)))</p></details> \
            <a href="\(publicURL.prefix)/">\(text("kiosk_page.preview_back", in: language))</a></div>
            """
    }

    /// Returns a text in which what stands between backticks, such as a setting's name, is code.
    private func withNames(_ text: String) -> HTML {
        let parts = text.split(separator: "`", omittingEmptySubsequences: false).map(String.init)
        let marked: [HTML] = parts.enumerated().map { place, part in
            place.isMultiple(of: 2) ? "\(part)" : "<code>\(part)</code>"
        }
        return "\(marked)"
    }

    func kioskLead(in language: Language, for application: Application?) -> HTML {
        if !kioskTiles.isEmpty { return "\(text("kiosk_page.tiles_lead", in: language))" }
        return application?.kind == .workforce
            ? "\(text("kiosk_page.attract_lead", in: language))"
            : "\(text("kiosk_page.attract_lead_other", in: language))"
    }

    /// Returns the button that starts the sign-in, or a tile for each application among which visitors choose.
    func kioskStart(
        in language: Language, for application: Application?, _ rewritten: (String) -> String
    ) -> HTML {
        let tiles = kioskTiles.compactMap { id in applications.first { $0.id == id } }
        guard !tiles.isEmpty else {
            return """
                <button type="button" class="big" id="sign-in" data-start="\(application?.id ?? "")">\
                \(text("kiosk_page.sign_in", in: language))\(Self.arrow)<span class="spinner"></span></button>
                """
        }
        let buttons = tiles.map { tile in
            """
            <button type="button" class="tile" id="start-\(tile.id)" data-start="\(tile.id)">\
            <img src="\(publicURL.prefix)\(rewritten("/assets/pictures/\(tile.page.picture).svg"))" width="44" height="44" alt="">\
            <span><b>\(tile.title(in: language))</b><small>\(text("kiosk_page.tile.\(tile.page.rawValue)", in: language))</small></span>\
            \(Self.arrow)<span class="spinner"></span></button>

            """ as HTML
        }
        return "<div class=\"tiles\">\n\(buttons)</div>"
    }

    private static let arrow: HTML =
        "<svg class=\"arrow\" viewBox=\"0 0 24 24\" aria-hidden=\"true\"><path d=\"M4 12h15m-6-6 6 6-6 6\"/></svg>"
}
