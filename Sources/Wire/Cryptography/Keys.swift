import COpenSSL

/// The accepted signatures (RFC 7518 section 3). All hash with SHA-256.
public enum SignatureScheme: Sendable, Hashable, CaseIterable {
    /// RSASSA-PKCS1-v1_5.
    case rs256
    /// RSASSA-PSS, with a salt of 32 bytes and no other.
    case ps256
    /// ECDSA on P-256: `r` and `s`, 32 bytes each, and not DER.
    case es256

    fileprivate var code: ccrypto_scheme {
        switch self {
        case .rs256: ccrypto_rs256
        case .ps256: ccrypto_ps256
        case .es256: ccrypto_es256
        }
    }
}

/// The accepted kinds of keys: RSA with a modulus of 2048 to 16384 bits and an odd exponent above 1 of at most 33 bits,
/// and points on P-256.
public enum KeyKind: Sendable, Hashable {
    /// RSA.
    case rsa
    /// ECDSA on P-256.
    case p256
}

/// A key that checks signatures.
public final class PublicKey: Sendable, Equatable {
    fileprivate nonisolated(unsafe) let key: OpaquePointer
    /// The kind of key.
    public let kind: KeyKind

    /// Takes the key over.
    init?(owning key: OpaquePointer?) {
        guard let key else { return nil }
        self.key = key
        kind = ccrypto_key_kind(key) == ccrypto_rsa ? .rsa : .p256
    }

    deinit { ccrypto_key_free(key) }

    /// Takes the modulus and the exponent of an RSA key, highest byte first; nil if they are too small, too large or even.
    public convenience init?(modulus: [UInt8], exponent: [UInt8]) {
        self.init(owning: ccrypto_key_of_rsa(modulus, modulus.count, exponent, exponent.count))
    }

    /// Takes the coordinates of a point; nil unless each has 32 bytes and the point is on P-256.
    public convenience init?(x: [UInt8], y: [UInt8]) {
        guard x.count == 32, y.count == 32 else { return nil }
        self.init(owning: ccrypto_key_of_point([4] + x + y))
    }

    /// Reads the first `PUBLIC KEY` of a PEM text; nil if it cannot be read or is not accepted.
    public convenience init?(pem: String) {
        self.init(owning: withText(pem) { ccrypto_key_read_public($0, $1) })
    }

    /// The modulus of an RSA key, highest byte first; empty for another.
    public var modulus: [UInt8] { kind == .rsa ? part("n") : [] }
    /// The exponent of an RSA key; empty for another.
    public var exponent: [UInt8] { kind == .rsa ? part("e") : [] }
    /// The first coordinate of a point, 32 bytes; empty for another key.
    public var x: [UInt8] { kind == .p256 ? part("x") : [] }
    /// The second one.
    public var y: [UInt8] { kind == .p256 ? part("y") : [] }

    private func part(_ name: Unicode.Scalar) -> [UInt8] {
        let room = 16384 / 8
        return [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
            if let out = buffer.baseAddress { count = ccrypto_key_part(key, CChar(name.value), out, room) }
        }
    }

    /// `SubjectPublicKeyInfo` in DER.
    public var der: [UInt8] { written { ccrypto_key_write(key, ccrypto_public_der, $0) } ?? [] }
    /// `SubjectPublicKeyInfo` in PEM, with its last line's end.
    public var pem: String { text(written { ccrypto_key_write(key, ccrypto_public_pem, $0) }) }

    /// Whether the private key has signed the bytes in this way. A key of the other kind has not.
    public func isSignature(
        _ signature: some Collection<UInt8>, of bytes: some Collection<UInt8>, scheme: SignatureScheme
    ) -> Bool {
        withBytes(of: signature) { signature in
            withBytes(of: bytes) { bytes in
                guard let first = signature.bindMemory(to: UInt8.self).baseAddress else { return false }
                return ccrypto_key_verify(
                    key, scheme.code, bytes.baseAddress, bytes.count, first, signature.count) == 1
            }
        }
    }

    /// Whether two keys are the same.
    public static func == (one: PublicKey, other: PublicKey) -> Bool {
        ccrypto_key_is_equal(one.key, other.key) == 1
    }

    /// Whether it has signed a certificate.
    func hasSigned(_ certificate: OpaquePointer) -> Bool { ccrypto_certificate_is_signed(certificate, key) == 1 }
}

/// A key that signs.
public final class PrivateKey: Sendable {
    fileprivate nonisolated(unsafe) let key: OpaquePointer
    /// The key that checks what this one signs.
    public let publicKey: PublicKey
    /// The kind of key.
    public var kind: KeyKind { publicKey.kind }

    private init?(owning key: OpaquePointer?) {
        guard let key, let publicKey = PublicKey(owning: ccrypto_key_share(key)) else { return nil }
        self.key = key
        self.publicKey = publicKey
    }

    deinit { ccrypto_key_free(key) }

    /// Makes a key: RSA of 2048 bits, which takes up to a second, or P-256. Without random bytes the process ends.
    public convenience init(_ kind: KeyKind) {
        guard let key = ccrypto_key_new(kind == .rsa ? ccrypto_rsa : ccrypto_p256) else {
            preconditionFailure("libcrypto cannot make a key")
        }
        self.init(made: key)
    }

    private init(made key: OpaquePointer) {
        guard let publicKey = PublicKey(owning: ccrypto_key_share(key)) else {
            preconditionFailure("a key without a public one")
        }
        self.key = key
        self.publicKey = publicKey
    }

    /// Reads the first private key of a PEM text: PKCS #8, PKCS #1 or SEC 1. nil if it cannot be read, is not accepted, or
    /// is encrypted: nobody is asked for a password.
    public convenience init?(pem: String) {
        self.init(owning: withText(pem) { ccrypto_key_read_pem($0, $1) })
    }

    /// Reads a key in DER: PKCS #8, PKCS #1 or SEC 1. nil if it cannot be read, is not accepted, or bytes follow.
    public convenience init?(der: some Collection<UInt8>) {
        self.init(
            owning: withBytes(of: der) { der in
                der.bindMemory(to: UInt8.self).baseAddress.flatMap { ccrypto_key_read_der($0, der.count) }
            })
    }

    /// PKCS #8 in PEM, with its last line's end.
    public var pem: String { text(written { ccrypto_key_write(key, ccrypto_pkcs8_pem, $0) }) }
    /// PKCS #1 or SEC 1 in DER.
    public var traditionalDER: [UInt8] { written { ccrypto_key_write(key, ccrypto_own_der, $0) } ?? [] }

    /// Signs bytes; nil if the key is of the other kind, or has no sense.
    public func signature(of bytes: some Collection<UInt8>, scheme: SignatureScheme) -> [UInt8]? {
        let room = 16384 / 8
        let signature = withBytes(of: bytes) { bytes in
            [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
                guard let out = buffer.baseAddress else { return }
                count = ccrypto_key_sign(key, scheme.code, bytes.baseAddress, bytes.count, out, room)
            }
        }
        return signature.isEmpty ? nil : signature
    }

    /// Signs a certificate.
    func sign(_ certificate: OpaquePointer) -> Bool { ccrypto_certificate_sign(certificate, key) == 1 }
}

extension PublicKey {
    /// Begins a certificate of this key.
    func begin(_ name: String, _ validity: ClosedRange<Int64>, below issuer: OpaquePointer?) -> OpaquePointer? {
        ccrypto_certificate_new(key, name, validity.lowerBound, validity.upperBound, issuer)
    }
}
