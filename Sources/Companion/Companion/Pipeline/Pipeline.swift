import CompanionCore
import CompanionPages
import CompanionSignIn
import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import Logging
import SessionStore
import WebFormats

/// Handles each request. Pages and assets are served from memory. For any other address the pipeline finds the route,
/// checks the caller, looks up the session and runs the handler. Errors become problem responses.
final class Pipeline: Responder {
    private static let maxBodyBytes = 16 * 1024

    private let publicURL: PublicURL
    private let scheme: ForwardedScheme
    private let router: Router
    private let pages: Pages
    private let endpoints: Endpoints
    private let sessions: SessionLookup
    private let cookie: SessionCookie
    private let limits: RequestLimits
    private let portal: PortalAccess
    private let programs: ProgramAccess
    private let monitoring: MonitoringAccess
    private let hasKiosk: Bool
    /// Other names of this host under which cookies do not work, such as `127.0.0.1` if the public URL says
    /// `localhost`.
    private let loopbackAliases: Set<String>

    init(
        configuration: CompanionConfiguration, pages: Pages, endpoints: Endpoints, sessions: SessionLookup,
        cookie: SessionCookie, limits: RequestLimits, logger: Logger, now: @escaping @Sendable () -> Date
    ) {
        publicURL = configuration.publicURL
        scheme = ForwardedScheme(configuration: configuration, logger: logger, now: now)
        router = Router(applications: configuration.applications)
        self.pages = pages
        self.endpoints = endpoints
        self.sessions = sessions
        self.cookie = cookie
        self.limits = limits
        portal = PortalAccess(configuration: configuration)
        programs = ProgramAccess(configuration: configuration, limits: limits, now: now)
        monitoring = MonitoringAccess(configuration: configuration)
        hasKiosk = configuration.applications.contains { $0.page == .kiosk }
        let port = configuration.publicURL.port.map { ":\($0)" } ?? ""
        loopbackAliases =
            Loopback.contains(configuration.publicURL.host)
            ? Set(["localhost", "127.0.0.1", "[::1]"].map { $0 + port }).subtracting([
                configuration.publicURL.host + port
            ])
            : []
    }

    // MARK: Without waiting

