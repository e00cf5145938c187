import Foundation

/// How and when somebody proved who they are.
struct Authentication: Sendable, Hashable, Codable {
    var time: Date
    /// The sign-on session's id: the claim `sid`.
    var sessionID: String
    /// The second-factor demand that was met, 0 for none.
    var secondFactor = 0
    /// The user's revocation count at the time; another count ends everything made from this.
    var revocations: Int
}

/// What an authorization code stands for; it is the code, sealed.
struct AuthorizationCode: Sendable, Codable {
    static let lifetime: TimeInterval = 600

    var id: String
    var clientID: String
    var redirectURI: String
    var segment: TenantSegment
    var codeChallenge: String
    var nonce: String?
    var scopes: [String]
    var username: String
    var authentication: Authentication
    var claims: RequestedClaims
    var expires: Date
}

/// What a refresh token stands for; it is the token, sealed.
struct RefreshToken: Sendable, Codable {
    var id: String
    /// All that were renewed from one sign-in; a token of an older version has none.
    var family: String?
    var clientID: String
    var scopes: [String]
    var username: String
    var authentication: Authentication
    var expires: Date
}
