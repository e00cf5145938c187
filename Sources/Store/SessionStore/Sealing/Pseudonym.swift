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

extension SessionStore {
    /// Returns the name in the audit log of an account, whichever application it signs in to.
    ///
    /// - Parameters:
    ///   - id: the home account id.
    ///   - environment: the host of the authority, such as `login.microsoftonline.com`.
    public func pseudonym(ofAccount id: String, environment: String) -> Pseudonym {
        Pseudonym("\(environment)\n\(id)", key: sealer.ring.pseudonymKey)
    }

    /// Returns the name in the audit log of a signed-in account.
    public func pseudonym(of account: Account) -> Pseudonym {
        pseudonym(ofAccount: account.id, environment: account.identity.environment)
    }
}
