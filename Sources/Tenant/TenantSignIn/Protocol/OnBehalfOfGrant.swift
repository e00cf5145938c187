import Foundation
import TenantControl
import TenantDirectory
import WebFormats

/// Tokens for an API that calls another one for the person who called it (MicrosoftDocs
/// v2-oauth2-on-behalf-of-flow.md), and for a person's password (v2-oauth-ropc.md).
extension GrantRequest {
    static let onBehalfOf = "urn:ietf:params:oauth:grant-type:jwt-bearer"

    /// Exchanges the access token with which an API was called.
    func tokenOnBehalf() throws -> JSONValue {
        let client = try confidentialClient()
        guard fields.text("requested_token_use") == "on_behalf_of" else {
            throw PlatformError.missingParameter("requested_token_use")
        }
        let assertion = try fields.required("assertion")
        // Graph's own token cannot be checked by anybody, and an opaque one cannot be read.
        guard let claims = state.verifiedClaims(assertion), let audience = claims["aud"]?.string,
            audience != AccessToken.graphAudience
        else { throw PlatformError.assertionNotSigned }
        let expiry = claims["exp"]?.integer ?? 0
        guard expiry > Int(now.timeIntervalSince1970), !settings.letsExpire(claims) else {
            throw PlatformError.assertionExpired(now: now, Date(timeIntervalSince1970: TimeInterval(expiry)))
        }
        guard platform.registrations.owner(of: audience)?.id == client.id else {
            throw PlatformError.assertionForAnother(audience, client)
        }
        guard let account = platform.people.account(of: claims), segment.admits(account) else {
            throw PlatformError.assertionWithoutPerson(client)
        }
        let issued = Date(timeIntervalSince1970: TimeInterval(claims["iat"]?.integer ?? 0))
        // Inferred: a token that Graph would challenge for its time is no assertion either (t2-cae-01).
        if let validFrom = state.revocation(ofTokenWith: claims, of: account) {
            throw PlatformError.revokedGrant(issued: issued, validFrom: validFrom)
        }
        let isProved = claims["amr"]?.array?.contains("mfa") == true
        let authentication = Authentication(
            time: issued,
            sessionID: claims["sid"]?.string ?? platform.clock.newID(),
            secondFactor: isProved ? platform.grants.latestSecondFactorDemand : 0,
            revocations: state.read { $0.revocations[account.username, default: 0] })
        if platform.grants.refusesSilently(account, met: authentication.secondFactor) {
            var error = PlatformError.secondFactorNeeded
            (error.number, error.suberror) = (50079, nil)
            throw error
        }
        return try tokens(of: account, authentication, for: client, redirectClass: client.isPublic ? .native : .web)
    }

    /// Signs a person in by a password, without a page. It is off unless the tenant's file switches it on.
    func tokensOfPassword() throws -> JSONValue {
        switch segment {
        case .common, .consumers, .tenant(id: Tenant.consumers): throw PlatformError.grantNeedsTenant
        case .organizations, .tenant, .userFlow: break
        }
        let client = try authenticatedClient()
        let (username, password) = (try fields.required("username"), try fields.required("password"))
        guard let account = platform.people.account(username: username), segment.admits(account),
            account.identityProvider == nil
        else {
            throw PlatformError.unknownPerson(username, at: segment)
        }
        guard platform.judge(password, of: account, from: exchange.request.peer) == .right else {
            throw PlatformError.passwordWrong
        }
        if account.traits.contains(.blockedByPolicy) { throw PlatformError.blockedByPolicy }
        let needsSecondFactor =
            account.traits.contains(.secondFactorAlways) || platform.grants.secondFactorDemand(on: account) > 0
        if needsSecondFactor { throw PlatformError.secondFactorNeeded }
        let authentication = Authentication(
            time: now, sessionID: platform.clock.newID(),
            revocations: state.read { $0.revocations[account.username, default: 0] })
        return try tokens(of: account, authentication, for: client, redirectClass: client.isPublic ? .native : .web)
    }

    /// Returns the tokens of the scopes that the request asks for, as far as there is consent.
    func tokens(
        of account: DemoAccount, _ authentication: Authentication, for client: DemoClient,
        redirectClass: DemoClient.RedirectClass
    ) throws -> JSONValue {
        let requested = try RequestedClaims(fields["claims"])
        let asked = try fields.required("scope")
        let scopes = try scopes(asked, of: client)
        guard platform.scopes.resources(scopes).count <= 1 else { throw PlatformError.severalResources(asked) }
        try platform.scopes.check(resource: fields.text("resource"), of: scopes)
        try platform.grants.checkConsent(of: account, to: client, scopes: scopes, isSilent: true)
        try platform.grants.checkContexts(requested, of: account, by: authentication)
        return try issuer(client, redirectClass, account, authentication, requested: requested).answer(
            scopes: scopes, asked: asked, granted: scopes, nonce: nil,
            fault: nil, wantsClientInfo: ["1", "true"].contains(fields["client_info"]))
    }
}

extension PlatformError {
    fileprivate static let assertionNotSigned = Self(
        error: "invalid_grant", number: 50013,
        message:
            "Assertion failed signature validation. Only a token for your own API can be exchanged, and not one for "
            + "Graph.")
    fileprivate static func assertionExpired(now: Date, _ expiry: Date) -> Self {
        Self(
            error: "invalid_grant", number: 500_133,
            message: "Assertion is not within its valid time range. Ensure that the access token is not expired before "
                + "using it for user assertion, or request a new token. Current time: \(now.withSevenDecimals), expiry time of "
                + "assertion \(expiry.withSevenDecimals).")
    }
    /// t2-obo-06.
    fileprivate static func assertionForAnother(_ audience: String, _ client: DemoClient) -> Self {
        Self(
            error: "invalid_grant", number: 500_131,
            message: "Assertion audience does not match the Client app presenting the assertion. The audience in the "
                + "assertion was '\(audience)' and the expected audience is '\(client.id)' or one of the Application Uris "
                + "of this application with App ID '\(client.id)'(\(client.name)). The downstream client must request a "
                + "token for the expected audience (the application that made the OBO request) and this application "
                + "should use that token as the assertion.")
    }
    /// AzureAD/microsoft-authentication-library-for-dotnet issue 2130.
    fileprivate static func assertionWithoutPerson(_ client: DemoClient) -> Self {
        Self(
            error: "unauthorized_client", number: 7_000_114,
            message: "Application '\(client.id)' is not allowed to make application on-behalf-of calls.")
    }
    /// t2-ropc-02; the suberror is of captures of 2026-08. Where several tenants are asked, the one of the name's domain is
    /// meant.
    static func unknownPerson(_ username: String, at segment: TenantSegment) -> Self {
        let domain = username.split(separator: "@").last.map(String.init) ?? ""
        let tenant = (segment.tenantID ?? Tenant.id(ofDomain: domain)).map { Tenant.name(ofID: $0) + " " } ?? ""
        return Self(
            error: "invalid_grant", number: 50034,
            message: "The user account \(username) does not exist in the \(tenant)directory. To sign into this "
                + "application, the account must be added to the directory.", suberror: "bad_token")
    }
    static let passwordWrong = Self(
        error: "invalid_grant", number: 50126,
        message: "Error validating credentials due to invalid username or password.")
}
