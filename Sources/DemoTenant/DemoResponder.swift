import Crypto
import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import WebFormats

/// The route table. The tenant serves only this computer, unless it is configured to listen for others. It always
/// refuses pages of other sites, and foreign names that resolve to its address.
struct DemoResponder: Responder {
    private static let maxBodyBytes = 128 * 1024

    let platform: Platform
    let assets: [String: Asset]
    /// Whether a failure on demand leaves the request without a response.
    private var isWithheld: @Sendable () -> Bool = { false }

    init(platform: Platform, assets: [String: Asset]) {
        self.platform = platform
        self.assets = assets
    }

    func reply(to head: RequestHead, from peer: PeerAddress, mark: inout RequestMark) -> Reply {
        guard platform.servesOthers || peer.isLoopback, let origin = platform.origins.origin(ofHost: head.host) else {
            return .response(.plain(.misdirectedRequest, "The demo tenant answers on localhost only.\n"))
        }
        return Origins.$current.withValue(origin) { reply(to: head, from: peer) }
    }

    private func reply(to head: RequestHead, from peer: PeerAddress) -> Reply {
        guard let path = try? PercentDecoding.decode(head.path.utf8) else { return notFound() }
        let parts = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        switch (parts.first ?? "", parts.dropFirst().joined(separator: "/")) {
        case ("", ""): return .response(.redirect(to: "/control", status: .found))
        case ("assets", let name): return assets[name].map(Reply.asset) ?? notFound()
        case ("control", _), ("clients", _):
            if let refusal = platform.refusalOfControl(head, from: peer) { return .response(refusal) }
            return control(parts, head)
        case ("v1.0", _):
            let path = GraphPath(parts.dropFirst())
            return api(head, isMe: path.isMe) { await platform.graph($0, path) }
        case ("oidc", "userinfo"): return api(head) { await platform.userInfo($0) }
        case ("api", let name):
            guard let own = OwnAPI(rawValue: name) else { return notFound() }
            return api(head) { await platform.ownAPI($0, own) }
        case (let tenant, _):
            // The path of a B2C user flow has two or three segments, and other paths have one.
            let names = tenant == "tfp" ? 3 : TenantSegment.isUserFlowTenant(tenant) ? 2 : 1
            let path = parts.prefix(names).joined(separator: "/")
            return withholding { platform in platform.controls.settings.isDown(path) }.identity(
                head, path, parts.dropFirst(names).joined(separator: "/"))
        }
    }

    // MARK: Identity

    private func identity(_ head: RequestHead, _ tenant: String, _ endpoint: String) -> Reply {
        switch endpoint {
        case "v2.0/.well-known/openid-configuration": document(tenant) { platform.discovery($0) }
        case "discovery/instance" where tenant.lowercased() == "common": handler { platform.instanceDiscovery($0) }
        case "discovery/v2.0/keys": document(tenant, needsKeys: true) { platform.keys($0) }
        case "oauth2/v2.0/authorize": page(tenant) { platform.authorize($0, segment: $1) }
        // An ID token can say which application asks.
        case "oauth2/v2.0/logout": page(tenant, needsKeys: true) { platform.logout($0, segment: $1) }
        case "v2.0/adminconsent": page(tenant) { platform.adminConsent($0, segment: $1) }
        case "login" where Self.isShown(head): handler { platform.showSignIn($0) }
        case "login": form(head) { platform.continueSignIn($0) }
        case "logout" where Self.isShown(head): handler { platform.showLogout($0) }
        case "logout": form(head) { platform.continueLogout($0) }
        case "" where tenant == "devicelogin" && platform.offersDeviceSignIn:
            Self.isShown(head)
                ? handler { platform.showDeviceLogin($0) } : form(head) { platform.continueDeviceLogin($0) }
        case "oauth2/v2.0/devicecode" where platform.offersDeviceSignIn && TenantSegment(tenant)?.userFlow == nil:
            posted(head, tenant) { await platform.deviceCode($0, segment: $1) }
        case "oauth2/v2.0/token": posted(head, tenant) { await platform.token($0, segment: $1) }
        case "oauth2/v2.0/revoke" where head.method == .post:
            TenantSegment(tenant).map { segment in
                handler {
                    platform.controls.settings.isGeneric
                        ? platform.revoke($0, segment: segment) : platform.page(NotFoundPage())
                }
            } ?? notFound()
        default: notFound()
        }
    }

