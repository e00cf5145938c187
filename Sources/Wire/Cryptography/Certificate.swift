import COpenSSL

/// A certificate (RFC 5280). Nothing of it is verified by reading it.
public final class Certificate: Sendable, Equatable {
    /// The reason why there is no certificate.
    public enum Failure: Error, Sendable, Equatable {
        /// The text has no PEM document of this type.
        case notPEM
        /// The bytes are not a certificate's, or not in the one form that DER allows.
        case unreadable
        /// OpenSSL does not make one of these names, times and extensions.
        case notMade
    }

    private nonisolated(unsafe) let certificate: OpaquePointer
    /// The certificate in DER.
    public let der: [UInt8]

    private init(owning certificate: OpaquePointer) {
        self.certificate = certificate
        der = written { ccrypto_certificate_write(certificate, 0, $0) } ?? []
    }

    deinit { ccrypto_certificate_free(certificate) }

    /// Reads the first certificate of a PEM text, in which other documents and words may stand.
    public convenience init(pem: String) throws(Failure) {
        var isPEM: Int32 = 0
        guard let certificate = withText(pem, { ccrypto_certificate_read_pem($0, $1, &isPEM) }) else {
            throw isPEM == 1 ? .unreadable : .notPEM
        }
        self.init(owning: certificate)
    }

    /// Reads a certificate without bytes behind it.
    public convenience init(der: [UInt8]) throws(Failure) {
        guard !der.isEmpty, let certificate = ccrypto_certificate_read_der(der, der.count) else { throw .unreadable }
        self.init(owning: certificate)
    }

    /// PEM, with its last line's end.
    public var pem: String { text(written { ccrypto_certificate_write(certificate, 1, $0) }) }
    /// The subject's distinguished name in the form of RFC 4514.
    public var subject: String { text(written { ccrypto_certificate_name(certificate, 0, $0) }) }
    /// The issuer's.
    public var issuer: String { text(written { ccrypto_certificate_name(certificate, 1, $0) }) }
    /// The first second in which it is valid, since 1970.
    public var start: Int64 { ccrypto_certificate_start(certificate) }
    /// The last one.
    public var end: Int64 { ccrypto_certificate_end(certificate) }
    /// Its public key; nil if that is none of ``KeyKind``, or is too small.
    public var publicKey: PublicKey? { PublicKey(owning: ccrypto_certificate_key(certificate)) }

    /// Whether a key has signed it.
    public func isSigned(by key: PublicKey) -> Bool { key.hasSigned(certificate) }

    /// Whether it has an extension with exactly this value.
    public func has(_ wanted: Extension) -> Bool {
        ccrypto_certificate_has(certificate, wanted.name, wanted.value) == 1
    }

    /// Whether both are the same, byte by byte.
    public static func == (one: Certificate, other: Certificate) -> Bool { one.der == other.der }
}

extension Certificate {
    /// An extension in the words of OpenSSL's configuration (x509v3_config(5)), such as `basicConstraints` and
    /// `critical,CA:TRUE`. They are the program's own: words of others could name anything.
    public struct Extension: Sendable, Equatable {
        let name: String
        let value: String

        /// Names the extension and its value.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Makes a certificate with a random serial number, signed with SHA-256.
    ///
    /// - Parameters:
    ///   - key: the key that it is for.
    ///   - commonName: the only part of the subject's name.
    ///   - validity: the first and the last second, since 1970.
    ///   - extensions: the extensions in their order.
    ///   - issuer: the issuer's certificate; nil makes one that is its own.
    ///   - issuerKey: the issuer's key.
    public convenience init(
        of key: PublicKey, commonName: String, validity: ClosedRange<Int64>, extensions: [Extension],
        issuer: Certificate? = nil, signedBy issuerKey: PrivateKey
    ) throws(Failure) {
        guard let made = key.begin(commonName, validity, below: issuer?.certificate) else { throw .notMade }
        defer { ccrypto_certificate_free(made) }
        for added in extensions {
            guard ccrypto_certificate_add(made, issuer?.certificate, added.name, added.value) == 1 else {
                throw .notMade
            }
        }
        guard issuerKey.sign(made), let der = written({ ccrypto_certificate_write(made, 0, $0) }) else {
            throw .notMade
        }
        try self.init(der: der)
    }
}
