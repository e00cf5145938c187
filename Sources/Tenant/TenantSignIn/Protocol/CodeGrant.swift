import Foundation
import TenantControl
import TenantDirectory
import WebFormats

/// Tokens for an authorization code.
extension GrantRequest {
    /// Redeems the code of a request.
    func redeemCode() throws -> JSONValue {
        let code = fields.text("code").flatMap { state.sealer.open($0, for: .code, as: AuthorizationCode.self) }
        let client = try authenticatedClient(redeeming: code.map { ($0.clientID, $0.redirectClass) })
        _ = try fields.required("code")
        let redirectURI = try fields.required("redirect_uri")
        guard let code else { throw PlatformError.malformedCode(at: segment) }
        let account = try person(code.username)
        try checkVersion(for: account)
        // One on demand is the one that was asked for.
        if let error = code.replay?.redemptionError { throw error }
        return try inWords(of: account) { try redeemed(code, of: account, for: client, at: redirectURI) }
    }

    private func redeemed(
        _ code: AuthorizationCode, of account: DemoAccount, for client: DemoClient, at redirectURI: String
    ) throws -> JSONValue {
        guard code.clientID == client.id else { throw PlatformError.grantOfAnotherClient }
        try checkUserFlow(code.segment.userFlow)
        guard code.segment == segment else { throw PlatformError.codeOfAnotherTenant }
        guard now < code.expires else { throw PlatformError.codeExpired }
        try checkRedemption(of: code.id)
        guard code.redirectURI == redirectURI else {
            throw PlatformError.replyAddressMismatch(redirectURI, code.redirectURI)
        }
        guard fields.text("code_verifier").map(CodeVerifier.hash) == code.codeChallenge else {
            throw PlatformError.codeVerifierMismatch
        }
        try checkRevocation(
            account, code.authentication, issued: code.expires.addingTimeInterval(-AuthorizationCode.lifetime))
        let askedScope = fields.text("scope")
        let scopes = try scopes(askedScope, of: client, granted: code.scopes)
        guard platform.scopes.resources(scopes).count <= 1 else {
            throw askedScope.map(PlatformError.severalResources) ?? .noScopeForSeveralResources
        }
        try platform.scopes.check(resource: fields.text("resource"), of: scopes)
        let claims = try RequestedClaims(fields["claims"])
        try platform.grants.checkConsent(of: account, to: client, scopes: scopes)
        let requested = claims.including(code.claims)
        try platform.grants.checkContexts(requested, of: account, by: code.authentication)
        try redeemOnce(code.id, until: code.expires)
        _ = controls.challengeMet(by: account.objectID, asking: code.claims.notBefore)
        let answer = try issuer(
            client, code.redirectClass, account, code.authentication, requested: requested
        ).answer(
            scopes: scopes, asked: askedScope ?? code.askedScope, granted: merged(code.scopes, scopes),
            nonce: code.nonce, fault: controls.takeIDTokenFault(), wantsClientInfo: fields["client_info"] == "1")
        controls.count(.tokenCode)
        return answer
    }

    /// Throws if a code was redeemed before.
    func checkRedemption(of id: String) throws(PlatformError) {
        if state.read({ $0.redeemedCodes[id] != nil }) { throw redeemedBefore() }
    }

    /// Notes that a code is redeemed now. All other checks come before this one, so that of two simultaneous redemptions
    /// exactly one succeeds.
    func redeemOnce(_ id: String, until expires: Date) throws(PlatformError) {
        let isFirst = state.note { record in
            if record.redeemedCodes.count.isMultiple(of: 256) {
                record.redeemedCodes = record.redeemedCodes.filter { $0.value > now }
            }
            return record.redeemedCodes.updateValue(expires, forKey: id) == nil
        }
        guard isFirst else { throw redeemedBefore() }
    }

    private func redeemedBefore() -> PlatformError {
        controls.count(.codeReplayed)
        return .codeRedeemed
    }
}
