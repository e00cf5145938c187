public import Foundation
public import WebFormats

/// A sign-in that is about to leave for the provider.
public struct NewSignInAttempt: Sendable, Redacted {
    /// The application's name.
    public var app: String
    /// The `state` sent to the provider, from ``SessionStore/newState()``.
    public var state: String
    /// The `nonce` sent to the provider.
    public var nonce: String
    /// The PKCE verifier (RFC 7636).
    public var codeVerifier: String
    /// The path to which the browser goes afterwards. It is one of ours, and already checked.
    public var returnTo: String
    /// The requested `prompt`.
    public var prompt: String?
    /// The requested scopes, as they were sent.
    public var requestedScopes: [String]
    /// The home account id that must come back, if one account signs in again.
    public var expectedAccountID: String?
    /// The caller's own data, in its own format.
    public var payload: [UInt8]

    /// Creates an attempt.
    public init(
        app: String, state: String, nonce: String, codeVerifier: String, returnTo: String, prompt: String? = nil,
        requestedScopes: [String], expectedAccountID: String? = nil, payload: [UInt8] = []
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

/// A sign-in that has left for the provider. The browser keeps it, sealed, until it comes back (``SealedSignIn``); the
/// server keeps nothing.
public struct BegunSignIn: Sendable, Redacted {
    /// The session that the browser had when it left.
    struct Origin: Sendable, Equatable {
        let session: SessionKey
        /// The session's id at that time.
        let idHash: SHA256Hash
    }

    /// The application's name.
    public let app: String
    /// The `nonce` that the ID token must carry.
    public let nonce: String
    /// The PKCE verifier for the code's redemption.
    public let codeVerifier: String
    /// The path to which the browser goes afterwards.
    public let returnTo: String
    /// The requested `prompt`.
    public let prompt: String?
    /// The requested scopes, as they were sent.
    public let requestedScopes: [String]
    /// The home account id that must come back, if any.
    public let expectedAccountID: String?
    /// The caller's own data.
    public let payload: [UInt8]
    /// The time when the browser left for the provider.
    public let begunAt: Date
    /// The session that the browser had; nil if it had none.
    let origin: Origin?
    let stateHash: SHA256Hash

    /// Whether the browser had no session when it left.
    public var isOfNewcomer: Bool { origin == nil }

    init(_ new: NewSignInAttempt, origin: Origin?, begunAt: Date) {
        app = new.app
        nonce = new.nonce
        codeVerifier = new.codeVerifier
        returnTo = new.returnTo
        prompt = new.prompt
        requestedScopes = new.requestedScopes
        expectedAccountID = new.expectedAccountID
        payload = new.payload
        self.begunAt = begunAt
        self.origin = origin
        stateHash = SHA256Hash(of: new.state)
    }
}

extension BegunSignIn {
    /// The version of the format. A sign-in of another version must begin again.
    private static let version: Int64 = 1

    var packed: [UInt8] {
        var fields = PackedFields()
        fields.append(Self.version)
        let texts: [String?] = [
            app, nonce, codeVerifier, returnTo, prompt, requestedScopes.joined(separator: " "), expectedAccountID,
        ]
        for text in texts { fields.append(text) }
        fields.append(payload)
        fields.append(origin.map { Array($0.idHash.blob) })
        if let origin { fields.append(origin.session.value) }
        return fields.bytes
    }

    init?(packed: some Sequence<UInt8>, state: SHA256Hash, begunAt: Int64) {
        var reader = PackedReader(packed)
        do {
            guard try reader.number() == Self.version else { return nil }
            app = try reader.text()
            nonce = try reader.text()
            codeVerifier = try reader.text()
            returnTo = try reader.text()
            prompt = try reader.optionalText()
            requestedScopes = try reader.text().split(separator: " ").map(String.init)
            expectedAccountID = try reader.optionalText()
            payload = try reader.bytes() ?? []
            let idHash = try reader.bytes().flatMap { SHA256Hash(blob: Data($0)) }
            origin = if let idHash { Origin(session: SessionKey(try reader.number()), idHash: idHash) } else { nil }
        } catch {
            return nil
        }
        self.begunAt = Date(milliseconds: begunAt)
        stateHash = state
    }
}

/// A consumed attempt: the proof that only this callback may redeem its code.
@dynamicMemberLookup public struct SignInAttempt: Sendable, Redacted {
    /// The sign-in as it began.
    public let begun: BegunSignIn
    /// The session that the sign-in goes into.
    public let session: SessionKey

    /// A value of the sign-in as it began.
    public subscript<Value>(dynamicMember member: KeyPath<BegunSignIn, Value>) -> Value { begun[keyPath: member] }
}

/// The meaning of a callback.
public enum ConsumedAttempt: Sendable {
    /// The first callback: go on, then call `completeSignIn` or `failSignIn`.
    ///
    /// - Parameter newSessionID: for a browser that had no session, the id of the session that was made for it. Set it
    ///   if the sign-in fails, because its pages show the reason. Completion gives another id.
    case attempt(SignInAttempt, newSessionID: SessionID?)
    /// The callback came again after the sign-in was completed: set the new id and go to the page.
    case replayed(newSessionID: SessionID)
    /// The callback came again while the code is still being redeemed.
    case inProgress
    /// The callback came again after the sign-in failed or was interrupted: offer to start again.
    case failed
    /// The session in which it began is gone, or is no longer this browser's. Nothing was consumed.
    case otherBrowser
    /// The attempt, or the time in which its callback may come again, has expired.
    case expired
    /// The callback came again with a different code.
    case unknown
    /// The same, to the session that the attempt completed: go to the page if an account is still signed in.
    case completed
}
