package import CompanionCore
package import OpenIDConnect
package import SessionStore

/// The use of a token.
package struct TokenTarget: Sendable, Hashable {
    package let account: AccountKey
    /// In lower case, when it is another than the one in which the account signed in.
    package var tenant: String?
    package let scopes: ScopeSet
}

extension SignedIn {
    /// The use of a token for this account.
    ///
    /// - Parameter scopes: nil for those of the application's registration.
    package func target(scopes: [String]? = nil) -> TokenTarget {
        TokenTarget(
            account: key, tenant: tenant?.lowercased(), scopes: scopes.map { ScopeSet($0) } ?? application.scopes)
    }
}

extension TokenTarget {
    /// Whether it is what the account signed in for: what another tenant, or more scopes, ask of the person says nothing about
    /// the account itself.
    package func isOwn(of application: Application) -> Bool { tenant == nil && scopes == application.scopes }

    /// Where the same account signs in again for it: with its hint, so that nobody has to choose.
    package func signIn(_ asking: SignedIn, at publicURL: PublicURL, claims: ClaimsRequest?) -> Problem.Action {
        let application = asking.application
        var fields: [(String, String)] = []
        // What stands for the name of somebody without one means nothing to the provider's page.
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
