import Foundation

/// The method and the time of a person's authentication.
struct Authentication: Sendable, Hashable, Codable {
    var time: Date
    /// The sign-on session's ID, which is the claim `sid`.
    var sessionID: String
    /// The second-factor demand that was met; 0 for none.
    var secondFactor = 0
    /// The authentication contexts that were met by the password. An authentication of an older version has none.
    var contexts: Set<String>?
    /// The user's revocation count at the time. When the count changes, everything issued under this authentication
    /// ends.
    var revocations: Int
}

/// The content of an authorization code. The code is this value, encrypted.
struct AuthorizationCode: Sendable, Codable {
    static let lifetime: TimeInterval = 600

    var id: String
    var clientID: String
    var redirectURI: String
    /// The class of the redirect URI when the code was issued.
    var redirectClass: DemoClient.RedirectClass
    var segment: TenantSegment
    /// The code challenge in the form of S256; nil if the authorization request had none.
    var codeChallenge: String?
    var nonce: String?
    var scopes: [String]
    /// The parameter `scope` of the authorization request.
    var askedScope: String?
    var username: String
    var authentication: Authentication
    var claims: RequestedClaims
    var expires: Date
    /// The failure with which its redemption is to end; nil for none.
    var replay: Replay?
}

/// The content of a refresh token. The token is this value, encrypted.
struct RefreshToken: Sendable, Codable {
    var id: String
    /// The family of all tokens from one sign-in. A token from an older version has none.
    var family: String?
    var clientID: String
    /// The class of the redirect URI of the sign-in. A token from an older version has none.
    var redirectClass: DemoClient.RedirectClass?
    var scopes: [String]
    var username: String
    var authentication: Authentication
    var expires: Date
}
