package import CompanionCore
package import OpenIDConnect
package import SessionStore

/// The account, tenant and scopes of a token.
package struct TokenTarget: Sendable, Hashable {
    package let account: AccountKey
    /// The tenant in lower case; nil for the one in which the account signed in.
    package var tenant: String?
    package let scopes: ScopeSet
}

extension SignedIn {
    /// Returns a target for this account.
    ///
    /// - Parameter scopes: the scopes; nil stands for those of the application's registration.
    package func target(scopes: [String]? = nil) -> TokenTarget {
        TokenTarget(
            account: key, tenant: tenant?.lowercased(), scopes: scopes.map { ScopeSet($0) } ?? application.scopes)
    }
}

extension TokenTarget {
    /// Whether these are the scopes and the tenant of the account's sign-in. A refusal for additional scopes or another
    /// tenant says nothing about the account itself.
    package func isOwn(of application: Application) -> Bool { tenant == nil && scopes == application.scopes }

    /// Returns a sign-in link for the same account, with a login hint so that the person need not choose.
    package func signIn(_ asking: SignedIn, at publicURL: PublicURL, claims: ClaimsRequest?) -> Problem.Action {
        let application = asking.application
        var fields: [(String, String)] = []
        // If the account has no username, the subject stands in for it, which is useless as a hint.
        let identity = asking.account.identity
        if identity.username != identity.subject {
            fields.append(("login_hint", identity.username))
        }
        fields.append(("return_to", publicURL.pagePath(of: application)))
        let more = scopes.scopes.filter { !application.scopes.scopes.contains($0) }
        if !more.isEmpty { fields.append(("scope", more.joined(separator: " "))) }
        if let tenant { fields.append(("tenant", tenant)) }
        if let claims { fields.append(("claims", claims.json)) }
        return .signIn(publicURL.signInPath(of: application, fields))
    }
}
