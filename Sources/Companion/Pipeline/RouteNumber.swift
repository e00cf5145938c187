/// Numbers for where a request went, which cost nothing to carry, and their names for metrics and log lines.
enum RouteNumber {
    /// Nothing of ours: an unknown address, or a request that could not be read.
    static let none = 0
    static let asset = 1
    private static let home = 2
    private static let application = 3
    private static let signedOut = 4
    private static let native = 5

    /// By number: what is answered from memory before any route is looked for, then the table.
    static let names = ["none", "/assets", "/", "/{app}", "/auth/signed-out", "/native"] + Route.table.map(\.pattern)

    /// A page's.
    static func page(_ path: String) -> Int {
        switch path {
        case "/": home
        case "/auth/signed-out": signedOut
        case _ where path == "/native" || path.hasPrefix("/native/"): native
        default: application
        }
    }

    /// A route's, by its place in the table.
    static func route(at index: Int) -> Int { names.count - Route.table.count + index }
}
