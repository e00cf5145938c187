import Cryptography
import Foundation
import FoundationXML
import TestSupport
import Testing
import WebFormats

/// `companion check` and `companion tokens` as a pipeline uses them.
@Suite(.timeLimit(.minutes(5))) struct CheckProcessTests {
    private typealias Result = (status: Int32, output: String)

    private static let binary = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        .appendingPathComponent("companion")

    private func companion(
        _ arguments: [String], in folder: URL, environment: [String: String] = [:]
    ) throws -> Result {
        try runToEnd(
            Self.binary.path, arguments, in: folder,
            environment: ["PATH": "/usr/bin:/bin", "HOME": folder.path, "TZ": "UTC"].merging(environment) { $1 },
            withErrors: true)
    }

    @Test func `the lines that are printed let the printed token in`() throws {
        let folder = TemporaryFolder.ofProcess.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { TemporaryFolder.remove(folder) }
        let made = try companion(
            ["tokens", "new", "--name", "nightly", "--scope", "check", "--scope", "metrics", "--days", "20"], in: folder
        )
        #expect(made.status == 0, "\(made.output)")
        let token = try #require(made.output.firstMatch(of: /companion_[A-Za-z0-9_-]{43}/)?.output)
        let hash = Hex.encode(SHA256.hash(data: Data(token.utf8)))
        #expect(made.output.contains("sha256: \(hash)") && made.output.contains("scopes: [check, metrics]"))
        for wrong in [["--name", "Nightly", "--scope", "check"], ["--name", "n", "--scope", "everything"]] {
            #expect(try companion(["tokens", "new"] + wrong, in: folder).status == 64)
        }
    }

    @Test func `a word that is no command is a mistake of usage, not one of serve's arguments`() throws {
        let result = try companion(["chek"], in: TemporaryFolder.ofProcess)
        #expect(result.status == 64)
        #expect(result.output.hasPrefix("Error: `companion` has no command chek. Did you mean `companion check`?"))
    }

    @Test func `health has the options of an address, and no others of the server`() throws {
        let help = try companion(["health", "--help"], in: TemporaryFolder.ofProcess).output
        let options = Set(help.matches(of: /^  (?:-h, )?(--[a-z-]+)/.anchorsMatchLineEndings()).map { String($0.1) })
        #expect(options == ["--config", "--host", "--port", "--version", "--help"])
    }

    @Test(
        arguments: [
            (["serve"], ["COMPANION_CONFIG": ""], "COMPANION_CONFIG is set and empty; unset it, or give it a value"),
            (["check"], ["COMPANION_CONFIG": ""], "COMPANION_CONFIG is set and empty; unset it, or give it a value"),
            (["serve", "--config", ""], [:], "--config is empty; name the configuration file"),
            (
                ["demo", "--public", "/nonexistent"], [:],
                "public names /nonexistent, which has no pages; name the folder"
            ),
        ] as [([String], [String: String], String)])
    func `a path that is empty or wrong ends the start with its name`(
        arguments: [String], environment: [String: String], reason: String
    ) throws {
        let result = try companion(arguments, in: TemporaryFolder.ofProcess, environment: environment)
        #expect(result.status == 1)
        #expect(result.output.contains(reason), "\(result.output)")
    }

    @Test func `a job can tell errors from something that expires soon`() throws {
        let ports = try HeldPorts(2)
        let port = ports.first
        let demo = try RunningTenant(
            ["--port", String(port)], command: "demo", shell: "COMPANION_DEMO_CLIENT_SECRET=of-the-demo exec \"$@\"")
        _ = try demo.printed(until: "http://localhost:\(port)")
        let soon = Date().addingTimeInterval(20 * 86_400).formatted(.iso8601.year().month().day())
        func check(_ arguments: String..., beside line: String = "", secret: String = "of-the-demo") throws -> Result {
            let configuration = """
                public_url: http://localhost:\(port)
                \(line)
                apps:
                  ios:
                    client_id: 5d1f0a52-3c5e-4a8e-9d5c-0c0a3f1e7b10
                    client_secret_file: secret
                    authority: http://localhost:\(port + 1)/common
                    api: http://localhost:\(port + 1)/v1.0/me
                """
            let file = demo.folder.appendingPathComponent("companion.yaml")
            try Data(configuration.utf8).write(to: file)
            let secretFile = demo.folder.appendingPathComponent("secret").path
            _ = FileManager.default.createFile(
                atPath: secretFile, contents: Data(secret.utf8), attributes: [.posixPermissions: 0o600])
            return try companion(["check", "--config", file.path] + arguments, in: demo.folder)
        }
        let expiring =
            "api_tokens: [{ name: nightly, sha256: \"\(String(repeating: "a", count: 64))\", scopes: [check], expires: \(soon) }]"
        let good = try check("--fail-before", "30d")
        #expect(good.status == 0, "\(good.output)")
        let setting = "set apps.ios.client_secret_expires in \(demo.folder.path)/companion.yaml, or"
        #expect(try check("--verbose").output.contains(setting))
        #expect(try check(beside: expiring).status == 0)
        #expect(try check("--fail-before", "10d", beside: expiring).status == 0)
        let named = try check("--fail-before", "30d", beside: expiring)
        #expect(named.output.contains("FAILS  api_token nightly: within 30 days"), "\(named.output)")
        let late = try check("--fail-before", "30d", "--junit", beside: expiring)
        #expect(late.status == 3)
        #expect(late.output.contains("<failure type=\"expiry\"") && late.output.contains("name=\"api_token nightly\""))
        let wrong = try check("--fail-before", "30d", "--junit", beside: expiring, secret: "another <secret> & more")
        #expect(wrong.status == 1 && wrong.output.contains("<failure type=\"mistake\""), "\(wrong.output)")
        #expect(XMLParser(data: Data(wrong.output.utf8)).parse())
        #expect(!wrong.output.contains("another"))
        #expect(try check("--fail-before", "soon").status == 64)
        #expect(try check("--json", "--junit").status == 64)
    }
}
