import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import TenantControl
import TenantDirectory
import TenantGraph
import TenantSignIn
import WebFormats

/// Admits requests to the tenant's addresses, see ``TenantRoutes``. The tenant serves only this computer, unless it is
/// configured to listen for others. It always refuses pages of other sites, and foreign names that resolve to its
/// address.
struct DemoResponder: Responder {
    private static let maxBodyBytes = 128 * 1024

    private let configuration: DemoTenantConfiguration
    let platform: Platform
    let assets: StaticFiles
    let layout: PageLayout
    let identity: IdentityPlatform
    let graph: Graph
    let controlHandler: ControlHandler
    let clients: ClientsHandler
    let outbox: OutboxHandler
    private let runTime: RunTimeHandler?
    /// The facts about the tenant for programs, which are known once it listens.
    let announcement: Later<@Sendable () -> JSONValue>
    private let numbers: NumberTable

    init(
        _ configuration: DemoTenantConfiguration, platform: Platform,
        announcement: Later<@Sendable () -> JSONValue> = Later(),
        closeIdleConnections: @escaping @Sendable () async -> Void = {}
    ) throws(DemoTenantError) {
        self.configuration = configuration
        self.platform = platform
        assets = try configuration.assets()
        self.announcement = announcement
        numbers = NumberTable(publicFolder: configuration.publicFolder)
        runTime = platform.registry.map { RunTimeHandler(registry: $0, addresses: platform.addresses) }
        layout = try configuration.layout()
        let identity = IdentityPlatform(platform, layout: layout) { peer in
            configuration.controlToken != nil || configuration.opensControl(to: peer)
        }
        self.identity = identity
        let photos = try Photos(publicFolder: configuration.publicFolder)
        graph = Graph(platform, photos: photos) { identity.subject(of: $0) }
        let clients = ClientsHandler(platform: platform)
        self.clients = clients
        controlHandler = ControlHandler(
            platform: platform, layout: layout, clients: clients, rooms: configuration.rooms,
            forgetDevices: {
                identity.forgetDevices()
                identity.forgetNativeFlows()
            }, closeIdleConnections: closeIdleConnections)
        outbox = OutboxHandler(platform: platform, outbox: identity.outbox, layout: layout, rooms: configuration.rooms)
    }

    func reply(to head: RequestHead, from peer: PeerAddress, mark: inout RequestMark) -> Reply {
        let misdirected = Reply.response(.plain(.misdirectedRequest, "The demo tenant answers on localhost only.\n"))
        guard configuration.serves(peer) else {
            return configuration.listensBeyondLoopback ? refusal(of: head) : misdirected
        }
        guard let origin = platform.addresses.origins.origin(ofHost: head.host) else { return misdirected }
        return Origins.$current.withValue(origin) { reply(to: head, from: peer) }
    }

    /// Returns the answer for another machine while everyone knows the accounts' passwords.
    private func refusal(of head: RequestHead) -> Reply {
        // The page has a style sheet.
        if let asset = assets[head.path] { return .asset(asset) }
        guard head[.accept]?.contains("text/html") == true else { return .response(OtherMachinePage.json) }
        let language = layout.languages.language(uiLocales: nil, acceptLanguage: head[.acceptLanguage])
        return .response(DemoLanguage.$current.withValue(language) { layout.page(OtherMachinePage()) })
    }

    private func reply(to head: RequestHead, from peer: PeerAddress) -> Reply {
        guard let path = try? PercentDecoding.decode(head.path.utf8) else { return notFound(head) }
        if let (route, parameters) = TenantRoutes.fixed.match(path) {
            return route(self, Arrival(head: head, peer: peer, parameters: parameters)) ?? notFound(head)
        }
        let parts = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        let first = parts.first ?? ""
        // The path of a B2C user flow has two or three segments, and other paths have one.
        let flow = Self.userFlowInQuery(head, parts)
        let names = first.lowercased() == "tfp" ? 3 : TenantSegment.isUserFlowTenant(first) && flow == nil ? 2 : 1
        let tenant =
            flow.map { TenantSegment.text(first, userFlowInQuery: $0) } ?? parts.prefix(names).joined(separator: "/")
        let segment = TenantSegment(tenant)
        var endpoint = parts.dropFirst(names).joined(separator: "/")
        // MSAL appends a path to an authority that may end with a slash.
        if segment?.tenantID == Tenant.fabrikam { endpoint = String(endpoint.trimmingPrefix("/")) }
        // Clients and guides write `UserRealm`, `OAuth2` and the like.
        let address = "/" + endpoint.lowercased()
        let found =
            TenantRoutes.ofEach.match(address)
            ?? (segment?.hasVersion1 == true ? TenantRoutes.ofVersion1.match(address) : nil)
        guard let (route, parameters) = found else { return notFound(head) }
        let arrival = Arrival(
            head: head, peer: peer, parameters: parameters, tenant: tenant, segment: segment, endpoint: endpoint)
        return route(self, arrival) ?? notFound(head)
    }

