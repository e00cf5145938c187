import Foundation
package import HTTPServer
package import HTTPWire
import TenantControl
package import TenantDirectory
import WebFormats

/// Tokens for a refresh token, and its revocation.
extension GrantRequest {
    /// Renews the tokens of a request.
    func refresh() throws -> JSONValue {
        let token = openedToken("refresh_token")
        let client = try authenticatedClient(redeeming: token.map { ($0.clientID, $0.redirectClass) })
        _ = try fields.required("refresh_token")
        guard let token else { throw PlatformError.malformedRefreshToken(at: segment) }
        let account = try person(token.username)
        try checkVersion(for: account)
        guard token.clientID == client.id else { throw PlatformError.grantOfAnotherClient }
        // The silent request of an app with native authentication is the ordinary one.
        if client.hasNativeAuthentication, segment.tenantID == Tenant.fabrikam,
            let answer = try nativeAnswerOnDemand(at: .token)
        {
            return answer
        }
        return try inWords(of: account) { try renewed(token, of: account, for: client) }
    }

    private func renewed(
        _ token: RefreshToken, of account: DemoAccount, for client: DemoClient
    ) throws -> JSONValue {
        try checkUserFlow(token.userFlow)
        guard token.registration == client.registered?.objectID else { throw PlatformError.grantRevoked }
        guard segment.admits(account) else { throw platform.notInTenant(account, at: segment, client) }
        let issued = token.issued ?? token.authentication.time
        try checkRevocation(account, token.authentication, issued: issued)
        guard now < token.expires else {
            throw token.redirectClass == .spa
                ? PlatformError.scriptSessionExpired(issued: issued) : .inactiveToken(issued: issued)
        }
        // If there are several resources, a refresh is for the first one.
        let askedScope = fields.text("scope")
        let scopes = platform.scopes.ofFirstResource(
            try scopes(askedScope, of: client, granted: token.scopes))
        try platform.scopes.check(resource: fields.text("resource"), of: scopes)
        if settings.isGeneric { try refuseAsOthers(token, asked: askedScope == nil ? [] : scopes) }
        let claims = try RequestedClaims(fields["claims"])
        let signIn = token.authentication
        if controls.use(\.revokedAt, where: { signIn.time <= $0 }) != nil { throw PlatformError.grantRevoked }
        if settings.listsNoAPI {
            var listingNone = client
            listingNone.permissions = [:]
            try platform.grants.checkPermissions(of: listingNone, scopes: scopes)
        }
        let met = signIn.secondFactor
        if platform.grants.refusesSilently(account, met: met)
            || met == 0 && (claims.secondFactor || settings.requiresSecondFactor)
        {
            throw PlatformError.secondFactorNeeded
        }
        try platform.grants.checkContexts(claims, of: account, by: token.authentication)
        try platform.grants.checkConsent(of: account, to: client, scopes: scopes, isSilent: true)
        // All checks come before this point, so that of two simultaneous uses exactly one succeeds.
        let renewal = try renewal(of: token)
        let answer = try issuer(
            client, token.redirectClass, account, token.authentication, requested: claims
        ).answer(
            scopes: scopes, asked: askedScope, granted: merged(token.scopes, scopes), nonce: nil,
            fault: nil, wantsClientInfo: fields["client_info"] == "1", renewal: renewal)
        controls.count(.tokenRefresh)
        // An unchanged scope may be omitted (RFC 6749 §5.1). Other providers do that.
        guard settings.isGeneric, askedScope == nil, case .object(var members) = answer else { return answer }
        members["scope"] = nil
        return .object(members)
    }

    private func openedToken(_ name: String) -> RefreshToken? {
        fields.text(name).flatMap { state.sealer.open($0, for: .refreshToken, as: RefreshToken.self) }
    }

    private func renewal(of token: RefreshToken) throws(PlatformError) -> RefreshFamilies.Renewal {
        let renewal = RefreshFamilies.Renewal(
            family: token.family ?? platform.clock.newID(), successor: platform.clock.newID(),
            expires: token.redirectClass == .spa
                ? token.expires : now.addingTimeInterval(Double(settings.refreshTokenSeconds(at: segment))))
        let use = state.note { record in
            record.refreshFamilies = record.refreshFamilies ?? RefreshFamilies()
            return record.refreshFamilies?.use(
                token.id, renewal: renewal, isSingleUse: settings.hasSingleUseRefreshTokens, now: now)
        }
        switch use {
        case .first, nil: return renewal
        case .again:
            controls.count(.refreshReplayed)
            throw .grantRevoked
        case .afterRevocation: throw .grantRevoked
        }
    }

    /// Refuses a refresh as other providers would. It must not request more than was granted (RFC 6749 §6), although
    /// Microsoft's platforms allow that, and its token must not be revoked (RFC 7009).
    private func refuseAsOthers(_ token: RefreshToken, asked: [String]) throws(PlatformError) {
        if state.read({ $0.revokedTokens?.contains(token.id) == true }) { throw .grantRevoked }
        let granted = token.scopes.filter { $0.lowercased() != settings.declinedScope?.lowercased() }
        if let more = asked.first(where: { !granted.contains($0) }) { throw .invalidScope(more) }
    }

    /// Revokes the token of a request. One that does not belong to the client needs no revocation (RFC 7009 §2.2).
    fileprivate func revoke() throws(PlatformError) {
        let token = openedToken("token")
        let client = try authenticatedClient(redeeming: token.map { ($0.clientID, $0.redirectClass) })
        guard let token, token.clientID == client.id else { return }
        state.change { $0.revokedTokens = ($0.revokedTokens ?? []).union([token.id]) }
        controls.count(.tokenRevoked)
    }
}

extension IdentityPlatform {
    /// `POST /{tenant}/oauth2/v2.0/revoke` (RFC 7009), available while the tenant acts as another provider.
    package func revoke(_ request: Request, segment: TenantSegment) -> Response {
        let exchange = Exchange(request, clock: clock)
        do throws(PlatformError) {
            try exchange.check()
            let settings = controls.settings
            try GrantRequest(platform: self, exchange: exchange, segment: segment, settings: settings).revoke()
            return .noStore(.ok, "text/plain; charset=utf-8", [])
        } catch {
            return tokenError(error, at: segment, exchange.diagnostics)
        }
    }
}

extension IdentityPlatform {
    /// Returns the error of an account that the tenant of a path does not know.
    func notInTenant(_ account: DemoAccount, at segment: TenantSegment, _ client: DemoClient) -> PlatformError {
        .notInTenant(account, from: identityProvider(of: account), at: segment, client)
    }

    /// Returns the name of the provider at which an account is at home.
    func identityProvider(of account: DemoAccount) -> String {
        account.kind == .personal ? "live.com" : addresses.stsIssuer(ofTenant: account.tenantID)
    }
}
