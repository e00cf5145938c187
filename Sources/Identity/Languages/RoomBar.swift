package import WebFormats

/// The bar at the top of every page: the way to the start and the rooms, and beside them what a page adds. Where it has
/// little room, a button opens the rooms as a menu.
package struct RoomBar {
    /// One of the links.
    package struct Room {
        let title: HTML
        let address: String
        let isCurrent: Bool

        package init(title: HTML, address: String, isCurrent: Bool) {
            self.title = title
            self.address = address
            self.isCurrent = isCurrent
        }

        func link(style: HTML = "", _ picture: HTML = "") -> HTML {
            "<a\(style) href=\"\(address)\"\(isCurrent ? " aria-current=\"page\"" as HTML : "")>\(picture)\(title)</a>"
        }
    }

    let start: Room
    let rooms: [Room]
    /// The name of the menu.
    let menu: HTML
    /// Stands in the menu below the rooms, or at the end of the bar.
    let language: HTML
    /// Stands between the rooms and the language.
    let content: HTML

    package init(start: Room, rooms: [Room], menu: HTML, language: HTML = "", content: HTML = "") {
        self.start = start
        self.rooms = rooms
        self.menu = menu
        self.language = language
        self.content = content
    }

    /// The same drawing as the icon's.
    private static let picture: HTML = """
        <svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true"><rect width="32" height="32" rx="8" fill="#0040dd"/>\
        <rect x="9" y="5.5" width="14" height="21" rx="3.2" fill="none" stroke="#fff" stroke-width="2"/>\
        <path d="M11.8 21.2c.5-2.4 2.1-3.7 4.2-3.7s3.7 1.3 4.2 3.7zM16 10.9a2.6 2.6 0 1 0 0 5.2 2.6 2.6 0 0 0 0-5.2" fill="#fff"/></svg>
        """

    /// The bar as HTML.
    package var html: HTML {
        """
        <header class="topbar">\(start.link(style: " class=\"home\"", Self.picture))
        <div class="rooms" id="rooms" popover><nav aria-label="\(menu)">\(rooms.map { $0.link() })</nav>\(language)</div>
        \(content)
        <button type="button" class="rooms-open" popovertarget="rooms" aria-label="\(menu)">\
        <svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true"><path d="M4 7h16M4 12h16M4 17h16"/></svg></button>
        </header>
        """
    }
}
