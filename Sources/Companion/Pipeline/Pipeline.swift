import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import SessionStore

/// A request's way through the companion: pages from memory, else route, origin check, session cookie, handler, and
/// whatever went wrong as a problem.
final class Pipeline: Responder {
    private static let maxBodyBytes = 16 * 1024

    private let configuration: CompanionConfiguration
    /// The networks of fronts that are believed how the browser came to them; none where that is of no importance.
    private let fronts: [AddressRange]
    private let applications: [String: Application]
    private let languages: Languages
    private let pages: Pages
    private let endpoints: Endpoints
    private let store: SessionStore
    private let cookie: SessionCookie
    private let monitoring: MonitoringAccess
    /// The same site by a name with which its cookies do not work: `127.0.0.1` where the public URL says `localhost`.
    private let loopbackAliases: Set<String>

    init(
        configuration: CompanionConfiguration, languages: Languages, pages: Pages, endpoints: Endpoints,
        store: SessionStore, cookie: SessionCookie
    ) {
        self.configuration = configuration
        fronts = configuration.publicURL.isSecure ? configuration.trustedProxies : []
        applications = Dictionary(uniqueKeysWithValues: configuration.applications.map { ($0.id, $0) })
        self.languages = languages
        self.pages = pages
        self.endpoints = endpoints
        self.store = store
        self.cookie = cookie
        monitoring = MonitoringAccess(configuration: configuration)
        let port = configuration.publicURL.port.map { ":\($0)" } ?? ""
        loopbackAliases =
            PublicURL.isLoopback(configuration.publicURL.host)
            ? Set(["localhost", "127.0.0.1", "[::1]"].map { $0 + port }).subtracting([
                configuration.publicURL.host + port
            ])
            : []
    }

    func reply(to head: RequestHead, from peer: PeerAddress) -> Reply {
        var mark = RequestMark()
        return reply(to: head, from: peer, mark: &mark)
    }

    func reply(to head: RequestHead, from peer: PeerAddress, mark: inout RequestMark) -> Reply {
        let path = configuration.publicURL.ownPath(head.path)
        if !fronts.isEmpty, cameByPlainHTTP(head, from: peer) {
            return .response(canonical(head, status: .permanentRedirect))
        }
        if let asset = pages.asset(path) {
            mark.number = Route.asset.rawValue
            return .asset(asset)
        }
        if let page = pages.page(path) {
            mark.number = Route.page(path).rawValue
            if isNavigation(head), loopbackAliases.contains(head.host) { return .response(canonical(head)) }
            return .asset(page[languages.language(of: head)])
        }
        let context = RequestContext(head)
        mark.note = context
        let routePath = RoutePath(path)
        let route = routePath?.route
        let mayMonitor = (route == .metrics || route == .readiness) && monitoring.allows(head, from: peer)
        guard let routePath, let route, mayMonitor || route != .metrics else {
            return .response(failure(Problem(.notFound, "There is nothing at this address."), head: head, context))
        }
        mark.number = route.rawValue
        guard route.methods.contains(head.method) else {
            let problem = Problem(.methodNotAllowed, "This address takes \(route.allow).")
            var response = failure(problem, head: head, context)
            response.headerFields[.allow] = route.allow
            return .response(response)
        }
        do {
            if route.isBegin, loopbackAliases.contains(head.host) { return .response(canonical(head)) }
            try checkOrigin(head, of: route)
            var application: Application?
            if let id = routePath.app {
                application = applications[id]
                if application == nil { throw Problem(.notFound, "No application is called “\(id.prefix(64))”.") }
            }
            let exchange = Exchange(
                route: route, id: routePath.id, application: application, cookie: cookie.id(in: head),
                wantsPage: Pipeline.wantsPage(head),
                isRead: head.method == .get || head.method == .head, mayMonitor: mayMonitor, query: head.query,
                context: context)
            if let response = endpoints.immediate(exchange) { return .response(response) }
            return .handler(maxBodyBytes: Pipeline.maxBodyBytes) { request in
                await self.answer(exchange, request: request)
            }
        } catch {
            return .response(failure(Problem(any: error), head: head, context))
        }
    }

    private func answer(_ exchange: Exchange, request: Request) async -> Response {
        do {
            return try await RequestContext.$current.withValue(exchange.context) {
                try await endpoints.answer(exchange, request: request)
            }
        } catch {
            return failure(Problem(any: error), head: request.head, exchange.context)
        }
    }

