import Crypto
import Foundation
import WebFormats

/// The access tokens that the tenant's Graph accepts.
enum AccessToken {
    /// Graph's application ID, which is the audience of its tokens.
    static let graphAudience = "00000003-0000-0000-c000-000000000000"
    /// The `nbf` of a claims challenge that this token has met. The real platform has no such claim.
    static let challengeClaim = "demo_claims_nbf"
}

/// Builds one successful response of the token endpoint.
struct TokenIssuer {
    /// The lifetime of ID tokens: an hour. All tokens are backdated by five minutes for clocks that are behind, as on
    /// the real platform.
    private static let idTokenSeconds = 3600
    private static let backdating = 300
    /// The lifetime of the refresh tokens of single-page applications, which no renewal extends: a day.
    private static let scriptSessionSeconds = 24 * 3600

    let platform: Platform
    let client: DemoClient
    /// The class of the redirect URI of the sign-in.
    let redirectClass: DemoClient.RedirectClass?
    let segment: TenantSegment
    let account: DemoAccount
    let authentication: Authentication
    let now: Date
    let settings: Controls.Settings

    private var seconds: Int { Int(now.timeIntervalSince1970) }
    /// The person's tenant for this token: their home, or the requested tenant that they are a guest of.
    private var tenantID: String { segment.tenantID(for: account) }
    private var objectID: String { account.objectID(in: tenantID) ?? account.objectID }
    private var issuer: String {
        segment.userFlow == nil ? platform.issuer(ofTenant: tenantID) : platform.issuer(of: segment)
    }

    /// Returns the members of a successful response.
    /// - Parameters:
    ///   - scopes: The scopes of the access token.
    ///   - asked: The parameter `scope`, whose form the answer keeps.
    ///   - granted: The scopes of the refresh token.
    ///   - nonce: The nonce for the ID token of a code.
    ///   - challenge: The claims challenge that this account has met.
    ///   - fault: The fault that the ID token gets.
    ///   - renewal: The refresh token that was redeemed; nil for a code.
    func answer(
        scopes: [String], asked: String?, granted: [String], nonce: String?, challenge: Int?, fault: DemoIDTokenFault?,
        wantsClientInfo: Bool, renewal: RefreshFamilies.Renewal? = nil
    ) throws -> JSONValue {
        let lifetime = settings.accessTokenSeconds
        let scopes = scopes.filter { $0.lowercased() != settings.declinedScope?.lowercased() }
        // B2C sends the number as a string.
        let expiresIn = segment.userFlow == nil ? JSONValue.integer(lifetime) : .string(String(lifetime))
        var answer: [String: JSONValue] = [
            "token_type": "Bearer",
            "scope": .string(platform.scopes.listed(scopes, asked: asked)),
            "expires_in": expiresIn,
            "ext_expires_in": expiresIn,
            "access_token": .string(try accessToken(scopes: scopes, challenge: challenge)),
        ]
        // Long-lived tokens are refreshed halfway through their lifetime.
        if lifetime >= 7200 { answer["refresh_in"] = .integer(lifetime / 2) }
        if granted.contains("offline_access") {
            answer["refresh_token"] = .string(try refreshToken(scopes: granted, renewal))
        }
        if granted.contains("openid") {
            answer["id_token"] = .string(try idToken(scopes: granted, nonce: nonce, fault: fault))
        }
        if wantsClientInfo { answer["client_info"] = .string(account.clientInfo(segment.userFlow)) }
        return .object(answer)
    }

    private func refreshToken(scopes: [String], _ renewal: RefreshFamilies.Renewal?) throws -> String {
        let seconds =
            redirectClass == .spa
            ? min(Self.scriptSessionSeconds, settings.refreshTokenSeconds) : settings.refreshTokenSeconds
        let expires = redirectClass == .spa ? renewal?.expires : nil
        return try platform.state.sealer.seal(
            RefreshToken(
                id: renewal?.successor ?? platform.newID(), family: renewal?.family ?? platform.newID(),
                clientID: client.id, redirectClass: redirectClass, scopes: scopes, username: account.username,
                authentication: authentication, expires: expires ?? now.addingTimeInterval(Double(seconds))),
            for: .refreshToken)
    }

    private func accessToken(scopes: [String], challenge: Int?) throws -> String {
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
        if let api = platform.registrations.all.first(where: { $0.exposes[audience] != nil }) {
            claims["roles"] = roles(at: api)
        }
        if let challenge { claims[AccessToken.challengeClaim] = .integer(challenge) }
        return try key().sign(claims)
    }

    /// Returns the app roles of the account; nil if it has none.
    private func roles(at client: DemoClient) -> JSONValue? {
        account.roles[client.id.lowercased()].map { .array($0.map(JSONValue.string)) }
    }

    private func idToken(scopes: [String], nonce: String?, fault: DemoIDTokenFault?) throws -> String {
        var claims: [String: JSONValue] = [
            "ver": "2.0", "iss": .string(issuer), "aud": .string(client.id),
            "iat": .integer(seconds - Self.backdating), "nbf": .integer(seconds - Self.backdating),
            "exp": .integer(seconds + Self.idTokenSeconds),
            "sub": .string(account.subject(in: tenantID, audience: client.id)), "tid": .string(tenantID),
            "login_hint": .string(account.loginHint),
            "sid": .string(authentication.sessionID), "uti": .string(uniqueID()),
            "rh": .string("1.\(Base64URL.encode(platform.randomBytes(24))).."),
        ]
        // A user flow always returns the claims that it is configured for.
        if segment.userFlow != nil || scopes.contains("profile") {
            claims["oid"] = .string(objectID)
            claims["name"] = .string(platform.displayName(of: account))
            claims["preferred_username"] = .string(account.username)
        }
        if scopes.contains("email") { claims["email"] = .string(account.username) }
        claims["roles"] = roles(at: client)
        if let nonce { claims["nonce"] = .string(nonce) }
        if !settings.omitsAuthTime { claims["auth_time"] = .integer(Int(authentication.time.timeIntervalSince1970)) }
        if let flow = segment.userFlow {
            claims[settings.hasIssuerWithoutPolicy ? "acr" : "tfp"] = .string(flow.rawValue)
            claims["login_hint"] = nil
        }
        for (name, value) in settings.idTokenClaims { claims[name] = value == .null ? nil : value }
        return try fault.map { try $0.token(claims, key: try key()) } ?? key().sign(claims)
    }

    private func key() throws -> DemoSigningKey {
        guard let key = platform.state.signingKey(for: account.kind) else { throw PlatformError.serverError }
        return key
    }

    private func uniqueID() -> String { Base64URL.encode(platform.randomBytes(16)) }
}

extension DemoAccount {
    /// Returns the base64url of JSON. The home account ID is `uid.utid`. In B2C, `uid` ends with the user flow.
    func clientInfo(_ flow: UserFlow?) -> String {
        let uid = objectID + (flow.map { "-\($0.rawValue)" } ?? "")
        let info: JSONValue = ["uid": .string(uid), "utid": .string(tenantID)]
        return Base64URL.encode(info.bytes)
    }

    /// Returns a pairwise subject. It is always the same for one user at one application, and cannot be used to
    /// recognise the user at another.
    func subject(in tenantID: String, audience: String) -> String {
        let object = objectID(in: tenantID) ?? objectID
        return Base64URL.encode(SHA256.hash(data: Data("\(tenantID)|\(object)|\(audience)".utf8)))
    }
}
