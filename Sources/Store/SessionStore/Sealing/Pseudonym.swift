import Cryptography
import WebFormats

/// An account's name in an audit log. It is the same for the same account of this installation, so that its lines can
/// be joined, and without the key it reveals nothing about the person.
///
/// HMAC-SHA256 with a key that HKDF (RFC 5869) derives from the *oldest* encryption key. No further key has to be
/// stored and backed up, the command line finds the same names, and a rotation does not change them, because the older
/// key stays in the ring until it is retired. After that, the names are different, and the earlier ones can no longer
/// be computed.
public struct Pseudonym: Sendable, Hashable, CustomStringConvertible {
    /// 32 hexadecimal digits.
    public let description: String
    private static let byteCount = 16

    init(_ text: String, key: AuthenticationKey) {
        description = Hex.encode(key.code(for: text.utf8).prefix(Self.byteCount))
    }

    /// Returns the key for a ring with this oldest key.
    static func key(from oldest: KeyRing.Key) -> AuthenticationKey {
        AuthenticationKey(KeyDerivation.key(from: oldest.secret.bytes, for: "companion audit pseudonyms".utf8))
    }
}
