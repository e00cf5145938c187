package import HTTPServer
import HTTPWire
package import TenantControl
import TenantDirectory
import WebFormats

extension IdentityPlatform {
    /// Returns the client and the person of a request, as far as it says something about them: in its parameters, in an
    /// access token, or in the values that the tenant sealed.
    package func subject(of request: Request) -> RuledRequest.Subject {
        let fields = request.parameters
        if let claims = (request.head.bearerToken ?? fields?.text("access_token")).flatMap(state.verifiedClaims) {
            return RuledRequest.Subject(
                clientID: claims.clientIDOfToken?.lowercased(), username: people.account(of: claims)?.username,
                session: claims["sid"]?.string)
        }
        let basic = try? GrantRequest.basicCredentials(request.head)
        let clientID = basic?.id ?? fields?.text("client_id")
        let code = fields?.text("code").flatMap { state.sealer.open($0, for: .code, as: AuthorizationCode.self) }
        let token = fields?.text("refresh_token").flatMap {
            state.sealer.open($0, for: .refreshToken, as: RefreshToken.self)
        }
        let device = fields?.text("device_code").flatMap {
            state.sealer.open($0, for: .deviceCode, as: DeviceCode.self)
        }
        let approved = device.flatMap { device in devices.withLock { $0[device.userCode]?.username } }
        let flow = fields?.text("flow").flatMap { state.sealer.open($0, for: .flow, as: DemoSignInFlow.self) }
        let hint = (flow?.request.loginHint ?? fields?.text("login_hint")).flatMap(people.account(hint:))
        return RuledRequest.Subject(
            clientID: (flow?.request.clientID ?? clientID)?.lowercased(),
            username: code?.username ?? token?.username ?? approved ?? flow?.username ?? nativeUsername(fields)
                ?? hint?.username,
            session: token?.authentication.sessionID)
    }

    /// Returns the name of the person whom a request of native authentication is about, who may be a newcomer.
    private func nativeUsername(_ fields: FormFields?) -> String? {
        guard let token = fields?.text("continuation_token") else {
            return fields?.text("challenge_type").flatMap { _ in fields?.text("username").map(SignUp.comparable) }
        }
        return state.sealer.open(token, for: .continuation, as: ContinuationToken.self)?.username
    }
}
