import Foundation
import WebFormats

/// The documents that are made from the declarations of all settings: a table, an annotated file, and a schema.
package struct SettingsDocument {
    private let settings: [Setting]
    private let file: ConfigurationFile

    /// - Parameter path: a configuration file, whose values and names the annotated file has; nil has none.
    /// - Throws: ``ConfigurationMistakes`` if the file cannot be read, or has what the annotated file would leave out: that
    ///   can be what restricts who signs in.
    package init(file path: String? = nil) throws(ConfigurationMistakes) {
        var reading = ConfigurationReading(file: path)
        _ = reading.configuration(needsApplications: false)
        let mistakes = reading.mistakesInFile
        guard mistakes.all.isEmpty else { throw mistakes }
        (file, settings) = (reading.file, CompanionConfiguration.settings(named: reading.file.names))
    }

    // MARK: The table

    /// The guide to the configuration: a table of the settings of the whole server, and one of an application's.
    package var markdown: String {
        let app = "apps.\(CompanionConfiguration.exampleName(in: .apps))."
        func table(_ rows: [Setting], without prefix: String = "") -> String {
            (["| key | environment | value | default | what it decides |", "|---|---|---|---|---|"]
                + rows.map { setting in
                    let standard = setting.standard.map { "`\($0)`" } ?? ""
                    return
                        "| `\(setting.key.dropFirst(prefix.count))` | `\(setting.environmentName)` | \(setting.values) "
                        + "| \(standard) | \(setting.help) |"
                }).joined(separator: "\n")
        }
        return """
            # Configuration

            `companion settings --markdown` prints this page, `companion settings --yaml` an annotated file, and
            `companion settings --schema` a JSON Schema for editors.

            Command-line options take precedence over the environment, the environment over the file, and the file over the
            defaults. The file is `companion.yaml` or `companion.json` in the working directory, or the one that `--config` or
            `COMPANION_CONFIG` names. Each dot in a key is a level in the file. In the environment, commas separate the items of
            a list. Paths in a file start from its folder. A key that is written needs a value; `[]` is a list without entries.

            ## The whole server

            The parts `graph` and `nightly` of a key are names of your choice.

            \(table(settings.filter { !$0.key.hasPrefix(app) }))

            ## Each application

            These stand below `apps` and the application's name, which is its path, here `ios`.

            \(table(settings.filter { $0.key.hasPrefix(app) }, without: app))

            """
    }

    // MARK: The annotated file

    /// A configuration file with each setting that it may have, with its explanation. A setting without a value of its own
    /// is commented out, with its default.
    package var yaml: String {
        let prefixes = Set(file.keys.flatMap { key in Self.parents(of: key) })
        var lines = [
            "# Configuration of Companion, as `companion settings --yaml` prints it. “#key: value” is a setting that is commented",
            "# out, with its default where it has one. After a change:",
            "#   companion check    lists all mistakes at once and what to register",
            "# A key's environment name wins over this file: COMPANION_SESSION_IDLE_MINUTES, COMPANION_APPS_IOS_CLIENT_ID, …",
        ]
        var open: [String] = []
        for setting in settings {
            let parents = Self.parents(of: setting.key)
            if parents.isEmpty || parents.first != open.first { lines.append("") }
            let known = zip(parents, open).prefix { $0 == $1 }.count
            for parent in parents.dropFirst(known) {
                let name = parent.split(separator: ".").last ?? ""
                lines.append(Self.indented(parent) + (prefixes.contains(parent) ? "" : "#") + "\(name):")
            }
            open = parents
            lines += annotated(setting)
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func annotated(_ setting: Setting) -> [String] {
        let indent = Self.indented(setting.key)
        guard setting.form != .secret else {
            return Self.wrapped("In the environment only: \(setting.environmentName). \(setting.help)", indent)
        }
        let name = setting.key.split(separator: ".").last ?? ""
        let value =
            file.values[setting.key].map(Self.text) ?? setting.standard.map { Self.scalar($0, in: setting) } ?? ""
        let line = "\(file.values[setting.key] == nil ? "#" : "")\(name):" + (value.isEmpty ? "" : " \(value)")
        return Self.wrapped(setting.help, indent) + ["\(indent)\(line)  # \(setting.values)"]
    }

    /// The keys above a key, from the top: `apps.ios.scopes` is below `apps` and `apps.ios`.
    private static func parents(of key: String) -> [String] {
        let parts = key.split(separator: ".")
        return (0..<max(parts.count - 1, 0)).map { parts[...$0].joined(separator: ".") }
    }

    private static func indented(_ key: String) -> String {
        String(repeating: "  ", count: key.split(separator: ".").count - 1)
    }

    private static func text(_ value: ConfigurationFile.Value) -> String {
        switch value {
        case .text(let text): quoted(text)
        case .list(let items): "[\(items.map(quoted).joined(separator: ", "))]"
        }
    }

    private static func scalar(_ standard: String, in setting: Setting) -> String {
        setting.form == .list ? standard : quoted(standard)
    }

    /// Returns a text as YAML: plain where no reader can take it for something else.
    private static func quoted(_ text: String) -> String {
        let isPlain =
            text.wholeMatch(of: /[A-Za-z0-9\/.][A-Za-z0-9\/.:_@+-]*/) != nil && !text.hasSuffix(":")
            && text.lowercased() != "null"
        return isPlain ? text : JSONValue.string(text).text
    }

    private static func wrapped(_ text: String, _ indent: String) -> [String] {
        var lines: [String] = []
        var line = "\(indent)#"
        for word in text.split(whereSeparator: \.isWhitespace) {
            if line.count + word.count > 118 {
                lines.append(line)
                line = "\(indent)#"
            }
            line += " \(word)"
        }
        return lines + [line]
    }

    // MARK: The schema

    /// A JSON Schema of the file (draft 2020-12), for editors. It knows names, types and choices; `companion check` knows the
    /// rest.
    package var schema: String {
        var root = Level()
        for setting in settings where setting.form != .secret {
            root.add(setting, at: setting.key.split(separator: ".").map(String.init)[...])
        }
        for section in ConfigurationFile.Section.allCases {
            guard let entries = root.levels[section.rawValue]?.levels.values.first else { continue }
            root.levels[section.rawValue]?.levels = [:]
            root.levels[section.rawValue]?.entries = [entries]
        }
        var json = root.json
        json["$schema"] = "https://json-schema.org/draft/2020-12/schema"
        json["title"] = "Companion"
        let data = Data(JSONValue.object(json).bytes)
        guard let object = try? JSONSerialization.jsonObject(with: data),
            let pretty = try? JSONSerialization.data(
                withJSONObject: object, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
        else { return String(decoding: data, as: UTF8.self) }
        return String(decoding: pretty, as: UTF8.self) + "\n"
    }

    /// One level of the file.
    private struct Level {
        var settings: [String: Setting] = [:]
        var levels: [String: Level] = [:]
        /// The level below each name of the operator's choice, if there are such names.
        var entries: [Level] = []

        mutating func add(_ setting: Setting, at path: ArraySlice<String>) {
            guard let first = path.first else { return }
            if path.count == 1 {
                settings[first] = setting
            } else {
                levels[first, default: Level()].add(setting, at: path.dropFirst())
            }
        }

        var json: [String: JSONValue] {
            var members: [String: JSONValue] = settings.mapValues { .object(Self.json(of: $0)) }
            for (name, level) in levels { members[name] = .object(level.json) }
            guard let entry = entries.first else {
                return ["type": "object", "properties": .object(members), "additionalProperties": false]
            }
            // Tokens of programs may also be a list.
            return ["type": ["object", "array"], "additionalProperties": .object(entry.json)]
        }

        private static func json(of setting: Setting) -> [String: JSONValue] {
            var json: [String: JSONValue] = ["description": .string("\(setting.help) (\(setting.values))")]
            let scalars: JSONValue = ["string", "number", "boolean"]
            if setting.form == .list {
                json["type"] = ["array", "string", "object"]
                json["items"] = ["type": scalars]
            } else if setting.choices.isEmpty {
                json["type"] = scalars
            } else {
                json["enum"] = .array(setting.choices.map { Bool($0).map(JSONValue.bool) ?? .string($0) })
            }
            if let standard = setting.standard { json["default"] = .string(standard) }
            return json
        }
    }
}
