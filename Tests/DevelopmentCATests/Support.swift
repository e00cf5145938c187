import Foundation
import SwiftASN1
import Testing
import X509

@testable import DevelopmentCA

/// A folder that goes with the test.
final class TemporaryFolder {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("ca-\(UUID().uuidString)").path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func text(_ name: String) throws -> String { try String(contentsOfFile: path + "/" + name, encoding: .utf8) }

    func write(_ text: String, to name: String) throws {
        try text.write(toFile: path + "/" + name, atomically: true, encoding: .utf8)
    }

    func mode(_ name: String = "") throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path + "/" + name)[.posixPermissions] as? Int)
    }

    /// The intermediate with its key, as a thief of the folder has it.
    func stolenIntermediate() throws -> Issued { try Issued(pem: text("intermediate.pem")) }
}

/// Runs `openssl`, and returns its exit status and everything that it printed.
func openssl(_ arguments: String...) throws -> (status: Int32, output: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["openssl"] + arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, text)
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

func address(_ bytes: UInt8...) -> GeneralName { .ipAddress(ASN1OctetString(contentBytes: bytes[...])) }
