import Foundation
import OpenIDConnect
import Testing

@testable import Companion
@testable import CompanionCore
@testable import DemoTenant

/// The table of settings, and the documents that show it.
@Suite struct SettingsTests {
    private static let settings = CompanionConfiguration.settings

    @Test func `each key is declared once, and each variable's name belongs to one key`() {
        #expect(Set(Self.settings.map(\.key)).count == Self.settings.count)
        #expect(Set(Self.settings.map(\.environmentName)).count == Self.settings.count)
        for setting in Self.settings { #expect(setting.help.hasSuffix("."), "\(setting.key)") }
    }

    @Test(arguments: settings.filter { $0.standard != nil })
    func `the default that is shown is the one that applies`(setting: Setting) throws {
        let value = try #require(setting.standard).trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        #expect(try Built([setting.key: value]) == Built([:]))
    }

    /// Another value than the default of each setting, and the settings beside which it counts: one row for each.
    private static let others: [String: (value: String, beside: [String: String])] = {
        let postgres = ["database": "postgresql://user@host/name"]
        let b2c = [
            "apps.ios.kind": "b2c", "apps.ios.api": "https://api.example", "apps.ios.policies.sign_in": "b2c_1_susi",
            "apps.ios.authority": "https://contoso.b2clogin.com/contoso.onmicrosoft.com",
        ]
        let certificate = [
            "apps.ios.certificate_file": "{folder}/certificate.pem", "apps.ios.private_key_file": "{folder}/key.pem",
        ]
        let portal = ["apps.ios.page": "portal"]
        let operated = ["apps.ios.page": "portal", "apps.ios.operators.roles": "Operator"]
        let api = ["apis": "graph", "apis.graph.base": "https://a.example", "apis.graph.paths": "/me"]
        let token = [
            "api_tokens": "nightly", "api_tokens.nightly.sha256": String(repeating: "a", count: 64),
            "api_tokens.nightly.scopes": "check",
        ]
        func key(_ letter: String) -> String { Data(String(repeating: letter, count: 32).utf8).base64EncodedString() }
        let notify = ["notify.url": "https://a.example/hook", "notify.secret": "whsec_" + key("a")]
        let tls = ["tls.certificate_file": "/a.pem", "tls.private_key_file": "/a.key"]
        return [
            "tls.certificate_file": ("/b.pem", tls), "tls.private_key_file": ("/b.key", tls),
            "tls.redirect_listen": ("0.0.0.0:80", tls),
            "listen": ("127.0.0.1:8081", ["public_url": "http://localhost:8080"]),
            "public_url": ("http://localhost:9999", [:]), "database": ("other.sqlite", [:]),
            "database_password": ("secret", postgres), "database_password_file": ("/password", postgres),
            "database_prepared": ("off", postgres), "database_pool": ("9", postgres),
            "encryption_key_file": ("other.key", [:]),
            "encryption_key": (Data(repeating: 1, count: 32).base64EncodedString(), [:]), "public": ("Other", [:]),
            "device_mode": ("shared", ["session.idle_minutes": "7", "session.max_hours": "1"]),
            "staleness_seconds": ("5", postgres), "token_display": ("full", [:]), "session.idle_minutes": ("61", [:]),
            "session.max_hours": ("13", [:]), "kiosk.countdown_after_seconds": ("21", [:]),
            "kiosk.idle_seconds": ("61", [:]), "kiosk.hosts": ("adfs.contoso.com", [:]),
            "kiosk.tiles": ("ios", ["device_mode": "shared", "apps.ios.page": "kiosk"]),
            "kiosk.logo_file": ("{folder}/logo.png", [:]), "kiosk.color": ("#0040dd", [:]),
            "kiosk.welcome.en": ("Hello", [:]), "kiosk.welcome.ja": ("Hello", [:]),
            "kiosk.welcome.pt-BR": ("Hello", [:]), "kiosk.welcome.pt-PT": ("Hello", [:]),
            "kiosk.welcome.sv": ("Hello", [:]), "kiosk.welcome.zh-Hans": ("Hello", [:]),
            "trusted_proxies": ("10.0.3.7", [:]), "limits.sign_ins_per_minute": ("7", [:]),
            "limits.sign_in_burst": ("7", [:]), "limits.callbacks_per_minute": ("7", [:]),
            "limits.forced_refreshes_per_minute": ("7", [:]), "limits.operator_requests_per_minute": ("7", [:]),
            "limits.program_requests_per_minute": ("7", [:]),
            "limits.connections": ("7", [:]), "limits.exempt": ("10.0.3.7", [:]), "limits.free_megabytes": ("7", [:]),
            "log_level": ("debug", [:]), "log_format": ("json", [:]), "log_requests": ("true", [:]),
            "audit_log_file": ("/audit.log", [:]), "metrics.listen": ("127.0.0.1:9464", [:]),
            "drain_seconds": ("7", [:]), "demo.client_secret": ("secret", [:]), "demo.control_token": ("token", [:]),
            "demo.host": ("0.0.0.0", [:]),
            "development_ca": ("/elsewhere", [:]),
            "apis.graph.base": ("https://b.example", api), "apis.graph.paths": ("/users", api),
            "apis.graph.scopes": ("/me=Mail.Read", api),
            "api_tokens.nightly.sha256": (String(repeating: "b", count: 64), token),
            "api_tokens.nightly.scopes": ("metrics", token), "api_tokens.nightly.expires": ("2027-01-31", token),
            "notify.url": ("https://b.example/hook", notify), "notify.secret": ("whsec_" + key("c"), notify),
            "notify.secret_file": (
                "{folder}/webhook", ["notify.url": "https://a.example", "notify.secret_file": "{folder}/other-webhook"]
            ),
            "notify.every_hours": ("7", notify),
            "apps.ios.page": ("macos", ["apps.ios.title": "Ours"]), "apps.ios.title": ("Ours", [:]),
            "apps.ios.kind": (
                "oidc",
                [
                    "apps.ios.authority": "https://login.microsoftonline.com/contoso.example",
                    "apps.ios.api": "https://api.example",
                    "apps.ios.prompt": "login", "apps.ios.scopes": "mail.read",
                ]
            ),
            "apps.ios.client_id": ("def", [:]), "apps.ios.client_secret": ("secret", [:]),
            "apps.ios.client_secret_file": ("{folder}/secret", [:]),
            "apps.ios.certificate_file": ("{folder}/other.pem", certificate),
            "apps.ios.private_key_file": ("{folder}/other-key.pem", certificate),
            "apps.ios.federated_token_file": ("{folder}/secret", [:]),
            "apps.ios.client_authentication": ("basic", ["apps.ios.client_secret": "secret"]),
            "apps.ios.client_secret_expires": ("2027-01-31", [:]),
            "apps.ios.authority": ("https://login.microsoftonline.com/contoso.example", [:]),
            "apps.ios.policies.sign_in": ("b2c_1_other", b2c), "apps.ios.policies.edit_profile": ("b2c_1_edit", b2c),
            "apps.ios.policies.reset_password": ("b2c_1_reset", b2c),
            "apps.ios.allowed_tenants": ("11111111-2222-4333-8444-555555555555", [:]),
            "apps.ios.allowed_users": ("11111111-2222-4333-8444-555555555555", [:]),
            "apps.ios.allowed_groups": ("11111111-2222-4333-8444-555555555555", [:]),
            "apps.ios.allowed_roles": ("Tester", [:]),
            "apps.ios.operators.users": ("11111111-2222-4333-8444-555555555555", portal),
            "apps.ios.operators.groups": ("11111111-2222-4333-8444-555555555555", portal),
            "apps.ios.operators.roles": ("Operator", portal),
            "apps.ios.readers.users": ("11111111-2222-4333-8444-555555555555", operated),
            "apps.ios.readers.groups": ("11111111-2222-4333-8444-555555555555", operated),
            "apps.ios.readers.roles": ("Reader", operated),
            "apps.ios.app_only": (
                "true",
                [
                    "apps.ios.client_secret": "secret",
                    "apps.ios.authority": "https://login.microsoftonline.com/contoso.example",
                ]
            ),
            "apps.ios.redirect_uri": ("own", [:]), "apps.ios.scopes": ("mail.read", [:]),
            "apps.ios.api": ("https://api.example", [:]), "apps.ios.prompt": ("login", [:]),
            "apps.ios.extra_query_parameters": ("slice", [:]),
        ]
    }()

    /// A PNG of 10 by 5 pixels.
    private static let logo =
        "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAFCAIAAADzBuo/AAAAEUlEQVR42mPokXXAgxgGUBoA1xEtg4cpQo0AAAAASUVORK5CYII="

    @Test func `each setting changes what is configured`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("settings-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try ClientCredentialTests.makeCertificate(in: folder)
        try FileManager.default.copyItem(atPath: folder + "/certificate.pem", toPath: folder + "/other.pem")
        try FileManager.default.copyItem(atPath: folder + "/key.pem", toPath: folder + "/other-key.pem")
        try Data("secret".utf8).write(to: URL(fileURLWithPath: folder + "/secret"))
        for (name, byte) in [("webhook", UInt8(7)), ("other-webhook", 8)] {
            try Data("whsec_\(Data(repeating: byte, count: 32).base64EncodedString())".utf8).write(
                to: URL(fileURLWithPath: folder + "/" + name))
        }
        try #require(Data(base64Encoded: Self.logo)).write(to: URL(fileURLWithPath: folder + "/logo.png"))
        let missing = Set(Self.settings.map(\.key)).symmetricDifference(Self.others.keys)
        #expect(missing == [], "Each setting has a row of `others`, with a value that changes the configuration.")
        for (key, other) in Self.others {
            func built(_ values: [String: String]) throws -> Built {
                try Built(values.mapValues { $0.replacing("{folder}", with: folder) })
            }
            let (before, after) = (
                try built(other.beside), try built(other.beside.merging([key: other.value]) { $1 })
            )
            #expect(before != after, "\(key) changes nothing: is it read?")
        }
    }

    @Test func `each property of the configuration is used by something outside of it`() throws {
        let sources = Site.root.appendingPathComponent("Sources")
        var used: Set<Substring> = []
        let files = FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift", !file.path.contains("/CompanionCore/Configuration/") else { continue }
            let text = try String(contentsOf: file, encoding: .utf8)
            used.formUnion(text.matches(of: /\.(\w+)/).map(\.output.1))
        }
        // Others ask for `effectiveSessionIdle`.
        used.insert("sessionIdle")
        let configuration = try Built([:]).configuration
        for value in [configuration, configuration.limits, try #require(configuration.applications.first)] as [Any] {
            let names = Mirror(reflecting: value).children.compactMap(\.label)
            #expect(!names.isEmpty)
            for name in names { #expect(used.contains(name[...]), "\(type(of: value)).\(name) is used by nothing") }
        }
    }

    /// A configuration's values: all of them, and apart from that those that hide its secrets.
    private struct Built: Equatable {
        let configuration: CompanionConfiguration

        /// - Parameter values: by key, beside those that one application needs.
        init(_ values: [String: String]) throws {
            let needed = ["COMPANION_APPS": "ios", "COMPANION_APPS_IOS_CLIENT_ID": "abc"]
            let given = values.map { (Setting.environmentName(of: $0.key), $0.value) }
            configuration = try CompanionConfiguration.read(
                environment: needed.merging(given) { $1 }, file: nil)
        }

        private var shown: String {
            var text = ""
            dump(configuration, to: &text)
            return text
        }

        private var secrets: [String] {
            configuration.applications.map { application in
                guard case .fixed(.secret(let secret, let method)) = application.credential else { return "" }
                return "\(secret) \(String(describing: method))"
            }
        }

        static func == (one: Built, other: Built) -> Bool {
            one.shown == other.shown && one.secrets == other.secrets
                && one.configuration.database == other.configuration.database
        }
    }

    @Test func `an empty variable undoes the file's setting`() throws {
        let file = "database: file.sqlite\napps: { ios: { client_id: abc, scopes: [mail.read] } }"
        func read(_ environment: [String: String]) throws -> CompanionConfiguration {
            try Self.withFile(file) { try CompanionConfiguration.read(environment: environment, file: $0) }
        }
        #expect(try read([:]).database == .file("file.sqlite"))
        let without = try read(["COMPANION_DATABASE": "", "COMPANION_APPS_IOS_SCOPES": ""])
        #expect(without.database == .standard)
        #expect(without.applications.first?.registration.scopes == ["user.read"])
    }

    // MARK: The documents

    @Test func `the README's tables list exactly the declared settings`() throws {
        let readme = try Self.text(of: "README.md")
        let start = try #require(readme.range(of: "## Configure it"))
        let end = try #require(readme.range(of: "\n| command |"))
        let rows = readme[start.upperBound..<end.lowerBound].split(separator: "\n").filter { $0.hasPrefix("| `") }
        let expected = Self.settings.map(Self.row)
        for row in expected { #expect(rows.contains { $0 == row }, "The README lacks this row:\n\(row)") }
        for row in rows { #expect(expected.contains { $0 == row }, "The README has a row of no setting:\n\(row)") }
    }

    private static func row(_ setting: Setting) -> String {
        let key = setting.key.hasPrefix("apps.ios.") ? String(setting.key.dropFirst("apps.ios.".count)) : setting.key
        let standard = setting.standard.map { "`\($0)`" } ?? ""
        return "| `\(key)` | \(setting.values) | \(standard) | \(setting.help) |"
    }

    @Test func `the README's examples contain only settings`() throws {
        let blocks = try Self.text(of: "README.md").components(separatedBy: "```yaml\n").dropFirst()
        #expect(!blocks.isEmpty)
        for block in blocks {
            let yaml = try #require(block.components(separatedBy: "```").first)
            let file = try Self.withFile(yaml, Self.file)
            #expect(Set(file.keys.map(Self.asOfIOS)).isSubset(of: Self.settings.map(\.key)), "\(yaml)")
        }
    }

    /// The key as the table has it, whatever the application's name.
    private static func asOfIOS(_ key: String) -> String {
        let parts = key.split(separator: ".")
        return parts.first == "apps" ? (["apps", "ios"] + parts.dropFirst(2)).joined(separator: ".") : key
    }

    @Test func `the example file has every setting that a file may have, and what is commented out is the default`()
        throws
    {
        let example = try Self.text(of: "deploy/debian/companion.yaml")
        // “# text” is a comment, “#key: value” a setting that is commented out.
        let all = example.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let text = line.drop { $0 == " " }
            let isSetting = text.hasPrefix("#") && text.dropFirst().first?.isLetter ?? false
            return line.prefix { $0 == " " } + (isSetting ? text.dropFirst() : text)
        }
        let active = try Self.withFile(example, Self.file)
        let file = try Self.withFile(all.joined(separator: "\n"), Self.file)
        #expect(Set(file.keys) == Set(Self.settings.filter { $0.form != .secret }.map(\.key)))
        for setting in Self.settings where active.values[setting.key] == nil {
            guard let standard = setting.standard else { continue }
            switch file.values[setting.key] {
            case .text(let text): #expect(text == standard, "\(setting.key)")
            case .list(let items): #expect("[\(items.joined(separator: ", "))]" == standard, "\(setting.key)")
            case nil: Issue.record("\(setting.key) is not there")
            }
        }
        _ = try Self.withFile(example) { try CompanionConfiguration.read(file: $0) }
    }

    @Test func `the help of the options is that of the settings`() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appendingPathComponent("companion")
        process.arguments = ["serve", "--help"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let help = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        // Lines are wrapped.
        let words = help.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        for key in ["database", "public", "log_level", "log_format"] {
            let setting = try #require(Self.settings.first { $0.key == key })
            #expect(words.contains(setting.help), "\(key)")
            #expect(words.contains("Default: \(setting.standard ?? "")."), "\(key)")
        }
        let listen = try #require(Self.settings.first { $0.key == "listen" }?.standard)
        for part in listen.split(separator: ":") { #expect(words.contains("Default: \(part).")) }
    }

    private static func text(of path: String) throws -> String {
        try String(contentsOf: Site.root.appendingPathComponent(path), encoding: .utf8)
    }

    /// A file of settings, which has no mistake of form.
    private static func file(at path: String) -> ConfigurationFile {
        var mistakes = ConfigurationMistakes()
        let file = ConfigurationFile(path: path, mistakes: &mistakes)
        #expect(mistakes.all.isEmpty, "\(mistakes)")
        return file
    }

    private static func withFile<Value>(_ text: String, _ body: (_ path: String) throws -> Value) throws -> Value {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("companion-\(UUID().uuidString).yaml")
        try Data(text.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return try body(file.path)
    }
}
