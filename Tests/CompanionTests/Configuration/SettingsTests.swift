import Foundation
import OpenIDConnect
import TestSupport
import Testing
import WebFormats

@testable import Companion
@testable import CompanionCore

/// The table of settings, and the documents that show it.
@Suite struct SettingsTests {
    private static let settings = CompanionConfiguration.settings

    @Test func `each key is declared once, and each variable's name belongs to one key`() {
        #expect(Set(Self.settings.map(\.key)).count == Self.settings.count)
        #expect(Set(Self.settings.map(\.environmentName)).count == Self.settings.count)
        for setting in Self.settings { #expect(setting.help.hasSuffix("."), "\(setting.key)") }
    }

    // A variable cannot give an empty list.
    @Test(arguments: settings.filter { $0.standard != nil && $0.standard != "[]" })
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
        let oneTenant = ["apps.ios.authority": "https://login.microsoftonline.com/contoso.example"]
        let portalOfOne = oneTenant.merging(portal) { $1 }
        let operated = portalOfOne.merging(["apps.ios.operators.roles": "Operator"]) { $1 }
        let api = portal.merging([
            "apis": "graph", "apis.graph.base": "https://graph.microsoft.com/v1.0", "apis.graph.paths": "/me",
        ]) { $1 }
        let token = [
            "api_tokens": "nightly", "api_tokens.nightly.sha256": String(repeating: "a", count: 64),
            "api_tokens.nightly.scopes": "check",
        ]
        let tls = ["tls.certificate_file": "/a.pem", "tls.private_key_file": "/a.key"]
        return [
            "tls.certificate_file": ("/b.pem", tls), "tls.private_key_file": ("/b.key", tls),
            "tls.redirect_listen": ("0.0.0.0:80", tls),
            "listen": ("127.0.0.1:8081", ["public_url": "http://localhost:8080"]),
            "public_url": ("http://localhost:9999", [:]), "database": ("other.sqlite", [:]),
            "database_password": ("secret", postgres), "database_password_file": ("/password", postgres),
            "database_prepared": ("off", postgres), "database_pool": ("9", postgres),
            "encryption_key_file": ("other.key", [:]),
            "encryption_key": (Data(repeating: 1, count: 32).base64EncodedString(), [:]),
            "public": (Site.publicFolder, [:]),
            "device_mode": ("shared", ["session.idle_minutes": "7", "session.max_hours": "1"]),
            "staleness_seconds": ("5", postgres), "token_display": ("full", [:]), "session.idle_minutes": ("61", [:]),
            "session.max_hours": ("13", [:]), "kiosk.countdown_after_seconds": ("21", [:]),
            "kiosk.idle_seconds": ("61", [:]), "kiosk.hosts": ("adfs.contoso.com", [:]),
            "kiosk.tiles": ("ios", ["device_mode": "shared", "apps.ios.page": "kiosk"]),
            "kiosk.logo_file": ("{folder}/logo.png", [:]), "kiosk.color": ("#0040dd", [:]),
            "kiosk.welcome.en": ("Hello", [:]), "kiosk.welcome.ja": ("Hello", [:]),
            "kiosk.welcome.pt-BR": ("Hello", [:]), "kiosk.welcome.pt-PT": ("Hello", [:]),
            "kiosk.welcome.sv": ("Hello", [:]), "kiosk.welcome.zh-Hans": ("Hello", [:]),
            "trusted_proxies": ("10.0.3.7", [:]), "provider_ca_file": ("{folder}/certificate.pem", [:]),
            "apps.ios.pushed_authorization": ("off", [:]), "limits.sign_ins_per_minute": ("7", [:]),
            "limits.sign_in_burst": ("7", [:]), "limits.callbacks_per_minute": ("7", [:]),
            "limits.forced_refreshes_per_minute": ("7", [:]), "limits.operator_requests_per_minute": ("7", [:]),
            "limits.program_requests_per_minute": ("7", [:]),
            "limits.connections": ("7", [:]), "limits.exempt": ("10.0.3.7", [:]), "limits.free_megabytes": ("7", [:]),
            "log_level": ("debug", [:]), "log_format": ("json", [:]), "log_requests": ("true", [:]),
            "audit_log_file": ("/audit.log", [:]), "metrics.listen": ("127.0.0.1:9464", [:]),
            "drain_seconds": ("7", [:]), "demo.client_secret": ("secret", [:]), "demo.control_token": ("token", [:]),
            "demo.host": ("0.0.0.0", [:]),
            "development_ca": ("/elsewhere", [:]),
            "apis.graph.base": ("https://graph.microsoft.com/beta", api), "apis.graph.paths": ("/users", api),
            "apis.graph.applications": (
                "portal",
                api.merging([
                    "apps": "ios,portal", "apps.portal.client_id": "abc", "apis.graph.applications": "ios",
                ]) { $1 }
            ),
            "apis.graph.scopes": ("/me=Mail.Read", api),
            "api_tokens.nightly.sha256": (String(repeating: "b", count: 64), token),
            "api_tokens.nightly.scopes": ("metrics", token), "api_tokens.nightly.expires": ("2027-01-31", token),
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
            "apps.ios.allowed_groups": ("11111111-2222-4333-8444-555555555555", oneTenant),
            "apps.ios.allowed_roles": ("Tester", oneTenant),
            "apps.ios.operators.users": ("11111111-2222-4333-8444-555555555555", portal),
            "apps.ios.operators.groups": ("11111111-2222-4333-8444-555555555555", portalOfOne),
            "apps.ios.operators.roles": ("Operator", portalOfOne),
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
        let folder = TemporaryFolder.ofProcess.appendingPathComponent("settings-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try ClientCredentialTests.makeCertificate(in: folder)
        try FileManager.default.copyItem(atPath: folder + "/certificate.pem", toPath: folder + "/other.pem")
        try FileManager.default.copyItem(atPath: folder + "/key.pem", toPath: folder + "/other-key.pem")
        try Data("secret".utf8).write(to: URL(fileURLWithPath: folder + "/secret"))
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

    // MARK: The documents

    @Test func `the guide and the package's file are what the declarations say`() throws {
        #expect(
            try SettingsDocument().markdown == Self.text(of: "deploy/guides/configuration.md"),
            "companion settings --markdown")
        let file = "deploy/debian/companion.yaml"
        let document = try SettingsDocument(file: Site.root.appendingPathComponent(file).path)
        #expect(try document.yaml == Self.text(of: file), "companion settings --yaml --config \(file)")
    }

    @Test func `the guide has a row for each setting, with its variable, unit, default and explanation`() throws {
        let rows = try SettingsDocument().markdown.split(separator: "\n").filter { $0.hasPrefix("| `") }
        #expect(rows.count == Self.settings.count)
        for setting in Self.settings {
            let key = setting.key.hasPrefix("apps.ios.") ? setting.key.dropFirst("apps.ios.".count) : setting.key[...]
            let row = try #require(rows.first { $0.hasPrefix("| `\(key)` | `\(setting.environmentName)` |") })
            #expect(
                row.hasSuffix("| \(setting.values) | \(setting.standard.map { "`\($0)`" } ?? "") | \(setting.help) |"))
        }
    }

    @Test func `the annotated file keeps the values and names of a file, and is itself when it is annotated again`()
        throws
    {
        let own = """
            listen: 0.0.0.0:80
            kiosk: { welcome: { en: "Hello: all # of you", ja: "null", sv: "NULL" }, hosts: ["*.contoso.com", adfs.example] }
            apps: { one: { client_id: 007, scopes: [] }, two: { page: ios } }
            apis: { files: { base: https://a.example/v1, scopes: { /me/*: [A.Read, B.Read] } } }
            api_tokens: [{ name: nightly, scopes: check }]
            """
        let first = try Self.withFile(own) { try SettingsDocument(file: $0).yaml }
        let second = try Self.withFile(first) { try SettingsDocument(file: $0).yaml }
        #expect(first == second)
        let (before, after) = (try Self.withFile(own, Self.file), try Self.withFile(first, Self.file))
        #expect(before.values == after.values && before.names == after.names)
        #expect(Set(before.keys) == Set(after.keys))
    }

    @Test(arguments: [
        ("allowed_users: #abc", "allowed_users"), ("alowed_users: [abc]", "alowed_users"),
        ("client_secret: abc", "client_secret"),
    ])
    func `nothing that a file says is left out of the annotated file without a word`(line: String, key: String) throws {
        let yaml = "apps:\n  ios:\n    client_id: abc\n    \(line)\n"
        let found = #expect(throws: ConfigurationMistakes.self) {
            try Self.withFile(yaml) { try SettingsDocument(file: $0).yaml }
        }
        #expect(found?.all.map(\.key) == ["apps.ios.\(key)"] && found?.all.first?.line == 4)
    }

