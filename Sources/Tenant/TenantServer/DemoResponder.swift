import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import TenantControl
import TenantDirectory
import TenantGraph
import TenantSignIn
import WebFormats

/// The route table. The tenant serves only this computer, unless it is configured to listen for others. It always
/// refuses pages of other sites, and foreign names that resolve to its address.
struct DemoResponder: Responder {
    private static let maxBodyBytes = 128 * 1024

    private let configuration: DemoTenantConfiguration
    private let platform: Platform
    private let assets: StaticFiles
    let layout: PageLayout
    private let identity: IdentityPlatform
    private let graph: Graph
    private let controlHandler: ControlHandler
    private let clients: ClientsHandler
    private let outbox: OutboxHandler
    private let runTime: RunTimeHandler?
    /// The facts about the tenant for programs, which are known once it listens.
    private let announcement: Later<@Sendable () -> JSONValue>
    private let numbers: NumberTable
    /// Whether a failure on demand leaves the request without a response.
    private var isWithheld: @Sendable () async -> Bool = { false }

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
        let parts = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        switch (parts.first ?? "", parts.dropFirst().joined(separator: "/")) {
        case ("", ""): return .response(.redirect(to: "/control", status: .found))
        case ("assets", _): return assets[head.path].map(Reply.asset) ?? notFound(head)
        case ("control", _), ("clients", _), ("outbox", _):
            if let refusal = refusalOfControl(head, from: peer) { return .response(refusal) }
            return control(parts, head)
        case ("error", ""): return .response(explanation(of: head))
        case ("v1.0", _), ("beta", _):
            let path = GraphPath(parts.dropFirst())
            return api(head, isMe: path.isMe) { await graph.answer($0, path) }
        case ("oidc", "userinfo"): return api(head) { await graph.userInfo($0) }
        case ("api", let name):
            guard let own = OwnAPI(rawValue: name) else { return notFound(head) }
            return api(head) { await graph.ownAPI($0, own) }
        case (let tenant, _):
            // The path of a B2C user flow has two or three segments, and other paths have one.
            let flow = Self.userFlowInQuery(head, parts)
            let names = tenant.lowercased() == "tfp" ? 3 : TenantSegment.isUserFlowTenant(tenant) && flow == nil ? 2 : 1
            let path =
                flow.map { TenantSegment.text(tenant, userFlowInQuery: $0) }
                ?? parts.prefix(names).joined(separator: "/")
            return withholding { platform in platform.controls.settings.isDown(path) }.identity(
                head, path, parts.dropFirst(names).joined(separator: "/"))
        }
    }

    /// Returns the user flow in the parameter `p` of an address of the B2C tenant that names none in its path.
    private static func userFlowInQuery(_ head: RequestHead, _ parts: [String]) -> String? {
        guard parts.count > 2, TenantSegment.isUserFlowTenant(parts[0]),
            UserFlow(rawValue: parts[1].lowercased()) == nil
        else { return nil }
        return head.query.flatMap { try? FormFields(query: $0) }?.text("p")
    }

    // MARK: Identity

    private func identity(_ head: RequestHead, _ tenant: String, _ path: String) -> Reply {
        // MSAL appends a path to an authority that may end with a slash.
        let segment = TenantSegment(tenant)
        // Clients and guides write `UserRealm`, `OAuth2` and the like.
        let endpoint = (segment?.tenantID == Tenant.fabrikam ? String(path.trimmingPrefix("/")) : path).lowercased()
        if let native = IdentityPlatform.nativeEndpoint(endpoint, at: segment), native != .token {
            return handler { request in
                guard request.head.method == .post else {
                    return identity.json(.postOnly(request.head.method.rawValue), request)
                }
                return segment.map { identity.native(native, request, segment: $0) } ?? absence(request.head)
            }
        }
        return switch endpoint {
        case "v2.0/.well-known/openid-configuration": document(head, tenant) { identity.discovery($0) }
        case "discovery/instance" where tenant.lowercased() == "common":
            metadata(head) { identity.instanceDiscovery($0) }
        case "discovery/v2.0/keys": document(head, tenant, needsKeys: true) { identity.keys($0) }
        case "oauth2/v2.0/authorize": page(tenant) { identity.authorize($0, segment: $1) }
        // An ID token can say which application asks.
        case "oauth2/v2.0/logout": page(tenant, needsKeys: true) { identity.logout($0, segment: $1) }
        case "v2.0/adminconsent": page(tenant) { identity.adminConsent($0, segment: $1) }
        case "login" where Self.isShown(head): handler { identity.showSignIn($0) }
        case "login": form(head) { identity.continueSignIn($0) }
        case "logout" where Self.isShown(head): handler { identity.showLogout($0) }
        case "logout": form(head) { identity.continueLogout($0) }
        case "" where tenant.lowercased() == "devicelogin" && identity.offersDeviceSignIn:
            Self.isShown(head)
                ? handler { identity.showDeviceLogin($0) } : form(head) { identity.continueDeviceLogin($0) }
        case "oauth2/v2.0/devicecode" where identity.offersDeviceSignIn && TenantSegment(tenant)?.userFlow == nil:
            posted(head, tenant) { await identity.deviceCode($0, segment: $1) }
        case "oauth2/v2.0/token": posted(head, tenant) { await identity.token($0, segment: $1) }
        case let realm where segment?.hasVersion1 == true && realm.hasPrefix("userrealm/"):
            .response(identity.userRealm(String(path.dropFirst("userrealm/".count))))
        case "oauth2/v2.0/revoke" where head.method == .post:
            TenantSegment(tenant).map { segment in
                handler {
                    platform.controls.settings.isGeneric
                        ? identity.revoke($0, segment: segment) : absence($0.head)
                }
            } ?? notFound(head)
        default: version1(head, tenant, endpoint) ?? notFound(head)
        }
    }

    /// Returns the reply of an endpoint of version 1; nil where there is none.
    private func version1(_ head: RequestHead, _ tenant: String, _ endpoint: String) -> Reply? {
        guard TenantSegment(tenant)?.hasVersion1 == true else { return nil }
        switch endpoint {
        case ".well-known/openid-configuration": return document(head, tenant) { identity.discovery1($0) }
        case "discovery/keys": return document(head, tenant, needsKeys: true) { identity.keys($0, isVersion1: true) }
        case "oauth2/authorize": return page(tenant) { identity.authorize($0, segment: $1, isVersion1: true) }
        case "oauth2/logout": return page(tenant, needsKeys: true) { identity.logout($0, segment: $1) }
        case "adminconsent": return page(tenant) { identity.adminConsent($0, segment: $1, isVersion1: true) }
        case "oauth2/devicecode" where identity.offersDeviceSignIn:
            return posted(head, tenant) { await identity.deviceCode($0, segment: $1, isVersion1: true) }
        case "oauth2/token":
            return posted(head, tenant) { await identity.token($0, segment: $1, isVersion1: true) }
        case "openid/userinfo": return api(head) { await graph.userInfo($0) }
        default: return nil
        }
    }

    private func document(
        _ head: RequestHead, _ tenant: String, needsKeys: Bool = false,
        _ body: @escaping @Sendable (TenantSegment) -> Response
    ) -> Reply {
        metadata(head, needsKeys: needsKeys) { request in
            let response = TenantSegment(tenant).map(body) ?? identity.json(.unknownTenant(tenant), request)
            return response.with(.cacheControl, response.status == .badRequest ? "private" : nil).readable(by: "*")
        }
    }

    /// Returns the reply with metadata, which scripts of any site may read.
    private func metadata(
        _ head: RequestHead, needsKeys: Bool = false, _ body: @escaping @Sendable (Request) -> Response
    ) -> Reply {
        head.method == .options
            ? .response(.preflight(for: head, by: "*", methods: "GET, OPTIONS"))
            : handler(needsKeys: needsKeys) { body($0) }
    }

    private func page(
        _ tenant: String, needsKeys: Bool = false,
        _ body: @escaping @Sendable (Request, TenantSegment) -> Response
    ) -> Reply {
        handler(needsKeys: needsKeys) { request in
            guard let segment = TenantSegment(tenant) else {
                return layout.page(
                    ErrorPage(.unknownTenant(tenant), Diagnostics(request, nil, clock: platform.clock)))
            }
            return body(request, segment)
        }
    }

    private static func isShown(_ head: RequestHead) -> Bool { [.get, .head].contains(head.method) }

    /// Returns the reply to a page's form. A form of another site must not sign anyone in or out.
    private func form(_ head: RequestHead, _ body: @escaping @Sendable (Request) -> Response) -> Reply {
        guard head.method == .post else { return notFound(head) }
        let isOurs = Self.isFromOwnPage(head)
        return handler { request in
            isOurs
                ? body(request)
                : layout.page(ErrorPage(.flowExpired, Diagnostics(request, nil, clock: platform.clock)))
        }
    }

    /// Returns the reply to a form of an application.
    private func posted(
        _ head: RequestHead, _ tenant: String,
        _ body: @escaping @Sendable (Request, TenantSegment) async -> Response
    ) -> Reply {
        let script = head[.origin].flatMap { platform.registrations.isScript(origin: $0) ? $0 : nil }
        if head.method == .options, let script { return .response(.preflight(for: head, by: script)) }
        let responder = withholding { platform in
            guard await platform.controls.hold(at: .token) else { return true }
            guard platform.controls.takeClose(.token) else { return false }
            platform.controls.count(.tokenRequests)
            platform.controls.count(.tokenFailed)
            return true
        }
        return responder.handler(needsKeys: true) { request in
            guard request.head.method == .post else {
                return identity.json(.postOnly(request.head.method.rawValue), request)
            }
            guard let segment = TenantSegment(tenant) else {
                var error = PlatformError.unknownTenant(tenant)
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

    // MARK: Other endpoints

    // Scripts of any site may call these with a token, as they may call Graph.

    private func api(
        _ head: RequestHead, isMe: Bool = false, _ body: @escaping @Sendable (Request) async -> Response
    ) -> Reply {
        if head.method == .options { return .response(.preflight(for: head, by: "*")) }
        let responder = withholding { platform in
            guard await platform.controls.hold(at: .graph) else { return true }
            guard platform.controls.takeClose(.graph) else { return false }
            if isMe { platform.controls.count(.graphMe) }
            return true
        }
        return responder.handler(needsKeys: true) { await body($0).readable(by: "*") }
    }

    private func control(_ parts: [String], _ head: RequestHead) -> Reply {
        switch parts {
        case ["control"]: break
        case ["clients"]: return handler { clients.show($0) }
        case ["outbox"]: return handler { await outbox.show($0) }
        case ["control", "logout-token"]: return handler(needsKeys: true) { controlHandler.logoutToken($0) }
        case ["control", "announcement"]:
            guard let announce = announcement.value else { return notFound(head) }
            return handler { _ in .json(.ok, announce()) }
        case _ where parts.count == 2 || parts.count == 3:
            guard let runTime, let kind = RunTimeHandler.Kind(rawValue: parts[1]) else { return notFound(head) }
            guard Self.isFromOwnPage(head) else { return .response(.crossSite) }
            return handler { runTime.answer($0, kind, name: parts.count == 3 ? parts[2] : nil) }
        default: return notFound(head)
        }
        switch head.method {
        case .get, .head: return handler { controlHandler.show($0) }
        case .post where Self.isFromOwnPage(head): return handler { await controlHandler.change($0) }
        case .post: return .response(.crossSite)
        default: return .response(.plain(.methodNotAllowed, "GET or POST.\n"))
        }
    }

    /// Returns the responder for a route whose requests a failure on demand can leave without a response, too.
    private func withholding(_ fails: @escaping @Sendable (Platform) async -> Bool) -> DemoResponder {
        var responder = self
        responder.isWithheld = { [platform, isWithheld] in
            if await isWithheld() { return true }
            return await fails(platform)
        }
        return responder
    }

    private func notFound(_ head: RequestHead) -> Reply { .response(absence(head)) }

    /// Browsers get a page, and programs JSON.
    private func absence(_ head: RequestHead) -> Response {
        guard head[.accept]?.contains("text/html") != true else { return layout.page(NotFoundPage()) }
        return .json(
            .notFound,
            ["error": "not_found", "error_description": "There is nothing at this address of the demo tenant."])
    }

    /// Returns the page about a number, to which errors lead: Microsoft's, if the table does not have it.
    private func explanation(of head: RequestHead) -> Response {
        let query = head.query.flatMap { try? FormFields(query: $0) }
        let code = query?.text("code").flatMap { Int($0) } ?? 0
        let (uiLocales, acceptLanguage) = (query?["ui_locales"], head[.acceptLanguage])
        guard let page = numbers.page(about: code, uiLocales: uiLocales, acceptLanguage: acceptLanguage) else {
            return .redirect(to: "https://login.microsoftonline.com/error?code=\(code)", status: .found)
        }
        let language = layout.languages.language(uiLocales: uiLocales, acceptLanguage: acceptLanguage)
        return DemoLanguage.$current.withValue(language) { layout.page(page) }
    }

    /// - Parameter needsKeys: Whether it signs or checks a signature. The first keys take a moment to make.
    private func handler(
        needsKeys: Bool = false, _ body: @escaping @Sendable (Request) async -> Response
    ) -> Reply {
        let (origin, isWithheld) = (Origins.current, isWithheld)
        return .handler(maxBodyBytes: Self.maxBodyBytes) { request in
            if needsKeys { await platform.state.keysAreMade() }
            let ruled = RuledRequest { identity.subject(of: request) }
            let changes = platform.state.changes
            let response = await RuledRequest.$current.withValue(ruled) {
                await Origins.$current.withValue(origin) {
                    await clients.answer(request) { await isWithheld() ? .withheld : await body($0) }
                }
            }
            // A response comes after the changes on which it depends are on the disk.
            if platform.state.changes != changes { await platform.state.isWritten() }
            configuration.onExchange?(request, response)
            return response
        }
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
