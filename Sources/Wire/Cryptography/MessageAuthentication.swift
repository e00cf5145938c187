import COpenSSL

/// A key of HMAC (RFC 2104) with SHA-256.
public final class AuthenticationKey: Sendable {
    private nonisolated(unsafe) let mac: OpaquePointer

    /// Takes a key of any length.
    public init(_ key: some Collection<UInt8>) {
        guard let mac = withBytes(of: key, { ccrypto_mac_new($0.baseAddress, $0.count) }) else {
            preconditionFailure("libcrypto has no HMAC")
        }
        self.mac = mac
    }

    deinit { ccrypto_mac_free(mac) }

    /// Returns the code of bytes.
    public func code(for bytes: some Collection<UInt8>) -> Digest {
        withBytes(of: bytes) { bytes in Digest { ccrypto_mac_code(mac, bytes.baseAddress, bytes.count, $0) } }
    }

    /// Whether a code is the one of these bytes.
    public func isCode(_ code: some Collection<UInt8>, for bytes: some Collection<UInt8>) -> Bool {
        isEqualInConstantTime(self.code(for: bytes), code)
    }
}

/// HKDF (RFC 5869) with SHA-256.
public enum KeyDerivation {
    /// The most bytes that one key makes (RFC 5869 section 2.3).
    public static let maxBytes = 255 * 32

    /// Returns a key for a purpose.
    ///
    /// - Parameters:
    ///   - key: a key that is not empty, with at least as much randomness as the result shall have.
    ///   - salt: a value that need not be secret.
    ///   - purpose: the `info`: another one makes another key.
    ///   - count: the number of bytes, 1 to ``maxBytes``.
    public static func key(
        from key: some Collection<UInt8>, salt: some Collection<UInt8> = [], for purpose: some Collection<UInt8>,
        count: Int = 32
    ) -> [UInt8] {
        precondition((1...maxBytes).contains(count) && !key.isEmpty, "no key of \(count) bytes can be derived")
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            let isDerived = withBytes(of: key) { key in
                withBytes(of: salt) { salt in
                    withBytes(of: purpose) { purpose -> Int32 in
                        guard let out = buffer.baseAddress, let first = key.baseAddress else { return 0 }
                        return ccrypto_hkdf(
                            first, key.count, salt.baseAddress, salt.count, purpose.baseAddress, purpose.count, out,
                            count)
                    }
                }
            }
            precondition(isDerived == 1, "libcrypto has no HKDF")
            filled = count
        }
    }
}
