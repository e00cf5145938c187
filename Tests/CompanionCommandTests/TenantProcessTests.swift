import Foundation
import TenantDirectory
import TestSupport
import Testing
import WebFormats

@Suite(.timeLimit(.minutes(5))) struct TenantProcessTests {
    @Test func `programs get one line with all that a client and a test need`() throws {
        let tenant = try RunningTenant(["--json", "--listen", "localhost:0", "--native", "com.contoso.tasks"])
        let line = try tenant.announcement()
        let base = try #require(line["base_url"]?.string)
        let port = base.dropFirst("https://localhost:".count)
        #expect(base.hasPrefix("https://localhost:") && UInt16(port) != nil)
        #expect(line["authority"]?.string == "\(base)/common")
        #expect(line["external_authority"]?.string == "https://127.0.0.1:\(port)/fabrikam.example")
        let named = "https://fabrikam.ciamlogin.localhost:\(port)/fabrikam.example"
        #expect(line["named_external_authority"]?.string == named)
        #expect(line["b2c_authority"]?.string == "\(base)/tfp/fabrikamb2c.example/b2c_1_susi")
        #expect(
            line["known_authorities"]?.array?.compactMap(\.string)
                == ["authority", "b2c_authority", "external_authority"].compactMap { line[$0]?.string })
        #expect(line["graph"]?.string == "\(base)/v1.0/me/")
        #expect(line["control"]?.string == "\(base)/control")
        #expect(line["pid"]?.integer == Int(tenant.process.processIdentifier))
        let client = try #require(line["clients"]?.array?.first)
        #expect(client["name"]?.string == "com.contoso.tasks")
        #expect(client["redirect_uris"]?.array?.first?.string == "msauth.com.contoso.tasks://auth")
        #expect(client["client_id"]?.string.flatMap(UUID.init(uuidString:)) != nil)

        let file = try #require(line["root_file"]?.string)
        #expect(file.hasPrefix(tenant.folder.path))
        let root = try #require(line["root_url"]?.string)
        #expect(root.hasPrefix("http://localhost:"))
        #expect(try curl(root).output == String(contentsOfFile: file, encoding: .utf8))
        let ready = try #require(line["ready"]?.string)
        for host in ["localhost", "fabrikam.ciamlogin.localhost", "127.0.0.1", "[::1]"] {
            let address = ready.replacing("localhost", with: host)
            let answer = try curl("--cacert", file, "--connect-to", "::127.0.0.1:\(port)", address)
            #expect(answer.output.contains("\"keys\""), "\(host)")
        }
        #expect(try curl(ready).status == 60, "without the root it is not trusted")

        tenant.process.terminate()
        #expect(try tenant.end() == (0, ""))
    }

    @Test func `people get what an app needs`() throws {
        let tenant = try RunningTenant(["--listen", "localhost:0", "--native", "com.contoso.tasks"])
        let text = try tenant.printed(until: "take it away")
        for part in [
            "redirect URI      msauth.com.contoso.tasks://auth", "client ID",
            "configuration.knownAuthorities = [authority]",
            "MSALAADAuthority(url: URL(string: \"https://localhost:", "password: demo",
            "curl --output companion-root.pem http://localhost:", "xcrun simctl keychain booted add-root-cert",
        ] { #expect(text.contains(part), "\(part)") }
    }

    @Test func `the first lines say what a container's address means`() throws {
        let variables = ["COMPANION_DEMO_HOST": "0.0.0.0"]
        let tenant = try RunningTenant(["--plain", "--listen", "localhost:0"], variables: variables)
        let text = try tenant.printed(until: "Microsoft's sample apps")
        #expect(text.contains("It listens on 0.0.0.0 (COMPANION_DEMO_HOST), for this machine and the one on which its"))
        #expect(text.contains("Others are refused"))
        let programs = try RunningTenant(["--json", "--plain", "--listen", "localhost:0"], variables: variables)
        #expect(try programs.announcement()["serves"] == "container_host")
        let usual = try RunningTenant(["--json", "--plain", "--listen", "localhost:0"])
        #expect(try usual.announcement()["serves"] == "machine")
    }

    @Test(
        arguments: [
            ("contoso.example", "MSALAADAuthority", "localhost", "contoso.example"),
            ("fabrikam.example", "MSALCIAMAuthority", "127.0.0.1", "fabrikam.example"),
            ("fabrikamb2c.example", "MSALB2CAuthority", "localhost", "tfp/fabrikamb2c.example/b2c_1_susi"),
            ("contoso.example, tailspin.example", "MSALAADAuthority", "localhost", "common"),
        ])
    func `an app of one tenant gets that tenant's authority`(
        tenants: String, type: String, host: String, path: String
    ) throws {
        let folder = TemporaryFolder.ofProcess.appendingPathComponent("tenant-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appendingPathComponent("tenant.yaml")
        try "applications: [{name: Tasks, native: [com.contoso.tasks], tenants: [\(tenants)]}]"
            .write(to: file, atomically: true, encoding: .utf8)
        let tenant = try RunningTenant(["--listen", "localhost:0", "--config", file.path], folder: folder)
        let text = try tenant.printed(until: "take it away")
        let line = try #require(text.split(separator: "\n").first { $0.contains("let authority") })
        #expect(line.contains("\(type)(url: URL(string: \"https://\(host):"))
        #expect(line.hasSuffix("/\(path)\")!)"))
    }

    @Test func `the next start serves below the same root`() throws {
        let first = try RunningTenant(["--json", "--listen", "localhost:0"])
        let root = try #require(first.announcement()["root_file"]?.string)
        let before = try String(contentsOfFile: root, encoding: .utf8)
        first.process.terminate()
        _ = try first.end()
        let second = try RunningTenant(["--json", "--listen", "localhost:0"], folder: first.folder)
        #expect(try second.announcement()["root_file"]?.string == root)
        #expect(try String(contentsOfFile: root, encoding: .utf8) == before)
    }

    @Test func `without https there is no certificate and no root`() throws {
        let tenant = try RunningTenant(["--json", "--plain", "--listen", "localhost:0"])
        let line = try tenant.announcement()
        #expect(line["authority"]?.string?.hasPrefix("http://localhost:") == true)
        #expect(line["root_file"] == .null && line["root_url"] == .null)
        #expect(try curl(#require(line["ready"]?.string)).output.contains("\"keys\""))
        #expect(!FileManager.default.fileExists(atPath: tenant.folder.path + "/.local"))
    }

    @Test func `a person's own certificate is served`() throws {
        let first = try RunningTenant(["--json", "--listen", "localhost:0"])
        let root = try #require(first.announcement()["root_file"]?.string)
        // It has the chain and the key.
        let own = URL(fileURLWithPath: root).deletingLastPathComponent().path + "/server.pem"
        let second = try RunningTenant(
            ["--json", "--listen", "localhost:0", "--certificate", own, "--private-key", own])
        let line = try second.announcement()
        #expect(line["root_file"] == .null && line["root_url"] == .null)
        #expect(try curl("--cacert", root, #require(line["ready"]?.string)).status == 0)
    }

    @Test(arguments: [
        (["--certificate", "/nonexistent", "--private-key", "/nonexistent"], "/nonexistent cannot be read"),
        (["--certificate", "/etc/hostname", "--private-key", "/etc/hostname"], "the certificate cannot be used"),
        (["--config", "/nonexistent"], "The configuration has 1 mistake:\n  /nonexistent cannot be read"),
        (["--state", "/nonexistent/state"], "/nonexistent/state"),
        (
            ["--public", "/nonexistent"],
            "public names /nonexistent, which has no pages; name the folder Public of this version"
        ),
        (["--config", "{folder}/tenant.yaml"], "the tenant 'contoso.exampl' is none of contoso.example,"),
    ])
    func `a start that fails says why`(arguments: [String], reason: String) throws {
        let folder = TemporaryFolder.ofProcess.appendingPathComponent("tenant-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try "applications: [{ name: A, tenants: [contoso.exampl] }]".write(
            to: folder.appendingPathComponent("tenant.yaml"), atomically: true, encoding: .utf8)
        let tenant = try RunningTenant(
            ["--json", "--listen", "localhost:0"] + arguments.map { $0.replacing("{folder}", with: folder.path) },
            folder: folder)
        let (status, errors) = try tenant.end()
        #expect(status == 1)
        #expect(errors.contains(reason), "\(errors)")
        #expect(try tenant.printed(until: "\n") == "")
    }

    @Test func `a taken port says what to do`() throws {
        let first = try RunningTenant(["--json", "--listen", "localhost:0"])
        let base = try #require(first.announcement()["base_url"]?.string)
        let second = try RunningTenant(["--json", "--listen", String(base.dropFirst("https://".count))])
        let (status, errors) = try second.end()
        #expect(status == 1)
        #expect(
            errors.contains(
                "Address already in use; stop what uses it or choose another port, such as --listen localhost:0"))
    }

    @Test func `a second tenant on one state file is refused with the reason, until the first has ended`() throws {
        let file = TemporaryFolder.ofProcess.appendingPathComponent("tenant-\(UUID().uuidString).json").path
        let arguments = ["--json", "--plain", "--listen", "localhost:0", "--state", file]
        let first = try RunningTenant(arguments)
        _ = try first.announcement()
        let (status, errors) = try RunningTenant(arguments).end()
        #expect(status == 1)
        #expect(
            errors.contains(
                "The demo tenant's state file \(file) cannot be used: another tenant works with it, and a file can have only "
                    + "one; stop that tenant first, or name another with --state, or in the demo with --database."))
        kill(first.process.processIdentifier, SIGKILL)
        _ = try first.end()
        let third = try RunningTenant(arguments)
        #expect(try third.announcement()["base_url"]?.string != nil)
    }

    @Test func `a signal right behind the line ends it`() throws {
        for _ in 0..<5 {
            let tenant = try RunningTenant(["--json", "--plain", "--listen", "localhost:0"])
            _ = try tenant.announcement()
            tenant.process.terminate()
            #expect(try tenant.end().status == 0)
        }
    }

    @Test func `it ends with its parent`() throws {
        // The shell prints the process that it started, and waits until it is killed.
        let script = "\"$@\" & wait"
        let tenant = try RunningTenant(
            ["--json", "--exit-with-parent", "--listen", "localhost:0"], shell: script)
        let child = try #require(tenant.announcement()["pid"]?.integer)
        #expect(child != Int(tenant.process.processIdentifier))
        #expect(kill(pid_t(child), 0) == 0)
        kill(tenant.process.processIdentifier, SIGKILL)
        // Its end closes the last writing end of the pipe.
        #expect(try tenant.printed(until: "\n") == "")
    }

    @Test func `trust prints the commands, and takes them from the root's own name`() throws {
        let tenant = try RunningTenant(["trust", "--root-url", "http://localhost:9/root.pem"])
        let text = try tenant.printed(until: "nothing like this")
        for part in [
            "curl --output companion-root.pem http://localhost:9/root.pem",
            "xcrun simctl keychain booted add-root-cert",
            "security add-trusted-cert -r trustRoot", "security delete-certificate", "update-ca-certificates",
            "certutil",
            "Firefox", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "not tried here", "“Companion development root ",
        ] { #expect(text.contains(part), "\(part)") }
        #expect(try tenant.end() == (0, ""))
        #expect(
            FileManager.default.fileExists(
                atPath: tenant.folder.path + "/.local/share/companion/development-ca/root.pem"))
    }

    @Test func `the demo over https is a companion and a tenant that trust each other`() throws {
        let ports = try HeldPorts(3)
        let port = ports.first
        let demo = try RunningTenant(
            ["--https", "--port", "\(port)", "--native", "com.contoso.tasks"], command: "demo")
        let text = try demo.printed(until: "Nothing leaves")
        let root = demo.folder.path + "/.local/share/companion/development-ca/root.pem"
        for part in [
            "https://localhost:\(port)\n", "https://localhost:\(port + 1)/control", root,
            "http://localhost:\(port + 2)/root.pem",
        ] { #expect(text.contains(part), "\(part)") }
        let home = try curl("--cacert", root, "--head", "https://localhost:\(port)/").output.lowercased()
        #expect(home.hasPrefix("http/1.1 200"))
        #expect(!home.contains("strict-transport-security"), "it would hold for every port of this machine")
        // The companion has read the tenant's discovery document.
        let signIn = try curl("--cacert", root, "--include", "https://localhost:\(port)/auth/ios/sign-in").output
        #expect(signIn.contains("https://localhost:\(port + 1)/common/oauth2/v2.0/authorize?"))
        #expect(signIn.contains("redirect_uri=https%3A%2F%2Flocalhost%3A\(port)%2Fauth%2Fcallback"))
        // The app of the option is known, by the client ID of its bundle ID: its sign-in has a page.
        for (bundle, status) in [("com.contoso.tasks", "303"), ("com.contoso.other", "400")] {
            let redirectURI = "msauth.\(bundle)://auth"
            let query =
                "client_id=\(DemoClient.id(for: bundle))&redirect_uri=\(redirectURI)&response_type=code&scope=openid"
            let page = try curl(
                "--cacert", root, "--include", "https://localhost:\(port + 1)/common/oauth2/v2.0/authorize?\(query)")
            #expect(page.output.hasPrefix("HTTP/1.1 \(status)"), "\(bundle)")
        }
        demo.process.terminate()
        #expect(try demo.end().status == 0)
    }
}
