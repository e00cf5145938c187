/// Small integers that identify where a request went, and their names in metrics and log lines.
enum RouteNumber {
    /// An unknown address, or a request that could not be parsed.
    static let none = 0
    static let asset = 1
    private static let home = 2
    private static let application = 3
    private static let signedOut = 4
    private static let native = 5
    private static let paste = 6

    /// The names by number: first the addresses that are served from memory without a route, then the table.
    static let names =
        ["none", "/assets", "/", "/{app}", "/auth/signed-out", "/native", "/paste"] + Route.table.map(\.pattern)

    /// Returns the number of a page.
    static func page(_ path: String) -> Int {
        switch path {
        case "/": home
        case "/auth/signed-out": signedOut
        case "/paste": paste
        case _ where path == "/native" || path.hasPrefix("/native/"): native
        default: application
        }
    }

    /// Returns the number of a route from its place in the table.
    static func route(at index: Int) -> Int { names.count - Route.table.count + index }
}
