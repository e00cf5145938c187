import Crypto
import Foundation

/// Bytes that others keep for us, and that we have to know again as ours: HMAC-SHA256 (RFC 2104), cut to 16 bytes, with a key
/// that HKDF (RFC 5869) derives from an encryption key. A signature lasts until its key is retired.
public enum SignedPurpose: String, Sendable {
    /// The `state` of a sign-in.
    case state
    /// The address of somebody who posts: its signature is kept in its place.
    case address
    /// The mark of a browser in which somebody has signed in.
    case browser

    /// How long a signature is.
    public static let byteCount = 16

    func code(of bytes: [UInt8], by key: KeyRing.Key) -> HMAC<SHA256>.MAC {
        HMAC<SHA256>.authenticationCode(for: Data(rawValue.utf8) + [0] + bytes, using: key.signing)
    }

    /// Compares in a time that depends on the lengths alone.
    func isCode(_ signature: some Collection<UInt8>, of bytes: [UInt8], by key: KeyRing.Key) -> Bool {
        guard signature.count == Self.byteCount else { return false }
        let difference = zip(signature, code(of: bytes, by: key)).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) }
        return difference == 0
    }
}

extension SessionStore {
    /// Signs bytes, so that they are known again as ours by every server that has the keys.
    ///
    /// - Returns: ``SignedPurpose/byteCount`` bytes.
    public func sign(_ bytes: [UInt8], as purpose: SignedPurpose) -> [UInt8] { sealer.sign(bytes, as: purpose) }

    /// Whether bytes were signed by one of the keys.
    public func isSigned(_ bytes: [UInt8], as purpose: SignedPurpose, by signature: some Collection<UInt8>) -> Bool {
        sealer.isSigned(bytes, as: purpose, by: signature)
    }
}
