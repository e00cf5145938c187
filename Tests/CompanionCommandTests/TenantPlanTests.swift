import DevelopmentCA
import Foundation
import TenantDirectory
import TestSupport
import Testing

@testable import CompanionCommand
@testable import CompanionCore

@Suite struct TenantPlanTests {
    private static let users = "users: [{ username: ada@contoso.example, password: a secret }]\n"
    /// A token of the least length.
    private static let token = "0123456789abcdef"

    /// Returns what the command would serve.
    private static func plan(
        _ arguments: [String], file: String? = nil, environment: [String: String] = ["HOME": "/tmp"]
    ) throws -> TenantPlan {
        let folder = TemporaryFolder.ofProcess.appendingPathComponent("plan-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { TemporaryFolder.remove(folder) }
        try "the secret\n".write(to: folder.appendingPathComponent("a.secret"), atomically: true, encoding: .utf8)
        try Self.certificate.write(to: folder.appendingPathComponent("a.pem"), atomically: true, encoding: .utf8)
        try "".write(to: folder.appendingPathComponent("empty"), atomically: true, encoding: .utf8)
        var arguments = arguments.map { $0.replacing("{folder}", with: folder.path) }
        if let file {
            let path = folder.appendingPathComponent("tenant.yaml")
            try file.write(to: path, atomically: true, encoding: .utf8)
            arguments += ["--config", path.path]
        }
        let settings = try CompanionConfiguration.read(
            environment: environment.filter { $0.key.hasPrefix("COMPANION_") }, file: nil, needsApplications: false)
        return try TenantPlan(TenantCommand.parse(arguments), settings: settings, environment: environment)
    }

    @Test func `without options it serves this machine over https, with a certificate made here`() throws {
        let plan = try Self.plan([])
        #expect(plan.listen == ListenAddress(host: "localhost", port: 8443))
        #expect(plan.certificate == .development(DevelopmentCA(folder: "/tmp/.local/share/companion/development-ca")))
        #expect(plan.tenant.clients.isEmpty && plan.tenant.users.isEmpty)
        #expect(plan.tenant.publicURL == nil && plan.tenant.controlToken == nil && plan.tenant.stateFile == nil)
        #expect(!plan.isForOthers && plan.tenant.hasDemoAccounts)
    }

    @Test func `each option is an application, with the same client ID at each start`() throws {
        let arguments = [
            "--native", "com.contoso.tasks", "--native", "msal1://auth", "--web", "http://localhost:3000/callback",
            "--secret-file", "{folder}/a.secret", "--spa", "https://tasks.example/",
        ]
        let clients = try Self.plan(arguments).tenant.clients
        #expect(
            clients.map(\.name) == [
                "com.contoso.tasks", "msal1://auth", "http://localhost:3000/callback", "https://tasks.example/",
            ])
        #expect(
            clients.map(\.nativeRedirectURIs) == [["msauth.com.contoso.tasks://auth"], ["msal1://auth"], [], []])
        #expect(clients.map(\.webRedirectURIs) == [[], [], ["http://localhost:3000/callback"], []])
        #expect(clients.map(\.spaRedirectURIs) == [[], [], [], ["https://tasks.example/"]])
        #expect(clients.map(\.secret) == [nil, nil, "the secret", nil])
        #expect(clients.map(\.hasNativeAuthentication) == [true, true, false, false])
        #expect(Set(clients.map(\.id)).count == 4)
        #expect(clients.allSatisfy { UUID(uuidString: $0.id) != nil })
        #expect(try Self.plan(arguments).tenant.clients == clients)
        let inFile = try Self.plan([], file: "applications: [{ name: Tasks, native: com.contoso.tasks }]").tenant
            .clients
        #expect(inFile.map(\.id) == [clients[0].id])
    }

    @Test func `the file registers applications and people`() throws {
        let plan = try Self.plan(
            [],
            file: """
                applications:
                  - name: Tasks
                    client_id: 5D1F0A52-3C5E-4A8E-9D5C-0C0A3F1E7B10
                    web: [https://tasks.example/callback]
                    certificate_file: a.pem
                    tenants: [Contoso.example]
                    exposes: { "api://tasks": [Tasks.Read] }
                    app_roles: [Tasks.Admin]
                    granted: { "https://graph.microsoft.com": [User.Read.All] }
                    assignment_required: true
                    group_claims: all
                    optional_claims: { id_token: acrs }
                  - { name: Pay, native: com.contoso.pay, exposes: { "api://pay": { requires_context: c3 } } }
                groups: [{ name: Staff }]
                contexts: { c3: blocked }
                users:
                  - { username: ada@contoso.example, password: secret, roles: { Tasks: [Tasks.Admin] }, second_factor: true,
                      many_groups: 3 }
                control_token: open
                """)
        let tasks = try #require(plan.tenant.clients.first)
        #expect(tasks.id == "5d1f0a52-3c5e-4a8e-9d5c-0c0a3f1e7b10")
        #expect(tasks.tenants == ["contoso.example"])
        #expect(tasks.exposes == ["api://tasks": ["Tasks.Read"]])
        #expect(tasks.appRoles == ["Tasks.Admin"])
        #expect(tasks.applicationRoles == ["https://graph.microsoft.com": ["User.Read.All"]])
        #expect(tasks.assignmentRequired && tasks.groupMembershipClaims == .all)
        #expect(tasks.optionalClaims == DemoClient.OptionalClaims(idToken: ["acrs"]))
        #expect(plan.tenant.clients.last?.requiredContexts == ["api://pay": "c3"])
        #expect(plan.tenant.groups == [DemoGroup(name: "Staff")])
        #expect(plan.tenant.contexts == ["c3": .blocked])
        // `openssl x509 -outform der | openssl dgst -sha256` of the certificate below.
        #expect(tasks.certificate?.thumbprint == Self.thumbprint)
        #expect(tasks.certificate?.publicKeyPEM.hasPrefix("-----BEGIN PUBLIC KEY-----") == true)
        #expect(plan.tenant.users.map(\.username) == ["ada@contoso.example"])
        #expect(plan.tenant.users.first?.needsSecondFactor == true && plan.tenant.users.first?.manyGroups == 3)
        #expect(plan.tenant.controlToken == "open")
        #expect(!plan.isForOthers, "people of the file do not open the tenant to other machines")
    }

    @Test(arguments: [
        (["--plain"], CertificateSource.none),
        (["--certificate", "c", "--private-key", "k"], .files(TLSFiles(certificate: "c", privateKey: "k"))),
    ])
    func `the certificate is one's own, or none`(arguments: [String], source: CertificateSource) throws {
        #expect(try Self.plan(arguments).certificate == source)
    }

    @Test func `the folder of certificates and a container's address come from the environment`() throws {
        let plan = try Self.plan(
            [], environment: ["COMPANION_DEVELOPMENT_CA": "/ca", "COMPANION_DEMO_HOST": "0.0.0.0", "HOME": "/tmp"])
        #expect(plan.certificate == .development(DevelopmentCA(folder: "/ca")))
        #expect(plan.listen == ListenAddress(host: "0.0.0.0", port: 8443))
        #expect(!plan.isForOthers && plan.containerAddress == "0.0.0.0")
        #expect(try Self.plan([]).containerAddress == nil)
        let other = try Self.plan(["--listen", "localhost:9443"], environment: ["COMPANION_DEMO_HOST": "0.0.0.0"])
        #expect(other.listen == ListenAddress(host: "0.0.0.0", port: 9443))
        #expect(other.tenant.host == "localhost" && !other.isForOthers)
    }

    @Test(arguments: [
        ["--listen", "0.0.0.0:8443"], ["--listen", "[::]:8443"], ["--public-url", "https://tenant.example", "--plain"],
        ["--public-url", "https://tenant.example:8443", "--certificate", "c", "--private-key", "k"],
    ])
    func `other machines are served with people and a token alone`(arguments: [String]) throws {
        let plan = try Self.plan(
            arguments, file: Self.users + "control_token: \(Self.token)",
            environment: ["COMPANION_DEMO_HOST": "0.0.0.0"])
        #expect(plan.isForOthers && plan.containerAddress == nil && !plan.tenant.hasDemoAccounts)
        let token = ["COMPANION_DEMO_CONTROL_TOKEN": Self.token]
        #expect(try Self.plan(arguments, file: Self.users, environment: token).tenant.controlToken == Self.token)
        for file in [nil, Self.users, "control_token: \(Self.token)"] {
            #expect {
                try Self.plan(arguments, file: file)
            } throws: { error in
                let mistakes = (error as? ConfigurationMistakes)?.all
                return mistakes?.count == 1
                    && mistakes?.first?.reason.contains("users and a control_token are needed") == true
            }
        }
    }

    @Test(arguments: [
        (users + "control_token: 0123456789abcde", [:], "line 2: control_token needs at least 16 characters"),
        (
            "users:\n  - username: ada@contoso.example\n    password: seven77\ncontrol_token: \(token)", [:],
            "line 3: users[0].password needs at least 8 characters"
        ),
        (users, ["COMPANION_DEMO_CONTROL_TOKEN": "0123456789abcde"], "COMPANION_DEMO_CONTROL_TOKEN needs at least 16"),
        (
            users + "control_token: \(token)\n"
                + "applications: [{ name: A, web: [https://a.example/], secret_file: a.secret }]",
            [:], "applications[0]: the secret needs at least 16 characters"
        ),
    ])
    func `what strangers could guess is refused, but not on this machine alone`(
        file: String, environment: [String: String], message: String
    ) throws {
        let error = #expect(throws: ConfigurationMistakes.self) {
            try Self.plan(["--listen", "0.0.0.0:8443"], file: file, environment: environment)
        }
        #expect(error?.all.count == 1 && error?.description.contains("\n  \(message)") == true, "\(error as Any)")
        #expect(throws: Never.self) { try Self.plan([], file: file, environment: environment) }
    }

    @Test(arguments: [
        ["--listen", "127.0.0.1:0"], ["--listen", "[::1]:8443"], ["--public-url", "https://localhost:9000"],
        ["--public-url", "https://127.0.0.1:8443"],
    ])
    func `names of this machine need nothing`(arguments: [String]) throws {
        let plan = try Self.plan(arguments)
        #expect(!plan.isForOthers)
        #expect(plan.tenant.host == (arguments == ["--listen", "[::1]:8443"] ? "::1" : "localhost"))
    }

    @Test(arguments: [
        (["--listen", "8443"], "--listen must be an address and a port"),
        (["--public-url", "http://tenant.example"], "--public-url must be https://"),
        (["--public-url", "https://localhost/x"], "--public-url must have no path"),
        (["--native", "com contoso"], "--native com contoso has “com contoso”, which is neither a bundle ID"),
        (["--native", ""], "\n  --native is empty; it needs a bundle ID such as com.contoso.tasks, or a redirect URI"),
        (["--native", "com.contoso."], "--native com.contoso. has “com.contoso.”, which is neither a bundle ID"),
        (["--spa", "http://tasks.example/"], "--spa http://tasks.example/ has “http://tasks.example/”, which is no"),
        (["--spa", "https://tasks.example/#a"], "which is no redirect URI"),
        (["--web", "https://tasks.example/"], "is a web application, which proves itself"),
        (
            ["--web", "https://tasks.example/", "--secret-file", "/nonexistent"],
            "/nonexistent cannot be read or is empty"
        ),
        (["--web", "https://tasks.example/", "--secret-file", "{folder}/empty"], "/empty cannot be read or is empty"),
        (["--native", "a", "--native", "a"], "--native a has the client ID"),
        (["--config", "/nonexistent"], "/nonexistent cannot be read"),
    ])
    func `a mistake is named`(arguments: [String], message: String) {
        #expect {
            try Self.plan(arguments)
        } throws: {
            "\($0)".contains(message)
        }
    }

    @Test(arguments: [
        ("applications: [{ name: A, client_id: abc }]", "applications[0] has the client ID abc, which is not a GUID"),
        ("applications: [{ name: A, native: a }, { name: A, native: b }]", "applications[1] has the name A"),
        ("applications: [{ name: A, certificate_file: a.secret }]", "a.secret is not a certificate with an RSA key"),
        ("application: []", "line 1: application is not known"),
    ])
    func `a mistake in the file is named`(file: String, message: String) {
        #expect {
            try Self.plan([], file: file)
        } throws: {
            "\($0)".contains(message)
        }
    }

    @Test func `all mistakes are reported at once`() {
        #expect {
            try Self.plan(["--listen", "x", "--native", "a b"], file: "a: b")
        } throws: {
            ($0 as? ConfigurationMistakes)?.all.count == 3
        }
    }

    @Test(arguments: [
        ["--certificate", "c"], ["--private-key", "k"], ["--plain", "--certificate", "c", "--private-key", "k"],
        ["--secret-file", "s"],
    ])
    func `options that do not belong together are refused`(arguments: [String]) {
        #expect(throws: (any Error).self) { try TenantCommand.parse(arguments) }
    }

    private static let thumbprint = "Nl9Koho_BOXH_4QjClJyiNYW5DfBtypbMqZoBsfa328"
    private static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIDATCCAemgAwIBAgIUMhi4Dv05Rr4xPNQ9KZrAb71Zd5cwDQYJKoZIhvcNAQEL
        BQAwDzENMAsGA1UEAwwEdGVzdDAgFw0yNjExMjMxOTAzMTlaGA8yMTI2MTAzMDE5
        MDMxOVowDzENMAsGA1UEAwwEdGVzdDCCASIwDQYJKoZIhvcNAQEBBQADggEPADCC
        AQoCggEBAL8peB8RdqCk0jU3NpZa7A6Gn7h9jgE85liYRMj5ZXVtTu2RK0Uk+doc
        2s3jENbByBRJluWBILH3U5XlXSyMwDAfTbPcZt9lvJCAXPp08WyjvbumIXGJIsR/
        bqOv35uOArETgZ1mIC+5FJfYN614dddcKa8sCol/ylqfYzfmm8LcWlvChtR0Xpjt
        X3h/g5ealSBaJr+iKa/tcJm7OKqGP+hc/Pa4onvusjbT2uzdnmcgSKxdrieJ7Elp
        t3V/UgjqYfod+LuV8rJZe+7YnwuECiOSy5ufKKpUM68Oni74wPSsgDq0AQ5t/NVt
        BElwh06gVvcafWwQXYVc0bNaZhRuZxsCAwEAAaNTMFEwHQYDVR0OBBYEFGNtzWme
        myfoOSseikd7ErwS229jMB8GA1UdIwQYMBaAFGNtzWmemyfoOSseikd7ErwS229j
        MA8GA1UdEwEB/wQFMAMBAf8wDQYJKoZIhvcNAQELBQADggEBAI8KihK0AER6laxG
        6YpMeOgPJjr27iTr6nFRpMlD0eOGJD6pcwdu5OjjF8/IgOHtsdjVO/n15UgcaQNJ
        MfOvQ1xQZ6K46+0t51F0l55/wVXViPpd9tVWftoc+uy8SAm+AGoQwAAj7jkimWCi
        o6/xQxaedOcLHUwB2BaBsY5Jp9VN7jY5TLloLHS672z4sDhizt1PUJdoLhtWpgna
        dlb2JCQhGO9LDTZaIWOK+yMyCO3KirVLXN7ZgknskrKBFBbDNBKFt4/m1aXSCubk
        AXL2nPAH+V0LPiL773cjhWaGDb55zm+wP2Q6Qe9I7+m8vzfiTGEr8oRx/wdJezfG
        bX5LTWg=
        -----END CERTIFICATE-----
        """
}
