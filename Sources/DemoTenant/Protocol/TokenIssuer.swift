import Crypto
import Foundation
import WebFormats

/// The access tokens that the tenant's Graph accepts.
enum AccessToken {
    /// Graph's application ID, which is the audience of its tokens.
    static let graphAudience = "00000003-0000-0000-c000-000000000000"
    /// The `nbf` of a claims challenge that this token has met. The real platform has no such claim.
    static let challengeClaim = "demo_claims_nbf"
    /// The number of the latest `expire_tokens` before this token was issued. The real platform has no such claim.
    static let expiryClaim = "demo_expiry"
}

/// Builds one successful response of the token endpoint.
struct TokenIssuer {
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
    /// What the authorization and the token request ask for.
    var requested = RequestedClaims.none

    var seconds: Int { Int(now.timeIntervalSince1970) }
    /// The person's tenant for this token: their home, or the requested tenant that they are a guest of.
    var tenantID: String { segment.tenantID(for: account) }
    var objectID: String { account.objectID(in: tenantID) ?? account.objectID }
    var issuer: String {
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
        try key().sign(accessTokenClaims(scopes: scopes, challenge: challenge))
    }

    private func idToken(scopes: [String], nonce: String?, fault: DemoIDTokenFault?) throws -> String {
        let claims = idTokenClaims(scopes: scopes, nonce: nonce)
        return try fault.map { try $0.token(claims, key: try key()) } ?? key().sign(claims)
    }

    private func key() throws -> DemoSigningKey {
        guard let key = platform.state.signingKey(for: account.kind) else { throw PlatformError.serverError }
        return key
    }
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
