import TenantDirectory
import WebFormats

/// The tokens and answers of a B2C user flow, which have forms of their own (id-b2c).
extension TokenIssuer {
    /// The lifetime of a user flow's ID tokens: an hour.
    private static let userFlowIDTokenSeconds = 3600

    /// Returns the members of an answer, whose numbers are texts. There is an access token for an API alone: user flows
    /// have no Graph.
    func userFlowAnswer(
        scopes: [String], asked: String?, granted: [String], lifetime: Int
    ) throws -> [String: JSONValue] {
        func text(_ number: Int) -> JSONValue { .string(String(number)) }
        let info: JSONValue = [
            "ver": "1.0", "tid": .string(tenantID), "sub": .null, "name": .string(displayName),
            "preferred_username": .null, "idp": account.identityProvider.map(JSONValue.string) ?? .null,
        ]
        var answer: [String: JSONValue] = [
            "token_type": "Bearer", "not_before": text(seconds),
            "profile_info": .string(Base64URL.encode(info.bytes)),
        ]
        if granted.contains("openid") { answer["id_token_expires_in"] = text(Self.userFlowIDTokenSeconds) }
        if granted.contains("offline_access") { answer["refresh_token_expires_in"] = text(refreshTokenSeconds) }
        let audience = platform.scopes.audience(scopes)
        guard audience != AccessToken.graphAudience else {
            answer["scope"] = .string(granted.filter(Scopes.openID.contains).sorted().joined(separator: " "))
            return answer
        }
        answer.merge([
            "scope": .string(platform.scopes.listed(scopes, asked: asked)),
            "access_token": .string(try accessToken(scopes: scopes, lifetime: lifetime)),
            "expires_in": text(lifetime), "expires_on": text(seconds + lifetime),
            "resource": .string(platform.registrations.owner(of: audience)?.id ?? audience),
        ]) { $1 }
        return answer
    }

    /// Returns the claims of an ID token. A user flow always returns those that it is configured for.
    func userFlowIDTokenClaims(of flow: UserFlow, nonce: String?) -> [String: JSONValue] {
        var claims = userFlowClaims(of: flow, expiry: seconds + Self.userFlowIDTokenSeconds)
        claims.merge([
            "aud": .string(client.id), "name": .string(displayName), "given_name": .string(account.givenName),
            "family_name": .string(account.surname), "emails": [.string(account.knownName)],
        ]) { $1 }
        claims["nonce"] = nonce.map(JSONValue.string)
        if !settings.omitsAuthTime {
            claims["auth_time"] = .integer(Int(authentication.time.timeIntervalSince1970))
        }
        // A real user flow has no session's name; ours has it where the registration asks, for failures on demand.
        if client.optionalClaims?.idToken.contains("sid") == true { claims["sid"] = sessionID }
        return claims
    }

    /// Returns the claims of an access token.
    func userFlowAccessTokenClaims(
        of flow: UserFlow, audience: String, scopes: [String], expiry: Int
    ) -> [String: JSONValue] {
        let api = platform.registrations.owner(of: audience)
        let names = scopes.filter { $0.hasPrefix(audience + "/") }.map { String($0.dropFirst(audience.count + 1)) }
        var claims = userFlowClaims(of: flow, expiry: expiry)
        claims["aud"] = .string(api?.id ?? audience)
        claims["azp"] = .string(client.id)
        if !names.isEmpty { claims["scp"] = .string(names.joined(separator: " ")) }
        if api.map({ $0.optionalClaims?.accessToken.contains("sid") == true }) ?? true { claims["sid"] = sessionID }
        if authentication.secondFactor > 0 { claims["amr"] = methods }
        if let challenge { claims[AccessToken.challengeClaim] = .integer(challenge) }
        claims[AccessToken.expiryClaim] = platform.controls.expiryOfNewTokens.map(JSONValue.integer)
        return claims
    }

    /// The claims of both, which are not backdated (id-b2c-09).
    private func userFlowClaims(of flow: UserFlow, expiry: Int) -> [String: JSONValue] {
        var claims: [String: JSONValue] = [
            "ver": "1.0", "iss": .string(issuer), "sub": .string(objectID), "oid": .string(objectID),
            "tfp": .string(flow.registeredName), "iat": .integer(seconds), "nbf": .integer(seconds),
            "exp": .integer(expiry),
        ]
        claims["idp"] = account.identityProvider.map(JSONValue.string)
        return claims
    }

    private var sessionID: JSONValue { .string(authentication.sessionID) }
    private var displayName: String { platform.people.displayName(of: account) }
}
