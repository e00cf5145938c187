import Foundation
import WebFormats

/// The claims of a person's tokens.
extension TokenIssuer {
    /// All tokens are backdated by five minutes for clocks that are behind, as on the real platform.
    static let backdating = 300
    /// The lifetime of ID tokens: an hour.
    private static let idTokenSeconds = 3600

    /// Returns the claims of an access token.
    func accessTokenClaims(scopes: [String], challenge: Int?) -> [String: JSONValue] {
        let audience = platform.scopes.audience(scopes)
        // Within the token, a scope of an API has its own name, without the audience.
        let permissions = Scopes.graphScopes(scopes).filter { $0 != audience }
            .map { $0.hasPrefix(audience + "/") ? String($0.dropFirst(audience.count + 1)) : $0 }
        var claims: [String: JSONValue] = [
            "aud": .string(audience), "iss": .string(issuer), "ver": "1.0",
            "iat": .integer(seconds - Self.backdating), "nbf": .integer(seconds - Self.backdating),
            "exp": .integer(seconds + settings.accessTokenSeconds),
            "app_displayname": .string(client.name), "appid": .string(client.id), "idtyp": "user",
            "amr": authentication.secondFactor > 0 ? ["pwd", "mfa"] : ["pwd"],
            "name": .string(platform.displayName(of: account)), "oid": .string(objectID), "tid": .string(tenantID),
            "scp": .string(permissions.joined(separator: " ")), "sid": .string(authentication.sessionID),
            "sub": .string(account.subject(in: tenantID, audience: audience)), "upn": .string(account.username),
            "uti": .string(uniqueID()),
        ]
        if let api = platform.registrations.owner(of: audience) {
            claims.merge(directoryClaims(of: api)) { $1 }
            if let optional = api.optionalClaims?.accessToken {
                // For people it would take a further setting (include_user_token).
                claims["idtyp"] = nil
                if !optional.contains("sid") { claims["sid"] = nil }
                if optional.contains("login_hint") { claims["login_hint"] = .string(account.loginHint) }
                claims.merge(personalClaims(optional, scopes)) { $1 }
            }
        }
        let optional = platform.registrations.owner(of: audience)?.optionalClaims?.accessToken ?? []
        claims["acrs"] = contexts(requested.accessTokenContexts, isOptionalClaim: optional.contains("acrs"))
        let hasCapabilities = optional.contains("xms_cc") || OwnAPI(audience: audience)?.requiredContext != nil
        if hasCapabilities, let capabilities = requested.capabilities, !capabilities.isEmpty {
            claims["xms_cc"] = .array(capabilities.map(JSONValue.string))
        }
        if let challenge { claims[AccessToken.challengeClaim] = .integer(challenge) }
        claims[AccessToken.expiryClaim] = platform.controls.expiryOfNewTokens.map(JSONValue.integer)
        return claims
    }

    /// Returns the claims of an ID token.
    func idTokenClaims(scopes: [String], nonce: String?) -> [String: JSONValue] {
        // Entra adds these three only on demand; here they are there until the registration names its optional claims.
        let optional = client.optionalClaims?.idToken ?? ["auth_time", "login_hint", "sid"]
        var claims: [String: JSONValue] = [
            "ver": "2.0", "iss": .string(issuer), "aud": .string(client.id),
            "iat": .integer(seconds - Self.backdating), "nbf": .integer(seconds - Self.backdating),
            "exp": .integer(seconds + Self.idTokenSeconds),
            "sub": .string(account.subject(in: tenantID, audience: client.id)), "tid": .string(tenantID),
            "uti": .string(uniqueID()),
            "rh": .string("1.\(Base64URL.encode(platform.randomBytes(24))).."),
        ]
        // A user flow always returns the claims that it is configured for.
        if segment.userFlow != nil || scopes.contains("profile") {
            claims["oid"] = .string(objectID)
            claims["name"] = .string(platform.displayName(of: account))
            claims["preferred_username"] = .string(account.username)
        }
        if scopes.contains("email") { claims["email"] = .string(account.username) }
        claims.merge(directoryClaims(of: client)) { $1 }
        claims.merge(personalClaims(optional, scopes)) { $1 }
        claims["acrs"] = contexts(requested.idTokenContexts, isOptionalClaim: optional.contains("acrs"))
        if let nonce { claims["nonce"] = .string(nonce) }
        if optional.contains("sid") { claims["sid"] = .string(authentication.sessionID) }
        if optional.contains("login_hint"), segment.userFlow == nil {
            claims["login_hint"] = .string(account.loginHint)
        }
        if optional.contains("auth_time"), !settings.omitsAuthTime {
            claims["auth_time"] = .integer(Int(authentication.time.timeIntervalSince1970))
        }
        if let flow = segment.userFlow {
            claims[settings.hasIssuerWithoutPolicy ? "acr" : "tfp"] = .string(flow.rawValue)
        }
        for (name, value) in settings.idTokenClaims { claims[name] = value == .null ? nil : value }
        return claims
    }

    private func directoryClaims(of registration: DemoClient) -> [String: JSONValue] {
        DirectoryClaims(
            directory: platform.directory, account: account, tenantID: tenantID, registration: registration
        ).members
    }

    private func contexts(_ asked: [String]?, isOptionalClaim: Bool) -> JSONValue? {
        let granted = platform.grantedContexts(
            asked: asked ?? [], isOptionalClaim: isOptionalClaim, of: account, by: authentication)
        return granted.isEmpty ? nil : .array(granted.map(JSONValue.string))
    }

    /// Returns the optional claims about a person. Names take the scope `profile`, too.
    private func personalClaims(_ optional: [String], _ scopes: [String]) -> [String: JSONValue] {
        let names = [
            "given_name": account.givenName, "family_name": account.surname, "upn": account.username,
        ].filter { optional.contains($0.key) && scopes.contains("profile") }
        let email = optional.contains("email") ? ["email": account.username] : [:]
        return names.merging(email) { $1 }.mapValues(JSONValue.string)
    }

    private func uniqueID() -> String { Base64URL.encode(platform.randomBytes(16)) }
}
