import Cryptography
public import WebFormats

/// The secrets of one sign-in. They are bound to the browser and used once.
public struct AuthorizationAttempt: Sendable, Hashable, Redacted {
    /// The `state`, which comes back with the callback and identifies the attempt.
    public let state: String
    /// The `nonce`, which comes back inside the ID token.
    public let nonce: String
    /// The PKCE verifier (RFC 7636), which proves at the token endpoint that the same client began: 43 characters of
    /// 256 random bits.
    public let codeVerifier: String

    /// Creates a new attempt.
    ///
    /// - Parameters:
    ///   - state: a state with at least 128 random bits; nil creates one of 256.
    ///   - randomBytes: returns as many random bytes as requested.
    public init(state: String? = nil, randomBytes: @Sendable (Int) -> [UInt8]) {
        self.state = state ?? Base64URL.encode(randomBytes(32))
        nonce = Base64URL.encode(randomBytes(32))
        codeVerifier = Base64URL.encode(randomBytes(32))
    }

    /// Creates an attempt that was stored.
    public init(state: String, nonce: String, codeVerifier: String) {
        self.state = state
        self.nonce = nonce
        self.codeVerifier = codeVerifier
    }

    /// The form of the verifier in the authorization request: S256 (RFC 7636 section 4.2).
    public var codeChallenge: String { Base64URL.encode(SHA256.hash(data: codeVerifier.utf8)) }
}

/// Compares secrets in a time that does not depend on where they differ, because digests compare in constant time.
func isSameSecret(_ left: String, _ right: String) -> Bool {
    SHA256.hash(data: left.utf8) == SHA256.hash(data: right.utf8)
}
