package import HTTPServer
import HTTPTypes
package import HTTPWire
import TenantControl
import TenantDirectory
import WebFormats

extension Graph {
    /// `GET` and `POST /oidc/userinfo`: the UserInfo response (OpenID Connect Core section 5.3.2), for the token of any person
    /// who signed in, with the same `sub` as in the requesting application's ID token.
    package func userInfo(_ request: Request) async -> Response {
        controls.count(.graphMe)
        return await graphResponse(request) { settings throws(GraphError) in
            // The token may be in a form (section 5.3.1).
            let isPosted = request.head.method == .post
            let form = isPosted ? (try? FormFields(body: request.body))?.text("access_token") : nil
            let caller = try caller(
                request.head.bearerToken ?? form, settings, audiences: [AccessToken.graphAudience])
            guard let account = caller.account else { throw .needsPerson("/oidc/userinfo") }
            try checkMissingScope(caller, settings)
            guard isPosted || [.get, .head].contains(request.head.method) else { throw .methodNotAllowed("GET, POST") }
            let application = caller.claims.clientIDOfToken ?? ""
            return .json(
                .ok,
                [
                    "sub": .string(account.subject(in: caller.tenantID, audience: application)),
                    "name": .string(people.displayName(of: account)), "given_name": .string(account.givenName),
                    "family_name": .string(account.surname), "email": .string(account.knownName),
                    // Also when there is no photo (t2-ui-02).
                    "picture": .string("\(addresses.baseURL)/v1.0/me/photo/$value"),
                ])
        }
    }
}
