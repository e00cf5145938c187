import Foundation
package import HTTPServer
import HTTPTypes
package import HTTPWire
import TenantControl
import TenantDirectory
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

extension IdentityPlatform {
    /// `GET /devicelogin`: asks for a code, asks about the application, or says how the sign-in ended.
    package func showDeviceLogin(_ request: Request) -> Response {
        onPage(request) { exchange in
            let login = deviceLogin(exchange)
            guard let code = login.userCode else {
                return layout.page(DeviceCodePage(form: try form(login), refusal: login.refusal))
                    .known(as: try browser(request.head))
            }
            let device = devices.withLock { $0[code] }
            guard let device, let client = registrations.client(id: device.clientID) else {
                return try refuse(.expired)
            }
            switch device.decision {
            case .approved where login.hasDecided: return layout.page(DeviceDonePage(client: client))
            case .declined where login.hasDecided: return layout.page(DeviceDeclinedPage(client: client))
            case .approved, .declined: return try refuse(.finished)
            case nil where clock.now() >= device.expires: return try refuse(.expired)
            case nil: return layout.page(DeviceConfirmPage(form: try form(login), client: client))
            }
        }
    }

    /// `POST /devicelogin`: takes the code, then whether to sign in.
    package func continueDeviceLogin(_ request: Request) -> Response {
        onPage(request) { exchange in
            if let entered = exchange.fields["user_code"] {
                return try take(DeviceSignIns.userCode(entered), request)
            }
            let login = deviceLogin(exchange)
            guard let code = login.userCode, let device = devices.withLock({ $0[code] }), device.decision == nil,
                clock.now() < device.expires
            else { return .redirect(to: try address(login)) }
            ClientNote.change { $0.clientID = device.clientID }
            let request = DemoAuthorizationRequest(device: device, login: login)
            switch exchange.fields["confirm"] {
            case "continue":
                return try begin(request, expires: device.expires, exchange)
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
        if let code = login.userCode, isBrowser(login.browserID, exchange.request.head) {
            let now = clock.now()
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

    /// Redirects to the question about the device of a code, which only this browser sees, or to the entry of another
    /// code.
    private func take(_ code: String, _ request: Request) throws -> Response {
        var login = look(for: code, request)
        if let number = login.refusal?.rawValue {
            ClientNote.change { $0.error = "\(PlatformError.workforcePrefix)\(number)" }
            return .redirect(to: try address(login))
        }
        let browser = try browser(request.head)
        login.browserID = browser.id
        return Response.redirect(to: try address(login)).known(as: browser)
    }

    private func refuse(_ refusal: DeviceLogin.Refusal) throws -> Response {
        .redirect(to: try address(DeviceLogin(refusal: refusal)))
    }

    private func look(for code: String, _ request: Request) -> DeviceLogin {
        guard !code.isEmpty else { return DeviceLogin(refusal: .missing) }
        let now = clock.now()
        let browserID = knownBrowserID(request.head)
        let session = signOnSession(request.head)
        return devices.withLock { devices in
            guard
                devices.mayTry(
                    browserID: session.entries.isEmpty ? browserID : session.id, isKnown: !session.entries.isEmpty,
                    request.peer.network, now: now)
            else { return DeviceLogin(refusal: .tooMany) }
            guard let device = devices[code] else { return DeviceLogin(refusal: .unknown) }
            guard device.decision == nil else { return DeviceLogin(refusal: .finished) }
            return now < device.expires ? DeviceLogin(userCode: code) : DeviceLogin(refusal: .expired)
        }
    }

    private func deviceLogin(_ exchange: Exchange) -> DeviceLogin {
        let login = exchange.fields["flow"].flatMap { state.sealer.open($0, for: .deviceLogin, as: DeviceLogin.self) }
        guard let login, login.userCode == nil || isBrowser(login.browserID, exchange.request.head) else {
            return DeviceLogin()
        }
        return login
    }

    private func form(_ login: DeviceLogin) throws -> SignInForm {
        SignInForm(action: DeviceLogin.path, flow: try state.sealer.seal(login, for: .deviceLogin))
    }

    private func address(_ login: DeviceLogin) throws -> String { try form(login).address }
}
