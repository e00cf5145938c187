import CompanionCore
import HTTPServer

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

    fileprivate init(_ place: Int, application: Application? = nil, app: String? = nil, id: String? = nil) {
        self.place = place
        route = Route.table[place]
        self.application = application
        self.app = app
        self.id = id
    }

    /// Returns the same match with what the path has at the placeholders.
    fileprivate func with(_ parameters: [String: String]) -> RouteMatch {
        RouteMatch(
            place, application: application, app: parameters["app"] ?? app, id: parameters["id"] ?? parameters["key"])
    }
}

/// Finds the route of a path. The paths of all applications are known beforehand, so most requests need one
/// dictionary lookup. The exceptions are paths with the ID of an account or session, and unknown applications.
struct Router: Sendable {
    private let table: RouteTable<RouteMatch>

    init(applications: [Application]) {
        var table = RouteTable<RouteMatch>()
        for (place, route) in Route.table.enumerated() {
            table.add(route.pattern, RouteMatch(place))
            guard route.pattern.contains("{app}") else { continue }
            for application in applications {
                table.add(
                    route.pattern.replacing("{app}", with: application.id),
                    RouteMatch(place, application: application, app: application.id))
            }
        }
        self.table = table
    }

    /// Returns the route of a raw path; nil if no route matches. Routes contain no characters that need
    /// percent-encoding, so a percent-encoded spelling does not match.
    func match(_ path: String) -> RouteMatch? {
        guard let (match, parameters) = table.match(path) else { return nil }
        return parameters.isEmpty ? match : match.with(parameters)
    }
}
