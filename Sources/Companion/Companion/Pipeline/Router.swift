import CompanionCore

/// The route for a request, with the parameters of its path.
final class RouteMatch: Sendable {
    /// The index in ``Route/table``.
    private let place: Int
    let route: Route
    /// The application in the path; nil if the path has none, or one that is not configured.
    let application: Application?
    /// The name in the path at the application's place, if the route has one.
    let app: String?
    /// The ID in the path, of an account or of a session.
    let id: String?

    /// The route's number, see ``RouteNumber``.
    var number: Int { RouteNumber.route(at: place) }

    fileprivate init(_ place: Int, application: Application? = nil, app: String? = nil) {
        self.place = place
        route = Route.table[place]
        self.application = application
        self.app = app
        id = nil
    }

    /// Copies a match with another application and ID.
    fileprivate init(_ match: RouteMatch, app: String, id: String? = nil) {
        place = match.place
        route = match.route
        application = match.application
        self.app = app
        self.id = id
    }
}

/// Finds the route of a path. The paths of all applications are known beforehand, so most requests need one
/// dictionary lookup. The exceptions are paths with the ID of an account or session, and unknown applications.
struct Router: Sendable {
    /// The matches by path, by pattern for unknown applications, and for routes that end with an ID by the path in
    /// front of it.
    private let known: [String: RouteMatch]
    private let beforeID: [String: RouteMatch]

    private static let appPlace = "{app}"

    init(applications: [Application]) {
        var (known, beforeID) = ([String: RouteMatch](), [String: RouteMatch]())
        for (place, route) in Route.table.enumerated() {
            let hasID = route.pattern.hasSuffix("/{id}") || route.pattern.hasSuffix("/{key}")
            let path = hasID ? route.pattern.replacing(/\{(id|key)\}$/, with: "") : route.pattern
            func add(_ match: RouteMatch, at path: String) {
                if hasID { beforeID[path] = match } else { known[path] = match }
            }
            let hasApplication = route.pattern.contains(Router.appPlace)
            add(RouteMatch(place, app: hasApplication ? Router.appPlace : nil), at: path)
            guard hasApplication else { continue }
            for application in applications {
                add(
                    RouteMatch(place, application: application, app: application.id),
                    at: path.replacing(Router.appPlace, with: application.id))
            }
        }
        (self.known, self.beforeID) = (known, beforeID)
    }

    /// Returns the route of a raw path; nil if no route matches. Routes contain no characters that need
    /// percent-encoding, so a percent-encoded spelling does not match.
    func match(_ path: String) -> RouteMatch? {
        if let match = known[path] { return match }
        let segments = path.split(separator: "/", maxSplits: 5, omittingEmptySubsequences: false).dropFirst()
        guard (3...4).contains(segments.count) else { return nil }
        let app = String(segments[segments.startIndex + 1])
        let pattern = ([segments[segments.startIndex], Router.appPlace[...]] + segments.dropFirst(2)).map { "/" + $0 }
        if let unknown = known[pattern.joined()] { return RouteMatch(unknown, app: app) }
        guard segments.count == 4, let id = segments.last, !id.isEmpty else { return nil }
        let folder = path[..<id.startIndex]
        if let match = beforeID[String(folder)] { return RouteMatch(match, app: app, id: String(id)) }
        return beforeID[pattern.dropLast().joined() + "/"].map { RouteMatch($0, app: app, id: String(id)) }
    }
}
