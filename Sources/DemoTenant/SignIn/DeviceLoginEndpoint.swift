import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import WebFormats

/// The progress at `/devicelogin`. Like that of a sign-in, it travels in the pages' addresses and forms, encrypted.
struct DeviceLogin: Sendable, Codable {
    /// The reason why a code is not taken, by the platform's number.
    enum Refusal: Int, Sendable, Codable {
        case unknown = 70018
        case expired = 70019
        case missing = 90119
        case finished = 90120
        /// Too many tries. The number is the platform's for too many requests.
        case tooMany = 90055
    }

    /// The code, once the person has entered it.
    var userCode: String?
    /// Whether this person has approved or declined. To others the code is one that has been used.
    var hasDecided = false
    var refusal: Refusal?
}

extension DemoAuthorizationRequest {
    /// The request for the sign-in of a device. A person always chooses the account, because others can send codes. The
    /// answer is a page of the tenant.
    fileprivate init(device: DeviceSignIns.SignIn, userCode: String) {
        self.init(
            purpose: .device, segment: device.segment, clientID: device.clientID,
            target: AnswerTarget(redirectURI: DeviceLogin.path, responseMode: .query), scopes: device.scopes,
            prompt: .selectAccount, claims: device.claims, userCode: userCode)
    }
}

extension DeviceLogin {
    fileprivate static let path = "/devicelogin"
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
                let login = look(for: DeviceSignIns.userCode(entered), from: request.peer)
                if let number = login.refusal?.rawValue {
                    ClientNote.change { $0.error = "\(PlatformError.workforcePrefix)\(number)" }
                }
                return .redirect(to: try address(login))
            }
            let login = deviceLogin(exchange)
            guard let code = login.userCode, let device = devices.withLock({ $0[code] }), device.decision == nil,
                now() < device.expires
            else { return .redirect(to: try address(login)) }
            ClientNote.change { $0.clientID = device.clientID }
            let request = DemoAuthorizationRequest(device: device, userCode: code)
            switch exchange.fields["confirm"] {
            case "continue":
                let flow = DemoSignInFlow(id: newID(), request: request, expires: device.expires)
                var signIn = try signIn(flow, exchange)
                return try signIn.begin()
            case "cancel": return try end(request, .declined(.consentDeclined))
            default: return .redirect(to: try address(login))
            }
        }
    }

    /// Notes how the sign-in of a device ended, and redirects to the page that says so.
    func end(_ request: DemoAuthorizationRequest, _ decision: DeviceSignIns.Decision) throws -> Response {
        let now = now()
        let counts = devices.withLock { $0.decide(request.userCode ?? "", decision, now: now) }
        return .redirect(to: try address(DeviceLogin(userCode: request.userCode, hasDecided: counts)))
    }

    /// Redirects to the page that says how the sign-in of a device ended.
    func showEnd(ofDevice request: DemoAuthorizationRequest) throws -> Response {
        .redirect(to: try address(DeviceLogin(userCode: request.userCode, hasDecided: true)))
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
        exchange.fields["flow"].flatMap { state.sealer.open($0, for: .deviceLogin, as: DeviceLogin.self) }
            ?? DeviceLogin()
    }

    private func form(_ login: DeviceLogin) throws -> SignInForm {
        SignInForm(action: DeviceLogin.path, flow: try state.sealer.seal(login, for: .deviceLogin))
    }

    private func address(_ login: DeviceLogin) throws -> String { try form(login).address }
}
