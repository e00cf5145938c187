import TenantControl
import TenantDirectory

/// The address and the form of the response to an authorization request. They are checked before the rest of the
/// request, because after that mistakes are reported to the application.
struct AnswerTarget: Sendable, Hashable, Codable {
    enum ResponseMode: String, Codable, Sendable {
        case query, fragment
        case formPost = "form_post"
    }

    var redirectURI: String
    var responseMode: ResponseMode
    /// The state, which is returned unchanged.
    var state: String?
}

/// A validated request to sign a person in (`/authorize`, or `/devicecode` for a device), or to let an administrator
/// consent (`/adminconsent`).
struct DemoAuthorizationRequest: Sendable, Hashable, Codable {
    enum Purpose: String, Codable, Sendable { case code, adminConsent, device, social }

    enum Prompt: String, Codable, Sendable {
        case none, login, consent, create
        case selectAccount = "select_account"
    }

    var purpose: Purpose
    var segment: TenantSegment
    /// Whether an address of version 1 was asked. A request of an older version says nothing.
    var isVersion1: Bool?
    var clientID: String
    var target: AnswerTarget
    var scopes: [String]
    /// The parameter `scope` as it came.
    var askedScope: String?
    var nonce: String?
    /// Whether the answer has an ID token. A request of an older version says nothing.
    var wantsIDToken: Bool?
    /// Whether the answer has no code.
    var wantsNoCode: Bool?
    /// The code challenge in the form of S256, whatever the method was; nil if none was sent.
    var codeChallenge: String?
    var prompt: Prompt?
    /// The maximum age of the authentication, in seconds (OpenID Connect Core section 3.1.2.1).
    var maxAge: Int?
    var loginHint: String?
    var domainHint: String?
    var claims = RequestedClaims.none
    var wantsClientInfo = false
    /// The failure that this sign-in is to end with; nil for none.
    var replay: Replay?
    /// The device that the sign-in is for.
    var device: DeviceLogin?
    /// The customer's sign-in, encrypted, that goes on after one at the social provider.
    var customerFlow: String?
}

/// A request that is refused. The error is shown as a page, or sent to the application once its address has been
/// checked.
struct AuthorizationFailure: Error {
    var error: PlatformError
    var target: AnswerTarget?
}
