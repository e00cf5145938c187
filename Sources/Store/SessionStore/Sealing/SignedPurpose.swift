import Cryptography

/// The purpose of bytes that others keep for us and that we must recognize as ours. The signature is HMAC-SHA256 (RFC
/// 2104), cut to 16 bytes, with a key that HKDF (RFC 5869) derives from an encryption key. It is valid until that key
/// is retired.
public enum SignedPurpose: String, Sendable {
    /// The `state` of a sign-in.
    case state
    /// The address of a client that posts. The signature is stored instead of the address.
    case address
    /// The handle of a posted response, so that a made-up one costs no look-up.
    case handle
    /// The mark of a browser in which a person has signed in.
    case browser

    /// The length of a signature.
    public static let byteCount = 16

    func code(of bytes: [UInt8], by key: KeyRing.Key) -> Digest.SubSequence {
        key.signing.code(for: Array(rawValue.utf8) + [0] + bytes).prefix(Self.byteCount)
    }

    /// Whether the signature is right. The time taken depends on the lengths only.
    func isCode(_ signature: some Collection<UInt8>, of bytes: [UInt8], by key: KeyRing.Key) -> Bool {
        isEqualInConstantTime(signature, code(of: bytes, by: key))
    }
}
