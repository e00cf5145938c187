import Crypto
import Foundation
import WebFormats

/// An account's name in an audit log: the same for the same account of this installation, so that its lines can be joined,
/// and nothing by which anybody without the key learns whose it is.
///
/// HMAC-SHA256 with a key that HKDF (RFC 5869) derives from the *oldest* encryption key: nothing more has to be kept and
/// backed up, the command line finds the same names, and a rotation changes none, because the older key stays in the ring
/// until it is retired. From then on the names are others, and nobody can compute the earlier ones any more.
public struct Pseudonym: Sendable, Hashable, CustomStringConvertible {
    /// 32 hexadecimal digits.
    public let description: String
    private static let byteCount = 16

    init(_ text: String, key: SymmetricKey) {
        let code = HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key)
        description = Hex.encode(code.prefix(Self.byteCount))
    }

    /// The key for a ring whose oldest key this is.
    static func key(from oldest: KeyRing.Key) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: oldest.secret, info: Data("companion audit pseudonyms".utf8), outputByteCount: 32)
    }
}

extension SessionStore {
    /// The name in the audit log of an account, whatever application it signs in to.
    ///
    /// - Parameters:
    ///   - id: the home account id.
    ///   - environment: the host of the authority, as `login.microsoftonline.com`.
    public func pseudonym(ofAccount id: String, environment: String) -> Pseudonym {
        Pseudonym("\(environment)\n\(id)", key: sealer.ring.pseudonymKey)
    }

    /// The name in the audit log of an account that is signed in.
    public func pseudonym(of account: Account) -> Pseudonym {
        pseudonym(ofAccount: account.id, environment: account.identity.environment)
    }
}
