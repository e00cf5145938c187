public import Foundation
public import WebFormats

/// The account that a validated ID token names.
public struct NewAccount: Sendable, Redacted {
    /// The home account id, `uid.utid`.
    public var id: String
    /// The rest of what names it.
    public var identity: AccountIdentity
    /// The ID token's claims as JSON text. Stored sealed.
    public var idTokenClaims: String

    /// Every property, in their order.
    public init(id: String, identity: AccountIdentity, idTokenClaims: String) {
        self.id = id
        self.identity = identity
        self.idTokenClaims = idTokenClaims
    }
}

/// What a token response brought.
public struct NewTokens: Sendable, Redacted {
    /// The access token; nil when the response had none (only `openid` was asked for).
    public var accessToken: String?
    /// The scopes that were asked for: by these the access token is found again.
    public var requestedScopes: ScopeSet
    /// The scopes that the response named, or those asked for when it named none (RFC 6749 section 5.1).
    public var grantedScopes: ScopeSet
    /// The scopes that were asked for and refused, in the request's spelling.
    public var declinedScopes: [String]
    /// The tenant that the access token is for, in lower case, when it is another than the one in which the account
    /// signed in.
    public var tenant: String?
    /// When the access token ends.
    public var expiresOn: Date
    /// When the provider suggests to renew it (`refresh_in`).
    public var refreshOn: Date?
    /// The refresh token; nil leaves the stored one as it is.
    public var refreshToken: String?
    /// The claims of a renewed ID token as JSON text; nil leaves the stored ones.
    public var idTokenClaims: String?
    /// What people read of the renewed claims: `preferred_username` and the display name.
    public var username: String?
    /// See ``username``.
    public var name: String?
    /// The ID token itself, for the provider's sign-out; nil leaves the stored one.
    public var idToken: String?

    /// Every property, in their order.
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
}

/// An access token from the store. It may have expired: the caller decides by its own margin.
public struct StoredAccessToken: Sendable, Redacted {
    /// The token.
    public let secret: String
    /// The scopes that were asked for.
    public let requestedScopes: ScopeSet
    /// The scopes that were granted.
    public let grantedScopes: ScopeSet
    /// The scopes that were asked for and refused.
    public let declinedScopes: [String]
    /// The tenant it is for; nil for the one in which the account signed in.
    public let tenant: String?
    /// When it ends.
    public let expiresOn: Date
    /// When the provider suggests to renew it.
    public let refreshOn: Date?
}
