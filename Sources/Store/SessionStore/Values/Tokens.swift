public import Foundation
public import WebFormats

/// The account that a validated ID token names.
public struct NewAccount: Sendable, Redacted {
    /// The home account id, `uid.utid`.
    public var id: String
    /// The rest of the account's identity.
    public var identity: AccountIdentity
    /// The ID token's claims as JSON text. They are stored sealed.
    public var idTokenClaims: String
    /// A text of the application that belongs to these claims. It is stored sealed with them.
    public var annotation: String?

    /// Creates an account.
    public init(id: String, identity: AccountIdentity, idTokenClaims: String) {
        self.id = id
        self.identity = identity
        self.idTokenClaims = idTokenClaims
    }
}

/// The tokens of a token response.
public struct NewTokens: Sendable, Redacted {
    /// The access token; nil if the response had none (only `openid` was requested).
    public var accessToken: String?
    /// The requested scopes, by which the access token is found again.
    public var requestedScopes: ScopeSet
    /// The granted scopes: those in the response, or the requested ones if the response names none (RFC 6749 section
    /// 5.1).
    public var grantedScopes: ScopeSet
    /// The requested scopes that were declined, spelled as in the request.
    public var declinedScopes: [String]
    /// The tenant of the access token, in lower case, if it is not the one in which the account signed in.
    public var tenant: String?
    /// The time when the access token expires.
    public var expiresOn: Date
    /// The time at which the provider suggests renewing it (`refresh_in`).
    public var refreshOn: Date?
    /// The refresh token; nil keeps the stored one.
    public var refreshToken: String?
    /// The claims of a renewed ID token as JSON text; nil keeps the stored ones.
    public var idTokenClaims: String?
    /// The text of the application that belongs to the renewed claims, and replaces the stored one.
    public var annotation: String?
    /// The username from the renewed claims (`preferred_username`).
    public var username: String?
    /// The display name from the renewed claims.
    public var name: String?
    /// The ID token itself, for the provider's sign-out; nil keeps the stored one.
    public var idToken: String?

    /// Creates the tokens.
    public init(
        accessToken: String?, requestedScopes: ScopeSet, grantedScopes: ScopeSet? = nil, declinedScopes: [String] = [],
        tenant: String? = nil, expiresOn: Date, refreshOn: Date? = nil, refreshToken: String? = nil,
        idTokenClaims: String? = nil, idToken: String? = nil
    ) {
        self.declinedScopes = declinedScopes
        self.tenant = tenant
        self.idToken = idToken
        self.accessToken = accessToken
        self.requestedScopes = requestedScopes
        self.grantedScopes = grantedScopes ?? requestedScopes
        self.expiresOn = expiresOn
        self.refreshOn = refreshOn
        self.refreshToken = refreshToken
        self.idTokenClaims = idTokenClaims
    }

    /// Creates the tokens of a response of which nothing but the refresh token may be used yet.
    public init(refreshToken: String) {
        self.init(
            accessToken: nil, requestedScopes: ScopeSet([]), expiresOn: .distantPast, refreshToken: refreshToken)
    }
}

/// An access token from the store. It may have expired: the caller decides by its own margin.
public struct StoredAccessToken: Sendable, Redacted {
    /// The token.
    public let secret: String
    /// The requested scopes.
    public let requestedScopes: ScopeSet
    /// The granted scopes.
    public let grantedScopes: ScopeSet
    /// The requested scopes that were declined.
    public let declinedScopes: [String]
    /// The tenant of the token; nil for the one in which the account signed in.
    public let tenant: String?
    /// The time when it expires.
    public let expiresOn: Date
    /// The time at which the provider suggests renewing it.
    public let refreshOn: Date?
}
