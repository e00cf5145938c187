import Cryptography
import Foundation
import WebFormats

/// A certificate with its key.
struct Issued {
    let certificate: Certificate
    let key: PrivateKey

    /// The lifetime of the root and the intermediate.
    static let authorityLifetime: TimeInterval = 3650 * 86_400
    /// The lifetime of a server's certificate. Apple's platforms accept 825 days of a root that a person has added, and
    /// browsers 398 days of other roots.
    static let serverLifetime: TimeInterval = 397 * 86_400
    /// Clocks differ, so a certificate begins a little earlier.
    private static let tolerance: TimeInterval = 3600

    /// The names of every server's certificate. The second is the external tenant's, by which MSAL knows what kind it is.
    static let loopbackNames = "DNS:localhost,DNS:fabrikam.ciamlogin.localhost,IP:127.0.0.1,IP:::1"
    /// The purpose of every server's certificate, and of the intermediate.
    static let serverPurpose = Certificate.Extension("extendedKeyUsage", "serverAuth")

    /// Returns a new root, whose key is gone afterwards, and the only intermediate that it signs.
    static func authority(now: Date) throws(Certificate.Failure) -> (root: Certificate, intermediate: Issued) {
        let (rootKey, key) = (PrivateKey(.p256), PrivateKey(.p256))
        // Keychains tell roots apart by their names.
        let mark = Hex.encode(SHA256.hash(data: rootKey.publicKey.der).prefix(4))
        let validity = (now - tolerance).seconds...(now + authorityLifetime).seconds
        let root = try Certificate(
            of: rootKey.publicKey, commonName: "Companion development root \(mark)", validity: validity,
            extensions: [
                .init("basicConstraints", "critical,CA:TRUE,pathlen:1"), .init("keyUsage", "critical,keyCertSign"),
                .init("subjectKeyIdentifier", "hash"),
            ], signedBy: rootKey)
        let intermediate = try Certificate(
            of: key.publicKey, commonName: "Companion development intermediate \(mark)", validity: validity,
            extensions: [
                .init("basicConstraints", "critical,CA:TRUE,pathlen:0"), .init("keyUsage", "critical,keyCertSign"),
                // An address is followed by its mask (RFC 5280 section 4.2.1.10).
                .init(
                    "nameConstraints",
                    "critical,permitted;DNS:localhost,permitted;IP:127.0.0.0/255.0.0.0,permitted;IP:::1/"
                        + "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
                serverPurpose, .init("subjectKeyIdentifier", "hash"), .init("authorityKeyIdentifier", "keyid:always"),
            ], issuer: root, signedBy: rootKey)
        return (root, Issued(certificate: intermediate, key: key))
    }

    /// Returns a new server's certificate, which ends no later than its issuer.
    ///
    /// - Parameters:
    ///   - names: the names in the words of OpenSSL's configuration.
    ///   - issuer: the intermediate.
    ///   - now: the time.
    ///   - purpose: the limit of its purposes; nil sets none.
    static func server(
        for names: String, below issuer: Issued, now: Date, purpose: Certificate.Extension? = serverPurpose
    ) throws(Certificate.Failure) -> Issued {
        let key = PrivateKey(.p256)
        let (start, end) = ((now - tolerance).seconds, (now - tolerance + serverLifetime).seconds)
        let constraints: [Certificate.Extension] = [
            .init("basicConstraints", "critical,CA:FALSE"), .init("keyUsage", "critical,digitalSignature"),
        ]
        let certificate = try Certificate(
            of: key.publicKey, commonName: "localhost", validity: start...max(start, min(end, issuer.certificate.end)),
            extensions: constraints + (purpose.map { [$0] } ?? []) + [
                .init("subjectAltName", names), .init("subjectKeyIdentifier", "hash"),
                .init("authorityKeyIdentifier", "keyid:always"),
            ], issuer: issuer.certificate, signedBy: issuer.key)
        return Issued(certificate: certificate, key: key)
    }

    /// Whether a server's certificate has the names of this version, and is valid for long enough.
    func serves(below issuer: Issued, _ now: Date) -> Bool {
        certificate.has(.init("subjectAltName", Self.loopbackNames))
            && isIssued(by: issuer.certificate.publicKey) && certificate.start <= now.seconds
            && certificate.end > (now + DevelopmentCA.renewal).seconds
    }

    /// Whether it was signed with this key, and is the certificate of its own key.
    func isIssued(by issuer: PublicKey?) -> Bool {
        key.publicKey == certificate.publicKey && issuer.map(certificate.isSigned) ?? false
    }
}

// The form in a file: the key, then the certificate. What follows is ignored.
extension Issued {
    init(pem: String) throws {
        guard let key = PrivateKey(pem: pem) else { throw CocoaError(.fileReadCorruptFile) }
        self.init(certificate: try Certificate(pem: pem), key: key)
    }

    var pem: String { key.pem + certificate.pem }
}

extension Date {
    /// The seconds since 1970, as certificates have them.
    var seconds: Int64 { Int64(timeIntervalSince1970.rounded(.down)) }
}
