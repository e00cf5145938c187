import Foundation
import WebFormats

/// A sign-in that is about to leave for the provider.
public struct NewSignInAttempt: Sendable, Redacted {
    /// The application's name.
    public var app: String
    /// The `state` sent to the provider. Only its SHA-256 is stored.
    public var state: String
    /// The `nonce` sent to the provider. Stored sealed.
    public var nonce: String
    /// The PKCE verifier (RFC 7636). Stored sealed.
    public var codeVerifier: String
    /// Where the browser goes afterwards: a path of ours, already checked.
    public var returnTo: String
    /// The `prompt` asked for.
    public var prompt: String?
    /// The scopes asked for, as they were sent.
    public var requestedScopes: [String]
    /// The home account id that must come back, when this signs one account in again.
    public var expectedAccountID: String?
    /// What else the callback needs, in the caller's own form. Stored sealed.
    public var payload: String

    /// Every property, in their order.
    public init(
        app: String, state: String, nonce: String, codeVerifier: String, returnTo: String, prompt: String? = nil,
        requestedScopes: [String], expectedAccountID: String? = nil, payload: String = ""
    ) {
        self.app = app
        self.state = state
        self.nonce = nonce
        self.codeVerifier = codeVerifier
        self.returnTo = returnTo
        self.prompt = prompt
        self.requestedScopes = requestedScopes
        self.expectedAccountID = expectedAccountID
        self.payload = payload
    }
}

/// A sign-in that is stored: the browser may leave for the provider.
public struct BegunSignIn: Sendable, Redacted {
    /// The cookie's id, or a new one to set when there was no (live) session.
    public let sessionID: SessionID
    /// The session that it belongs to.
    public let session: SessionKey
}

/// A consumed attempt: the proof that this callback, and no other, may redeem its code.
public struct SignInAttempt: Sendable, Redacted {
    /// The application's name.
    public let app: String
    /// The `nonce` that the ID token must carry.
    public let nonce: String
    /// The PKCE verifier for the code's redemption.
    public let codeVerifier: String
    /// Where the browser goes afterwards.
    public let returnTo: String
    /// The `prompt` that was asked for.
    public let prompt: String?
    /// The scopes that were asked for, as they were sent.
    public let requestedScopes: [String]
    /// The home account id that must come back, if one must.
    public let expectedAccountID: String?
    /// What the caller added.
    public let payload: String
    /// When the browser left for the provider.
    public let begunAt: Date
    /// The session that the sign-in goes into.
    public let session: SessionKey
    let stateHash: SHA256Hash
}

/// What a callback's `state` turned out to be.
public enum ConsumedAttempt: Sendable {
    /// The first callback: go on, then call `completeSignIn` or `failSignIn`.
    case attempt(SignInAttempt)
    /// The same callback again after the sign-in was completed: set the new id and go to the page.
    case replayed(app: String, returnTo: String, newSessionID: SessionID)
    /// The same callback again while the first is still redeeming the code: go to the page.
    case inProgress(app: String, returnTo: String)
    /// The same callback again after the sign-in failed, or was cut off: offer to start again.
    case failed(app: String, returnTo: String)
    /// The attempt was begun by another browser, or the cookie was lost. Nothing was consumed.
    case otherBrowser
    /// The attempt, or the time in which its callback may be repeated, is over.
    case expired(app: String, returnTo: String)
    /// No attempt with this state, or its callback was repeated with another code.
    case unknown
}