    /// Returns the user flow in the parameter `p` of an address of the B2C tenant that names none in its path.
    private static func userFlowInQuery(_ head: RequestHead, _ parts: [String]) -> String? {
        guard parts.count > 2, TenantSegment.isUserFlowTenant(parts[0]),
            UserFlow(rawValue: parts[1].lowercased()) == nil
        else { return nil }
        return head.query.flatMap { try? FormFields(query: $0) }?.text("p")
    }

    // MARK: Kinds of endpoints

    /// Returns the reply with a document about a tenant.
    func document(
        _ arrival: Arrival, needsKeys: Bool = false, _ body: @escaping @Sendable (TenantSegment) -> Response
    ) -> Reply {
        metadata(arrival, needsKeys: needsKeys) { request in
            let response =
                arrival.segment.map(body) ?? identity.json(.unknownTenant(arrival.tenant ?? ""), request)
            return response.with(.cacheControl, response.status == .badRequest ? "private" : nil).readable(by: "*")
        }
    }

    /// Returns the reply with metadata, which scripts of any site may read.
    func metadata(
        _ arrival: Arrival, needsKeys: Bool = false, _ body: @escaping @Sendable (Request) -> Response
    ) -> Reply {
        arrival.head.method == .options
            ? .response(.preflight(for: arrival.head, by: "*", methods: "GET, OPTIONS"))
            : handler(arrival, needsKeys: needsKeys) { body($0) }
    }

    /// Returns the reply with a page of a tenant.
    func page(
        _ arrival: Arrival, needsKeys: Bool = false,
        _ body: @escaping @Sendable (Request, TenantSegment) -> Response
    ) -> Reply {
        handler(arrival, needsKeys: needsKeys) { request in
            guard let segment = arrival.segment else { return errorPage(.unknownTenant(arrival.tenant ?? ""), request) }
            return body(request, segment)
        }
    }

    /// Returns the reply with a page, and to its form. A form of another site must not sign anyone in or out.
    func form(
        _ arrival: Arrival, _ shown: @escaping @Sendable (Request) -> Response,
        _ sent: @escaping @Sendable (Request) -> Response
    ) -> Reply? {
        switch arrival.head.method {
        case .get, .head: return handler(arrival) { shown($0) }
        case .post where Self.isFromOwnPage(arrival.head): return handler(arrival) { sent($0) }
        case .post: return handler(arrival) { errorPage(.flowExpired, $0) }
        default: return nil
        }
    }

    private func errorPage(_ error: PlatformError, _ request: Request) -> Response {
        layout.page(ErrorPage(error, Diagnostics(request, nil, clock: platform.clock)))
    }

    /// Returns the reply to a form of an application.
    func posted(
        _ arrival: Arrival, _ body: @escaping @Sendable (Request, TenantSegment) async -> Response
    ) -> Reply {
        let head = arrival.head
        let script = head[.origin].flatMap { platform.registrations.isScript(origin: $0) ? $0 : nil }
        if head.method == .options, let script { return .response(.preflight(for: head, by: script)) }
        return handler(arrival, needsKeys: true, endpoint: .token) { request in
            guard request.head.method == .post else {
                return identity.json(.postOnly(request.head.method.rawValue), request)
            }
            guard let segment = arrival.segment else {
                var error = PlatformError.unknownTenant(arrival.tenant ?? "")
                error.error = "invalid_request"
                return identity.json(error, request)
            }
            let response = await body(request, segment)
            guard let script, mayRead(request, script) else { return response }
            return response.readable(by: script)
        }
    }

    /// Whether the script of an origin may read the answer to an application: if it is of one of the application's own pages
    /// (t2-cors-01), or nobody knows the application.
    private func mayRead(_ request: Request, _ origin: String) -> Bool {
        let id = (try? FormFields(body: request.body))?.text("client_id")
        guard let client = id.flatMap({ platform.registrations.client(id: $0) }) else { return true }
        return platform.registrations.isScript(origin: origin, of: client)
    }

