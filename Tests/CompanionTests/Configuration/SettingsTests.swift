import Foundation
import Testing

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

    @Test(arguments: settings.filter { $0.standard != nil })
    func `the default that is shown is the one that counts`(setting: Setting) throws {
        let application = ["COMPANION_APPS": "ios", "COMPANION_APPS_IOS_CLIENT_ID": "abc"]
        let value = try #require(setting.standard).trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        func read(_ environment: [String: String]) throws -> String {
            var text = ""
            dump(try CompanionConfiguration.read(environment: environment, file: nil), to: &text)
            return text
        }
        let said = try read(application.merging([setting.environmentName: value]) { $1 })
        #expect(said == (try read(application)))
    }

    @Test func `an empty variable takes back what the file says`() throws {
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

    @Test func `the README's tables are the declarations`() throws {
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

    @Test func `the README's examples have settings alone`() throws {
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

    @Test func `the options' help is the settings'`() throws {
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
