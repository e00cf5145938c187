import Foundation

/// How and when a person authenticated.
struct Authentication: Sendable, Hashable, Codable {
    var time: Date
    /// The sign-on session's id: the claim `sid`.
    var sessionID: String
    /// The second-factor demand that was met; 0 for none.
    var secondFactor = 0
    /// The user's revocation count at the time. When the count changes, everything issued under this one ends.
    var revocations: Int
}

/// The content of an authorization code; the code is this value, sealed.
struct AuthorizationCode: Sendable, Codable {
    static let lifetime: TimeInterval = 600

    var id: String
    var clientID: String
    var redirectURI: String
    var segment: TenantSegment
    /// As S256 makes it; nil when the authorization request had none.
    var codeChallenge: String?
    var nonce: String?
    var scopes: [String]
    var username: String
    var authentication: Authentication
    var claims: RequestedClaims
    var expires: Date
}

/// The content of a refresh token; the token is this value, sealed.
struct RefreshToken: Sendable, Codable {
    var id: String
    /// The family of all tokens renewed from one sign-in; a token from an older version has none.
    var family: String?
    var clientID: String
    var scopes: [String]
    var username: String
    var authentication: Authentication
    var expires: Date
}
