public import FoundationEssentials

/// Whom a provider has signed out, from a logout token that passed every check (OpenID Connect Back-Channel Logout 1.0
/// section 2.6).
public struct LogoutTokenClaims: Sendable, Hashable {
    /// `iss`
    public let issuer: String
    /// `sub`: all sessions of this person, unless `sid` narrows it.
    public let subject: String?
    /// `sid`: the provider's session.
    public let sessionID: String?
    /// `jti`: the caller refuses one that it has seen.
    public let tokenID: String
    /// Until when the caller has to remember `tokenID`.
    public let expiresOn: Date
}

/// Reads logout tokens.
public enum LogoutToken {
    static let event = "http://schemas.openid.net/event/backchannel-logout"
    /// How long ago a token may have been issued, in seconds, clocks apart included: section 2.4 recommends that it ends
    /// within two minutes, and what ends later need not be good for longer here.
    static let maxAge: TimeInterval = 600

    /// The `iss` that the token claims, by which the caller finds the application; not checked yet. Nil when it is no
    /// token.
    public static func unverifiedIssuer(of text: String) -> String? {
        (try? SignedToken(parsing: text, type: .logout))?.payload["iss"]?.string
    }

    /// All checks of section 2.6, with keys and clock of `directory`.
    public static func claims(
        of text: String, metadata: ProviderMetadata, registration: ClientRegistration, directory: ProviderDirectory
    ) async throws(OpenIDError) -> LogoutTokenClaims {
        let token = try SignedToken(parsing: text, type: .logout)
        let payload = token.payload
        guard let issuer = payload["iss"]?.string, let issuedAt = payload["iat"]?.double,
            let expiry = payload["exp"]?.double, let tokenID = payload["jti"]?.string,
            (1...255).contains(tokenID.utf8.count),
            let events = payload["events"]?.object, events[event]?.object != nil
        else { throw OpenIDError(.malformed) }
        // A nonce would make it usable as an ID token.
        guard payload["nonce"] == nil else { throw OpenIDError(.nonce) }
        let (subject, sessionID) = (payload["sub"]?.string, payload["sid"]?.string)
        guard subject != nil || sessionID != nil else { throw OpenIDError(.malformed) }
        guard metadata.issuerRule.mayBe(issuer), issuer != metadata.issuer || !issuer.contains("{") else {
            throw OpenIDError(.issuer)
        }
        let audience = payload["aud"]?.string.map { [$0] } ?? payload["aud"]?.array?.compactMap(\.string) ?? []
        guard audience.contains(registration.clientID) else { throw OpenIDError(.audience) }
        let now = directory.now()
        // From then on it is refused by itself, and need not be known as used.
        let expiresOn = Date(timeIntervalSince1970: min(expiry + IDTokenChecks.leeway, issuedAt + maxAge))
        guard now < expiresOn else { throw OpenIDError(.expired) }
        guard issuedAt <= now.timeIntervalSince1970 + IDTokenChecks.leeway else { throw OpenIDError(.issuedInFuture) }
        let key = try await directory.key(id: token.keyID, algorithm: token.algorithm, of: metadata)
        guard key.isValidSignature(token.signature, of: token.signingInput, algorithm: token.algorithm) else {
            throw OpenIDError(.signature)
        }
        return LogoutTokenClaims(
            issuer: issuer, subject: subject, sessionID: sessionID, tokenID: tokenID, expiresOn: expiresOn)
    }
}
