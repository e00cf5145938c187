import Cryptography
import Foundation
import TenantControl
import TenantDirectory
import WebFormats

/// Builds one successful response of the token endpoint.
struct TokenIssuer {
    /// The lifetime of the refresh tokens of single-page applications, which no renewal extends: a day.
    private static let scriptSessionSeconds = 24 * 3600

    let platform: IdentityPlatform
    let client: DemoClient
    /// The class of the redirect URI of the sign-in.
    let redirectClass: DemoClient.RedirectClass?
    let segment: TenantSegment
    let account: DemoAccount
    let authentication: Authentication
    let now: Date
    let settings: Controls.Settings
    /// The way in which the client has proved itself: 0 for none, 1 for a secret, 2 for an assertion.
    let clientProof: String
    /// The claims that the authorization and the token request ask for.
    var requested = RequestedClaims.none
    /// Whether an address of version 1 was asked, whose ID tokens and answers have other forms.
    var isVersion1 = false
    /// Whether the tokens are for an API that calls another one for the person.
    var isOnBehalf = false
    /// The claims challenge that the account has met.
    var challenge: Int?

    var seconds: Int { Int(now.timeIntervalSince1970) }
    /// The person's tenant for this token: their home, or the requested tenant that they are a guest of.
    var tenantID: String { segment.tenantID(for: account) }
    var objectID: String { account.objectID(in: tenantID) ?? account.objectID }
    var issuer: String {
        segment.userFlow == nil ? platform.addresses.issuer(ofTenant: tenantID) : platform.issuer(of: segment)
    }

    /// Returns the members of a successful response.
    /// - Parameters:
    ///   - scopes: The scopes of the access token.
    ///   - asked: The parameter `scope`, whose form the answer keeps.
    ///   - granted: The scopes of the refresh token.
    ///   - nonce: The nonce for the ID token of a code.
    ///   - fault: The fault that the ID token gets.
    ///   - renewal: The refresh token that was redeemed; nil for a code.
    func answer(
        scopes: [String], asked: String?, granted: [String], nonce: String?, fault: DemoIDTokenFault?,
        wantsClientInfo: Bool, renewal: RefreshFamilies.Renewal? = nil
    ) throws -> JSONValue {
        let lifetime = accessTokenSeconds(for: platform.scopes.audience(scopes))
        let scopes = scopes.filter { $0.lowercased() != settings.declinedScope?.lowercased() }
        var answer: [String: JSONValue]
        if segment.userFlow == nil {
            answer = [
                "token_type": "Bearer",
                "scope": .string(platform.scopes.listed(scopes, asked: asked)),
                "expires_in": .integer(lifetime), "ext_expires_in": .integer(lifetime),
                "access_token": .string(try accessToken(scopes: scopes, lifetime: lifetime)),
            ]
            // Long-lived tokens are refreshed halfway through their lifetime.
            if lifetime >= 7200 { answer["refresh_in"] = .integer(lifetime / 2) }
        } else {
            answer = try userFlowAnswer(scopes: scopes, asked: asked, granted: granted, lifetime: lifetime)
        }
        if granted.contains("offline_access") {
            answer["refresh_token"] = .string(try refreshToken(scopes: granted, renewal))
        }
        if granted.contains("openid") {
            answer["id_token"] = .string(try idToken(scopes: granted, nonce: nonce, fault: fault))
        }
        if wantsClientInfo { answer["client_info"] = .string(account.clientInfo(segment.userFlow)) }
        let resource = platform.scopes.audience(scopes)
        return isVersion1
            ? JSONValue.object(answer).inVersion1(
                resource: resource == AccessToken.graphAudience ? Scopes.graphIdentifier : resource, now: seconds,
                life: lifetime)
            : .object(answer)
    }

    var refreshTokenSeconds: Int { settings.refreshTokenSeconds(at: segment) }

    private func refreshToken(scopes: [String], _ renewal: RefreshFamilies.Renewal?) throws -> String {
        let seconds =
            redirectClass == .spa
            ? min(Self.scriptSessionSeconds, refreshTokenSeconds) : refreshTokenSeconds
        let expires = redirectClass == .spa ? renewal?.expires : nil
        return try platform.state.sealer.seal(
            RefreshToken(
                id: renewal?.successor ?? platform.clock.newID(), family: renewal?.family ?? platform.clock.newID(),
                clientID: client.id, registration: client.registered?.objectID, redirectClass: redirectClass,
                userFlow: segment.userFlow, scopes: scopes, username: account.username, authentication: authentication,
                expires: expires ?? now.addingTimeInterval(Double(seconds)), issued: now),
            for: .refreshToken)
    }

    func accessToken(scopes: [String], lifetime: Int) throws -> String {
        let claims = accessTokenClaims(scopes: scopes, expiry: seconds + lifetime)
        guard claims["aud"]?.string == AccessToken.graphAudience else { return try key().sign(claims) }
        // Only Graph can check its own tokens, and read those of personal accounts.
        return account.kind == .personal
            ? try platform.state.opaqueToken(claims)
            : try key().sign(claims, nonce: platform.clock.opaqueText(24))
    }

    /// Returns an ID token.
    ///
    /// - Parameter code: The code beside it, of which it has the hash (OpenID Connect Core section 3.3.2.11).
    func idToken(scopes: [String], nonce: String?, fault: DemoIDTokenFault?, code: String? = nil) throws -> String {
        var claims = idTokenClaims(scopes: scopes, nonce: nonce)
        for (name, value) in settings.idTokenClaims { claims[name] = value == .null ? nil : value }
        claims["c_hash"] = code.map { .string(Base64URL.encode(SHA256.hash(data: $0.utf8).prefix(16))) }
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
}
