import OpenIDConnect
import SessionStore
import WebFormats

// What the protocol validated, in the form in which the store keeps it.

extension NewAccount {
    /// - Parameter authority: where the account signed in.
    init(_ signedIn: SignedInTokens, at authority: Authority) {
        let claims = signedIn.idTokenClaims
        self.init(
            id: signedIn.homeAccountID, username: claims.username, name: claims.name, tenantID: claims.tenantID,
            environment: authority.environment, objectID: claims.objectID, issuer: claims.issuer,
            subject: claims.subject,
            sid: claims.sessionID, policy: authority.policy, idTokenClaims: claims.json)
    }
}

extension NewTokens {
    /// - Parameter requestedScopes: what was asked for, by which the access token is found again.
    init(_ signedIn: SignedInTokens, requestedScopes: [String]) {
        self.init(
            signedIn.tokens, claims: signedIn.idTokenClaims, idToken: signedIn.idToken,
            requestedScopes: requestedScopes, tenant: nil)
    }

    /// - Parameters:
    ///   - requestedScopes: as above.
    ///   - tenant: the tenant, when it is another than the one in which the account signed in.
    init(_ refreshed: RefreshedTokens, requestedScopes: [String], tenant: String?) {
        self.init(
            refreshed.tokens, claims: refreshed.idTokenClaims, idToken: refreshed.idToken,
            requestedScopes: requestedScopes, tenant: tenant)
    }

    private init(
        _ granted: GrantedTokens, claims: IDTokenClaims?, idToken: String?, requestedScopes: [String], tenant: String?
    ) {
        self.init(
            accessToken: granted.accessToken, requestedScopes: ScopeSet(requestedScopes),
            grantedScopes: ScopeSet(granted.scopes), declinedScopes: granted.declinedScopes, tenant: tenant,
            expiresOn: granted.expiresOn, refreshOn: granted.refreshOn, refreshToken: granted.refreshToken,
            idTokenClaims: claims?.json, idToken: idToken)
        username = claims?.username
        name = claims?.name
    }
}

extension Account {
    /// The ID token's claims; empty when they cannot be read, which a validated token rules out.
    var claims: [String: JSONValue] { JSONValue(parsing: idTokenClaims.utf8)?.object ?? [:] }
}
