import HTTPServer
import HTTPTypes
import HTTPWire
import TenantControl
import WebFormats

extension ControlHandler {
    /// `GET /control/logout-token?username&client_id&sid`: returns a logout token (OpenID Connect Back-Channel Logout
    /// 1.0 section 2.4) to post to an application, as a provider with a back channel would. Without `sid` it covers all
    /// sessions of the person.
    func logoutToken(_ request: Request) -> Response {
        guard let fields = try? FormFields(query: request.head.query ?? ""),
            let account = fields.text("username").flatMap(people.account(username:)),
            let client = fields.text("client_id").flatMap(registrations.client(id:)),
            let key = state.signingKey(for: account.kind)
        else { return .json(.badRequest, ["error": "Name username and client_id of the demo."]) }
        let seconds = Int(clock.now().timeIntervalSince1970)
        var claims: [String: JSONValue] = [
            "iss": .string(addresses.issuer(ofTenant: account.tenantID)), "aud": .string(client.id),
            "iat": .integer(seconds),
            "exp": .integer(seconds + 120), "jti": .string(clock.newID()),
            "sub": .string(account.subject(in: account.tenantID, audience: client.id)),
            "events": ["http://schemas.openid.net/event/backchannel-logout": .object([:])],
        ]
        if let sid = fields.text("sid") { claims["sid"] = .string(sid) }
        guard let token = try? key.sign(claims) else {
            return .json(.internalServerError, ["error": "The key cannot sign."])
        }
        return .plain(.ok, token)
    }
}
