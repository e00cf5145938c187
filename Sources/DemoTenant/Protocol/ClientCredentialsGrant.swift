import Foundation
import WebFormats

/// Tokens for an application itself, without a person. The demo's APIs do not accept them.
extension GrantRequest {
    /// Issues the token of a request.
    func ownToken() throws -> JSONValue {
        // An application's own token needs an explicit tenant, because no person's account implies one.
        guard segment.isTenant else { throw PlatformError.noTenantForOwnToken }
        let client = try authenticatedClient()
        guard !client.isPublic else { throw PlatformError.secretMissing }
        guard let scope = fields.text("scope") else { throw PlatformError.missingParameter("scope") }
        guard scope.hasSuffix("/.default"), let key = state.signingKey(for: .work) else {
            throw PlatformError.invalidScope(scope)
        }
        guard let audience = platform.scopes.audience(ofOwnToken: scope) else {
            throw PlatformError.unknownResource(String(scope.dropLast("/.default".count)), at: segment)
        }
        let principal = nameBasedID("service principal", client.id)
        let seconds = Int(now.timeIntervalSince1970)
        let token = try key.sign([
            "aud": .string(audience), "iss": .string(platform.issuer(of: segment)),
            "iat": .integer(seconds), "nbf": .integer(seconds), "exp": .integer(seconds + settings.accessTokenSeconds),
            "appid": .string(client.id), "idtyp": "app", "ver": "1.0", "oid": .string(principal),
            "sub": .string(principal), "tid": .string(segment.path),
        ])
        return [
            "token_type": "Bearer", "expires_in": .integer(settings.accessTokenSeconds),
            "ext_expires_in": .integer(settings.accessTokenSeconds), "access_token": .string(token),
        ]
    }
}
