import Crypto
public import WebFormats

/// The secrets of one sign-in: bound to the browser, used once.
public struct AuthorizationAttempt: Sendable, Hashable, Redacted {
    /// Comes back with the callback; finds the attempt.
    public let state: String
    /// Comes back inside the ID token.
    public let nonce: String
    /// Proves at the token endpoint who began (PKCE, RFC 7636): 43 characters of 256 random bits.
    public let codeVerifier: String

    /// A new attempt.
    ///
    /// - Parameters:
    ///   - state: at least 128 bits of it are random; nil makes one of 256.
    ///   - randomBytes: returns as many random bytes as it is asked for.
    public init(state: String? = nil, randomBytes: @Sendable (Int) -> [UInt8]) {
        self.state = state ?? Base64URL.encode(randomBytes(32))
        nonce = Base64URL.encode(randomBytes(32))
        codeVerifier = Base64URL.encode(randomBytes(32))
    }

    /// An attempt that was stored.
    public init(state: String, nonce: String, codeVerifier: String) {
        self.state = state
        self.nonce = nonce
        self.codeVerifier = codeVerifier
    }

    /// What the authorization request carries of the verifier: S256 (RFC 7636 section 4.2).
    var codeChallenge: String { Base64URL.encode(SHA256.hash(data: Array(codeVerifier.utf8))) }
}

/// Compares secrets in a time that does not depend on where they differ: Crypto compares digests so.
func isSameSecret(_ left: String, _ right: String) -> Bool {
    SHA256.hash(data: Array(left.utf8)) == SHA256.hash(data: Array(right.utf8))
}
