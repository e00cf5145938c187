import COpenSSL

/// A key of AES-256-GCM (NIST SP 800-38D). It is overwritten when nobody has it any more.
///
/// Each value is sealed with a nonce of its own, 96 random bits, which no caller can give: with one nonce twice, both
/// values would lie open. One key may seal 2^32 values (section 8.3).
public final class SealingKey: Sendable {
    /// The number of bytes of a key.
    public static let byteCount = 32
    /// The bytes that sealing adds: the nonce before the ciphertext, the tag behind it.
    public static let overhead = 28

    private nonisolated(unsafe) let key: UnsafeMutablePointer<UInt8>

    /// Takes 32 bytes; nil if there are more or fewer.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        key = .allocate(capacity: Self.byteCount)
        _ = UnsafeMutableBufferPointer(start: key, count: Self.byteCount).initialize(from: bytes)
    }

    deinit {
        ccrypto_cleanse(key, Self.byteCount)
        key.deallocate()
    }

    /// The key itself, for what stores it or derives others from it.
    public var bytes: [UInt8] { Array(UnsafeBufferPointer(start: key, count: Self.byteCount)) }

    /// Returns nonce, ciphertext and tag; nil if there is too much to seal, or OpenSSL's generator fails.
    ///
    /// - Parameters:
    ///   - bytes: the value.
    ///   - place: the associated data, without which the value does not open.
    ///   - header: bytes to put before the sealed ones, as they are.
    public func seal(
        _ bytes: some Collection<UInt8>, for place: some Collection<UInt8>, after header: [UInt8] = []
    ) -> [UInt8]? {
        withBytes(of: bytes) { bytes in
            withBytes(of: place) { place -> [UInt8]? in
                guard let count = Int32(exactly: bytes.count), let placeCount = Int32(exactly: place.count),
                    count <= Int32.max - Int32(Self.overhead)
                else { return nil }
                let total = header.count + bytes.count + Self.overhead
                let sealed = [UInt8](unsafeUninitializedCapacity: total) { buffer, filled in
                    _ = buffer.initialize(from: header)
                    guard let start = buffer.baseAddress.map({ $0 + header.count }),
                        ccrypto_seal(key, bytes.baseAddress, count, place.baseAddress, placeCount, start) == 1
                    else { return }
                    filled = total
                }
                return sealed.isEmpty ? nil : sealed
            }
        }
    }

    /// Returns the value; nil if it was sealed with another key or for another place, or was changed.
    public func open(_ sealed: some Collection<UInt8>, for place: some Collection<UInt8>) -> [UInt8]? {
        withBytes(of: sealed) { sealed in
            withBytes(of: place) { place -> [UInt8]? in
                guard let start = sealed.bindMemory(to: UInt8.self).baseAddress, sealed.count >= Self.overhead,
                    let count = Int32(exactly: sealed.count), let placeCount = Int32(exactly: place.count)
                else { return nil }
                var isOpen = false
                let bytes = [UInt8](unsafeUninitializedCapacity: max(1, sealed.count - Self.overhead)) {
                    buffer, filled in
                    guard let out = buffer.baseAddress else { return }
                    isOpen = ccrypto_open(key, start, count, place.baseAddress, placeCount, out) == 1
                    filled = isOpen ? sealed.count - Self.overhead : 0
                }
                return isOpen ? bytes : nil
            }
        }
    }
}
