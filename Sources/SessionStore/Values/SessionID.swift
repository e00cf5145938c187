import Crypto
package import Foundation
public import WebFormats

/// The value of the session cookie: 32 random bytes. Only its SHA-256 is stored.
public struct SessionID: Sendable, Hashable, Redacted {
    /// How many random bytes make an id: 256 bits cannot be guessed (RFC 6819 section 5.1.4.2.2 asks for 128).
    public static let byteCount = 32

    /// The 32 bytes.
    private let secret: Words
    /// SHA-256 of the 32 bytes: what backends and the cache know the session by.
    public let hash: SHA256Hash
    /// The session's version that this browser has seen at least, at whichever server: what is in memory may be older, and
    /// is not taken then. 0 where nothing is known of it.
    public var version: Int64 = 0

    /// What the browser keeps: base64url without padding, 43 characters.
    public var cookieValue: String { withUnsafeBytes(of: secret) { Base64URL.encode($0) } }

    /// A new id. `randomBytes` must give exactly as many bytes as asked, from a secure source.
    public init(randomBytes: (Int) -> [UInt8]) {
        let bytes = randomBytes(Self.byteCount)
        precondition(bytes.count == Self.byteCount, "a source of randomness gave \(bytes.count) bytes")
        self.init(bytes)
    }

    /// The id in a cookie; nil when the bytes are not exactly those that we could have set.
    public init?(cookieValue: Span<UInt8>) {
        guard let bytes = Base64URL.decode(cookieValue), bytes.count == Self.byteCount else { return nil }
        self.init(bytes)
    }

    /// The same for text.
    public init?(cookieValue: String) { self.init(cookieValue: cookieValue.utf8.span) }

    private init(_ bytes: [UInt8]) {
        secret = bytes.withUnsafeBytes(words)
        hash = SHA256Hash(SHA256.hash(data: bytes))
    }

    /// Equal when the hashes are: comparing them leaks nothing about the secret.
    public static func == (one: SessionID, other: SessionID) -> Bool { one.hash == other.hash }
    /// Hashes the hash, not the secret.
    public func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

/// 32 bytes in four words: a copy allocates nothing and counts no reference.
private typealias Words = (UInt64, UInt64, UInt64, UInt64)

/// The words of 32 bytes at least.
private func words(_ bytes: UnsafeRawBufferPointer) -> Words {
    func word(_ index: Int) -> UInt64 { bytes.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self) }
    return (word(0), word(1), word(2), word(3))
}

/// SHA-256 of a secret by which something is found (session id, state, code).
public struct SHA256Hash: Sendable, Hashable {
    private let value: Words

    init(_ digest: SHA256.Digest) {
        value = digest.withUnsafeBytes(words)
    }

    /// From a backend; nil unless there are 32 bytes.
    package init?(blob: Data) {
        guard blob.count == 32 else { return nil }
        value = blob.withUnsafeBytes(words)
    }

    /// The hash of anything else that is looked up by its hash: a state, a code.
    init(of text: String) {
        self.init(SHA256.hash(data: Data(text.utf8)))
    }

    /// The 32 bytes, as backends hold them.
    package var blob: Data {
        withUnsafeBytes(of: value) { Data($0) }
    }

    /// Equal when all 32 bytes are.
    public static func == (one: SHA256Hash, other: SHA256Hash) -> Bool { one.value == other.value }
    /// The value is uniformly distributed already: one word is enough.
    public func hash(into hasher: inout Hasher) { hasher.combine(value.0) }
}
