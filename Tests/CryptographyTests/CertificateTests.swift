import Testing
import TestSupport
import WebFormats

@testable import Cryptography

@Suite struct CertificateTests {
    private static let key = PrivateKey(.p256)

    private static func make(
        _ name: String = "a name", of key: PrivateKey = key, _ validity: ClosedRange<Int64> = 0...86_400,
        _ extensions: [Certificate.Extension] = [], issuer: Certificate? = nil, by issuerKey: PrivateKey? = nil
    ) throws(Certificate.Failure) -> Certificate {
        try Certificate(
            of: key.publicKey, commonName: name, validity: validity, extensions: extensions, issuer: issuer,
            signedBy: issuerKey ?? key)
    }

    @Test(arguments: [KeyKind.rsa, .p256])
    func `a certificate that is its own comes back from PEM and DER, and OpenSSL accepts it`(kind: KeyKind) throws {
        let key = PrivateKey(kind)
        let names = Certificate.Extension("subjectAltName", "DNS:localhost,IP:127.0.0.1,IP:::1")
        let made = try Self.make("Zürich, 🏠", of: key, 0...4_102_444_800, [names])
        #expect(made.subject == "CN=Zürich\\, 🏠" && made.issuer == made.subject)
        #expect(made.start == 0 && made.end == 4_102_444_800)
        #expect(made.publicKey == key.publicKey && made.isSigned(by: key.publicKey))
        #expect(!made.isSigned(by: Self.key.publicKey) && !made.isSigned(by: PrivateKey(.rsa).publicKey))
        #expect(try Certificate(der: made.der) == made && Certificate(pem: made.pem) == made)
        #expect(try Certificate(pem: "words\n" + key.pem + made.pem + "rest") == made)
        #expect(made.has(names))
        #expect(!made.has(Certificate.Extension("subjectAltName", "DNS:localhost,IP:127.0.0.1")))
        #expect(!made.has(Certificate.Extension("subjectAltName", "critical,DNS:localhost,IP:127.0.0.1,IP:::1")))
        #expect(!made.has(Certificate.Extension("basicConstraints", "CA:TRUE")))
        let folder = try TemporaryFolder(isMade: true)
        try folder.write(made.pem, to: "made.pem")
        let path = "\(folder.path)/made.pem"
        #expect(try openssl("verify", "-x509_strict", "-check_ss_sig", "-CAfile", path, path).status == 0)
    }

    @Test func `no two certificates have the same serial number`() throws {
        #expect(try Self.make() != Self.make())
    }

    @Test(arguments: [0, 2_524_607_999, 2_524_608_000, 253_402_300_799] as [Int64])
    func `a time is read from both of the forms that it may have`(end: Int64) throws {
        #expect(try Self.make("n", -1...end).end == end)
        #expect(try Self.make("n", -1...end).start == -1)
    }

    @Test func `a certificate that is cut, has trailing bytes or is not the DER is refused`() throws {
        let der = try Self.make().der
        for count in 0..<der.count {
            #expect(throws: Certificate.Failure.unreadable) { try Certificate(der: Array(der.prefix(count))) }
        }
        #expect(throws: Certificate.Failure.unreadable) { try Certificate(der: der + [0]) }
        // The length in three bytes where two are enough.
        #expect(der.starts(with: [0x30, 0x82]))
        let long = [0x30, 0x83, 0x00] + der.dropFirst(2)
        #expect(throws: Certificate.Failure.unreadable) { try Certificate(der: long) }
    }

    @Test(
        arguments: [
            ("", .notPEM), ("text", .notPEM), ("-----BEGIN CERTIFICATE-----", .notPEM),
            ("-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n", .notPEM),
            ("-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n", .unreadable),
            ("-----BEGIN CERTIFICATE REQUEST-----\nMAA=\n-----END CERTIFICATE REQUEST-----\n", .notPEM),
            (key.pem, .notPEM), (key.publicKey.pem, .notPEM),
        ] as [(String, Certificate.Failure)])
    func `a text without a certificate says which fault it has`(text: String, failure: Certificate.Failure) {
        #expect(throws: failure) { try Certificate(pem: text) }
    }

    @Test func `a key of another kind or size is none, and the certificate can be read`() throws {
        for command in [["-newkey", "rsa:1024"], ["-newkey", "ed25519"]] {
            let folder = try TemporaryFolder(isMade: true)
            let made = try openssl(
                ["req", "-x509", "-nodes", "-subj", "/CN=weak", "-keyout", "/dev/null", "-out", "\(folder.path)/c.pem"]
                    + command)
            #expect(made.status == 0, "\(made.output)")
            let certificate = try Certificate(pem: folder.text("c.pem"))
            #expect(certificate.publicKey == nil && certificate.subject == "CN=weak")
        }
    }

    @Test func `an issuer's key and name are in what it signs`() throws {
        let (key, other) = (PrivateKey(.p256), PrivateKey(.p256))
        let authority = try Self.make(
            "authority", of: key, 0...86_400,
            [.init("basicConstraints", "critical,CA:TRUE"), .init("subjectKeyIdentifier", "hash")])
        let identifier = Certificate.Extension("authorityKeyIdentifier", "keyid:always")
        let leaf = try Self.make("leaf", of: other, 0...86_400, [identifier], issuer: authority, by: key)
        #expect(leaf.issuer == authority.subject && leaf.subject == "CN=leaf")
        #expect(leaf.isSigned(by: key.publicKey) && !leaf.isSigned(by: other.publicKey))
        #expect(throws: Certificate.Failure.notMade) {
            try Self.make("leaf", of: other, 0...1, [identifier], issuer: Self.make(of: key), by: key)
        }
    }

    @Test(
        arguments: [
            ("a", Certificate.Extension("noSuchExtension", "x")), ("a", .init("basicConstraints", "CA:PERHAPS")),
            ("a", .init("subjectAltName", "IP:localhost")), ("", .init("basicConstraints", "CA:TRUE")),
            (String(repeating: "a", count: 65), .init("basicConstraints", "CA:TRUE")),
        ])
    func `what cannot be in a certificate is an error`(name: String, added: Certificate.Extension) {
        #expect(throws: Certificate.Failure.notMade) { try Self.make(name, 0...1, [added]) }
    }
}
