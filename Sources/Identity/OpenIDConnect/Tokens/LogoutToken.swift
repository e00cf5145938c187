public import FoundationEssentials

/// The person or session that a provider has signed out, from a logout token that passed every check (OpenID Connect
/// Back-Channel Logout 1.0 section 2.6).
public struct LogoutTokenClaims: Sendable, Hashable {
    /// `iss`
    public let issuer: String
    /// `sub`: all sessions of this person, unless `sid` narrows it.
    public let subject: String?
    /// `sid`: the provider's session.
    public let sessionID: String?
    /// `jti`: the caller refuses a token whose `jti` it has seen.
    public let tokenID: String
    /// The time until which the caller must remember `tokenID`.
    public let expiresOn: Date
}

/// Reads logout tokens.
public enum LogoutToken {
    static let event = "http://schemas.openid.net/event/backchannel-logout"
    /// The maximum age of a token, in seconds, including differences between clocks. Section 2.4 recommends that a
    /// token expires within two minutes, and a later expiration is not needed here.
    static let maxAge: TimeInterval = 600

    /// Returns the `iss` that the token claims, by which the caller finds the application. It is not checked yet. Nil
    /// when the text is not a token.
    public static func unverifiedIssuer(of text: String) -> String? {
        (try? SignedToken(parsing: text, type: .logout))?.payload["iss"]?.string
    }

    /// Makes all checks of section 2.6, with the keys and the clock of `directory`.
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
        // With a nonce, the token could be used as an ID token.
        guard payload["nonce"] == nil else { throw OpenIDError(.nonce) }
        let (subject, sessionID) = (payload["sub"]?.string, payload["sid"]?.string)
        guard subject != nil || sessionID != nil else { throw OpenIDError(.malformed) }
        guard metadata.issuerRule.mayBe(issuer), issuer != metadata.issuer || !issuer.contains("{") else {
            throw OpenIDError(.issuer)
        }
        let audience = payload["aud"]?.string.map { [$0] } ?? payload["aud"]?.array?.compactMap(\.string) ?? []
        guard audience.contains(registration.clientID) else { throw OpenIDError(.audience) }
        let now = directory.now()
        // After this time it is refused anyway, and its use need not be remembered.
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