    // MARK: Checks

    /// Security law 4: what changes something proves that our page sent it.
    private func checkOrigin(_ head: RequestHead, of route: Route) throws(Problem) {
        guard !route.provesItself else { return }
        let site = head[.secFetchSite]
        let origin = head[.origin]
        if route.isAPI, let site, site != "same-origin", site != "none" {
            throw Problem(.crossSiteRequest, "Another site may not read or change anything here.")
        }
        if route.isBegin, let destination = head[.secFetchDest], destination != "document" {
            throw Problem(.crossSiteRequest, "A sign-in begins in a window of its own, never inside another page.")
        }
        guard head.method != .get, head.method != .head else { return }
        guard head[.xCompanion] == "1" else {
            throw Problem(.crossSiteRequest, "The request lacks the header X-Companion: 1, which our own pages send.")
        }
        guard site != nil || origin != nil else {
            throw Problem(.crossSiteRequest, "The request has neither Origin nor Sec-Fetch-Site.")
        }
        guard origin.map({ $0 == configuration.publicURL.origin }) ?? true, site.map({ $0 == "same-origin" }) ?? true
        else {
            throw Problem(
                .crossSiteRequest, "The request came from another origin than \(configuration.publicURL.origin).")
        }
    }

    private func isNavigation(_ head: RequestHead) -> Bool { head[.secFetchMode] == "navigate" }

    /// Whether a front that is trusted says that the browser came to it without TLS. It names the last hop last, whoever
    /// else has written into the field; without a list nobody is believed.
    private func cameByPlainHTTP(_ head: RequestHead, from peer: PeerAddress) -> Bool {
        guard let last = head[.xForwardedProto]?.split(separator: ",").last,
            last.trimmingCharacters(in: .whitespaces).lowercased() == "http", head.path.hasPrefix("/")
        else { return false }
        let address = peer.ip
        return fronts.contains { $0.contains(address) }
    }

    /// The same address under the public URL's name.
    private func canonical(_ head: RequestHead, status: HTTPResponse.Status = .temporaryRedirect) -> Response {
        let publicURL = configuration.publicURL
        return .redirect(
            to: publicURL.address + publicURL.ownPath(head.path) + (head.query.map { "?" + $0 } ?? ""), status: status)
    }

    static func wantsPage(_ head: RequestHead) -> Bool { head[.accept]?.contains("text/html") ?? false }

    // MARK: Failure

    /// The answer in the form that the client asked for; the log line comes with the request's end.
    private func failure(_ problem: Problem, head: RequestHead, _ context: RequestContext) -> Response {
        let problem = Problem(any: problem, correlationID: context.correlationID)
        context.note(problem)
        let language = languages.language(of: head)
        return Pipeline.wantsPage(head) ? pages.errorPage(problem, in: language) : problem.response(in: language)
    }
}

/// One request on its way, after its checks.
struct Exchange: Sendable {
    let route: Route
    /// What the path names of the application: an account, a session.
    let id: String?
    let application: Application?
    /// The session's id that the cookie carried.
    let cookie: SessionID?
    /// Whether a browser navigates, so that an error becomes a page.
    let wantsPage: Bool
    /// Whether it changes nothing.
    let isRead: Bool
    /// Whether it comes from this machine itself, and may know how the server does.
    let mayMonitor: Bool
    /// The raw query.
    let query: String?
    /// What its log line will need.
    let context: RequestContext
    /// Our identifier of this request, for logs, errors and Graph.
    var correlationID: String { context.correlationID }

    /// A field of the query; nil when it is missing or empty, or when the query cannot be read.
    func field(_ name: String) -> String? {
        guard let query, let value = (try? FormFields(query: query))?[name], !value.isEmpty else { return nil }
        return value
    }
}

extension HTTPField.Name {
    /// The header field by which our own pages mark what changes something.
    static let xCompanion = literal("x-companion")
    /// How the browser came to the front: `http` or `https`.
    static let xForwardedProto = literal("x-forwarded-proto")
    /// Fetch metadata (W3C): where the request came from.
    static let secFetchSite = literal("sec-fetch-site")
    /// Fetch metadata (W3C): what the answer is for, `document` where it fills a window.
    static let secFetchDest = literal("sec-fetch-dest")
    /// Fetch metadata (W3C): what kind of request it is.
    static let secFetchMode = literal("sec-fetch-mode")
}
