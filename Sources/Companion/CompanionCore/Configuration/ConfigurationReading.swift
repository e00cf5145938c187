import Foundation

extension CompanionConfiguration {
    /// Reads the configuration and reports all mistakes at once. Options override the environment, which overrides
    /// the file, which overrides the defaults.
    ///
    /// - Parameters:
    ///   - options: the command line's options by key (`host` and `port` are parts of `listen`).
    ///   - environment: the process's environment.
    ///   - path: the configuration file's path.
    ///   - needsApplications: whether a configuration without applications is a mistake; the demo has its own.
    /// - Returns: the validated configuration.
    /// - Throws: ``ConfigurationMistakes`` with all mistakes.
    package static func read(
        options: [String: String] = [:], environment: [String: String] = [:], file path: String?,
        needsApplications: Bool = true
    ) throws(ConfigurationMistakes) -> CompanionConfiguration {
        var reading = ConfigurationReading(options: options, environment: environment, file: path)
        var configuration = reading.configuration(needsApplications: needsApplications)
        configuration.file = path
        let mistakes = reading.allMistakes
        guard mistakes.all.isEmpty else { throw mistakes }
        return configuration
    }

    /// All settings in the order of their table. Those of an application are listed for one named `ios`, those of an API
    /// for one named `graph`, and those of a token for one named `nightly`.
    package static let settings = settings(named: [:])

    /// Returns all settings, with those of the entries of each section by their names.
    ///
    /// - Parameter names: the names; a section without any has its example.
    static func settings(named names: [ConfigurationFile.Section: [String]]) -> [Setting] {
        let names = ConfigurationFile.Section.allCases.map { section in
            let given = names[section] ?? [exampleName(in: section)]
            return (Setting.environmentName(of: section.rawValue), given.joined(separator: ","))
        }
        var reading = ConfigurationReading(environment: Dictionary(names) { first, _ in first })
        _ = reading.configuration(needsApplications: true)
        return reading.settings
    }

    /// The name of the entry for which the settings of a section are listed.
    static func exampleName(in section: ConfigurationFile.Section) -> String {
        switch section {
        case .apps: "ios"
        case .apis: "graph"
        case .apiTokens: "nightly"
        }
    }
}

