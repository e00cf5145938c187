import Languages
import TenantSignIn
package import WebFormats

/// The bar of the page of failures: of a tenant alone its own, and of the demo's the companion's, which starts after it.
package final class RoomsBeside: Sendable {
    /// Makes the bar in a language, which leads back to this path, if there is one, and has this choice of languages.
    package typealias Bar = @Sendable (_ tag: String, _ here: String?, _ languages: HTML) -> HTML?

    private let companion = Later<Bar>()

    /// Takes the companion's bar.
    package func show(_ bar: @escaping Bar) { companion.value = bar }

    func bar(_ here: String?, languages: HTML = "") -> HTML {
        if let html = companion.value?(DemoLanguage.tag, here, languages) { return html }
        let (address, title) = ("/control?ui_locales=\(DemoLanguage.tag)", HTML(saying: "Failures on demand"))
        return RoomBar(
            start: RoomBar.Room(
                title: "<span>\(HTML(saying: "Demo tenant"))</span>", address: address, isCurrent: false),
            rooms: [RoomBar.Room(title: title, address: address, isCurrent: true)], menu: title, language: languages
        ).html
    }
}