    private func document(
        _ tenant: String, needsKeys: Bool = false, _ body: @escaping @Sendable (TenantSegment) -> Response
    ) -> Reply {
        handler(needsKeys: needsKeys) { request in
            let response = TenantSegment(tenant).map(body) ?? platform.json(.unknownTenant(tenant), request)
            return response.readable(by: "*")
        }
    }

    private func page(
        _ tenant: String, needsKeys: Bool = false,
        _ body: @escaping @Sendable (Request, TenantSegment) -> Response
    ) -> Reply {
        handler(needsKeys: needsKeys) { request in
            guard let segment = TenantSegment(tenant) else {
                return platform.page(
                    ErrorPage(.unknownTenant(tenant), Diagnostics(request, nil, platform: platform)))
            }
            return body(request, segment)
        }
    }

    private static func isShown(_ head: RequestHead) -> Bool { [.get, .head].contains(head.method) }

    /// Returns the reply to a page's form. A form of another site must not sign anyone in or out.
    private func form(_ head: RequestHead, _ body: @escaping @Sendable (Request) -> Response) -> Reply {
        guard head.method == .post else { return notFound() }
        let isOurs = Self.isFromOwnPage(head)
        return handler { request in
            isOurs
                ? body(request)
                : platform.page(ErrorPage(.flowExpired, Diagnostics(request, nil, platform: platform)))
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
            guard platform.controls.takeClose(.token) else { return false }
            platform.controls.count(.tokenRequests)
            platform.controls.count(.tokenFailed)
            return true
        }
        return responder.handler(needsKeys: true) { request in
            guard request.head.method == .post else {
                return platform.json(.postOnly(request.head.method.rawValue), request)
            }
            guard let segment = TenantSegment(tenant) else {
                var error = PlatformError.unknownTenant(tenant)
                error.error = "invalid_request"
                return platform.json(error, request)
            }
            let response = await body(request, segment)
            return script.map(response.readable) ?? response
        }
    }

    // MARK: Other endpoints

    // Scripts of any site may call these with a token, as they may call Graph.

    private func api(
        _ head: RequestHead, isMe: Bool = false, _ body: @escaping @Sendable (Request) async -> Response
    ) -> Reply {
        if head.method == .options { return .response(.preflight(for: head, by: "*")) }
        let responder = withholding { platform in
            guard platform.controls.takeClose(.graph) else { return false }
            if isMe { platform.controls.count(.graphMe) }
            return true
        }
        return responder.handler(needsKeys: true) { await body($0).readable(by: "*") }
    }

    private func control(_ parts: [String], _ head: RequestHead) -> Reply {
        switch parts {
        case ["control"]: break
        case ["clients"]: return handler { platform.clientRequests($0) }
        case ["control", "logout-token"]: return handler(needsKeys: true) { platform.logoutToken($0) }
        default: return notFound()
        }
        switch head.method {
        case .get, .head: return handler { platform.control($0) }
        case .post where Self.isFromOwnPage(head): return handler { await platform.changeControl($0) }
        case .post:
            return .response(
                .json(
                    .forbidden,
                    ["error": "cross_site_request", "message": "Only the control page itself and scripts may do this."]
                ))
        default: return .response(.plain(.methodNotAllowed, "GET or POST.\n"))
        }
    }

    /// Returns the responder for a route whose requests a failure on demand can leave without a response, too.
    private func withholding(_ fails: @escaping @Sendable (Platform) -> Bool) -> DemoResponder {
        var responder = self
        responder.isWithheld = { [platform, isWithheld] in isWithheld() || fails(platform) }
        return responder
    }

    private func notFound() -> Reply { .response(platform.page(NotFoundPage())) }

