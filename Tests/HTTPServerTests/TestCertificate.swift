import Foundation
import Synchronization
import TLS
import TestSupport
import Testing

/// Whether a test's server and its clients speak TLS.
enum Transport {
    @TaskLocal static var isTLS = false
}

/// Runs each test of a suite in plain text, and then once more over TLS: the wire is another, the laws are the same.
struct OnBothTransports: SuiteTrait, TestTrait, TestScoping {
    let isRecursive = true

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await function()
        try await Transport.$isTLS.withValue(true) { try await function() }
    }
}

extension Trait where Self == OnBothTransports {
    static var onBothTransports: Self { OnBothTransports() }
}

/// Certificates for localhost that nobody has issued, made once by `openssl`.
struct TestCertificate: Sendable {
    let chain: [UInt8]
    let key: [UInt8]

    private static let first = Result { try TestCertificate(serial: 1) }
    private static let ports = Mutex<Set<Int>>([])

    static func server() throws -> ServerCertificate {
        let made = try first.get()
        return try ServerCertificate(chain: made.chain, privateKey: made.key)
    }

    static func use(_ isUsed: Bool, atPort port: Int) {
        _ = ports.withLock { isUsed ? $0.insert(port).inserted : $0.remove(port) != nil }
    }

    static func isUsed(atPort port: Int) -> Bool { ports.withLock { $0.contains(port) } }

    init(serial: Int, key: String = "ec", _ parameter: String = "ec_paramgen_curve:P-256") throws {
        let folder = TemporaryFolder.ofProcess.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { TemporaryFolder.remove(folder) }
        let (keyFile, chainFile) = (folder.appendingPathComponent("key"), folder.appendingPathComponent("chain"))
        let made = try openssl(
            "req", "-x509", "-newkey", key, "-pkeyopt", parameter, "-nodes", "-keyout", keyFile.path, "-out",
            chainFile.path, "-days", "1", "-subj", "/CN=localhost", "-addext",
            "subjectAltName=DNS:localhost,IP:127.0.0.1", "-set_serial", String(serial))
        try #require(made.status == 0, "\(made.output)")
        chain = try Array(Data(contentsOf: chainFile))
        self.key = try Array(Data(contentsOf: keyFile))
    }
}
