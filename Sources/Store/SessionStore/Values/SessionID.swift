import Cryptography
package import Foundation
public import WebFormats

/// The value of the session cookie: 32 random bytes. Only its SHA-256 is stored.
public struct SessionID: Sendable, Hashable, Redacted {
    /// The number of random bytes in an id. 256 bits cannot be guessed (RFC 6819 section 5.1.4.2.2 asks for 128).
    public static let byteCount = 32

    /// The 32 bytes.
    private let secret: Words
    /// SHA-256 of the 32 bytes, by which backends and the cache know the session.
    public let hash: SHA256Hash
    /// The lowest session version that this browser has seen, at any server. A cached session with an older version is
    /// not used. 0 if nothing is known.
    public var version: Int64 = 0

    /// The text that the browser keeps: base64url without padding, 43 characters.
    public var cookieValue: String { withUnsafeBytes(of: secret) { Base64URL.encode($0) } }

    /// Creates a new id. `randomBytes` must return exactly as many bytes as requested, from a secure source.
    public init(randomBytes: (Int) -> [UInt8]) {
        let bytes = randomBytes(Self.byteCount)
        precondition(bytes.count == Self.byteCount, "a source of randomness gave \(bytes.count) bytes")
        self.init(bytes)
    }

    /// Reads the id in a cookie; nil if the bytes cannot be a value that we have set.
    public init?(cookieValue: Span<UInt8>) {
        guard let bytes = Base64URL.decode(cookieValue), bytes.count == Self.byteCount else { return nil }
        self.init(bytes)
    }

    /// Reads the id in a cookie's text.
    public init?(cookieValue: String) { self.init(cookieValue: cookieValue.utf8.span) }

    private init(_ bytes: [UInt8]) {
        secret = bytes.withUnsafeBytes(words)
        hash = SHA256Hash(SHA256.hash(data: bytes))
    }

    /// Compares the hashes, which leaks nothing about the secret.
    public static func == (one: SessionID, other: SessionID) -> Bool { one.hash == other.hash }
    /// Hashes the hash, not the secret.
    public func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

/// 32 bytes in four words: copying them allocates nothing and needs no reference counting.
private typealias Words = (UInt64, UInt64, UInt64, UInt64)

/// Returns the words of at least 32 bytes.
private func words(_ bytes: UnsafeRawBufferPointer) -> Words {
    func word(_ index: Int) -> UInt64 { bytes.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self) }
    return (word(0), word(1), word(2), word(3))
}

/// SHA-256 of a secret that is looked up (session id, state, code).
public struct SHA256Hash: Sendable, Hashable {
    private let value: Words

    init(_ digest: Digest) {
        value = digest.withUnsafeBytes(words)
    }

    /// Reads a hash from a backend; nil unless there are 32 bytes.
    package init?(blob: Data) {
        guard blob.count == 32 else { return nil }
        value = blob.withUnsafeBytes(words)
    }

    /// Hashes a text that is looked up by its hash: a state, a code.
    init(of text: String) {
        self.init(SHA256.hash(data: text.utf8))
    }

    /// The 32 bytes, as backends store them.
    package var blob: Data {
        withUnsafeBytes(of: value) { Data($0) }
    }

    /// Compares all 32 bytes.
    public static func == (one: SHA256Hash, other: SHA256Hash) -> Bool { one.value == other.value }
    /// Hashes one word. The value is already uniformly distributed.
    public func hash(into hasher: inout Hasher) { hasher.combine(value.0) }
}