    /// - Parameter needsKeys: Whether it signs or checks a signature. The first keys take a moment to make.
    private func handler(
        needsKeys: Bool = false, _ body: @escaping @Sendable (Request) async -> Response
    ) -> Reply {
        let (origin, isWithheld) = (Origins.current, isWithheld)
        return .handler(maxBodyBytes: Self.maxBodyBytes) { request in
            if needsKeys { await platform.state.keysAreMade() }
            let ruled = RuledRequest { platform.subject(of: request) }
            let response = await RuledRequest.$current.withValue(ruled) {
                await Origins.$current.withValue(origin) {
                    await platform.answer(request) { isWithheld() ? .withheld : await body($0) }
                }
            }
            platform.onExchange?(request, response)
            return response
        }
    }

    // MARK: Origin of a request

    /// Whether a form came from the tenant's own page. Browsers send its origin. Other programs send none, and may do
    /// anything on this computer.
    static func isFromOwnPage(_ head: RequestHead) -> Bool {
        if let site = HTTPField.Name("Sec-Fetch-Site").flatMap({ head[$0] }) { return site == "same-origin" }
        guard let origin = head[.origin] else { return true }
        // A container's published port is not the one of ours.
        let scheme = (Origins.current ?? "").prefix { $0 != ":" }
        return origin.lowercased() == "\(scheme)://\(head.host.lowercased())"
    }
}

extension Platform {
    /// Returns an error as JSON, for endpoints that are not pages.
    func json(_ error: PlatformError, _ request: Request) -> Response {
        .json(error.status, Diagnostics(request, nil, platform: self).json(error))
    }
}

extension PlatformError {
    static func postOnly(_ method: String) -> Self {
        Self(
            error: "invalid_request", number: 900561,
            message: "The endpoint only accepts POST requests. Received a \(method) request.")
    }
}

extension Platform {
    /// Returns why a request may not use `/control` and `/clients`; nil if it may. With a control token, it has to carry
    /// that, as a Bearer token or as the password that a browser asks for. Without one, only this machine may.
    func refusalOfControl(_ head: RequestHead, from peer: PeerAddress) -> Response? {
        // Through a proxy, everyone comes from this machine.
        guard let token = controlToken else { return peer.isLoopback && !hasPublicURL ? nil : .controlIsLocal }
        return carries(token, head) ? nil : .controlTokenNeeded
    }

    private func carries(_ token: String, _ head: RequestHead) -> Bool {
        let parts = (head[.authorization] ?? "").split(separator: " ", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { return false }
        var given = parts[1]
        switch parts[0].lowercased() {
        case "bearer": break
        case "basic":
            given = String(decoding: Data(base64Encoded: given) ?? Data(), as: UTF8.self)
            given = String(given.drop { $0 != ":" }.dropFirst())
        default: return false
        }
        // Digests compare in constant time.
        return SHA256.hash(data: Data(given.utf8)) == SHA256.hash(data: Data(token.utf8))
    }
}

extension Response {
    /// No response.
    static let withheld: Response = {
        var response = Response(status: .serviceUnavailable)
        response.isWithheld = true
        return response
    }()

    static let controlTokenNeeded: Response = {
        var response = plain(.unauthorized, "Give the token of /control as the password, or as a Bearer token.\n")
        response.headerFields[.wwwAuthenticate] = "Basic realm=\"control\""
        return response
    }()

    static let controlIsLocal = plain(
        .forbidden,
        "Without a control token, only the tenant's own machine may open this address, and a container is another one. "
            + "Set COMPANION_DEMO_CONTROL_TOKEN in its environment, or control_token in the tenant's file, and start it "
            + "again.\n")

    /// Returns the response so that scripts of an origin may read it (Fetch, CORS protocol).
    func readable(by origin: String) -> Response {
        var response = self
        response.headerFields[.accessControlAllowOrigin] = origin
        if origin != "*" { response.headerFields[.vary] = "Origin" }
        return response
    }

    /// Returns the answer to a script that asks whether it may send a request.
    static func preflight(for head: RequestHead, by origin: String) -> Response {
        var response = plain(.noContent, "").readable(by: origin)
        response.headerFields[.accessControlAllowMethods] = "GET, POST"
        response.headerFields[.accessControlAllowHeaders] = head[.accessControlRequestHeaders]
        response.headerFields[.accessControlMaxAge] = "600"
        return response
    }

    static func plain(_ status: HTTPResponse.Status, _ text: String) -> Response {
        noStore(status, "text/plain; charset=utf-8", Array(text.utf8))
    }
}
