import Languages
import Synchronization
import TenantSignIn
package import WebFormats

/// The bar of the page of failures: of a tenant alone its own, and of the demo's the companion's, which starts after it.
package final class RoomsBeside: Sendable {
    /// Makes the bar in a language, which leads back to this path, if there is one.
    package typealias Bar = @Sendable (_ tag: String, _ here: String?) -> HTML?

    private let companion = Mutex<Bar?>(nil)

    init() {}

    /// Takes the companion's bar.
    package func show(_ bar: @escaping Bar) { companion.withLock { $0 = bar } }

    func bar(_ here: String?) -> HTML {
        let bar = companion.withLock(\.self)
        if let html = bar?(DemoLanguage.tag, here) { return html }
        let (address, title) = ("/control?ui_locales=\(DemoLanguage.tag)", HTML(saying: "Failures on demand"))
        return RoomBar(
            start: RoomBar.Room(
                title: "<span>\(HTML(saying: "Demo tenant"))</span>", address: address, isCurrent: false),
            rooms: [RoomBar.Room(title: title, address: address, isCurrent: true)], menu: title
        ).html
    }
}
