import Foundation
import TenantControl
import TenantDirectory

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
    /// The object ID of an application that was registered at run time, which one of the same client ID has not.
    var registration: String?
    /// The class of the redirect URI of the sign-in. A token from an older version has none.
    var redirectClass: DemoClient.RedirectClass?
    /// The user flow of the sign-in, which alone renews it. A token from an older version has none.
    var userFlow: UserFlow?
    var scopes: [String]
    var username: String
    var authentication: Authentication
    var expires: Date
    /// A token from an older version does not say it.
    var issued: Date?
}
