import Crypto
import Foundation

/// The access tokens that the tenant's Graph takes.
enum AccessToken {
    /// Graph's application id, the audience.
    static let graphAudience = "00000003-0000-0000-c000-000000000000"
    /// Not a claim of the real platform: the `nbf` of a claims challenge that was met with this token.
    static let challengeClaim = "demo_claims_nbf"
}

/// One successful answer of the token endpoint in the making.
struct TokenIssuer {
    /// ID tokens live an hour; all tokens are dated back five minutes against clocks that are behind, as the real
    /// platform does.
    private static let idTokenSeconds = 3600
    private static let backdating = 300

    let platform: Platform
    let client: DemoClient
    let account: DemoAccount
    let authentication: Authentication
    let now: Date
    let settings: Controls.Settings

    private var seconds: Int { Int(now.timeIntervalSince1970) }
    private var issuer: String { "\(platform.baseURL)/\(account.tenantID)/v2.0" }

    /// The members of a success answer (facts: token answers).
    /// - Parameters:
    ///   - granted: The scopes of the access token, and those of the refresh token.
    ///   - nonce: For the ID token of a code.
    ///   - challenge: The claims challenge which this account has met.
    ///   - fault: What shall be wrong with the ID token.
    func answer(
        scopes: [String], granted: [String], nonce: String?, challenge: Int?, fault: IDTokenFault?,
        wantsClientInfo: Bool
    ) throws -> JSONValue {
        let lifetime = settings.accessTokenSeconds
        var answer: [String: JSONValue] = [
            "token_type": "Bearer",
            "scope": .string(scopes.filter { $0 != "offline_access" }.joined(separator: " ")),
            "expires_in": .int(lifetime),
            "ext_expires_in": .int(lifetime),
            "access_token": .string(try accessToken(scopes: scopes, challenge: challenge)),
        ]
        // Long-lived tokens are to be refreshed half-way.
        if lifetime >= 7200 { answer["refresh_in"] = .int(lifetime / 2) }
        if granted.contains("offline_access") {
            answer["refresh_token"] = .string(try refreshToken(scopes: granted))
        }
        if granted.contains("openid") {
            answer["id_token"] = .string(try idToken(nonce: nonce, fault: fault))
        }
        if wantsClientInfo { answer["client_info"] = .string(account.clientInfo) }
        return .object(answer)
    }

    private func refreshToken(scopes: [String]) throws -> String {
        try platform.state.sealer.seal(
            RefreshToken(
                id: platform.newID(), clientID: client.id, scopes: scopes, username: account.username,
                authentication: authentication, expires: now.addingTimeInterval(Double(settings.refreshTokenSeconds))),
            for: .refreshToken)
    }

    private func accessToken(scopes: [String], challenge: Int?) throws -> String {
        var claims: [String: JSONValue] = [
            "aud": .string(AccessToken.graphAudience), "iss": .string(issuer), "ver": "1.0",
            "iat": .int(seconds - Self.backdating), "nbf": .int(seconds - Self.backdating),
            "exp": .int(seconds + settings.accessTokenSeconds),
            "app_displayname": .string(client.name), "appid": .string(client.id), "idtyp": "user",
            "amr": authentication.secondFactor > 0 ? ["pwd", "mfa"] : ["pwd"],
            "name": .string(account.displayName), "oid": .string(account.objectID), "tid": .string(account.tenantID),
            "scp": .string(Scope.graphScopes(scopes).joined(separator: " ")), "sid": .string(authentication.sessionID),
            "sub": .string(subject(audience: AccessToken.graphAudience)), "upn": .string(account.username),
            "uti": .string(uniqueID()),
        ]
        if let challenge { claims[AccessToken.challengeClaim] = .int(challenge) }
        return try key().sign(claims)
    }

    private func idToken(nonce: String?, fault: IDTokenFault?) throws -> String {
        var claims: [String: JSONValue] = [
            "ver": "2.0", "iss": .string(issuer), "aud": .string(client.id),
            "iat": .int(seconds - Self.backdating), "nbf": .int(seconds - Self.backdating),
            "exp": .int(seconds + Self.idTokenSeconds),
            "sub": .string(subject(audience: client.id)), "oid": .string(account.objectID),
            "tid": .string(account.tenantID), "name": .string(account.displayName),
            "preferred_username": .string(account.username), "login_hint": .string(account.loginHint),
            "sid": .string(authentication.sessionID), "uti": .string(uniqueID()),
            "rh": .string("1.\(Base64URL.encode(platform.randomBytes(24))).."),
        ]
        if let nonce { claims["nonce"] = .string(nonce) }
        return try fault.map { try $0.token(claims, key: try key()) } ?? key().sign(claims)
    }

    private func key() throws -> SigningKey {
        guard let key = platform.state.signingKey(for: account.kind) else { throw PlatformError.serverError }
        return key
    }

    /// Pairwise: the same for one user at one application, and nothing to recognise the user by at another.
    private func subject(audience: String) -> String {
        Base64URL.encode(SHA256.hash(data: Data("\(account.tenantID)|\(account.objectID)|\(audience)".utf8)))
    }

    private func uniqueID() -> String { Base64URL.encode(platform.randomBytes(16)) }
}

extension DemoAccount {
    /// base64url JSON; the home account id is `uid.utid`.
    var clientInfo: String {
        let info: JSONValue = ["uid": .string(objectID), "utid": .string(tenantID)]
        return Base64URL.encode(info.bytes)
    }
}