    func reply(to head: RequestHead, from peer: PeerAddress, mark: inout RequestMark) -> Reply {
        let path = publicURL.ownPath(head.path)
        if scheme.isPlain(head, from: peer), head.path.hasPrefix("/") {
            return .response(canonical(head, status: .permanentRedirect))
        }
        if let asset = pages.asset(path) {
            mark.number = RouteNumber.asset
            return .asset(asset)
        }
        if let place = Pages.moved[path] {
            mark.number = RouteNumber.page(place)
            // A browser keeps the fragment, which may name a number.
            return .response(.redirect(to: publicURL.prefix + place))
        }
        if let page = pages.page(path) {
            mark.number = RouteNumber.page(path)
            if head[.secFetchMode] == "navigate", isOtherName(head, from: peer) { return .response(canonical(head)) }
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

    /// Checks the caller, and picks what will produce the response: memory, or a handler once the body has arrived.
    private func admit(
        _ request: Request, _ match: RouteMatch?, _ context: RequestContext, _ mark: inout RequestMark
    ) throws(Problem) -> Reply {
        let head = request.head
        guard let match else {
            let path = publicURL.ownPath(head.path)
            if let address = withoutSlash(path, head) {
                return .response(.redirect(to: address, status: .permanentRedirect))
            }
            throw missing(path, isPage: head.wantsPage)
        }
        let route = match.route
        mark.number = match.number
        let program: APIToken? =
            if let scope = route.programScope(of: head) {
                try programs.token(for: scope, head, from: request.peer)
            } else {
                nil
            }
        var mayMonitor = false
        if case .monitoring(let isRequired) = route.caller, program == nil {
            mayMonitor = monitoring.allows(head, from: request.peer)
            guard mayMonitor || !isRequired else { throw Pipeline.nothingHere }
        }
        guard let source = route.source(for: head.method) else {
            throw Problem(.methodNotAllowed, "This address accepts \(route.allow).")
        }
        if case .navigation = route.caller {
            if isOtherName(head, from: request.peer) { return .response(canonical(head)) }
            if isOfOtherMachine(head) {
                throw Problem(
                    .badRequest,
                    "You can sign in only at \(publicURL.address), in a browser on the machine where the companion runs. For other devices, set public_url to an https address."
                )
            }
        }
        if program == nil { try check(route.caller, head) }
        if let app = match.app, match.application == nil {
            throw Problem(.notFound, "No application is called “\(app.prefix(64))”.")
        }
        switch source {
        case .memory(let prepared): return .prepared(prepared(endpoints))
        case .handler(let handler, let prepared):
            // A program's request is never also a session's.
            let cookie = program == nil ? cookie.id(in: head) : nil
            let known = prepared == nil ? nil : sessions.now(cookie)
            let call = Call(
                request: request, match: match, cookie: cookie, session: known,
                mustWait: prepared != nil && known == nil, program: program, mayMonitor: mayMonitor, context: context)
            // A prepared response has no cookie.
            if !sessions.isNews(known, for: cookie), let response = prepared?(endpoints, call) {
                return .prepared(response)
            }
            return .handler(maxBodyBytes: Pipeline.maxBodyBytes) { request in
                var call = call
                call.request = request
                return await self.respond(to: call, handler)
            }
        }
    }

    /// Returns the address of a page that somebody asked for with a slash at its end; nil if there is none.
    private func withoutSlash(_ path: String, _ head: RequestHead) -> String? {
        guard path.hasSuffix("/"), head.method == .get || head.method == .head, head.wantsPage else { return nil }
        let page = String(path.dropLast())
        guard pages.page(page) != nil || router.match(page) != nil else { return nil }
        return publicURL.address + page + (head.query.map { "?" + $0 } ?? "")
    }

    /// Returns the problem of a path without a route. Many look for a kiosk at its usual address, or misspell a page's.
    private func missing(_ path: String, isPage: Bool) -> Problem {
        guard path == "/kiosk", !hasKiosk else {
            guard isPage, let page = nearest(to: path, among: pages.paths) else { return Pipeline.nothingHere }
            return Problem(.notFound, "There is nothing at this address. Did you mean \(publicURL.address + page)?")
        }
        return Problem(
            .notFound,
            "This server has no kiosk. It needs device_mode: shared and an application with the page kiosk; see “A demo kiosk” in the README."
        )
    }

    private static var nothingHere: Problem { Problem(.notFound, "There is nothing at this address.") }

    // MARK: With a handler

    /// Runs the handler. If the session has changed recently, here or before it was read here, the response carries its
    /// version in a cookie, so that no other server shows this browser an older one. A new ID of a session does the
    /// same.
    private func respond(to call: Call, _ handler: Route.Handler) async -> Response {
        let response = await responseOrProblem(call, handler)
        guard cookie.hasVersions, response.headerFields[.setCookie] == nil,
            let version = await sessions.changedVersion(after: call.context), version > call.cookie?.version ?? 0
        else { return response }
        return cookie.noting(version: version, on: response)
    }

    /// Returns the handler's response, or its error as a problem.
    private func responseOrProblem(_ call: Call, _ handler: Route.Handler) async -> Response {
        do {
            return try await RequestContext.$current.withValue(call.context) {
                try await dispatch(call, handler)
            }
        } catch {
            return failure(Problem(any: error), head: call.request.head, call.context)
        }
    }

    /// Counts the call if its route has a limit, and runs the handler with what it needs to know about the caller.
    private func dispatch(_ call: Call, _ handler: Route.Handler) async throws -> Response {
        let limit = call.match.route.limit
        if case .call(let answer) = handler, limit == nil { return try await answer(endpoints, call) }
        if case .operating(_, let answer) = handler, let program = call.program {
            guard let application = call.application, application.page == .portal else {
                throw Problem(.notFound, "This application is not a portal.")
            }
            return try await answer(endpoints, call, .program(program))
        }
        let session = await sessions.session(
            call.cookie, known: call.session, mustWait: call.mustWait, for: call.context)
        if let limit { try limits.take(limit, of: session.signedIn, for: call) }
        func application() throws(Problem) -> Application {
            guard let application = call.application else { throw Pipeline.nothingHere }
            return application
        }
        func visit() throws -> Visit {
            Visit(call: call, application: try application(), session: try session.get(), publicURL: publicURL)
        }
        func signedIn() throws -> SignedIn {
            try visit().signedIn(as: call.field("account"), tenant: call.field("tenant"))
        }
        switch handler {
        case .call(let answer): return try await answer(endpoints, call)
        case .session(let answer): return try await answer(endpoints, call, try session.get())
        case .application(let answer): return try await answer(endpoints, call, try application(), session)
        case .visit(let answer): return try await answer(endpoints, try visit())
        case .signedIn(let answer):
            return try await answer(endpoints, call, try signedIn())
        case .operating(let role, let answer):
            let asking = try signedIn()
            try portal.require(role, asking)
            return try await answer(endpoints, call, .person(asking))
        }
    }

    // MARK: Checks

    /// Checks that a request that changes something comes from our own pages (security law 4).
    private func check(_ caller: Route.Caller, _ head: RequestHead) throws(Problem) {
        switch caller {
        case .anyone, .provider, .monitoring, .program: break
        case .navigation, .returning:
            if let destination = head[.secFetchDest], destination != "document" {
                throw Problem(.crossSiteRequest, "You can't sign in inside another page. Open this in its own window.")
            }
        case .ourPages: try checkOurPages(head)
        }
    }

    private func checkOurPages(_ head: RequestHead) throws(Problem) {
        let site = head[.secFetchSite]
        if head.isFromElsewhere {
            throw Problem(.crossSiteRequest, "Other sites may not read or change anything here.")
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
            throw Problem(.crossSiteRequest, "The request came from an origin other than \(publicURL.origin).")
        }
    }

    /// Whether a browser on this machine uses another of its names, under which cookies do not work.
    private func isOtherName(_ head: RequestHead, from peer: PeerAddress) -> Bool {
        // A request that names the address that it comes from is this machine's, too.
        loopbackAliases.contains(head.host)
            || isOfOtherMachine(head) && (peer.isLoopback || peer.isNamed(by: head.host))
    }

    /// Whether the public URL is that of this machine alone, and the request names it as other machines do.
    private func isOfOtherMachine(_ head: RequestHead) -> Bool {
        Loopback.contains(publicURL.host) && !head.host.isEmpty && !Loopback.contains(authority: head.host)
    }

    /// Returns a redirect to the same address under the public URL's name.
    private func canonical(_ head: RequestHead, status: HTTPResponse.Status = .temporaryRedirect) -> Response {
        .redirect(to: publicURL.address(of: head), status: status)
    }

    // MARK: Failure

    /// Returns the problem in the form that the client asked for. It is logged when the request ends.
    private func failure(_ problem: Problem, head: RequestHead, _ context: RequestContext) -> Response {
        var problem = problem
        problem.correlationID = problem.correlationID ?? context.correlationID
        context.note(problem)
        let language = pages.languages.language(of: head)
        return head.wantsPage ? pages.errorPage(problem, in: language) : problem.response(in: language)
    }
}

extension HTTPField.Name {
    /// The header field that our own pages send with every change.
    static let xCompanion = literal("X-Companion")
}
