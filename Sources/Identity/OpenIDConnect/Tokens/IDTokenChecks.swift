import FoundationEssentials

/// The checks of an ID token from the token endpoint, in the order of OpenID Connect Core section 3.1.3.7, cheap ones
/// before the signature. None of them can be skipped.
struct IDTokenChecks {
    /// The subject of the token.
    enum Subject {
        /// The attempt with this nonce, and the `iss` of its callback, if there was one.
        case signIn(nonce: String, callbackIssuer: String?)
        /// The account that signed in (section 12.2).
        case refresh(KnownIdentity)
        /// The known person as a guest of another tenant, with another `iss`, `sub` and `oid` there. The token
        /// response's `client_info` identifies the person, and the caller compares it.
        case guest
    }

    /// The tolerance for differences between clocks, in seconds.
    static let leeway: TimeInterval = 300

    let metadata: ProviderMetadata
    /// The tenants that the configured authority admits. That authority may be different from that of `metadata`.
    let admitted: AdmittedTenants
    let registration: ClientRegistration
    let directory: ProviderDirectory
    let subject: Subject

    func claims(of text: String) async throws(OpenIDError) -> IDTokenClaims {
        let token = try SignedToken(parsing: text)
        let claims = try IDTokenClaims(token)
        try checkIssuer(claims)  // 2
        try checkAudience(claims)  // 3, 4, 5
        let key = try await directory.key(id: token.keyID, algorithm: token.algorithm, of: metadata, isOurs: true)
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

    /// Checks that `iss` is the metadata's issuer with the token's tenant in it, and that this tenant may sign in.
    private func checkIssuer(_ claims: IDTokenClaims) throws(OpenIDError) {
        if let fault = metadata.issuerRule.fault(of: claims) { throw OpenIDError(fault) }
        guard admitted.contains(claims.tenantID) else { throw OpenIDError(.tenant) }
    }

    /// Checks that the token is for this client. The platform's tokens have no other audience. Other providers may name
    /// more (section 2), and must then name us as the authorized party.
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