    @Test func `the schema has each setting that a file may have, at its place, with its choices`() throws {
        let schema = try #require(JSONValue(parsing: SettingsDocument().schema.utf8))
        for setting in Self.settings {
            var place: JSONValue? = schema
            for part in setting.key.split(separator: ".") {
                let entries = place?["additionalProperties"]
                place = entries?.object == nil ? place?["properties"]?[String(part)] : entries
            }
            guard setting.form != .secret else {
                #expect(place == nil, "\(setting.key)")
                continue
            }
            #expect(place?["description"]?.string?.hasPrefix(setting.help) == true, "\(setting.key)")
            #expect(place?["type"]?.array?.contains("null") != true, "\(setting.key)")
            #expect(place?["enum"]?.array?.count ?? 0 == setting.choices.count, "\(setting.key)")
        }
    }

    /// The documents whose examples of YAML are configurations.
    private static let documents: [String] =
        ["README.md", "deploy/README.md"]
        + ["deploy/guides", "deploy/recipes"].flatMap { folder in
            let path = Site.root.appendingPathComponent(folder).path
            let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
            return names.filter { $0.hasSuffix(".md") }.sorted().map { "\(folder)/\($0)" }
        }
    /// The beginning of the example that is Prometheus' own.
    private static let prometheus = "rule_files:"

