import COpenSSL

/// Lends the bytes of a collection, in one piece.
@inlinable func withBytes<Result>(
    of bytes: some Collection<UInt8>, _ body: (UnsafeRawBufferPointer) throws -> Result
) rethrows -> Result {
    try bytes.withContiguousStorageIfAvailable { try body(UnsafeRawBufferPointer($0)) }
        ?? Array(bytes).withUnsafeBytes(body)
}

/// Returns bytes of OpenSSL's, which are freed, or nil if there are none.
func written(_ write: (UnsafeMutablePointer<Int>) -> UnsafeMutablePointer<UInt8>?) -> [UInt8]? {
    var count = 0
    guard let bytes = write(&count) else { return nil }
    defer { ccrypto_release(bytes, count) }
    return Array(UnsafeBufferPointer(start: bytes, count: count))
}

/// Whether the bytes are equal, in a time that depends on their numbers alone.
public func isEqualInConstantTime(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
    withBytes(of: left) { left in
        withBytes(of: right) { right in
            guard left.count == right.count else { return false }
            guard let one = left.baseAddress, let other = right.baseAddress else { return true }
            return ccrypto_is_equal(one, other, left.count) == 1
        }
    }
}

/// Random bytes for keys, nonces and names that nobody may guess.
public enum SecureRandom {
    /// Returns bytes from OpenSSL's generator, which the system's seeds. Without it the process ends: there is nothing
    /// safe to go on with.
    public static func bytes(_ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            if let bytes = buffer.baseAddress {
                precondition(ccrypto_random(bytes, count) == 1, "libcrypto has no random bytes")
            }
            filled = count
        }
    }
}

/// Lends a text as OpenSSL reads one; nil if it is longer than that can be.
func withText(_ text: String, _ read: (UnsafeRawPointer, Int32) -> OpaquePointer?) -> OpaquePointer? {
    withBytes(of: text.utf8) { bytes in
        guard let first = bytes.baseAddress, let count = Int32(exactly: bytes.count) else { return nil }
        return read(first, count)
    }
}

/// Returns what OpenSSL has written as text; none is empty.
func text(_ bytes: [UInt8]?) -> String { String(decoding: bytes ?? [], as: UTF8.self) }
