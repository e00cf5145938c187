import Crypto
import Foundation
import SwiftASN1
import X509

/// A certificate with its key.
struct Issued {
    let certificate: Certificate
    let key: P256.Signing.PrivateKey

    /// The lifetime of the root and the intermediate.
    static let authorityLifetime: TimeInterval = 3650 * 86_400
    /// The lifetime of a server's certificate. Apple's platforms accept 825 days of a root that a person has added, and
    /// browsers 398 days of other roots.
    static let serverLifetime: TimeInterval = 397 * 86_400
    /// Clocks differ, so a certificate begins a little earlier.
    private static let tolerance: TimeInterval = 3600

    /// The names of every server's certificate.
    static let loopbackNames: [GeneralName] = [
        .dnsName("localhost"), .ipAddress(octets(127, 0, 0, 1)), .ipAddress(octets(of: ipv6Loopback)),
    ]
    private static let ipv6Loopback: [UInt8] = [UInt8](repeating: 0, count: 15) + [1]

    private static func octets(_ bytes: UInt8...) -> ASN1OctetString { octets(of: bytes) }
    private static func octets(of bytes: [UInt8]) -> ASN1OctetString { ASN1OctetString(contentBytes: bytes[...]) }

    /// Returns a new root, whose key is gone afterwards, and the only intermediate that it signs.
    static func authority(now: Date) throws -> (root: Certificate, intermediate: Issued) {
        let (rootKey, key) = (P256.Signing.PrivateKey(), P256.Signing.PrivateKey())
        // Keychains tell roots apart by their names.
        let mark = SHA256.hash(data: rootKey.publicKey.derRepresentation).prefix(4)
            .map { String(format: "%02x", $0) }.joined()
        let rootName = try name("Companion development root \(mark)")
        let rootPublicKey = Certificate.PublicKey(rootKey.publicKey)
        func issue(
            _ key: Certificate.PublicKey, subject: DistinguishedName, extensions: Certificate.Extensions
        ) throws -> Certificate {
            try Certificate(
                version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: key,
                notValidBefore: now - tolerance, notValidAfter: now + authorityLifetime, issuer: rootName,
                subject: subject, signatureAlgorithm: .ecdsaWithSHA256, extensions: extensions,
                issuerPrivateKey: Certificate.PrivateKey(rootKey))
        }
        let root = try issue(
            rootPublicKey, subject: rootName,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 1))
                Critical(KeyUsage(keyCertSign: true))
                SubjectKeyIdentifier(hash: rootPublicKey)
            })
        let publicKey = Certificate.PublicKey(key.publicKey)
        let intermediate = try issue(
            publicKey, subject: name("Companion development intermediate \(mark)"),
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true))
                // An address is followed by its mask (RFC 5280 section 4.2.1.10).
                Critical(
                    NameConstraints(
                        permittedDNSDomains: ["localhost"],
                        permittedIPRanges: [
                            octets(127, 0, 0, 0, 255, 0, 0, 0),
                            octets(of: ipv6Loopback + [UInt8](repeating: 255, count: 16)),
                        ]))
                try ExtendedKeyUsage([.serverAuth])
                SubjectKeyIdentifier(hash: publicKey)
                AuthorityKeyIdentifier(keyIdentifier: SubjectKeyIdentifier(hash: rootPublicKey).keyIdentifier)
            })
        return (root, Issued(certificate: intermediate, key: key))
    }

    /// Returns a new server's certificate, which ends no later than its issuer.
    static func server(for names: [GeneralName], below issuer: Issued, now: Date) throws -> Issued {
        let key = P256.Signing.PrivateKey()
        let publicKey = Certificate.PublicKey(key.publicKey)
        let issuerKey = SubjectKeyIdentifier(hash: issuer.certificate.publicKey).keyIdentifier
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: publicKey,
            notValidBefore: now - tolerance,
            notValidAfter: min(now - tolerance + serverLifetime, issuer.certificate.notValidAfter),
            issuer: issuer.certificate.subject, subject: name("localhost"), signatureAlgorithm: .ecdsaWithSHA256,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth])
                SubjectAlternativeNames(names)
                SubjectKeyIdentifier(hash: publicKey)
                AuthorityKeyIdentifier(keyIdentifier: issuerKey)
            },
            issuerPrivateKey: Certificate.PrivateKey(issuer.key))
        return Issued(certificate: certificate, key: key)
    }

    /// Whether a server's certificate has the names of this version, and is valid for long enough.
    func serves(below issuer: Issued, _ now: Date) -> Bool {
        guard let names = try? certificate.extensions.subjectAlternativeNames else { return false }
        return Array(names) == Self.loopbackNames && isIssued(by: issuer.certificate.publicKey)
            && certificate.notValidBefore <= now && certificate.notValidAfter > now + DevelopmentCA.renewal
    }

    /// Whether it was signed with this key, and is the certificate of its own key.
    func isIssued(by issuer: Certificate.PublicKey) -> Bool {
        Certificate.PublicKey(key.publicKey) == certificate.publicKey
            && issuer.isValidSignature(certificate.signature, for: certificate)
    }

    private static func name(_ commonName: String) throws -> DistinguishedName {
        try DistinguishedName { CommonName(commonName) }
    }
}

// The form in a file: the key, then the certificate. What follows is ignored.
extension Issued {
    init(pem: String) throws {
        var (certificate, key): (Certificate?, P256.Signing.PrivateKey?)
        for document in try PEMDocument.parseMultiple(pemString: pem) {
            switch document.discriminator {
            case Certificate.defaultPEMDiscriminator:
                certificate = try certificate ?? Certificate(pemDocument: document)
            default: key = try P256.Signing.PrivateKey(pemRepresentation: document.pemString)
            }
        }
        guard let certificate, let key else { throw CocoaError(.fileReadCorruptFile) }
        self.init(certificate: certificate, key: key)
    }

    var pem: String { key.pemRepresentation + "\n" + certificatePEM }

    var certificatePEM: String { ((try? certificate.serializeAsPEM().pemString) ?? "") + "\n" }
}

extension DistinguishedName {
    /// The text of the common name.
    var commonName: String? {
        for name in self {
            for attribute in name where attribute.type == .RDNAttributeType.commonName {
                return String(attribute.value)
            }
        }
        return nil
    }
}
