import CompanionCore
import CompanionPages
import CompanionSignIn
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
    private let router: Router
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
        cookie: SessionCookie, limits: RequestLimits
    ) {
        publicURL = configuration.publicURL
        fronts = configuration.publicURL.isSecure ? configuration.trustedProxies : []
        router = Router(applications: configuration.applications)
        self.pages = pages
        self.endpoints = endpoints
        self.sessions = sessions
        self.cookie = cookie
        self.limits = limits
        monitoring = MonitoringAccess(configuration: configuration)
        let port = configuration.publicURL.port.map { ":\($0)" } ?? ""
        loopbackAliases =
            Loopback.contains(configuration.publicURL.host)
            ? Set(["localhost", "127.0.0.1", "[::1]"].map { $0 + port }).subtracting([
                configuration.publicURL.host + port
            ])
            : []
    }

    // MARK: At once

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
        let match = router.match(path)
        do {
            return try admit(Request(head: head, peer: peer), match, context, &mark)
        } catch {
            var response = failure(error, head: head, context)
            if error.code == .methodNotAllowed { response.headerFields[.allow] = match?.route.allow }
            return .response(response)
        }
    }

    /// Checks who asks, and finds what answers: memory, or a handler when the body is there.
    private func admit(
        _ request: Request, _ match: RouteMatch?, _ context: RequestContext, _ mark: inout RequestMark
    ) throws(Problem) -> Reply {
        let head = request.head
        guard let match else { throw Pipeline.nothingHere }
        let route = match.route
        var mayMonitor = false
        if case .monitoring(let isRequired) = route.caller {
            mayMonitor = monitoring.allows(head, from: request.peer)
            guard mayMonitor || !isRequired else { throw Pipeline.nothingHere }
        }
        mark.number = match.number
        guard let source = route.source(for: head.method) else {
            throw Problem(.methodNotAllowed, "This address takes \(route.allow).")
        }
        if case .navigation = route.caller, loopbackAliases.contains(head.host) { return .response(canonical(head)) }
        try check(route.caller, head)
        if let app = match.app, match.application == nil {
            throw Problem(.notFound, "No application is called “\(app.prefix(64))”.")
        }
        switch source {
        case .memory(let prepared): return .prepared(prepared(endpoints))
        case .handler(let handler, let prepared):
            let cookie = cookie.id(in: head)
            let call = Call(
                request: request, match: match, cookie: cookie, session: prepared == nil ? nil : sessions.now(cookie),
                mayMonitor: mayMonitor, context: context)
            if let response = prepared?(endpoints, call) { return .prepared(response) }
            return .handler(maxBodyBytes: Pipeline.maxBodyBytes) { request in
                var call = call
                call.request = request
                return await self.respond(to: call, handler)
            }
        }
    }

    private static var nothingHere: Problem { Problem(.notFound, "There is nothing at this address.") }

    // MARK: Later

    /// The answer. Where it has changed the session, which then has the same id, the browser learns the version that it has
    /// seen, so that no other server shows it an older one.
    private func respond(to call: Call, _ handler: Route.Handler) async -> Response {
        let response = await responseOrProblem(call, handler)
        guard cookie.hasVersions, response.headerFields[.setCookie] == nil,
            let version = await sessions.changedVersion(after: call.context)
        else { return response }
        return cookie.noting(version: version, on: response)
    }

    /// The handler's response, or its error as a problem.
    private func responseOrProblem(_ call: Call, _ handler: Route.Handler) async -> Response {
        do {
            return try await RequestContext.$current.withValue(call.context) {
                try await dispatch(call, handler)
            }
        } catch {
            return failure(Problem(any: error), head: call.request.head, call.context)
        }
    }

    /// Counts the call, where its route has a limit, and gives the handler what it has to know of the caller.
    private func dispatch(_ call: Call, _ handler: Route.Handler) async throws -> Response {
        let limit = call.match.route.limit
        if case .call(let answer) = handler, limit == nil { return try await answer(endpoints, call) }
        let session = await sessions.session(call.cookie, known: call.session, for: call.context)
        if let limit { try limits.take(limit, of: session.signedIn, for: call) }
        func application() throws(Problem) -> Application {
            guard let application = call.application else { throw Pipeline.nothingHere }
            return application
        }
        func visit() throws -> Visit {
            Visit(call: call, application: try application(), session: try session.get(), publicURL: publicURL)
        }
        switch handler {
        case .call(let answer): return try await answer(endpoints, call)
        case .session(let answer): return try await answer(endpoints, call, try session.get())
        case .application(let answer): return try await answer(endpoints, call, try application(), session)
        case .visit(let answer): return try await answer(endpoints, try visit())
        case .signedIn(let answer):
            let asking = try visit().signedIn(as: call.field("account"), tenant: call.field("tenant"))
            return try await answer(endpoints, call, asking)
        }
    }

    // MARK: Checks

    /// Security law 4: what changes something proves that our page sent it.
    private func check(_ caller: Route.Caller, _ head: RequestHead) throws(Problem) {
        switch caller {
        case .anyone, .provider, .monitoring: break
        case .navigation, .returning:
            if let destination = head[.secFetchDest], destination != "document" {
                throw Problem(.crossSiteRequest, "You can't sign in inside another page. Open this in its own window.")
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
