import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import WebFormats

extension DemoAuthorizationRequest {
    /// The request for the sign-in of a device. A person always chooses the account, because others can send codes. The
    /// answer is a page of the tenant.
    fileprivate init(device: DeviceSignIns.SignIn, login: DeviceLogin) {
        self.init(
            purpose: .device, segment: device.segment, clientID: device.clientID,
            target: AnswerTarget(redirectURI: DeviceLogin.path, responseMode: .query), scopes: device.scopes,
            prompt: .selectAccount, claims: device.claims, device: login)
    }
}

extension Platform {
    /// `GET /devicelogin`: asks for a code, asks about the application, or says how the sign-in ended.
    func showDeviceLogin(_ request: Request) -> Response {
        onPage(request) { exchange in
            let login = deviceLogin(exchange)
            guard let code = login.userCode else {
                return page(DeviceCodePage(form: try form(login), refusal: login.refusal))
            }
            let device = devices.withLock { $0[code] }
            guard let device, let client = registrations.client(id: device.clientID) else {
                return try refuse(.expired)
            }
            switch device.decision {
            case .approved where login.hasDecided: return page(DeviceDonePage(client: client))
            case .declined where login.hasDecided: return page(DeviceDeclinedPage(client: client))
            case .approved, .declined: return try refuse(.finished)
            case nil where now() >= device.expires: return try refuse(.expired)
            case nil: return page(DeviceConfirmPage(form: try form(login), client: client))
            }
        }
    }

    /// `POST /devicelogin`: takes the code, then whether to sign in.
    func continueDeviceLogin(_ request: Request) -> Response {
        onPage(request) { exchange in
            if let entered = exchange.fields["user_code"] {
                return try take(DeviceSignIns.userCode(entered), request)
            }
            let login = deviceLogin(exchange)
            guard let code = login.userCode, let device = devices.withLock({ $0[code] }), device.decision == nil,
                now() < device.expires
            else { return .redirect(to: try address(login)) }
            ClientNote.change { $0.clientID = device.clientID }
            let request = DemoAuthorizationRequest(device: device, login: login)
            switch exchange.fields["confirm"] {
            case "continue":
                let flow = DemoSignInFlow(id: newID(), request: request, expires: device.expires)
                var signIn = try signIn(flow, exchange)
                return try signIn.begin()
            case "cancel": return try end(request, .declined(.consentDeclined), exchange)
            default: return .redirect(to: try address(login))
            }
        }
    }

    /// Notes how the sign-in of a device ended, if it is the browser in which the code was entered, and redirects to the
    /// page that says so.
    func end(
        _ request: DemoAuthorizationRequest, _ decision: DeviceSignIns.Decision, _ exchange: Exchange
    ) throws -> Response {
        var login = request.device ?? DeviceLogin()
        if let code = login.userCode, isBrowser(of: login, exchange.request.head) {
            let now = now()
            login.hasDecided = devices.withLock { $0.decide(code, decision, now: now) }
        }
        return .redirect(to: try address(login))
    }

    /// Redirects to the page that says how the sign-in of a device ended.
    func showEnd(ofDevice request: DemoAuthorizationRequest) throws -> Response {
        var login = request.device ?? DeviceLogin()
        login.hasDecided = true
        return .redirect(to: try address(login))
    }

    private func browserID(_ head: RequestHead) -> String? {
        RequestCookies(head)[DeviceLogin.cookieName(isSecure: origins.isSecure)]
    }

    private func isBrowser(of login: DeviceLogin, _ head: RequestHead) -> Bool {
        login.browserID != nil && login.browserID == browserID(head)
    }

    /// Redirects to the question about the device of a code, which only this browser sees, or to the entry of another
    /// code.
    private func take(_ code: String, _ request: Request) throws -> Response {
        var login = look(for: code, from: request.peer)
        if let number = login.refusal?.rawValue {
            ClientNote.change { $0.error = "\(PlatformError.workforcePrefix)\(number)" }
            return .redirect(to: try address(login))
        }
        // A person may have codes of several devices.
        let id = browserID(request.head) ?? newID()
        login.browserID = id
        let isSecure = origins.isSecure
        var response = Response.redirect(to: try address(login))
        response.headerFields[.setCookie] = try SetCookie(
            name: DeviceLogin.cookieName(isSecure: isSecure), value: id, maxAge: nil, secure: isSecure
        ).headerValue
        return response
    }

    private func refuse(_ refusal: DeviceLogin.Refusal) throws -> Response {
        .redirect(to: try address(DeviceLogin(refusal: refusal)))
    }

    private func look(for code: String, from peer: PeerAddress) -> DeviceLogin {
        guard !code.isEmpty else { return DeviceLogin(refusal: .missing) }
        let now = now()
        return devices.withLock { devices in
            guard devices.mayTry(peer.network, now: now) else { return DeviceLogin(refusal: .tooMany) }
            guard let device = devices[code] else { return DeviceLogin(refusal: .unknown) }
            guard device.decision == nil else { return DeviceLogin(refusal: .finished) }
            return now < device.expires ? DeviceLogin(userCode: code) : DeviceLogin(refusal: .expired)
        }
    }

    private func deviceLogin(_ exchange: Exchange) -> DeviceLogin {
        let login = exchange.fields["flow"].flatMap { state.sealer.open($0, for: .deviceLogin, as: DeviceLogin.self) }
        guard let login, login.userCode == nil || isBrowser(of: login, exchange.request.head) else {
            return DeviceLogin()
        }
        return login
    }

    private func form(_ login: DeviceLogin) throws -> SignInForm {
        SignInForm(action: DeviceLogin.path, flow: try state.sealer.seal(login, for: .deviceLogin))
    }

    private func address(_ login: DeviceLogin) throws -> String { try form(login).address }
}
