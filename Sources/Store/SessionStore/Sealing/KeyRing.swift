import Cryptography
import Foundation
public import WebFormats

/// The keys that seal secrets in the database: the first one seals, all of them open.
///
/// Sealing uses AES-256-GCM with random 96-bit nonces. One key may seal 2^32 values (NIST SP 800-38D section 8.3), so
/// rotate it every few years, or when a person who knew it leaves.
public struct KeyRing: Sendable, Redacted {
    /// Eight bytes of a hash of the key. They are stored with every sealed value, and are not secret.
    public struct KeyID: Sendable, Hashable, CustomStringConvertible {
        package static let byteCount = 8
        package let bytes: [UInt8]
        package init(bytes: [UInt8]) { self.bytes = bytes }
        /// The bytes in hexadecimal.
        public var description: String { Hex.encode(bytes) }
    }

    struct Key: Sendable {
        static let byteCount = SealingKey.byteCount
        let id: KeyID
        let secret: SealingKey
        /// The key that signs what a browser or a provider keeps for us.
        let signing: AuthenticationKey

        init?(_ bytes: some Collection<UInt8>) {
            guard let secret = SealingKey(bytes) else { return nil }
            var hash = SHA256()
            hash.update(data: "companion key id".utf8)
            hash.update(data: bytes)
            id = KeyID(bytes: Array(hash.finalize().prefix(KeyID.byteCount)))
            self.secret = secret
            signing = AuthenticationKey(KeyDerivation.key(from: bytes, for: "companion signatures".utf8))
        }

        var base64: String { Data(secret.bytes).base64EncodedString() }
    }

    /// The key that seals.
    var current: Key
    /// The keys that only open what they sealed earlier.
    var older: [Key]
    /// The file that the keys came from, so that a rotation by the command line is noticed; nil for keys from the
    /// environment.
    let file: String?
    /// The key that makes the names of accounts in the audit log: see ``Pseudonym``.
    let pseudonymKey: AuthenticationKey

    init(keys: [Key], file: String?) throws(StoreError) {
        guard let first = keys.first else {
            throw .keyFile("\(file ?? "The encryption key") holds no key: give 32 random bytes in base64.")
        }
        current = first
        older = Array(keys.dropFirst())
        self.file = file
        pseudonymKey = Pseudonym.key(from: keys.last ?? first)
    }

    /// Creates a key ring from the text of `COMPANION_ENCRYPTION_KEY` or a key file: keys of 32 bytes in base64, one on
    /// a line (or separated by commas or spaces), the sealing key first. Lines that start with `#` are comments.
    public init(text: String) throws(StoreError) {
        try self.init(keys: Self.parse(text, source: "The encryption key"), file: nil)
    }

    /// The id of the key that seals.
    public var currentKeyID: KeyID { current.id }
    /// The ids of all keys, the sealing one first.
    public var keyIDs: [KeyID] { [current.id] + older.map(\.id) }

    func key(_ id: some Sequence<UInt8>) -> Key? {
        ([current] + older).first { $0.id.bytes.elementsEqual(id) }
    }

    static func parse(_ text: String, source: String) throws(StoreError) -> [Key] {
        var keys: [Key] = []
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated()
        where !line.hasPrefix("#") {
            for word in line.split(whereSeparator: { $0.isWhitespace || $0 == "," }) {
                guard let bytes = Data(base64Encoded: String(word)), let key = Key(bytes) else {
                    throw .keyFile(
                        "\(source), line \(index + 1), is not a key: 32 bytes in base64 (44 characters) are needed. "
                            + "Restore it from your backup; a lost key cannot be recovered.")
                }
                if !keys.contains(where: { $0.id == key.id }) { keys.append(key) }
            }
        }
        return keys
    }
}
