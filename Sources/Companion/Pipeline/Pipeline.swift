import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import SessionStore
import WebFormats

/// A request's way through the companion: a page from memory, else its route, who may ask, its session, the handler, and
/// what went wrong as a problem.
final class Pipeline: Responder {
    private static let maxBodyBytes = 16 * 1024

    private let publicURL: PublicURL
    /// The networks of fronts that are believed how the browser came to them; none where that is of no importance.
    private let fronts: [AddressRange]
    private let applications: [String: Application]
    private let pages: Pages
    private let endpoints: Endpoints
    private let sessions: SessionLookup
    private let cookie: SessionCookie
    private let limits: RequestLimits
    private let monitoring: MonitoringAccess
    /// The same site by a name with which its cookies do not work: `127.0.0.1` where the public URL says `localhost`.
    private let loopbackAliases: Set<String>

    init(
        configuration: CompanionConfiguration, pages: Pages, endpoints: Endpoints, sessions: SessionLookup,
        limits: RequestLimits
    ) {
        publicURL = configuration.publicURL
        fronts = configuration.publicURL.isSecure ? configuration.trustedProxies : []
        applications = Dictionary(uniqueKeysWithValues: configuration.applications.map { ($0.id, $0) })
        self.pages = pages
        self.endpoints = endpoints
        self.sessions = sessions
        cookie = SessionCookie(configuration: configuration)
        self.limits = limits
        monitoring = MonitoringAccess(configuration: configuration)
        let port = configuration.publicURL.port.map { ":\($0)" } ?? ""
        loopbackAliases =
            PublicURL.isLoopback(configuration.publicURL.host)
            ? Set(["localhost", "127.0.0.1", "[::1]"].map { $0 + port }).subtracting([
                configuration.publicURL.host + port
            ])
            : []
    }

    // MARK: At once

    func reply(to head: RequestHead, from peer: PeerAddress) -> Reply {
        var mark = RequestMark()
        return reply(to: head, from: peer, mark: &mark)
    }

    func reply(to head: RequestHead, from peer: PeerAddress, mark: inout RequestMark) -> Reply {
        let path = publicURL.ownPath(head.path)
        if !fronts.isEmpty, cameByPlainHTTP(head, from: peer) {
            return .response(canonical(head, status: .permanentRedirect))
        }
        if let asset = pages.asset(path) {
            mark.number = RouteNumber.asset
            return .asset(asset)
        }
        if let page = pages.page(path) {
            mark.number = RouteNumber.page(path)
            if head[.secFetchMode] == "navigate", loopbackAliases.contains(head.host) {
                return .response(canonical(head))
            }
            return .asset(page[pages.languages.language(of: head)])
        }
        let context = RequestContext(head)
        mark.note = context
        do {
            return try reply(to: Request(head: head, peer: peer), RoutePath(path), context, &mark)
        } catch {
            var response = failure(error, head: head, context)
            if error.code == .methodNotAllowed { response.headerFields[.allow] = RoutePath(path)?.route.allow }
            return .response(response)
        }
    }

    /// Finds the route's handler, which answers from memory or waits for the body.
    private func reply(
        to request: Request, _ path: RoutePath?, _ context: RequestContext, _ mark: inout RequestMark
    ) throws(Problem) -> Reply {
        let head = request.head
        guard let path else { throw Problem(.notFound, "There is nothing at this address.") }
        var mayMonitor = false
        if case .monitoring(let isRequired) = path.route.caller {
            mayMonitor = monitoring.allows(head, from: request.peer)
            guard mayMonitor || !isRequired else { throw Problem(.notFound, "There is nothing at this address.") }
        }
        mark.number = path.number
        guard let handler = path.route.handler(for: head.method) else {
            throw Problem(.methodNotAllowed, "This address takes \(path.route.allow).")
        }
        if case .navigation = path.route.caller, loopbackAliases.contains(head.host) {
            return .response(canonical(head))
        }
        try check(path.route.caller, head)
        let application = path.app.flatMap { applications[$0] }
        if let id = path.app, application == nil {
            throw Problem(.notFound, "No application is called “\(id.prefix(64))”.")
        }
        let call = Call(
            request: request, application: application, id: path.id, cookie: cookie.id(in: head),
            mayMonitor: mayMonitor, context: context)
        if let response = immediate(handler, call) { return .response(response) }
        return .handler(maxBodyBytes: Pipeline.maxBodyBytes) { request in
            var call = call
            call.request = request
            return await self.answer(call, handler, limit: path.route.limit)
        }
    }

