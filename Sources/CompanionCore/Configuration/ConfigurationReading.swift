import Foundation

extension CompanionConfiguration {
    /// Reads options over environment over file over default, and reports every mistake at once.
    ///
    /// - Parameters:
    ///   - options: what the command line says, by key (`host` and `port` are parts of `listen`).
    ///   - environment: the process's environment.
    ///   - path: the configuration file's path.
    ///   - needsApplications: whether naming none is a mistake; the demo has its own.
    /// - Returns: what is configured, checked.
    /// - Throws: ``ConfigurationMistakes`` with all of them.
    package static func read(
        options: [String: String] = [:], environment: [String: String] = [:], file path: String?,
        needsApplications: Bool = true
    ) throws(ConfigurationMistakes) -> CompanionConfiguration {
        var reading = ConfigurationReading(options: options, environment: environment, file: path)
        let configuration = reading.configuration(needsApplications: needsApplications)
        let mistakes = reading.allMistakes
        guard mistakes.all.isEmpty else { throw mistakes }
        return configuration
    }

    /// All settings in the order of their table; those of an application as that named `ios` has them.
    package static let settings: [Setting] = {
        var reading = ConfigurationReading(environment: ["COMPANION_APPS": "ios"])
        _ = reading.configuration(needsApplications: true)
        return reading.settings
    }()
}

/// One pass over the table of settings. A wrong value leaves its default in place, so that the pass goes on to the next
/// mistake.
package struct ConfigurationReading {
    /// What has been asked for so far.
    package private(set) var settings: [Setting] = []
    /// What is wrong with what has been asked for.
    package var mistakes = ConfigurationMistakes()

    private let options: [String: String]
    private let environment: [String: String]
    private let file: ConfigurationFile
    private let folder: String
    private let applications: [String]
    private let fileMistakes: ConfigurationMistakes

    /// The names that are no settings.
    private static let (applicationsName, fileName) = ("COMPANION_APPS", "COMPANION_CONFIG")
    /// Settings of earlier versions: a file that has them is no mistake.
    private static let withoutEffect = ["limits.pending_sign_ins", "limits.pending_megabytes"]

    init(options: [String: String] = [:], environment: [String: String] = [:], file path: String? = nil) {
        self.options = options
        self.environment = environment
        var fileMistakes = ConfigurationMistakes()
        file = path.map { ConfigurationFile(path: $0, mistakes: &fileMistakes) } ?? ConfigurationFile()
        self.fileMistakes = fileMistakes
        folder = path.map { URL(fileURLWithPath: $0).deletingLastPathComponent().path } ?? "."
        applications =
            environment[Self.applicationsName].map(ConfigurationReading.items) ?? file.applications
    }

    /// The whole configuration, and what only two settings together can have wrong.
    package mutating func configuration(needsApplications: Bool) -> CompanionConfiguration {
        var result = CompanionConfiguration(reading: &self)
        if result.deviceMode == .shared, result.tokenDisplay == .full {
            mistakes.add("token_display", "must not be full when device_mode is shared; use masked or hidden")
        }
        if result.kioskIdle <= result.kioskCountdownAfter {
            mistakes.add(
                "kiosk.idle_seconds", "must be longer than kiosk.countdown_after_seconds: people need to see it")
        }
        if let port = result.metricsListener?.port, port == result.port, port != 0 {
            mistakes.add("metrics.listen", "must have another port than listen, as 127.0.0.1:9464")
        }
        if applications.isEmpty, needsApplications {
            mistakes.add("apps", "names no application; see “Connect a real tenant” in the README")
        }
        result.withoutEffect = Self.withoutEffect.filter { raw($0) != nil }
        result.applications = applications.compactMap { application($0, publicURL: result.publicURL) }
        if let reason = result.publicURL.conflict(with: applications) { mistakes.add("public_url", reason) }
        if result.deviceMode == .private, let kiosk = result.applications.first(where: { $0.page == .kiosk }) {
            mistakes.add("apps.\(kiosk.id).page", "is a kiosk, which needs device_mode: shared")
        }
        return result
    }

    /// The file's mistakes of form, what is no setting, and what is wrong with those that are.
    var allMistakes: ConfigurationMistakes {
        var all = fileMistakes
        let known = Dictionary(settings.map { ($0.key, $0.form) }) { first, _ in first }
        for key in file.keys where !Self.withoutEffect.contains(key) {
            if known[key] == nil {
                all.add(key, "is not a setting; the README lists them")
            } else if known[key] == .secret {
                let orFile = known[key + "_file"] == nil ? "" : ", or \(key)_file"
                all.add(key, "must not stand in a file; set \(Setting.environmentName(of: key))\(orFile)")
            }
        }
        let knownNames = Set(
            settings.map(\.environmentName) + Self.withoutEffect.map(Setting.environmentName)
                + [Self.applicationsName, Self.fileName])
        for name in environment.keys.sorted() where name.hasPrefix("COMPANION_") && !knownNames.contains(name) {
            all.add(name, "is not a setting; the README lists them")
        }
        all.add(mistakes)
        return all
    }

    /// The address to listen on, whose two parts are options of their own.
    mutating func applyingOptions(to listen: ListenAddress) -> (host: String, port: Int) {
        let host = options["host"] ?? listen.host
        guard let option = options["port"] else { return (host, listen.port) }
        guard let port = Int(option), (0...65535).contains(port) else {
            mistakes.add("--port", "must be a number between 0 and 65535")
            return (host, listen.port)
        }
        return (host, port)
    }

    // MARK: One row of the table each

    /// A setting that has a default.
    mutating func value<Value>(
        _ key: String, _ type: SettingType<Value>, default standard: Value, _ help: String
    ) -> Value {
        value(key, type, default: standard, missing: nil, help) ?? standard
    }

    /// A setting that may be left out.
    mutating func value<Value>(_ key: String, _ type: SettingType<Value>, _ help: String) -> Value? {
        value(key, type, default: nil, missing: nil, help)
    }

    /// A setting whose default other settings decide.
    ///
    /// - Parameter hint: what to do where there is neither a value nor a default, if that is a mistake.
    mutating func value<Value>(
        _ key: String, _ type: SettingType<Value>, default standard: Value?, missing hint: String?, _ help: String
    ) -> Value? {
        settings.append(
            Setting(key: key, form: type.form, values: type.values, standard: standard.map(type.text), help: help))
        let texts: [String]
        switch (type.form, raw(key)) {
        case (.list, .text(let text)): texts = ConfigurationReading.items(text)
        case (.list, .list(let list)): texts = list.flatMap(ConfigurationReading.items)
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

    /// What the first place says that says anything; an empty text takes back what the others say.
    private func raw(_ key: String) -> ConfigurationFile.Value? {
        guard let text = options[key] ?? environment[Setting.environmentName(of: key)] else { return file.values[key] }
        return text.isEmpty ? nil : .text(text)
    }

    private static func items(_ text: String) -> [String] {
        text.split(whereSeparator: { $0 == "," || $0.isWhitespace }).map(String.init)
    }
}