/// One pass over the table of settings. After a wrong value the default is used, so that the pass continues and finds
/// the next mistake.
package struct ConfigurationReading {
    /// The settings that have been read so far.
    package private(set) var settings: [Setting] = []
    /// The mistakes that have been found so far.
    package var mistakes = ConfigurationMistakes()

    private let options: [String: String]
    private let environment: [String: String]
    /// The file; empty if there is none.
    let file: ConfigurationFile
    private let folder: String
    private var applications: [String] { names(in: .apps) }
    private let fileMistakes: ConfigurationMistakes

    /// Variables that are not settings.
    private static let fileName = "COMPANION_CONFIG"
    /// Settings of earlier versions, which are still accepted in a file.
    private static let withoutEffect = ["limits.pending_sign_ins", "limits.pending_megabytes"]

    init(options: [String: String] = [:], environment: [String: String] = [:], file path: String? = nil) {
        self.options = options
        self.environment = environment
        var fileMistakes = ConfigurationMistakes()
        file = path.map { ConfigurationFile(path: $0, mistakes: &fileMistakes) } ?? ConfigurationFile()
        self.fileMistakes = fileMistakes
        folder = path.map { URL(fileURLWithPath: $0).deletingLastPathComponent().path } ?? "."
    }

    /// Returns the names of a section's entries. A variable such as `COMPANION_APPS` takes precedence over the file.
    func names(in section: ConfigurationFile.Section) -> [String] {
        let given = environment[Setting.environmentName(of: section.rawValue)].map(Self.items) ?? []
        return given.isEmpty ? file.names[section] ?? [] : given
    }

    /// Reads the whole configuration, and checks settings that depend on each other.
    package mutating func configuration(needsApplications: Bool) -> CompanionConfiguration {
        var result = CompanionConfiguration(reading: &self)
        if result.deviceMode == .shared, result.tokenDisplay == .full {
            mistakes.add("token_display", "must not be full when device_mode is shared; use masked or hidden")
        }
        if result.sessionIdle > result.sessionMaximum {
            let hours = SettingType<Duration>.hours.text(result.sessionMaximum)
            mistakes.add(
                "session.idle_minutes",
                "must not be longer than session.max_hours (\(hours)), after which each session ends; change one of them"
            )
        }
        if result.kioskIdle <= result.kioskCountdownAfter {
            mistakes.add(
                "kiosk.idle_seconds", "must be longer than kiosk.countdown_after_seconds: people need to see it")
        }
        if let port = result.metricsListener?.port, port == result.port, port != 0 {
            mistakes.add("metrics.listen", "must have another port than listen, for example 127.0.0.1:9464")
        }
        if let port = result.redirectListener?.port, port == result.port || port == result.metricsListener?.port,
            port != 0
        {
            mistakes.add("tls.redirect_listen", "must have a port of its own, for example 0.0.0.0:80")
        }
        if result.tls != nil, !result.publicURL.isSecure {
            mistakes.add("public_url", "must be https://, which the server speaks with tls.certificate_file")
        }
        // A list or a text at the place of the applications is a mistake of its own.
        let section = ConfigurationFile.Section.apps.rawValue
        let isMapping = !file.keys.contains(section) && !fileMistakes.all.contains { $0.key == section }
        if applications.isEmpty, needsApplications, isMapping {
            mistakes.add(
                "apps",
                "names no application; set COMPANION_APPS, such as COMPANION_APPS=ios, and the application's client_id: see “Connect a real tenant” in the README"
            )
        }
        result.withoutEffect = Self.withoutEffect.filter { raw($0) != nil }
        let read = applications.compactMap { application($0, publicURL: result.publicURL) }
        // An application with a mistake of its own is not read; its tile is none.
        if read.count == applications.count, needsApplications || !read.isEmpty {
            result.setApplications(read, &mistakes)
        } else {
            result.applications = read
        }
        if let reason = result.publicURL.conflict(with: applications) { mistakes.add("public_url", reason) }
        if result.deviceMode == .private, let kiosk = result.applications.first(where: { $0.page == .kiosk }) {
            mistakes.add("apps.\(kiosk.id).page", "is a kiosk, which needs device_mode: shared")
        }
        return result
    }

    /// The mistakes in what the file is made of: its syntax, unknown settings, and those without a value.
    var mistakesInFile: ConfigurationMistakes {
        var all = fileMistakes
        guard file.isRead || all.all.isEmpty else { return all }
        let known = Dictionary(settings.map { ($0.key, $0.form) }) { first, _ in first }
        for key in file.withoutValue where !Self.withoutEffect.contains(key) {
            if known[key] != nil {
                all.add(key, YAMLText.withoutValue + Self.orNobody(key))
            } else if Self.reasonOfSection(key, among: settings) == nil {
                all.add(key, Self.unknown(key, among: known.keys))
            } else if key.wholeMatch(of: /apps\.[^.]+\.operators/) != nil {
                all.add(
                    key,
                    "names no one; list users, groups or roles below it, or remove the key: then everyone here is one")
            }
        }
        for key in file.keys where !Self.withoutEffect.contains(key) {
            if known[key] == nil {
                all.add(key, Self.reasonOfSection(key, among: settings) ?? Self.unknown(key, among: known.keys))
            } else if known[key] == .secret {
                let orFile = known[key + "_file"] == nil ? "" : ", or \(key)_file"
                all.add(key, "must not stand in a file; set \(Setting.environmentName(of: key))\(orFile)")
            }
        }
        all.locate { isInFile($0) ? file.lines[$0] : nil }
        return all
    }

    /// All mistakes: those in the file, unknown variables, and wrong values.
    var allMistakes: ConfigurationMistakes {
        var all = mistakesInFile
        guard file.isRead || all.all.isEmpty else { return all }
        let knownNames = Set(
            settings.map(\.environmentName) + Self.withoutEffect.map(Setting.environmentName)
                + ConfigurationFile.Section.allCases.map { Setting.environmentName(of: $0.rawValue) } + [Self.fileName])
        for name in environment.keys.sorted() where name.hasPrefix("COMPANION_") && !knownNames.contains(name) {
            all.add(name, ofUnknownApplication(name) ?? Self.unknown(name, among: knownNames))
        }
        for name in knownNames.sorted() where environment[name]?.isEmpty == true {
            all.add(name, Self.setAndEmpty)
        }
        all.add(mistakes)
        all.locate { isInFile($0) ? file.lines[$0] : nil }
        return all
    }

    /// The reason why a section with a value of its own is a mistake; nil if the key is none.
    static func reasonOfSection(_ key: String, among settings: [Setting]) -> String? {
        let all = settings + CompanionConfiguration.settings
        guard let below = all.first(where: { $0.key.hasPrefix(key + ".") && $0.form != .secret }) else { return nil }
        let mapping = below.key.split(separator: ".").reversed().reduce("") { inner, name in
            inner.isEmpty ? "\(name): …" : "\(name): { \(inner) }"
        }
        return "must be a mapping, such as \(mapping)"
    }

    /// The reason why a variable of an application that nothing names is a mistake.
    private func ofUnknownApplication(_ name: String) -> String? {
        let words = name.split(separator: "_").map(String.init)
        guard words.count > 2, nearest(to: words[1], among: ["APPS", "APIS"]) == "APPS" else { return nil }
        let meant = (["COMPANION_APPS"] + words[2...]).joined(separator: "_")
        guard !applications.contains(where: { meant.hasPrefix(Setting.environmentName(of: "apps.\($0).")) }) else {
            return nil
        }
        let first =
            meant == name
            ? "is a setting of an application that nothing names; name it"
            : "is not a setting; did you mean \(meant)? Name its application"
        return "\(first) in COMPANION_APPS, such as COMPANION_APPS=\(words[2].lowercased())"
    }

    private static func unknown(_ name: String, among names: some Sequence<String>) -> String {
        let meant = (nearest(to: name, among: names) ?? inNearestSection(name)).map { "did you mean \($0)? " } ?? ""
        return "is not a setting; \(meant)`companion settings` lists them"
    }

    /// People name a section's entries, so the keys below a misspelt section are near to none that is known.
    private static func inNearestSection(_ key: String) -> String? {
        let first = String(key.prefix { $0 != "." })
        let section = nearest(to: first, among: ConfigurationFile.Section.allCases.map(\.rawValue))
        return section.flatMap { $0 == first ? nil : $0 + key.dropFirst(first.count) }
    }

    /// The reason why a variable without a value is a mistake.
    private static let setAndEmpty = "is set and empty; unset it, or give it a value"

    /// Returns how to write that a list is meant to be empty, where that lets people in: it never counts as missing.
    private static func orNobody(_ key: String) -> String {
        key.contains(".allowed_") || key.contains(".operators.") ? "; [] restricts nobody" : ""
    }

    /// Returns the address to listen on, with the options for host and port applied.
    mutating func applyingOptions(to listen: ListenAddress) -> (host: String, port: Int) {
        let host = options["host"] ?? listen.host
        guard let option = options["port"] else { return (host, listen.port) }
        guard let port = Int(option), (0...65535).contains(port) else {
            mistakes.add("--port", "must be a number between 0 and 65535")
            return (host, listen.port)
        }
        return (host, port)
    }

    // MARK: One function call per row

    /// Reads a setting that has a default.
    mutating func value<Value>(
        _ key: String, _ type: SettingType<Value>, default standard: Value, _ help: String
    ) -> Value {
        value(key, type, default: standard, missing: nil, help) ?? standard
    }

    /// Reads an optional setting.
    mutating func value<Value>(_ key: String, _ type: SettingType<Value>, _ help: String) -> Value? {
        value(key, type, default: nil, missing: nil, help)
    }

    /// Reads a setting whose default depends on other settings.
    ///
    /// - Parameter hint: the remedy, if it is a mistake that there is neither a value nor a default; else nil.
    mutating func value<Value>(
        _ key: String, _ type: SettingType<Value>, default standard: Value?, missing hint: String?, _ help: String
    ) -> Value? {
        settings.append(
            Setting(
                key: key, form: type.form, values: type.values, choices: type.choices,
                standard: standard.map(type.text), help: help))
        let texts: [String]
        switch (type.form, raw(key)) {
        case (.list, .text(let text)):
            texts = ConfigurationReading.items(text)
            if texts.isEmpty {
                if isInFile(key) {
                    mistakes.add(key, YAMLText.withoutValue + Self.orNobody(key))
                } else {
                    mistakes.add(Setting.environmentName(of: key), Self.setAndEmpty)
                }
            } else if texts.count > 1, isInFile(key) {
                mistakes.add(key, "must be a list; write [\(texts.joined(separator: ", "))]")
            }
        case (.list, .list(let list)):
            if list.contains(where: { ConfigurationReading.items($0).isEmpty }) {
                mistakes.add(
                    key,
                    "has an entry without a value; write one, in quotes if it begins with #, or remove the entry"
                        + Self.orNobody(key))
            } else if let item = list.first(where: { ConfigurationReading.items($0).count > 1 }) {
                mistakes.add(key, "has the entry “\(item)”; write each on its own, without commas and blanks")
            }
            texts = list.flatMap(ConfigurationReading.items)
        case (.path, .text(let path)): texts = [path.hasPrefix("/") || folder == "." ? path : folder + "/" + path]
        case (_, .text(let text)): texts = [text]
        case (_, .list):
            mistakes.add(key, "must be one value, not a list")
            return standard
        case (_, nil): texts = []
        }
        guard !texts.isEmpty else {
            if standard == nil, let hint { mistakes.add(key, "is missing; \(hint)") }
            return standard
        }
        var reasons: [String] = []
        let value = type.parse(texts, &reasons)
        for reason in reasons { mistakes.add(key, reason) }
        return value ?? standard
    }

    /// Whether a setting has a value of its own, which may be an empty list.
    func isWritten(_ key: String) -> Bool { raw(key) != nil }

    private func isInFile(_ key: String) -> Bool {
        options[key] == nil && environment[Setting.environmentName(of: key)] == nil
    }

    /// Returns the value from the first source that has one. An empty text in an option removes the file's value.
    private func raw(_ key: String) -> ConfigurationFile.Value? {
        guard let text = options[key] ?? environment[Setting.environmentName(of: key)] else { return file.values[key] }
        return text.isEmpty ? nil : .text(text)
    }

    private static func items(_ text: String) -> [String] {
        text.split(whereSeparator: { $0 == "," || $0.isWhitespace }).map(String.init)
    }
}