    /// What memory alone can answer.
    private func immediate(_ handler: Route.Handler, _ call: Call) -> Response? {
        switch handler {
        case .immediate(let answer): answer(endpoints, call)
        case .cached(let answer, _): answer(endpoints, call)
        default: nil
        }
    }

    // MARK: Later

    private func answer(_ call: Call, _ handler: Route.Handler, limit: Limit?) async -> Response {
        do {
            return try await RequestContext.$current.withValue(call.context) {
                guard let limit else { return try await answer(call, handler) }
                // A session that cannot be read now is not known to be anybody's.
                let session = try? await sessions.session(of: call)
                let key = session?.accounts.isEmpty == false ? session?.key : nil
                try limits.take(limit, of: key, for: call)
                return try await answer(call, handler)
            }
        } catch {
            return failure(Problem(any: error), head: call.request.head, call.context)
        }
    }

    private func answer(_ call: Call, _ handler: Route.Handler) async throws -> Response {
        switch handler {
        case .immediate(let answer): return answer(endpoints, call)
        case .cached(_, let handler): return try await answer(call, handler)
        case .call(let answer): return try await answer(endpoints, call)
        case .session(let answer): return try await answer(endpoints, call, sessions.session(of: call))
        case .application(let answer): return try await answer(endpoints, call, application(of: call))
        case .visit(let answer): return try await answer(endpoints, visit(call))
        case .signedIn(let answer):
            var asking = try await visit(call).signedIn(as: call.field("account"))
            asking.tenant = call.field("tenant")
            return try await answer(endpoints, call, asking)
        }
    }

    private func visit(_ call: Call) async throws -> Visit {
        Visit(
            call: call, application: try application(of: call), session: try await sessions.session(of: call),
            publicURL: publicURL)
    }

    private func application(of call: Call) throws(Problem) -> Application {
        guard let application = call.application else { throw Problem(.notFound, "There is nothing at this address.") }
        return application
    }

    // MARK: Checks

    /// Security law 4: what changes something proves that our page sent it.
    private func check(_ caller: Route.Caller, _ head: RequestHead) throws(Problem) {
        switch caller {
        case .anyone, .provider, .monitoring: break
        case .navigation:
            if let destination = head[.secFetchDest], destination != "document" {
                throw Problem(.crossSiteRequest, "A sign-in begins in a window of its own, never inside another page.")
            }
        case .ourPages: try checkOurPages(head)
        }
    }

    private func checkOurPages(_ head: RequestHead) throws(Problem) {
        let site = head[.secFetchSite]
        if let site, site != "same-origin", site != "none" {
            throw Problem(.crossSiteRequest, "Another site may not read or change anything here.")
        }
        guard head.method != .get, head.method != .head else { return }
        let origin = head[.origin]
        guard head[.xCompanion] == "1" else {
            throw Problem(.crossSiteRequest, "The request lacks the header X-Companion: 1, which our own pages send.")
        }
        guard site != nil || origin != nil else {
            throw Problem(.crossSiteRequest, "The request has neither Origin nor Sec-Fetch-Site.")
        }
        guard origin.map({ $0 == publicURL.origin }) ?? true, site.map({ $0 == "same-origin" }) ?? true else {
            throw Problem(.crossSiteRequest, "The request came from another origin than \(publicURL.origin).")
        }
    }

    /// Whether a front that is trusted says that the browser came to it without TLS. It names the last hop last, no
    /// matter what others have written into the field; without a list nobody is believed.
    private func cameByPlainHTTP(_ head: RequestHead, from peer: PeerAddress) -> Bool {
        guard let last = head[.xForwardedProto]?.split(separator: ",").last,
            last.trimmingCharacters(in: .whitespaces).lowercased() == "http", head.path.hasPrefix("/")
        else { return false }
        let address = peer.ip
        return fronts.contains { $0.contains(address) }
    }

    /// The same address under the public URL's name.
    private func canonical(_ head: RequestHead, status: HTTPResponse.Status = .temporaryRedirect) -> Response {
        .redirect(
            to: publicURL.address + publicURL.ownPath(head.path) + (head.query.map { "?" + $0 } ?? ""), status: status)
    }

    // MARK: Failure

    /// The answer in the form that the client asked for; the log line comes with the request's end.
    private func failure(_ problem: Problem, head: RequestHead, _ context: RequestContext) -> Response {
        var problem = problem
        problem.correlationID = problem.correlationID ?? context.correlationID
        context.note(problem)
        let language = pages.languages.language(of: head)
        return head.wantsPage ? pages.errorPage(problem, in: language) : problem.response(in: language)
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
