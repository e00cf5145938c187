/// A path taken apart: its route, and what stands in the places of the route's pattern. Pages and assets are looked up
/// before it, so that they cost one dictionary access.
struct RoutePath: Equatable {
    let route: Route
    /// The application that the path names.
    let app: String?
    /// What the application has of which the path names one: an account, a session.
    let id: String?

    /// By pattern, whose places are written as `*`.
    private static let routes: [String: Route] = Dictionary(
        uniqueKeysWithValues: Route.allCases.drop { $0 != .signIn }.map { route in
            let segments = route.pattern.split(separator: "/").map { $0.hasPrefix("{") ? "*" : $0 }
            return ("/" + segments.joined(separator: "/"), route)
        })

    init(_ route: Route, app: String? = nil, id: String? = nil) {
        self.route = route
        self.app = app
        self.id = id
    }

    /// Splits a raw path; nil when no route has that shape. Route paths hold no characters that need percent-encoding,
    /// so an encoded spelling is simply not found.
    init?(_ path: String) {
        let segments = path.split(separator: "/", maxSplits: 5, omittingEmptySubsequences: false).dropFirst()
            .map(String.init)
        switch segments.count {
        case 1, 2:
            guard let route = RoutePath.routes[path] else { return nil }
            self.init(route)
        case 3:
            guard let route = RoutePath.routes["/\(segments[0])/*/\(segments[2])"] else { return nil }
            self.init(route, app: segments[1])
        case 4:
            let (folder, last) = ("/\(segments[0])/*/\(segments[2])/", segments[3])
            if last != "*", let route = RoutePath.routes[folder + last] {
                self.init(route, app: segments[1])
            } else {
                guard !last.isEmpty, let route = RoutePath.routes[folder + "*"] else { return nil }
                self.init(route, app: segments[1], id: last)
            }
        default:
            return nil
        }
    }
}