    @Test(arguments: documents)
    func `each example of a document is a configuration without a mistake, with the files that it names`(
        document: String
    ) throws {
        let folder = TemporaryFolder.ofProcess.appendingPathComponent("examples-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { TemporaryFolder.remove(folder) }
        let portal = "\napps: { portal: { client_id: a, client_secret_file: portal.secret } }"
        for block in try Self.text(of: document).components(separatedBy: "```yaml\n").dropFirst() {
            let yaml = try #require(block.components(separatedBy: "```").first)
            guard !yaml.trimmingCharacters(in: .whitespaces).hasPrefix(Self.prometheus) else { continue }
            let text = yaml.replacing("/etc/companion/", with: "") + (yaml.contains("apps:\n") ? "" : portal)
            let path = folder.appendingPathComponent("companion.yaml")
            try Data(text.utf8).write(to: path)
            for (key, value) in Self.file(at: path.path).values where key.hasSuffix("_file") {
                guard case .text(let name) = value else { continue }
                let data: Data?
                switch key {
                case "kiosk.logo_file": data = Data(base64Encoded: Self.logo)
                case "provider_ca_file":
                    try ClientCredentialTests.makeCertificate(in: folder.path)
                    data = FileManager.default.contents(atPath: folder.path + "/certificate.pem")
                default: data = Data("secret".utf8)
                }
                try #require(data).write(to: folder.appendingPathComponent(name))
            }
            #expect(throws: Never.self, "\(yaml)") { try CompanionConfiguration.read(file: path.path) }
        }
    }

    @Test func `the package's file is read, and what is commented out in it is the default`() throws {
        let example = try Self.text(of: "deploy/debian/companion.yaml")
        // “# text” is a comment, “#key: value” a setting that is commented out.
        let all = example.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let text = line.drop { $0 == " " }
            let isSetting = text.hasPrefix("#") && text.dropFirst().first?.isLetter ?? false
            return line.prefix { $0 == " " } + (isSetting ? text.dropFirst() : text)
        }
        let active = try Self.withFile(example, Self.file)
        let file = try Self.withFile(all.joined(separator: "\n"), Self.file)
        for setting in Self.settings where setting.form != .secret && active.values[setting.key] == nil {
            switch file.values[setting.key] {
            case .text(let text): #expect(text == setting.standard, "\(setting.key)")
            case .list(let items): #expect("[\(items.joined(separator: ", "))]" == setting.standard, "\(setting.key)")
            case nil: #expect(setting.standard == nil, "\(setting.key)")
            }
        }
        let pages = ["COMPANION_PUBLIC": Site.publicFolder]
        _ = try Self.withFile(example) { try CompanionConfiguration.read(environment: pages, file: $0) }
    }

    @Test func `the help of the options is that of the settings`() throws {
        let companion = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appendingPathComponent("companion")
        let help = try runToEnd(companion.path, ["serve", "--help"]).output
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
        let file = TemporaryFolder.ofProcess.appendingPathComponent("companion-\(UUID().uuidString).yaml")
        try Data(text.utf8).write(to: file)
        return try body(file.path)
    }
}
