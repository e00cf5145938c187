import Foundation
import WebFormats

extension SessionStore {
    /// Signs bytes, so that every server with the keys recognizes them as ours.
    ///
    /// - Returns: ``SignedPurpose/byteCount`` bytes.
    public func sign(_ bytes: [UInt8], as purpose: SignedPurpose) -> [UInt8] { sealer.sign(bytes, as: purpose) }

    /// Whether bytes were signed by one of the keys.
    public func isSigned(_ bytes: [UInt8], as purpose: SignedPurpose, by signature: some Collection<UInt8>) -> Bool {
        sealer.isSigned(bytes, as: purpose, by: signature)
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
