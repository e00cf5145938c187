import Foundation
package import HTTPServer
import HTTPTypes
package import HTTPWire
import TenantControl
package import TenantDirectory
import WebFormats

extension IdentityPlatform {
    /// `GET` or `POST /{tenant}/oauth2/v2.0/authorize`, or `oauth2/authorize`
    package func authorize(_ request: Request, segment: TenantSegment, isVersion1: Bool = false) -> Response {
        controls.count(.authorize)
        return begin(request) { fields throws(AuthorizationFailure) in
            try DemoAuthorizationRequest(
                authorize: isVersion1 ? fields.ofVersion2 : fields, segment: segment, platform: self,
                isVersion1: isVersion1)
        }
    }

    /// `GET /{tenant or organizations}/v2.0/adminconsent`, or `adminconsent`
    package func adminConsent(_ request: Request, segment: TenantSegment, isVersion1: Bool = false) -> Response {
        begin(request) { fields throws(AuthorizationFailure) in
            try DemoAuthorizationRequest(
                adminConsent: fields, segment: segment, platform: self, isVersion1: isVersion1)
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
            if let error = request.replay?.authorizationError ?? controls.takeSignInError(at: .request) { throw error }
            return try begin(request, expires: clock.now().addingTimeInterval(DemoSignInFlow.lifetime), exchange)
        } catch {
            let error = (error as? PlatformError ?? .serverError).about(
                request, registrations.client(id: request.clientID))
            let staysHere = error.isShownByTenant || request.replay?.place == .page
            throw AuthorizationFailure(error: error, target: staysHere ? nil : request.target)
        }
    }

    /// Begins a sign-in in the browser that asks.
    func begin(_ request: DemoAuthorizationRequest, expires: Date, _ exchange: Exchange) throws -> Response {
        let browser = try browser(exchange.request.head)
        let flow = DemoSignInFlow(
            id: clock.newID(), browserID: browser.id, correlationID: exchange.diagnostics.correlationID,
            request: request, expires: expires)
        var signIn = try signIn(flow, exchange)
        let response = try signIn.begin()
        // An answer that goes to the application at once needs no cookie.
        return response.status == .found ? response : response.known(as: browser)
    }

    /// `GET /{tenant}/login`: the page of a sign-in's present step. Who goes back to a page of a sign-in that has ended
    /// comes to the start page.
    package func showSignIn(_ request: Request) -> Response {
        onPage(request) { exchange in
            let flow = try flow(exchange)
            let signIn = try signIn(flow, exchange)
            let isOfDevice = flow.request.purpose == .device
            // The end of a sign-in at a kiosk has removed the cookie, too.
            if hasEnded(flow), !isOfDevice, let start = layout.kioskURL ?? signIn.client.homeURL {
                return .redirect(to: start)
            }
            guard isBrowser(flow.browserID, request.head) else { return layout.page(OtherBrowserPage()) }
            guard isOver(flow) else { return try signIn.page().known(as: try browser(request.head)) }
            guard isOfDevice else { throw PlatformError.flowExpired }
            return try showEnd(ofDevice: flow.request)
        }
    }

    /// `POST /{tenant}/login`: handles the pages' forms.
    package func continueSignIn(_ request: Request) -> Response {
        onPage(request) { exchange in
            let flow = try flow(exchange)
            guard isBrowser(flow.browserID, request.head) else { return layout.page(OtherBrowserPage()) }
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
        let client =
            request.purpose == .social
            ? SocialProvider.client : try registrations.client(id: request.clientID, at: request.segment)
        ClientNote.change { $0.clientID = client.id }
        return SignIn(platform: self, exchange: exchange.continuing(flow.correlationID), client: client, flow: flow)
    }

    /// Runs an endpoint whose errors are pages.
    func onPage(_ request: Request, _ body: (Exchange) throws -> Response) -> Response {
        do {
            let exchange = Exchange(request, clock: clock)
            try exchange.check()
            // A form's parameters are in its address.
            let query = request.head.query.flatMap { try? FormFields(query: $0) } ?? exchange.fields
            let language = layout.languages.language(
                uiLocales: query.text("ui_locales"), acceptLanguage: request.head[.acceptLanguage])
            return try DemoLanguage.$current.withValue(language) {
                do {
                    return try body(exchange)
                } catch let error as PlatformError {
                    return layout.page(ErrorPage(error, exchange.diagnostics))
                }
            }
        } catch {
            if !(error is PlatformError) { logger.error("A page of the demo tenant failed.", error: error) }
            let known = error as? PlatformError ?? .serverError
            return layout.page(ErrorPage(known, Diagnostics(request, nil, clock: clock)))
        }
    }
}
