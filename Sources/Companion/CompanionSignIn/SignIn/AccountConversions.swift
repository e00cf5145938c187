import CompanionCore
import OpenIDConnect
import SessionStore
package import WebFormats

// Conversions from the protocol's validated types to those of the store.

extension NewSignInAttempt {
    /// Creates the stored attempt from the values that the callback needs.
    init(
        _ application: Application, _ secrets: AuthorizationAttempt, _ purpose: AttemptPurpose, returnPath: ReturnPath,
        scopes: [String]
    ) {
        self.init(
            app: application.id, state: secrets.state, nonce: secrets.nonce, codeVerifier: secrets.codeVerifier,
            returnTo: returnPath.text, requestedScopes: scopes, payload: purpose.payload)
    }
}

extension SignInAttempt {
    /// Returns the return path with another query field, which reports what was done.
    package func returnPath(with field: String) -> String {
        begun.returnTo + (begun.returnTo.contains("?") ? "&" : "?") + field
    }

    /// Checks that the person who came back is the one who began the attempt.
    ///
    /// - Throws: ``Problem`` `other_account`.
    func checkPerson(is homeAccountID: String) throws(Problem) {
        guard begun.expectedAccountID.map(person) == person(homeAccountID) else {
            throw Problem(.otherAccount, "The profile that was edited belongs to someone else.")
        }
    }

    /// Returns B2C's account ID without its user flow, which differs between flows: `{oid}-{policy}.{tenant}`.
    private func person(_ accountID: String) -> String {
        let uid = accountID.split(separator: ".", omittingEmptySubsequences: false).first ?? ""
        return uid.split(separator: "-", maxSplits: 5).prefix(5).joined(separator: "-").lowercased()
    }
}

extension NewAccount {
    /// - Parameters:
    ///   - userInfo: the response of UserInfo, used if the ID token has no name.
    ///   - authority: the authority of the sign-in.
    init(_ signedIn: SignedInTokens, _ userInfo: UserInfo?, at authority: Authority) {
        let claims = signedIn.idTokenClaims
        self.init(
            id: signedIn.homeAccountID,
            identity: AccountIdentity(
                username: claims.username ?? userInfo?.username ?? claims.subject, name: claims.name ?? userInfo?.name,
                tenantID: claims.tenantID, environment: authority.environment, objectID: claims.objectID,
                issuer: claims.issuer, subject: claims.subject, sid: claims.sessionID, policy: authority.policy),
            idTokenClaims: claims.json)
    }
}

extension NewTokens {
    /// - Parameter requestedScopes: the requested scopes, under which the access token is stored.
    init(_ signedIn: SignedInTokens, requestedScopes: [String]) {
        self.init(
            signedIn.tokens, claims: signedIn.idTokenClaims, idToken: signedIn.idToken,
            requestedScopes: requestedScopes, tenant: nil)
    }

    /// - Parameters:
    ///   - requestedScopes: the requested scopes, under which the access token is stored.
    ///   - tenant: the tenant, if it is not the one in which the account signed in.
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
    /// The ID token's claims; empty if they cannot be parsed, which validation has ruled out.
    package var claims: [String: JSONValue] { JSONValue(parsing: idTokenClaims.utf8)?.object ?? [:] }
}
