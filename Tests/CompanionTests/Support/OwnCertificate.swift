import Foundation
import StoreTesting
import TestSupport

@testable import CompanionCore

/// A server's certificate and key in files, as an operator has them.
struct OwnCertificate: Sendable {
    let files: TLSFiles

    /// Makes them, or new ones in their place.
    ///
    /// - Parameters:
    ///   - names: as OpenSSL writes alternative names.
    ///   - issuer: the one that signs it; nil for itself.
    init(
        in folder: String, _ name: String = "own", for names: String = "DNS:localhost,IP:127.0.0.1", days: Int = 60,
        by issuer: OwnCertificate? = nil
    ) throws {
        files = TLSFiles(certificate: "\(folder)/\(name).pem", privateKey: "\(folder)/\(name).key")
        let signer = issuer.map { ["-CA", $0.files.certificate, "-CAkey", $0.files.privateKey] } ?? []
        let made = try openssl(
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
                String(days), "-subj", "/CN=\(name)", "-addext", "subjectAltName=\(names)", "-keyout",
                files.privateKey, "-out", files.certificate,
            ] + signer)
        guard made.status == 0 else { throw TestFailure("openssl: \(made)") }
    }

    /// Puts another certificate behind this one.
    func append(_ other: OwnCertificate) throws {
        let chain = try other.files.read().chain
        let own = try files.read().chain
        try Data(own + chain).write(to: URL(fileURLWithPath: files.certificate))
    }

    /// Puts one of the files into the place of this one's.
    func take(_ file: KeyPath<TLSFiles, String>, of other: OwnCertificate) throws {
        try Data(contentsOf: URL(fileURLWithPath: other.files[keyPath: file])).write(
            to: URL(fileURLWithPath: files[keyPath: file]), options: .atomic)
    }
}