    /// Returns the reply of an endpoint of native authentication.
    func native(_ arrival: Arrival, _ endpoint: Controls.NativeEndpoint) -> Reply? {
        guard let segment = arrival.segment, segment.tenantID == Tenant.fabrikam else { return nil }
        return handler(arrival) { request in
            request.head.method == .post
                ? identity.native(endpoint, request, segment: segment)
                : identity.json(.postOnly(request.head.method.rawValue), request)
        }
    }

    /// Returns the reply of an API. Scripts of any site may call it with a token, as they may call Graph.
    func api(
        _ arrival: Arrival, isMe: Bool = false, _ body: @escaping @Sendable (Request) async -> Response
    ) -> Reply {
        if arrival.head.method == .options { return .response(.preflight(for: arrival.head, by: "*")) }
        return handler(arrival, needsKeys: true, endpoint: .graph, isMe: isMe) { await body($0).readable(by: "*") }
    }

    /// Returns the reply of Graph.
    func graph(_ arrival: Arrival) -> Reply {
        let rest = arrival.parameters["path"] ?? ""
        let path = GraphPath(rest.split(separator: "/", omittingEmptySubsequences: false).map(String.init))
        return api(arrival, isMe: path.isMe) { await graph.answer($0, path) }
    }

    /// Returns the reply of an address that only this machine may use, or who has the control token.
    func local(_ arrival: Arrival, _ reply: () -> Reply?) -> Reply? {
        refusalOfControl(arrival.head, from: arrival.peer).map(Reply.response) ?? reply()
    }

    /// Returns the reply of the page of failures.
    func control(_ arrival: Arrival) -> Reply {
        switch arrival.head.method {
        case .get, .head: handler(arrival) { controlHandler.show($0) }
        case .post where Self.isFromOwnPage(arrival.head): handler(arrival) { await controlHandler.change($0) }
        case .post: .response(.crossSite)
        default: .response(.plain(.methodNotAllowed, "GET or POST.\n"))
        }
    }

    /// Returns the reply of an address under which programs add applications and people.
    func collection(_ arrival: Arrival) -> Reply? {
        let kind = arrival.parameters["kind"].flatMap { RunTimeHandler.Kind(rawValue: $0) }
        guard let runTime, let kind else { return nil }
        guard Self.isFromOwnPage(arrival.head) else { return .response(.crossSite) }
        return handler(arrival) { runTime.answer($0, kind, name: arrival.parameters["name"]) }
    }

    // MARK: Answers

    private func notFound(_ head: RequestHead) -> Reply { .response(absence(head)) }

    /// Browsers get a page, and programs JSON.
    func absence(_ head: RequestHead) -> Response {
        guard head[.accept]?.contains("text/html") != true else { return layout.page(NotFoundPage()) }
        return .json(
            .notFound,
            ["error": "not_found", "error_description": "There is nothing at this address of the demo tenant."])
    }

    /// Returns the page about a number, to which errors lead: Microsoft's, if the table does not have it.
    func explanation(of head: RequestHead) -> Response {
        let query = head.query.flatMap { try? FormFields(query: $0) }
        let code = query?.text("code").flatMap { Int($0) } ?? 0
        let (uiLocales, acceptLanguage) = (query?["ui_locales"], head[.acceptLanguage])
        guard let page = numbers.page(about: code, uiLocales: uiLocales, acceptLanguage: acceptLanguage) else {
            return .redirect(to: "https://login.microsoftonline.com/error?code=\(code)", status: .found)
        }
        let language = layout.languages.language(uiLocales: uiLocales, acceptLanguage: acceptLanguage)
        return DemoLanguage.$current.withValue(language) { layout.page(page) }
    }

    /// - Parameters:
    ///   - needsKeys: Whether it signs or checks a signature. The first keys take a moment to make.
    ///   - endpoint: The endpoint whose failures on demand leave it without a response.
    ///   - isMe: Whether it asks for the person's own profile.
    func handler(
        _ arrival: Arrival, needsKeys: Bool = false, endpoint: Controls.Endpoint? = nil, isMe: Bool = false,
        _ body: @escaping @Sendable (Request) async -> Response
    ) -> Reply {
        let origin = Origins.current
        return .handler(maxBodyBytes: Self.maxBodyBytes) { request in
            if needsKeys { await platform.state.keysAreMade() }
            let ruled = RuledRequest { identity.subject(of: request) }
            let changes = platform.state.changes
            let response = await RuledRequest.$current.withValue(ruled) {
                await Origins.$current.withValue(origin) {
                    await clients.answer(request) {
                        await isWithheld(arrival, endpoint, isMe: isMe) ? .withheld : await body($0)
                    }
                }
            }
            // A response comes after the changes on which it depends are on the disk.
            if platform.state.changes != changes { await platform.state.isWritten() }
            configuration.onExchange?(request, response)
            return response
        }
    }

