extension Route {
    /// Every address that is not a page or an asset.
    static let table: [Route] = [
        // Sign-in and sign-out
        Route(
            "/auth/{app}/sign-in", .navigation, limit: .signIns,
            .get(.application { try await $0.signIn.begin($2, $1) })),
        Route("/auth/callback", .provider, limit: .callbacks, .getOrPost(.call { try await $0.signIn.callback($1) })),
        Route(
            "/auth/{app}/callback", .provider, limit: .callbacks,
            .getOrPost(.call { try await $0.signIn.callback($1) })),
        Route(
            "/auth/{app}/admin-consent", .navigation, limit: .signIns,
            .get(.application { try await $0.signIn.beginAdminConsent($2, $1) })),
        Route("/auth/{app}/sign-out", .ourPages, .post(.visit { try await $0.signOut.signOut($1) })),
        Route("/auth/front-channel-logout", .provider, .get(.call { try await $0.signOut.frontChannelLogout($1) })),
        Route("/auth/back-channel-logout", .provider, .post(.call { try await $0.signOut.backChannelLogout($1) })),

        // Accounts and tokens
        Route(
            "/api/{app}/account", .ourPages,
            .read(.cached({ $0.accounts.cached($1) }, else: .visit { $0.accounts.current($1) })),
            .put(.visit { try await $0.accounts.change($1) })),
        Route("/api/{app}/accounts", .ourPages, .read(.visit { $0.accounts.all($1) })),
        Route("/api/{app}/accounts/{id}", .ourPages, .delete(.visit { try await $0.accounts.remove($1) })),
        Route("/api/{app}/claims", .ourPages, .read(.signedIn { try $0.accounts.claims($2) })),
        Route("/api/{app}/token", .ourPages, .post(.visit { try await $0.tokens.token($1) })),
        Route("/api/{app}/me", .ourPages, .read(.signedIn { try await $0.tokens.me($2) })),
        Route("/api/{app}/me/photo", .ourPages, .read(.signedIn { try await $0.tokens.photo($2) })),
        Route("/api/{app}/events", .ourPages, .read(.visit { $0.story.events($1) })),
        Route("/api/{app}/sign-in-failure", .ourPages, .read(.visit { $0.story.failure($1) })),
        Route("/api/{app}/tokens", .ourPages, .read(.signedIn { try await $0.tokens.decoded($2) })),

        // The portal's operator part
        Route(
            "/api/{app}/health", .ourPages, limit: .operatorRequests,
            .read(.signedIn { try await $0.portal.health($1, $2) })),
        Route(
            "/api/{app}/sessions", .ourPages, limit: .operatorRequests,
            .read(.signedIn { try await $0.portal.sessions($1, $2) })),
        Route(
            "/api/{app}/sessions/{key}", .ourPages, limit: .operatorRequests,
            .delete(.signedIn { try await $0.portal.endSession($1, $2) })),

        // The server
        Route("/api/attempts", .ourPages, .read(.session { $0.story.attempts($1, $2) })),
        Route("/api/language", .ourPages, .post(.call { try $0.server.chooseLanguage($1) })),
        Route(
            "/api/apps", .ourPages,
            .read(
                .cached(
                    { $1.cookie == nil ? $0.server.applications(nil) : nil },
                    else: .session { $0.server.applications($2) }))),
        Route("/api/device", .ourPages, .read(.immediate { endpoints, _ in endpoints.server.device })),
        Route("/healthz", .anyone, .read(.immediate { _, _ in .json(["status": "ok"]) })),
        Route(
            "/readyz", .monitoring(isRequired: false),
            .read(
                .call {
                    $1.mayMonitor ? await $0.monitoring.readinessInDetail() : await $0.monitoring.readiness()
                })),
        Route(
            "/metrics", .monitoring(isRequired: true),
            .read(.call { endpoints, _ in await endpoints.monitoring.metricsResponse() })),
    ]

    /// First path segments that no application may take.
    static let reserved: Set<String> = ["api", "auth", "assets", "healthz", "readyz", "metrics"]
}

/// Numbers for where a request went, which cost nothing to carry, and their names for metrics and log lines.
enum RouteNumber {
    /// Nothing of ours: an unknown address, or a request that could not be read.
    static let none = 0
    static let asset = 1
    private static let home = 2
    private static let application = 3
    private static let signedOut = 4

    /// By number: what is answered from memory before any route is looked for, then the table.
    static let names = ["none", "/assets", "/", "/{app}", "/auth/signed-out"] + Route.table.map(\.pattern)

    /// A page's.
    static func page(_ path: String) -> Int {
        path == "/" ? home : path == "/auth/signed-out" ? signedOut : application
    }

    /// A route's, by its place in the table.
    static func route(at index: Int) -> Int { names.count - Route.table.count + index }
}

/// A path taken apart: its route, and what stands in the places of the route's pattern. Pages and assets are looked up
/// before it, so that they cost one dictionary access.
struct RoutePath {
    let route: Route
    /// The route's, see ``RouteNumber``.
    let number: Int
    /// The application that the path names.
    let app: String?
    /// What the application has of which the path names one: an account, a session.
    let id: String?

    /// Places in the table, by pattern whose places are written as `*`.
    private static let places: [String: Int] = Dictionary(
        uniqueKeysWithValues: Route.table.enumerated().map { index, route in
            let segments = route.pattern.split(separator: "/").map { $0.hasPrefix("{") ? "*" : $0 }
            return ("/" + segments.joined(separator: "/"), index)
        })

    private init?(_ pattern: String, app: String? = nil, id: String? = nil) {
        guard let index = RoutePath.places[pattern] else { return nil }
        route = Route.table[index]
        number = RouteNumber.route(at: index)
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
            self.init(path, app: nil)
        case 3:
            self.init("/\(segments[0])/*/\(segments[2])", app: segments[1])
        case 4:
            let (folder, last) = ("/\(segments[0])/*/\(segments[2])/", segments[3])
            if last != "*", let path = RoutePath(folder + last, app: segments[1]) {
                self = path
            } else if !last.isEmpty {
                self.init(folder + "*", app: segments[1], id: last)
            } else {
                return nil
            }
        default:
            return nil
        }
    }
}
