import COpenSSL

/// The 32 bytes of a SHA-256. Two of them compare in a time that does not depend on where they differ.
public struct Digest: Sendable, Equatable, RandomAccessCollection {
    private var bytes = InlineArray<32, UInt8>(repeating: 0)

    /// Lets a function write all 32 bytes. A system without SHA-256 or memory cannot go on.
    init(_ write: (UnsafeMutablePointer<UInt8>) -> Int32) {
        var span = bytes.mutableSpan
        let isWritten = span.withUnsafeMutableBufferPointer { buffer in
            buffer.baseAddress.map { write($0) } == 1
        }
        precondition(isWritten, "libcrypto has no SHA-256")
    }

    /// The place of the first byte.
    public var startIndex: Int { 0 }
    /// The number of bytes.
    public var endIndex: Int { 32 }
    /// Returns one byte.
    public subscript(position: Int) -> UInt8 { bytes[position] }

    /// Lends the bytes.
    public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try bytes.span.withUnsafeBytes(body)
    }
    /// Lends the bytes, so that copying them is one call.
    public func withContiguousStorageIfAvailable<Result>(
        _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
    ) rethrows -> Result? {
        try bytes.span.withUnsafeBufferPointer(body)
    }

    /// Compares all bytes.
    public static func == (one: Digest, other: Digest) -> Bool { isEqualInConstantTime(one, other) }
}

/// SHA-256 (FIPS 180-4), of bytes that come one after the other.
public struct SHA256: ~Copyable {
    private let hash: OpaquePointer

    /// Begins with no bytes.
    public init() {
        guard let hash = ccrypto_hash_new() else { preconditionFailure("libcrypto has no SHA-256") }
        self.hash = hash
    }

    deinit { ccrypto_hash_free(hash) }

    /// Adds bytes.
    public mutating func update(data: some Collection<UInt8>) {
        let isAdded = withBytes(of: data) { ccrypto_hash_update(hash, $0.baseAddress, $0.count) }
        precondition(isAdded == 1, "libcrypto cannot hash")
    }

    /// Returns the hash of all bytes.
    public consuming func finalize() -> Digest { Digest { ccrypto_hash_finish(hash, $0) } }

    /// Returns the hash of bytes that are all there.
    @inlinable public static func hash(data: some Collection<UInt8>) -> Digest { withBytes(of: data) { hash($0) } }

    @usableFromInline static func hash(_ bytes: UnsafeRawBufferPointer) -> Digest {
        Digest { ccrypto_sha256(bytes.baseAddress, bytes.count, $0) }
    }
}

/// SHA-1 (FIPS 180-4), only for names: a certificate's thumbprint. It protects nothing.
public enum SHA1 {
    /// Returns the 20 bytes of the hash.
    public static func hash(data: some Collection<UInt8>) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 20) { buffer, count in
            guard let digest = buffer.baseAddress,
                withBytes(of: data, { ccrypto_sha1($0.baseAddress, $0.count, digest) }) == 1
            else { preconditionFailure("libcrypto has no SHA-1") }
            count = 20
        }
    }
}
