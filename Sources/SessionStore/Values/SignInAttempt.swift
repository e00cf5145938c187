public import Foundation
public import WebFormats

/// A sign-in that is about to leave for the provider.
public struct NewSignInAttempt: Sendable, Redacted {
    /// The application's name.
    public var app: String
    /// The `state` sent to the provider, as ``SessionStore/newState()`` gave it.
    public var state: String
    /// The `nonce` sent to the provider.
    public var nonce: String
    /// The PKCE verifier (RFC 7636).
    public var codeVerifier: String
    /// Where the browser goes afterwards: a path of ours, already checked.
    public var returnTo: String
    /// The `prompt` asked for.
    public var prompt: String?
    /// The scopes asked for, as they were sent.
    public var requestedScopes: [String]
    /// The home account id that must come back, when this signs one account in again.
    public var expectedAccountID: String?
    /// The caller's own part, in its own form.
    public var payload: [UInt8]

    /// Every property, in their order.
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

/// A sign-in that has left for the provider: the browser keeps it, sealed, until it comes back (``SealedSignIn``). The server
/// keeps nothing of it.
public struct BegunSignIn: Sendable, Redacted {
    /// The session that the browser had when it left.
    struct Origin: Sendable, Equatable {
        let session: SessionKey
        /// The session's id then.
        let idHash: SHA256Hash
    }

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
    public let payload: [UInt8]
    /// When the browser left for the provider.
    public let begunAt: Date
    /// Nil for a browser that had no session.
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
    /// The form's version: one of another version has to begin again.
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

/// A consumed attempt: the proof that this callback, and no other, may redeem its code.
@dynamicMemberLookup public struct SignInAttempt: Sendable, Redacted {
    /// As it left.
    public let begun: BegunSignIn
    /// The session that the sign-in goes into.
    public let session: SessionKey

    /// A value with which it was begun.
    public subscript<Value>(dynamicMember member: KeyPath<BegunSignIn, Value>) -> Value { begun[keyPath: member] }
}

/// The meaning of a callback.
public enum ConsumedAttempt: Sendable {
    /// The first callback: go on, then call `completeSignIn` or `failSignIn`.
    ///
    /// - Parameter newSessionID: for a browser that had no session, the id of the one that was made for it. Set it when the
    ///   sign-in fails: its pages say why. Completion gives another.
    case attempt(SignInAttempt, newSessionID: SessionID?)
    /// The same callback again after the sign-in was completed: set the new id and go to the page.
    case replayed(newSessionID: SessionID)
    /// The same callback again while the first is still redeeming the code.
    case inProgress
    /// The same callback again after the sign-in failed, or was cut off: offer to start again.
    case failed
    /// The session in which it began is no more, or is no longer this browser's. Nothing was consumed.
    case otherBrowser
    /// The attempt, or the time in which its callback may be repeated, is over.
    case expired
    /// Its callback was repeated with another code.
    case unknown
}
