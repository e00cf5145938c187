import Foundation
import TestSupport
import Testing

@testable import Companion
@testable import CompanionCheck
@testable import CompanionCore

/// The findings of `companion check` about the certificate with which the server speaks https itself.
@Suite struct CertificateFindingsTests {
    private let folder = TemporaryFolder.ofProcess.appendingPathComponent("certificate-\(UUID())").path

    private func withFolder(_ test: () throws -> Void) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try test()
    }

    /// Severities and sentences; without the one that no test's certificate is spared, that this machine does not trust it.
    private func found(_ files: TLSFiles, host: String = "localhost", daysFromNow: Double = 0) -> [String] {
        let now = Date().addingTimeInterval(daysFromNow * 86_400)
        return CertificateFindings(files: files, host: host, now: now).all
            .map { "\($0.severity) \($0.what.english)" }
            .filter { $0 != "advice This machine does not trust the server's certificate: self-signed certificate." }
    }

    @Test func `a certificate for another name, or out of its time, is found`() throws {
        try withFolder {
            func day(_ date: Date) -> String { date.formatted(.iso8601.year().month().day()) }
            var made: Date
            var files: TLSFiles
            // One day's: another is made where midnight passes.
            repeat {
                made = Date()
                files = try OwnCertificate(in: folder, for: "DNS:companion.example,DNS:*.example.org,IP:::1").files
            } while day(made) != day(Date())
            let names = "companion.example, *.example.org, ::1"
            for (host, isFound) in [
                ("companion.example", false), ("www.example.org", false), ("[::1]", false), ("example.org", true),
                ("a.b.example.org", true), ("127.0.0.1", true),
            ] {
                let expected =
                    "mistake The server's certificate is for \(names), but public_url has the host \(host)."
                #expect(found(files, host: host) == (isFound ? [expected] : []), "\(host)")
            }
            let end = day(made.addingTimeInterval(60 * 86_400))
            let start = day(made)
            for (days, expected) in [
                (-1.0, ["mistake The server's certificate is valid only from \(start) on."]), (45.9, []),
                (46.1, ["advice The server's certificate expires on \(end)."]),
                (59.9, ["advice The server's certificate expires on \(end)."]),
                (60.1, ["mistake The server's certificate expired on \(end)."]),
            ] { #expect(found(files, host: "companion.example", daysFromNow: days) == expected, "\(days)") }
        }
    }

    @Test func `a certificate without a name of its own is for nobody, whatever its subject is`() throws {
        try withFolder {
            let files = try OwnCertificate(in: folder, "localhost", for: "email:somebody@localhost").files
            #expect(
                found(files) == [
                    "mistake The server's certificate is for no name, but public_url has the host localhost."
                ])
        }
    }

    @Test func `files that cannot be read, or do not belong together, are found`() throws {
        try withFolder {
            let own = try OwnCertificate(in: folder)
            let other = try OwnCertificate(in: folder, "other")
            var files = own.files
            files.privateKey = other.files.privateKey
            let (pem, key) = (own.files.certificate, other.files.privateKey)
            #expect(
                found(files) == [
                    "mistake In \(pem) and \(key), the private key cannot be used with this certificate: key values mismatch."
                ])
            files.privateKey = folder + "/none"
            #expect(found(files) == ["mistake \(folder)/none cannot be read."])
            files = TLSFiles(certificate: own.files.privateKey, privateKey: own.files.privateKey)
            #expect(
                found(files) == [
                    "mistake In \(own.files.privateKey) and \(own.files.privateKey), the certificate cannot be used: no start line."
                ])
        }
    }

    @Test(arguments: [(0o600, [String]()), (0o640, ["advice"]), (0o644, ["mistake"])])
    func `a key that others can read is found`(mode: Int, severities: [String]) throws {
        try withFolder {
            let files = try OwnCertificate(in: folder).files
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: files.privateKey)
            #expect(found(files).map { String($0.prefix { $0 != " " }) } == severities)
        }
    }

    @Test func `a certificate without those between it and a trusted authority is found`() async {
        // The authorities that a process trusts are in its environment.
        await #expect(processExitsWith: .success) {
            let folder = TemporaryFolder.ofProcess.appendingPathComponent("chain-\(UUID())").path
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let root = try OwnCertificate(in: folder, "root", for: "DNS:root")
            let between = try OwnCertificate(in: folder, "between", for: "DNS:between", by: root)
            let own = try OwnCertificate(in: folder, by: between)
            setenv("SSL_CERT_FILE", root.files.certificate, 1)
            func found() -> [CheckFinding] {
                CertificateFindings(files: own.files, host: "localhost", now: Date()).all
            }
            let reason = "unable to get local issuer certificate"
            guard found().map(\.what.english) == ["This machine does not trust the server's certificate: \(reason)."]
            else { exit(1) }
            try own.append(between)
            let good = found()
            guard good.map(\.severity) == [.good],
                good[0].what.english.hasPrefix("The server's certificate is for localhost, 127.0.0.1, until ")
            else { exit(2) }
            // Time is another finding's.
            let late = CertificateFindings(files: own.files, host: "localhost", now: Date().addingTimeInterval(1e8)).all
            guard late.map(\.severity) == [.mistake] else { exit(3) }
        }
    }
}