    /// Whether a failure on demand leaves a request without a response.
    private func isWithheld(_ arrival: Arrival, _ endpoint: Controls.Endpoint?, isMe: Bool) async -> Bool {
        let controls = platform.controls
        if let tenant = arrival.tenant, controls.settings.isDown(tenant) { return true }
        guard let endpoint else { return false }
        guard await controls.hold(at: endpoint) else { return true }
        guard controls.takeClose(endpoint) else { return false }
        let counters: [Controls.Counter] = endpoint == .token ? [.tokenRequests, .tokenFailed] : isMe ? [.graphMe] : []
        for counter in counters { controls.count(counter) }
        return true
    }

    // MARK: Origin of a request

    /// Whether a form came from the tenant's own page. Browsers send its origin. Other programs send none, and may do
    /// anything on this computer.
    static func isFromOwnPage(_ head: RequestHead) -> Bool {
        if let site = head[.secFetchSite] { return site == "same-origin" }
        guard let origin = head[.origin] else { return true }
        // A container's published port is not the one of ours.
        let scheme = (Origins.current ?? "").prefix { $0 != ":" }
        return origin.lowercased() == "\(scheme)://\(head.host.lowercased())"
    }
}

extension PlatformError {
    static func postOnly(_ method: String) -> Self {
        Self(
            error: "invalid_request", number: 900561,
            message: "The endpoint only accepts POST, OPTIONS requests. Received a \(method) request.")
    }
}

extension DemoResponder {
    /// Returns why a request may not use `/control` and `/clients`; nil if it may. With a control token, it has to carry
    /// that, as a Bearer token or as the password that a browser asks for. Without one, only this machine may.
    func refusalOfControl(_ head: RequestHead, from peer: PeerAddress) -> Response? {
        guard let token = configuration.controlToken else {
            return configuration.opensControl(to: peer) ? nil : .controlIsLocal
        }
        guard let given = Self.controlToken(head) else { return .controlTokenNeeded }
        switch identity.judge(given, against: token, from: peer, alwaysCounts: true) {
        case .right: return nil
        case .wrong: return .controlTokenNeeded
        case .tooMany(let seconds): return .tooManyControlTokens(seconds)
        }
    }

    /// Returns the token that a request carries; nil if there is none.
    private static func controlToken(_ head: RequestHead) -> String? {
        let parts = (head[.authorization] ?? "").split(separator: " ", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { return nil }
        switch parts[0].lowercased() {
        case "bearer": return parts[1]
        case "basic":
            let pair = String(decoding: Data(base64Encoded: parts[1]) ?? Data(), as: UTF8.self)
            return String(pair.drop { $0 != ":" }.dropFirst())
        default: return nil
        }
    }
}

extension Response {
    /// No response.
    static let withheld: Response = {
        var response = Response(status: .serviceUnavailable)
        response.isWithheld = true
        return response
    }()

    static let crossSite = json(
        .forbidden,
        ["error": "cross_site_request", "message": "Only the control page itself and scripts may do this."])

    static let controlTokenNeeded = plain(
        .unauthorized, "Give the token of /control as the password, or as a Bearer token.\n"
    ).with(.wwwAuthenticate, "Basic realm=\"control\"")

    static func tooManyControlTokens(_ seconds: Int) -> Response {
        plain(.tooManyRequests, "Too many wrong tokens came from your network. Try again in \(seconds) s.\n")
            .ending(retryAfter: seconds)
    }

    static let controlIsLocal = plain(
        .forbidden,
        "Without a control token, only the tenant's own machine may open this address, and a container is another one. "
            + "Set COMPANION_DEMO_CONTROL_TOKEN in its environment, or control_token in the tenant's file, and start it "
            + "again.\n")

    /// Returns the answer to a script that asks whether it may send a request.
    static func preflight(
        for head: RequestHead, by origin: String, methods: String = "GET, POST, PATCH, DELETE"
    ) -> Response {
        plain(.noContent, "").readable(by: origin).with(.accessControlAllowMethods, methods)
            .with(.accessControlAllowHeaders, head[.accessControlRequestHeaders]).with(.accessControlMaxAge, "600")
    }

    static func plain(_ status: HTTPResponse.Status, _ text: String) -> Response {
        noStore(status, "text/plain; charset=utf-8", Array(text.utf8))
    }
}
