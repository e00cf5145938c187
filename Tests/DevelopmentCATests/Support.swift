import Foundation
import TestSupport
import Testing

@testable import DevelopmentCA

extension TemporaryFolder {
    func mode(_ name: String = "") throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path + "/" + name)[.posixPermissions] as? Int)
    }

    /// The intermediate with its key, as a thief of the folder has it.
    func stolenIntermediate() throws -> Issued { try Issued(pem: text("intermediate.pem")) }
}

/// Asks OpenSSL whether a client that trusts the root would accept a certificate for a host.
func verify(
    _ certificate: String, for host: String, in folder: TemporaryFolder, purpose: String = "sslserver"
) throws -> String {
    try folder.write(certificate, to: "asked.pem")
    let isAddress = host.contains(":") || host.allSatisfy { $0.isNumber || $0 == "." }
    let answer = try openssl(
        "verify", "-x509_strict", "-purpose", purpose, "-CAfile", folder.path + "/root.pem", "-untrusted",
        folder.path + "/intermediate.pem", isAddress ? "-verify_ip" : "-verify_hostname", host,
        folder.path + "/asked.pem")
    return answer.status == 0 ? "OK" : answer.output
}
