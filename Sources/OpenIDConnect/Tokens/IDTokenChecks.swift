import FoundationEssentials

/// The checks of an ID token, in the order of OpenID Connect Core section 3.1.3.7, cheap ones before the signature.
/// There is no way to skip one.
struct IDTokenChecks {
    /// What the token must be about.
    enum Subject {
        /// The attempt with this nonce; and the `iss` of its callback, when there was one.
        case signIn(nonce: String, callbackIssuer: String?)
        /// The account that signed in (section 12.2).
        case refresh(KnownIdentity)
        /// The same person as a guest of another tenant, who has another `iss`, `sub` and `oid` there: who it is, the
        /// token answer's `client_info` says, which the caller compares.
        case guest
    }

    /// How far clocks may be apart, in seconds.
    static let leeway: TimeInterval = 300

    let metadata: ProviderMetadata
    /// The tenants that the configured authority admits, which may be another one than that of `metadata`.
    let admitted: AdmittedTenants
    let registration: ClientRegistration
    let directory: ProviderDirectory
    let subject: Subject

    func claims(of text: String) async throws(OpenIDError) -> IDTokenClaims {
        let token = try SignedToken(parsing: text)
        let claims = try IDTokenClaims(token)
        try checkIssuer(claims)  // 2
        try checkAudience(claims)  // 3, 4, 5
        let key = try await directory.key(id: token.keyID, algorithm: token.algorithm, of: metadata)
        guard key.issuer.map({ IssuerRule.fill($0, tenantID: claims.tenantID ?? "") == claims.issuer }) ?? true else {
            throw OpenIDError(.keyIssuer)
        }
        // 6, 7, 8
        guard key.isValidSignature(token.signature, of: token.signingInput, algorithm: token.algorithm) else {
            throw OpenIDError(.signature)
        }
        try checkTimes(claims, now: directory.now())  // 9, 10
        try checkSubject(claims)  // 11
        return claims
    }

    /// The metadata's issuer with the token's tenant in it, and that tenant one that may sign in.
    private func checkIssuer(_ claims: IDTokenClaims) throws(OpenIDError) {
        if let fault = metadata.issuerRule.fault(of: claims) { throw OpenIDError(fault) }
        guard admitted.contains(claims.tenantID) else { throw OpenIDError(.tenant) }
    }

    /// This client. The platform's tokens are for nobody else; other providers may name more (section 2), and then have
    /// to say that the token was issued to us.
    private func checkAudience(_ claims: IDTokenClaims) throws(OpenIDError) {
        let isOurs =
            metadata.authority.kind == .oidc
            ? claims.audience.contains(registration.clientID) : claims.audience == [registration.clientID]
        guard isOurs else { throw OpenIDError(.audience) }
        if claims.audience.count > 1, claims.authorizedParty == nil { throw OpenIDError(.authorizedParty) }
        guard claims.authorizedParty.map({ $0 == registration.clientID }) ?? true else {
            throw OpenIDError(.authorizedParty)
        }
    }

    private func checkTimes(_ claims: IDTokenClaims, now: Date) throws(OpenIDError) {
        guard now < claims.expiresOn.addingTimeInterval(Self.leeway) else { throw OpenIDError(.expired) }
        let latest = now.addingTimeInterval(Self.leeway)
        if let notBefore = claims.notBefore, notBefore > latest { throw OpenIDError(.notYetValid) }
        guard claims.issuedAt <= latest else { throw OpenIDError(.issuedInFuture) }
    }

    private func checkSubject(_ claims: IDTokenClaims) throws(OpenIDError) {
        switch subject {
        case .signIn(let nonce, let callbackIssuer):
            guard let claimed = claims.nonce, isSameSecret(claimed, nonce) else { throw OpenIDError(.nonce) }
            if let callbackIssuer, callbackIssuer != metadata.issuer, callbackIssuer != claims.issuer {
                throw OpenIDError(.issuer)
            }
        case .refresh(let account):
            guard claims.issuer == account.issuer, claims.subject == account.subject,
                account.tenantID.map({ $0.lowercased() == claims.tenantID?.lowercased() }) ?? true
            else { throw OpenIDError(.otherAccount) }
        case .guest: break
        }
    }
}
