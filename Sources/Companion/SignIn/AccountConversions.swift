import Foundation
import OpenIDConnect
import SessionStore

// What the protocol validated, in the form in which the store keeps it.

extension NewAccount {
    /// - Parameter environment: the authority's host.
    init(_ signedIn: SignedInTokens, environment: String) {
        let claims = signedIn.idTokenClaims
        self.init(
            id: signedIn.homeAccountID, username: claims.username, name: claims.name, tenantID: claims.tenantID,
            environment: environment, objectID: claims.objectID, issuer: claims.issuer, subject: claims.subject,
            sid: claims.sessionID, idTokenClaims: claims.json)
    }
}

extension NewTokens {
    /// - Parameter requestedScopes: what was asked for, by which the access token is found again.
    init(_ granted: GrantedTokens, claims: IDTokenClaims?, requestedScopes: [String]) {
        self.init(
            accessToken: granted.accessToken, requestedScopes: ScopeSet(requestedScopes),
            grantedScopes: ScopeSet(granted.scopes), expiresOn: granted.expiresOn, refreshOn: granted.refreshOn,
            refreshToken: granted.refreshToken, idTokenClaims: claims?.json)
    }
}

extension Account {
    /// The ID token's claims; empty when they cannot be read, which a validated token rules out.
    var claims: [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data(idTokenClaims.utf8))) as? [String: Any] ?? [:]
    }
}

/// Query fields as `application/x-www-form-urlencoded` text with only unreserved characters in the clear (RFC 3986 §2.3).
enum QueryEncoding {
    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

    static func encode(_ fields: [(name: String, value: String)]) -> String {
        fields.map { field in
            field.name + "=" + (field.value.addingPercentEncoding(withAllowedCharacters: unreserved) ?? "")
        }.joined(separator: "&")
    }
}
