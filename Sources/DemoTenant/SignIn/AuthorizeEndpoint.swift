import HTTPServer
import HTTPTypes
import HTTPWire
import WebFormats

extension Platform {
    /// `GET` or `POST /{tenant}/oauth2/v2.0/authorize`
    func authorize(_ request: Request, segment: TenantSegment) -> Response {
        controls.count(.authorize)
        return begin(request) { fields throws(AuthorizationFailure) in
            try DemoAuthorizationRequest(authorize: fields, segment: segment, platform: self)
        }
    }

    /// `GET /{tenant or organizations}/v2.0/adminconsent`
    func adminConsent(_ request: Request, segment: TenantSegment) -> Response {
        begin(request) { fields throws(AuthorizationFailure) in
            try DemoAuthorizationRequest(adminConsent: fields, segment: segment, platform: self)
        }
    }

    private func begin(
        _ request: Request, _ parse: (FormFields) throws(AuthorizationFailure) -> DemoAuthorizationRequest
    ) -> Response {
        onPage(request) { exchange in
            do throws(AuthorizationFailure) {
                let authorization = try parse(exchange.fields)
                return try self.begin(authorization, exchange)
            } catch {
                guard let target = error.target else { throw error.error }
                return answer(error.error, exchange.diagnostics, to: target)
            }
        }
    }

    private func begin(_ request: DemoAuthorizationRequest, _ exchange: Exchange) throws(AuthorizationFailure)
        -> Response
    {
        do {
            if let error = request.replay?.authorizationError ?? controls.takePlatformError(.authorize) { throw error }
            var signIn = try signIn(
                DemoSignInFlow(
                    id: newID(), request: request, expires: now().addingTimeInterval(DemoSignInFlow.lifetime)),
                exchange)
            return try signIn.begin()
        } catch {
            let error = error as? PlatformError ?? .serverError
            throw AuthorizationFailure(error: error, target: error.isShownByTenant ? nil : request.target)
        }
    }

    /// `GET /{tenant}/login`: the page of a sign-in's present step. Who goes back to a page of a sign-in that has ended
    /// comes to the start page.
    func showSignIn(_ request: Request) -> Response {
        onPage(request) { exchange in
            let flow = try flow(exchange)
            let signIn = try signIn(flow, exchange)
            guard isOver(flow) else { return try signIn.page() }
            if flow.request.purpose == .device { return try showEnd(ofDevice: flow.request) }
            guard hasEnded(flow), let start = kioskURL ?? signIn.client.homeURL else { throw PlatformError.flowExpired }
            return .redirect(to: start)
        }
    }

    /// `POST /{tenant}/login`: handles the pages' forms.
    func continueSignIn(_ request: Request) -> Response {
        onPage(request) { exchange in
            let flow = try flow(exchange)
            var signIn = try signIn(flow, exchange)
            return isOver(flow) ? .redirect(to: try signIn.address()) : try signIn.take(exchange.fields)
        }
    }

    private func flow(_ exchange: Exchange) throws(PlatformError) -> DemoSignInFlow {
        let sealed = exchange.fields["flow"] ?? ""
        guard let flow = state.sealer.open(sealed, for: .flow, as: DemoSignInFlow.self) else { throw .flowExpired }
        return flow
    }

    func signIn(_ flow: DemoSignInFlow, _ exchange: Exchange) throws(PlatformError) -> SignIn {
        let request = flow.request
        let client = try registrations.client(id: request.clientID, at: request.segment)
        ClientNote.change { $0.clientID = client.id }
        return SignIn(platform: self, exchange: exchange, client: client, flow: flow)
    }

    /// Runs an endpoint whose errors are pages.
    func onPage(_ request: Request, _ body: (Exchange) throws -> Response) -> Response {
        do {
            let exchange = try Exchange(request, platform: self)
            // A form's parameters are in its address.
            let query = request.head.query.flatMap { try? FormFields(query: $0) } ?? exchange.fields
            let language = languages.language(
                uiLocales: query.text("ui_locales"), acceptLanguage: request.head[.acceptLanguage])
            return try DemoLanguage.$current.withValue(language) {
                do {
                    return try body(exchange)
                } catch let error as PlatformError {
                    return page(ErrorPage(error, exchange.diagnostics))
                }
            }
        } catch {
            if !(error is PlatformError) { logger.error("A page of the demo tenant failed.", error: error) }
            let known = error as? PlatformError ?? .serverError
            return page(ErrorPage(known, Diagnostics(request, nil, platform: self)))
        }
    }
}
