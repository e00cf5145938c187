import Foundation
import HTTPTypes
import OpenIDConnect
import TestSupport
import Testing
import WebFormats

@testable import Companion
@testable import CompanionCheck
@testable import CompanionCore
@testable import CompanionPages
@testable import CompanionSignIn
@testable import SQLiteStore
@testable import SessionStore

/// `companion check`: against a real site with its demo tenant, and finding by finding.
@Suite struct CheckTests {
    private func run(_ site: Site, _ configuration: CompanionConfiguration) async -> CheckReport {
        await InstallationCheck(client: site.client, now: site.clock.now).run(configuration)
    }

    private func findings(_ report: CheckReport, _ subject: String, app: String? = nil) -> [CheckFinding] {
        report.findings.filter { $0.subject == subject && $0.application == app }
    }

    @Test func `a running installation has no mistakes, and the report lists what to register`() async throws {
        try await Site.run { site in
            let report = await run(site, site.configuration)
            #expect(report.ok, "\(report.text())")
            for subject in ["key", "database", "disk_space", "file_permissions"] {
                #expect(findings(report, subject).map(\.severity) == [.good], "\(subject)")
            }
            for subject in ["discovery", "keys", "clock", "redirect_uri"] {
                #expect(findings(report, subject, app: "ios").map(\.severity) == [.good], "\(subject)")
            }
            // The demo tenant does as Entra ID: at common it tells nobody whether it takes a secret, or grants a scope.
            for subject in ["credential", "client_secret_expires", "scopes"] {
                #expect(findings(report, subject, app: "ios").map(\.severity) == [.unknown], "\(subject)")
            }
            let registration = try #require(report.registrations.first)
            #expect(registration.redirectURI == "\(site.origin)/auth/callback")
            #expect(registration.platform == "Web")
            #expect(report.text().contains(" b2c: \(site.origin)/auth/callback (platform Web)\n"))
            let row = /\nios +no problem found +not known: .*credential, client_secret_expires, scopes/
            #expect(report.text().firstMatch(of: row) != nil)
            #expect(report.text().hasSuffix(" With --verbose, everything that was checked."))
            #expect(!report.text().contains("Only a sign-in can show"))
            let text = report.text(isVerbose: true)
            #expect(
                text.contains(
                    "  unknown scopes: Only a sign-in can show whether the provider grants the scopes user.read"))
            #expect(text.firstMatch(of: /\nNo errors found\. Not known: [0-9]+\.$/) != nil, "\(text)")
            #expect(!(text + report.json).contains("the-client-secret-of-the-test"))
        }
    }

    @Test func `a redirect URI that the provider does not know is a mistake`() async throws {
        try await Site.run { site in
            var configuration = site.configuration
            configuration.publicURL = try PublicURL("http://localhost:9/elsewhere")
            configuration.trustedProxies = [try #require(AddressRange("127.0.0.1"))]
            for index in configuration.applications.indices {
                configuration.applications[index].register(redirectURI: configuration.publicURL.redirectURI)
            }
            let report = await run(site, configuration)
            #expect(!report.ok)
            for app in ["ios", "contoso", "external", "b2c", "provider"] {
                let finding = try #require(findings(report, "redirect_uri", app: app).first, "\(app)")
                #expect(finding.severity == .mistake)
                #expect(finding.what.english.contains("http://localhost:9/elsewhere/auth/callback"))
                #expect(finding.remedy?.contains("platform Web") == (app != "provider"), "\(app)")
            }
        }
    }

    @Test func `a portal gets advice about the auth_time claim until it comes`() async throws {
        try await Site.run(configured: { $0.applications[1].page = .portal }) { site in
            func advice() async throws -> [String] {
                let report = await run(site, site.configuration)
                #expect(findings(report, "auth_time", app: "ios").isEmpty)
                return findings(report, "auth_time", app: "macos").map(\.what.english)
            }
            let visitor = Visitor(site)
            #expect(try await advice().first?.hasSuffix("is known after the first sign-in.") == true)
            try await site.control(#"{"omit_auth_time": true}"#)
            try await visitor.signIn(app: "macos")
            #expect(try await advice() == ["The latest ID token has no auth_time claim."])
            try await site.control(#"{"omit_auth_time": false}"#)
            try await visitor.signIn(app: "macos")
            #expect(try await advice().isEmpty)
        }
    }

    @Test func `an audit log that cannot be made or is open to others is named`() async throws {
        try await Site.run { site in
            var configuration = site.configuration
            func severities() async -> [CheckFinding.Severity] {
                findings(await run(site, configuration), "audit_log").map(\.severity)
            }
            #expect(await severities() == [])
            configuration.auditLogFile = "/nowhere/audit.log"
            #expect(await severities() == [.mistake])
            let path = site.folder.appendingPathComponent("audit.log").path
            configuration.auditLogFile = path
            #expect(await severities() == [.good])
            #expect(!FileManager.default.fileExists(atPath: path))
            _ = FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o644])
            #expect(await severities() == [.advice])
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            #expect(await severities() == [.good])
        }
    }

    @Test(
        arguments: [
            ("https,http", "203.0.113.5, 127.0.0.2", .good), ("https,http", "203.0.113.5", .good),
            ("https,http", "203.0.113.5, 192.0.2.9", .mistake), ("http", "203.0.113.5", .mistake),
        ] as [(String, String, CheckFinding.Severity)])
    func `a public URL that redirects to itself behind its proxies is a mistake`(
        scheme: String, addresses: String, severity: CheckFinding.Severity
    ) async throws {
        let fields: HTTPFields = [.xForwardedProto: scheme, .xForwardedFor: addresses]
        try await StandInFront.run(saying: fields) { site, _, client in
            let check = InstallationCheck(client: client, now: site.clock.now)
            let found = findings(await check.run(site.configuration), "public_url")
            #expect(found.map(\.severity) == [severity], "\(found)")
            #expect(found.first?.what.english.contains("redirects to itself") == (severity == .mistake))
        }
    }

    @Test func `a public URL that nobody serves is not known to be right`() async throws {
        try await Site.run { site in
            #expect(findings(await run(site, site.configuration), "public_url") == [], "plain http")
            let url = try PublicURL("https://localhost:1")
            let found = await PublicURLProbe(client: site.client).finding(for: url)
            #expect(found?.severity == .unknown)
        }
    }

    @Test func `a client id that the provider does not know is a mistake`() async throws {
        try await Site.run { site in
            var configuration = site.configuration
            configuration.applications[0].register(clientID: "99999999-2222-4333-8444-555555555555")
            let report = await run(site, configuration)
            #expect(findings(report, "client_id", app: "ios").map(\.severity) == [.mistake])
        }
    }

    @Test func `a provider that is down, a wrong clock and a secret that ends are named with a remedy`() async throws {
        try await Site.run { site in
            var configuration = site.configuration
            configuration.applications[0].clientSecretExpires = site.clock.now().addingTimeInterval(10 * 86_400)
            configuration.applications[1].clientSecretExpires = site.clock.now().addingTimeInterval(-86_400)
            configuration.applications[2].authority = try Authority("https://localhost:1/tenant", kind: .oidc)
            let report = await run(site, configuration)
            #expect(findings(report, "credential", app: "ios").map(\.severity) == [.advice])
            #expect(findings(report, "credential", app: "macos").map(\.severity) == [.mistake])
            #expect(findings(report, "discovery", app: "contoso").map(\.severity) == [.mistake])
            #expect(findings(report, "credential", app: "contoso").map(\.severity) == [.unknown])
            site.clock.advance(600)
            let late = await InstallationCheck(
                client: site.client, now: { Date().addingTimeInterval(1200) }
            ).run(configuration)
            #expect(findings(late, "clock", app: "ios").map(\.severity) == [.mistake])
            #expect(findings(late, "clock", app: "ios").first?.remedy?.contains("A container has the clock") == true)
            for finding in late.findings {
                let isBad = [.mistake, .advice].contains(finding.severity)
                #expect(isBad == (finding.why != nil), "\(finding.what.english)")
                #expect(isBad == (finding.remedy != nil), "\(finding.what.english)")
            }
        }
    }

    @Test(
        arguments: [
            (
                "a secret that has ended",
                #"{"token_error":{"status":401,"times":99,"body":{"error":"invalid_client","error_codes":[7000222]}}}"#,
                "credential", .mistake, "Create a new one in the app registration"
            ),
            (
                "a token endpoint that is out of order", #"{"token_error":{"status":503,"body":"<h1>","times":99}}"#,
                "token_endpoint", .mistake, "status page"
            ),
            (
                "a token endpoint that wants a pause", #"{"token_error":{"status":429,"body":{},"times":99}}"#,
                "token_endpoint", .mistake, "Wait as long as it asks"
            ),
            (
                "an API that is out of order", #"{"graph_error":{"status":503,"body":{},"times":99}}"#, "api", .mistake,
                "status page"
            ),
            (
                "an API that wants a pause", #"{"graph_error":{"status":429,"body":{},"times":99}}"#, "api", .advice,
                "Wait as long as it asks"
            ),
        ] as [(String, String, String, CheckFinding.Severity, String)])
    func `anything that would make a sign-in fail is named with a remedy`(
        row: String, control: String, subject: String, severity: CheckFinding.Severity, remedy: String
    ) async throws {
        try await Site.run { site in
            let before = await run(site, site.configuration)
            #expect(before.ok, "\(row): \(before.text)")
            try await site.control(control)
            let report = await run(site, site.configuration)
            let bad = findings(report, subject, app: "ios").filter { $0.why != nil }
            #expect(bad.map(\.severity) == [severity], "\(row): \(report.text())")
            #expect(bad.first?.remedy?.contains(remedy) == true, "\(row): \(report.text())")
            #expect(!report.json.contains("the-client-secret-of-the-test"))
        }
    }

    /// The findings about an application's credential.
    private func credential(_ report: CheckReport, _ app: String) -> [CheckFinding] {
        findings(report, "credential", app: app)
    }

    @Test func `a wrong secret is a mistake at every kind of provider, and no finding calls it good`() async throws {
        try await Site.run { site in
            var configuration = site.configuration
            for index in configuration.applications.indices {
                configuration.applications[index].credential = .fixed(.secret("another"))
            }
            let report = await run(site, configuration)
            for app in configuration.applications {
                #expect(credential(report, app.id).map(\.severity) == [.mistake], "\(app.id): \(report.text())")
            }
        }
    }

    private static let accepted = (CheckFinding.Severity.good, "The provider accepts it.")
    private static let unknown = (
        CheckFinding.Severity.unknown, "whether the provider accepts it (it returned invalid_grant)."
    )

    @Test func `check reports an accepted secret, and says when it cannot know`() async throws {
        try await Site.run { site in
            let report = await run(site, site.configuration)
            #expect(report.ok, "\(report.text())")
            for (app, (severity, text)) in [
                ("contoso", Self.accepted), ("external", Self.accepted), ("provider", Self.accepted),
                ("ios", Self.unknown), ("b2c", Self.unknown),
            ] {
                let found = credential(report, app)
                #expect(
                    !found.isEmpty && found.allSatisfy { $0.severity == severity && $0.what.english.contains(text) },
                    "\(app): \(found)")
            }
        }
    }

    private func withoutSecrets(_ configuration: CompanionConfiguration) -> CompanionConfiguration {
        var configuration = configuration
        for index in configuration.applications.indices {
            configuration.applications[index].credential = .fixed(.publicClient)
        }
        return configuration
    }

    @Test func `a forgotten secret is a mistake at every kind of provider`() async throws {
        try await Site.run { site in
            let configuration = withoutSecrets(site.configuration)
            let report = await run(site, configuration)
            for app in configuration.applications {
                let found = credential(report, app.id)
                #expect(found.map(\.severity) == [.mistake], "\(app.id): \(report.text())")
                let variable = "COMPANION_APPS_\(app.id.uppercased())_CLIENT_SECRET"
                #expect(
                    found.first?.what.english.hasPrefix("No secret is configured, and the provider asks for one")
                        == true)
                let remedy =
                    app.kind == .oidc ? "Set \(variable) to the client's secret" : "create a secret and set \(variable)"
                #expect(found.first?.remedy?.contains(remedy) == true)
            }
        }
    }

    @Test func `a public client that the provider knows as one is no mistake`() async throws {
        try await Site.run(registered: { $0.secret = nil }, configured: { _ in }) { site in
            let report = await run(site, withoutSecrets(site.configuration))
            #expect(report.ok, "\(report.text())")
            for (app, (severity, text)) in [
                ("provider", Self.accepted), ("ios", Self.unknown), ("contoso", Self.unknown),
            ] {
                let found = credential(report, app)
                #expect(found.map(\.severity) == [severity], "\(app): \(found)")
                #expect(
                    found.first?.what.english.hasPrefix(
                        "No secret is configured. Set COMPANION_APPS_\(app.uppercased())_CLIENT_SECRET, unless")
                        == true)
                #expect(found.first?.what.english.contains(text) == true)
            }
        }
    }

    @Test(
        arguments: [
            (
                // The platform says so only after a sign-in (authz-err-13).
                "a misspelt scope", ["user.reed"], [.unknown], [.unknown],
                "Only a sign-in can show whether the provider grants the scopes"
            ),
            (
                "scopes with a comma", ["user.read,mail.read"], [.mistake], [.mistake],
                // A user flow's word is invalid_request.
                "refuses the scopes user.read,mail.read. The provider says: “invalid_"
            ),
            (
                "scopes of two APIs", ["user.read", "email", "api://fabrikam.example/tasks.read"], [.unknown],
                [.unknown],
                "Only a sign-in can show whether the provider grants the scopes"
            ),
            (
                "one API's scopes", ["https://graph.microsoft.com/User.Read", "mail.read", "email"], [.unknown],
                [.unknown], "Only a sign-in can show whether the provider grants the scopes"
            ),
        ] as [(String, [String], [CheckFinding.Severity], [CheckFinding.Severity], String)])
    func `scopes that no sign-in gets are named`(
        row: String, scopes: [String], atMicrosofts: [CheckFinding.Severity], elsewhere: [CheckFinding.Severity],
        text: String
    ) async throws {
        try await Site.run { site in
            var configuration = site.configuration
            for index in configuration.applications.indices {
                configuration.applications[index].register(scopes: scopes)
            }
            let report = await run(site, configuration)
            #expect(report.ok == (atMicrosofts == [.unknown]), "\(row)")
            for app in ["ios", "contoso", "external", "b2c"] {
                let found = findings(report, "scopes", app: app)
                #expect(found.map(\.severity) == atMicrosofts, "\(row) \(app)")
                #expect(found.first?.what.english.contains(text) == true, "\(row) \(app): \(found)")
            }
            #expect(findings(report, "scopes", app: "provider").map(\.severity) == elsewhere, "\(row)")
        }
    }

    @Test func `a workforce tenant that is configured as an external one is named`() async throws {
        try await Site.run { site in
            var configuration = site.configuration
            configuration.applications[2].authority = try Authority(
                "http://localhost:\(site.tenantPort)/contoso.example", kind: .external)
            let report = await run(site, configuration)
            #expect(findings(report, "kind", app: "contoso").map(\.severity) == [.mistake])
            for app in ["ios", "external", "b2c", "provider"] { #expect(findings(report, "kind", app: app) == []) }
        }
    }

    @Test(arguments: [(1, "in 1 day."), (2, "in 2 days."), (6, "in 6 days.")])
    func `a secret's last days are counted by the calendar, whatever the time of day is`(days: Double, text: String)
        async throws
    {
        try await Site.run { site in
            var configuration = site.configuration
            // As a configuration has it, at the beginning of a day.
            let today = (site.clock.now().timeIntervalSince1970 / 86_400).rounded(.down)
            configuration.applications[0].clientSecretExpires = Date(timeIntervalSince1970: (today + days) * 86_400)
            let found = credential(await run(site, configuration), "ios")
            #expect(found.first?.what.english.contains(text) == true, "\(found)")
        }
    }

    @Test(arguments: ["unsupported_grant_type", "unauthorized_client", "invalid_request", "invalid_scope"])
    func `a provider that refuses the kind of request does not refuse the secret`(error: String) async throws {
        try await Site.run { site in
            try await site.control(
                #"{"token_error":{"status":400,"times":99,"body":{"error":"\#(error)"}}}"#)
            let report = await run(site, site.configuration)
            #expect(report.ok, "\(report.text())")
            for app in site.configuration.applications {
                let found = credential(report, app.id)
                #expect(
                    !found.isEmpty && found.allSatisfy { $0.what.english.contains("(it returned \(error))") },
                    "\(found)")
            }
        }
    }

    @Test func `a secret that is refused and ends soon is one mistake and one advice`() async throws {
        try await Site.run { site in
            var configuration = site.configuration
            configuration.applications[0].clientSecretExpires = site.clock.now().addingTimeInterval(10 * 86_400)
            configuration.applications[0].credential = .fixed(.secret("another"))
            let report = await run(site, configuration)
            #expect(credential(report, "ios").map(\.severity) == [.mistake, .advice])
        }
    }

    @Test(
        arguments: [
            (0, .good), (110, .good), (130, .advice), (-130, .advice), (290, .advice), (310, .mistake),
            (-310, .mistake),
        ] as [(Double, CheckFinding.Severity)])
    func `a clock that is off is named before sign-ins fail`(skew: Double, severity: CheckFinding.Severity) async throws
    {
        try await Site.run { site in
            let check = InstallationCheck(client: site.client, now: { Date().addingTimeInterval(skew) })
            let report = await check.run(site.configuration)
            #expect(findings(report, "clock", app: "ios").map(\.severity) == [severity])
        }
    }

    @Test func `a database that another program holds is named`() async throws {
        try await Site.run { site in
            let lock = try StoreLock(site.database)
            defer { lock.close() }
            try lock.take()
            let report = await run(site, site.configuration)
            let finding = try #require(findings(report, "database").first)
            #expect(
                finding.severity == .mistake && finding.what.english.contains("database is locked"),
                "\(finding.what.english)")
            try lock.release()
            let after = await run(site, site.configuration)
            #expect(after.ok, "\(after.text)")
        }
    }

    @Test(
        arguments: [
            (#"{"sub":"a"}"#, ["login_hint", "sid"]), (#"{"sub":"a","login_hint":"O.x"}"#, ["sid"]),
            (#"{"sub":"a","sid":"s"}"#, ["login_hint"]), (#"{"login_hint":"O.x","sid":"s"}"#, []), ("no JSON", []),
        ] as [(String, [String])])
    func `the claims that signing out needs are advised after a sign-in without them`(
        _ claims: String, _ missing: [String]
    ) throws {
        let found = InstallationCheck.signOutClaims(try Site.application(.workforce), claims)
        #expect(found.map(\.subject) == missing && found.allSatisfy { $0.severity == .advice })
        #expect(found.map(\.what.english) == missing.map { "The latest ID token has no \($0) claim." })
        #expect(zip(found, missing).allSatisfy { $0.remedy?.contains("token type ID, \($1).") == true })
        #expect(InstallationCheck.signOutClaims(try Site.application(.oidc), claims) == [])
    }

    @Test func `nothing is advised about the claims of signing out before a sign-in`() async throws {
        try await Site.run { site in
            let report = await run(site, site.configuration)
            #expect(findings(report, "login_hint", app: "ios") == [] && findings(report, "sid", app: "ios") == [])
        }
        #expect(InstallationCheck.signOutClaims(try Site.application(.workforce), nil) == [])
    }

    @Test func `the latest sign-in's claims are found beside the running server`() async throws {
        try await Site.run { site in
            try await Visitor(site).signIn(app: "ios")
            let ring = try KeyRing.load(existingAt: site.folder.appendingPathComponent("companion.key").path)
            let found = SQLiteStore.health(databaseAt: site.database, keyRing: ring)
            #expect(found.latestClaims["ios"]?.contains("adele@contoso.example") == true)
            let report = await run(site, site.configuration)
            #expect(report.ok, "\(report.text())")
            #expect(!(report.text() + report.json).contains("adele"))
        }
    }

    // MARK: Storage, finding by finding

    private func storage(
        mode: UInt32? = 0o600, keyFailure: StoreError? = nil, _ change: (inout StoreHealth) -> Void = { _ in }
    ) -> [String: CheckFinding.Severity] {
        let database = "/var/lib/companion/companion.sqlite"
        var health = StoreHealth()
        health.exists = mode != nil
        health.freeBytes = 10 << 30
        change(&health)
        let findings = StorageFindings(
            health: health, files: mode.map { [FileAccess(path: database, mode: $0)] } ?? [], database: database,
            key: .file("/var/lib/companion/companion.key"),
            keyFailure: keyFailure)
        return Dictionary(findings.all.map { ($0.subject, $0.severity) }) { first, _ in first }
    }

    @Test(arguments: [
        (UInt32(0o600), CheckFinding.Severity.good), (0o640, .advice), (0o660, .mistake), (0o604, .mistake),
        (0o644, .mistake), (0o666, .mistake),
    ])
    func `a database that others can read or write is found`(mode: UInt32, severity: CheckFinding.Severity) {
        let findings = storage(mode: mode)
        #expect(findings["file_permissions"] == severity)
    }

    @Test(arguments: [
        (Int64(1) << 30, Int64(0), CheckFinding.Severity.good), (1 << 30, 2 << 30, .advice), (100 << 20, 0, .advice),
        (63 << 20, 0, .mistake), (0, 0, .mistake),
    ])
    func `a disk that fills up is found`(free: Int64, database: Int64, severity: CheckFinding.Severity) {
        let findings = storage {
            $0.freeBytes = free
            $0.bytes = database
        }
        #expect(findings["disk_space"] == severity)
    }

    @Test(arguments: [(60 << 30, .good), (40 << 30, .advice)] as [(Int64, CheckFinding.Severity)])
    func `advice asks for a twentieth of a large disk to be free, as the alert does`(
        free: Int64, severity: CheckFinding.Severity
    ) {
        let findings = storage {
            $0.freeBytes = free
            $0.totalBytes = 1000 << 30
        }
        #expect(findings["disk_space"] == severity)
    }

    @Test func `a missing folder, a damaged database and an unreadable one are mistakes, and an old one is not`() {
        #expect(storage { $0.freeBytes = nil }["disk_space"] == .mistake)
        #expect(storage { $0.damage = ["page 3 is never used"] }["database"] == .mistake)
        #expect(storage { $0.failure = .corrupt("x") }["database"] == .mistake)
        #expect(storage { $0.pendingMigrations = ["2"] }["database"] == .advice)
        #expect(storage(mode: nil)["database"] == .good)
    }

    @Test func `a key that cannot be used or does not fit is a mistake, and one that seals nothing is to be retired`()
        throws
    {
        let key = try KeyRing(text: Data(repeating: 1, count: 32).base64EncodedString()).currentKeyID
        func use(isCurrent: Bool, isAtHand: Bool, _ values: Int) -> KeyUse {
            KeyUse(id: key, isCurrent: isCurrent, isAtHand: isAtHand, values: values)
        }
        let current = use(isCurrent: true, isAtHand: true, 3)
        #expect(storage { $0.keys = [current] }["key"] == .good)
        #expect(storage { $0.keys = [current] }["older_keys"] == nil)
        #expect(storage { $0.keys = [] }["key"] == .good)
        #expect(storage(keyFailure: .keyFile("chmod 600")) { $0.keys = [] }["key"] == .mistake)
        #expect(storage { $0.keys = [use(isCurrent: false, isAtHand: false, 1)] }["key"] == .mistake)
        #expect(storage { $0.keys = [current, use(isCurrent: false, isAtHand: true, 0)] }["older_keys"] == .advice)
        #expect(storage { $0.keys = [current, use(isCurrent: false, isAtHand: true, 9)] }["older_keys"] == .good)
    }

    // MARK: Configuration, finding by finding

    @Test(arguments: [
        ("0.0.0.0/0", CheckFinding.Severity.mistake), ("::/0", .mistake), ("0.0.0.0/1", .advice),
        ("10.0.0.0/8", .advice), ("192.168.0.0/16", .advice), ("192.168.0.0/23", .advice), ("192.168.0.0/24", nil),
        ("127.0.0.1", nil), ("127.0.0.0/8", nil), ("126.0.0.0/7", .advice), ("2000::/3", .advice),
        ("2a00:1450::/32", .advice), ("fd00::/8", .advice), ("fd00:0:0:1::/63", .advice), ("fd00:0:0:1::/64", nil),
        ("::1", nil), ("::ffff:10.0.0.0/104", .advice), ("::ffff:10.0.0.0/120", nil),
    ])
    func `proxies that are trusted too widely are found`(range: String, severity: CheckFinding.Severity?) throws {
        var configuration = CompanionConfiguration(port: 8080)
        configuration.trustedProxies = [try #require(AddressRange(range))]
        let findings = ConfigurationFindings(configuration: configuration, now: Date()).general
        #expect(findings.map(\.severity) == (severity.map { [$0] } ?? []))
    }

    @Test(arguments: [
        ("https://companion.example", "127.0.0.1", "127.0.0.1", [String]()),
        ("https://companion.example", "127.0.0.1", nil, ["trusted_proxies"]),
        ("https://companion.example", "0.0.0.0", "10.0.0.1", ["listen"]),
        ("http://localhost:8080", "0.0.0.0", nil, ["listen"]), ("http://localhost:8080", "127.0.0.1", nil, []),
        ("http://localhost:9090", "127.0.0.1", nil, ["public_url"]), ("http://localhost:9090", "::1", "::1", []),
    ])
    func `an address that people cannot come back to is found`(
        url: String, host: String, proxy: String?, subjects: [String]
    ) throws {
        var configuration = CompanionConfiguration(port: 8080)
        configuration.publicURL = try PublicURL(url)
        configuration.host = host
        configuration.trustedProxies = [proxy].compactMap { $0.flatMap(AddressRange.init) }
        let findings = ConfigurationFindings(configuration: configuration, now: Date()).general
        #expect(findings.map(\.subject) == subjects)
        #expect(findings.allSatisfy { $0.severity == .advice })
    }

    @Test(arguments: [
        ("https://companion.example:8080", "0.0.0.0", [String]()), ("https://localhost:8080", "127.0.0.1", []),
        ("https://companion.example", "0.0.0.0", ["public_url"]),
    ])
    func `a server that speaks https itself needs no proxy`(url: String, host: String, subjects: [String]) throws {
        var configuration = CompanionConfiguration(port: 8080)
        configuration.tls = TLSFiles(certificate: "a.pem", privateKey: "a.key")
        configuration.publicURL = try PublicURL(url)
        configuration.host = host
        #expect(ConfigurationFindings(configuration: configuration, now: Date()).general.map(\.subject) == subjects)
    }

    @Test(arguments: [
        ("http://127.0.0.1:8080", Application.Kind.workforce, 1), ("http://127.0.0.1:8080", .oidc, 0),
        ("http://localhost:8080", .workforce, 0), ("https://127.0.0.1", .workforce, 0),
    ])
    func `a redirect URI that the platform does not take is found`(
        url: String, kind: Application.Kind, count: Int
    ) throws {
        let findings = ApplicationFindings(application: try Site.application(kind), publicURL: try PublicURL(url))
        #expect(findings.all.map(\.subject) == Array(repeating: "redirect_uri", count: count))
    }

    @Test(arguments: [(0o600, CheckFinding.Severity?.none), (0o640, .advice), (0o644, .mistake), (0o660, .mistake)])
    func `a secret that others can read is found`(mode: Int, severity: CheckFinding.Severity?) throws {
        let file = TemporaryFolder.ofProcess.appendingPathComponent("secret-\(UUID().uuidString)")
        try Data("s3cret".utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
        var application = try Site.application(.workforce)
        application.credential = .secretFile(file.path, method: nil)
        let findings = ApplicationFindings(
            application: application, publicURL: try PublicURL("http://localhost:8080"))
        #expect(findings.all.map(\.severity) == (severity.map { [$0] } ?? []))
    }

    @Test(arguments: [
        ("00000000-0000-0000-0000-000000000000", Application.Kind.workforce, ["mistake client_id"]),
        ("my-app", .workforce, ["mistake client_id"]), ("my-app", .oidc, []),
        ("5D1F0A52-3c5e-4a8e-9d5c-0c0a3f1e7b10", .workforce, []),
    ])
    func `a client ID that no platform of Microsoft's has given is found`(
        id: String, kind: Application.Kind, found: [String]
    ) throws {
        var application = try Site.application(kind)
        application.register(clientID: id)
        let findings = ApplicationFindings(application: application, publicURL: try PublicURL("http://localhost:8080"))
        #expect(findings.all.map { "\($0.severity) \($0.subject)" } == found)
    }

    @Test(arguments: [
        ("0c8b6a1e-52d7-4f39-9a41-b7d2e6f3c905", Application.Kind.workforce, ["mistake credential"]),
        ("0C8B6A1E-52D7-4F39-9A41-B7D2E6F3C905", .workforce, ["mistake credential"]),
        ("…", .workforce, ["mistake credential"]),
        ("x8Q~made.up.for.this.test_0123456789abcd", .workforce, ["good credential"]),
        ("0c8b6a1e-52d7-4f39-9a41-b7d2e6f3c905", .oidc, ["good credential"]), ("…", .oidc, ["good credential"]),
    ])
    func `a secret that is its ID or the placeholder of the README is found, and not repeated`(
        secret: String, kind: Application.Kind, found: [String]
    ) throws {
        var application = try Site.application(kind)
        application.credential = .fixed(.secret(secret))
        application.clientSecretExpires = .distantFuture
        let findings = CredentialFindings(application: application, now: Date(timeIntervalSince1970: 0)).all
        #expect(findings.map { "\($0.severity) \($0.subject)" } == found)
        #expect(!findings.contains { "\($0)".contains(secret) })
    }

    private static func token(until end: Int) -> ClientCredential {
        let claims = Base64URL.encode(Array(#"{"exp":\#(end)}"#.utf8))
        return .fixed(.assertion("\(Base64URL.encode(Array("{}".utf8))).\(claims).AA"))
    }

    @Test(
        arguments: [
            (
                .fixed(.secret("s3cret")), nil, "etc/companion.yaml",
                [
                    "good credential: A secret is configured.",
                    "unknown client_secret_expires: It is not known when the secret expires. To be warned before, set "
                        + "apps.my-shop.client_secret_expires in etc/companion.yaml, or "
                        + "COMPANION_APPS_MY_SHOP_CLIENT_SECRET_EXPIRES in the environment.",
                ]
            ),
            (
                .fixed(.secret("s3cret")), nil, nil,
                [
                    "good credential: A secret is configured.",
                    "unknown client_secret_expires: It is not known when the secret expires. To be warned before, set "
                        + "COMPANION_APPS_MY_SHOP_CLIENT_SECRET_EXPIRES in the environment.",
                ]
            ),
            (
                .fixed(.secret("s3cret")), 40 * 86_400, nil,
                ["good credential: The client secret is valid until 1970-02-10."]
            ),
            (
                token(until: 3600), nil, "companion.yaml",
                ["good credential: The federated token is valid until 1970-01-01T01:00:00Z."]
            ),
            (token(until: 0), nil, nil, ["mistake credential: The federated token expired at 1970-01-01T00:00:00Z."]),
            (.fixed(.assertion("opaque")), nil, nil, ["good credential: A federated token is configured."]),
        ] as [(ClientCredential, TimeInterval?, String?, [String])])
    func `a secret whose end nobody knows names the setting of its end, and a federated token needs none`(
        credential: ClientCredential, end: TimeInterval?, file: String?, found: [String]
    ) throws {
        var application = try Site.application(.workforce)
        application.id = "my-shop"
        application.credential = credential
        application.clientSecretExpires = end.map { Date(timeIntervalSince1970: $0) }
        let findings = CredentialFindings(
            application: application, file: file, now: Date(timeIntervalSince1970: 0)
        ).all
        #expect(findings.map { "\($0.severity) \($0.subject): \($0.what.english)" } == found)
        #expect(findings.allSatisfy { $0.severity == .mistake || $0.remedy == nil })
        let report = CheckReport(findings)
        #expect(report.counts["good"] == found.count { $0.hasPrefix("good") })
        #expect(report.ok == !found.contains { $0.hasPrefix("mistake") })
    }

    @Test
    func `the text begins with a line for each application: its state, the days that are left and its first problem`()
        throws
    {
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        let applications = try (1...4).map { try Site.application(.workforce, id: "app\($0)") }
        func ends(_ days: Double, _ application: Application) -> CheckFinding {
            .expiry(
                "credential", at: now.addingTimeInterval(days * 86_400), now: now, expired: "It has ended.",
                soon: "It ends.", valid: "It is good.", why: "Why.", remedy: "Remedy."
            ).of(application)
        }
        let report = CheckReport(
            [
                .good("key", "The key is good."), ends(349.5, applications[0]), ends(8.9, applications[1]),
                .mistake("redirect_uri", "\(String(repeating: "long ", count: 30))", why: "Why.", remedy: "Remedy.")
                    .of(applications[2]), ends(-1.5, applications[2]),
                .unknown("scopes", "Only a sign-in can show it.").of(applications[3]),
            ], registrations: try applications.map { try .init($0, at: PublicURL("http://localhost:8080")) })
        let table = report.text(at: now).split(separator: "\n").prefix(6)
        let long = String(repeating: "long ", count: 30).prefix(65) + "…"
        #expect(
            table == [
                "                   State             Days  First problem", "This installation  ok",
                "app1               ok                349",
                "app2               ADVICE            9     credential: It ends.",
                "app3               ERROR             -2    redirect_uri: \(long)",
                "app4               no problem found        not known: scopes",
            ])
        #expect(
            [false, true].map { report.text(isVerbose: $0, at: now).contains("The key is good.") } == [false, true])
    }

    @Test func `mistakes of the configuration are findings, and stand in the JSON`() throws {
        var mistakes = ConfigurationMistakes()
        mistakes.add("apps.ios.client_id", "is missing")
        let report = InstallationCheck.report(of: mistakes)
        #expect(!report.ok)
        #expect(report.text().hasSuffix("1 error."))
        let json = try #require(try JSONSerialization.jsonObject(with: Data(report.json.utf8)) as? [String: Any])
        #expect(json["ok"] as? Bool == false)
        let finding = try #require((json["findings"] as? [[String: Any]])?.first)
        #expect(finding["subject"] as? String == "configuration")
        #expect(finding["severity"] as? String == "mistake")
        #expect(finding["what"] as? String == "apps.ios.client_id is missing")
    }
}

extension Site {
    /// An application that no test signs in to.
    fileprivate static func application(_ kind: Application.Kind, id: String = "ios") throws -> Application {
        let authority = kind == .oidc ? "https://id.example.com" : "https://login.microsoftonline.com/common"
        return Application(
            id: id, page: .ios, title: "iOS", authority: try Authority(authority, kind: kind),
            registration: ClientRegistration(
                clientID: "11111111-aaaa-4bbb-8ccc-000000000001", redirectURI: "http://localhost:8080/auth/callback",
                scopes: []), credential: .fixed(.publicClient), api: nil)
    }
}

extension Application {
    fileprivate mutating func register(
        clientID: String? = nil, redirectURI: String? = nil, scopes: [String]? = nil
    ) {
        registration = ClientRegistration(
            clientID: clientID ?? registration.clientID, redirectURI: redirectURI ?? registration.redirectURI,
            scopes: scopes ?? registration.scopes,
            clientCapabilities: registration.clientCapabilities)
    }
}
