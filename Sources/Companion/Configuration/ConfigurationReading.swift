import Configuration
import Foundation
import OpenIDConnect
import SessionStore

/// The keys that a configuration may have; an unknown one is a mistake, because it is usually a misspelt one.
enum ConfigurationKeys {
    static let general = [
        "listen", "public_url", "database", "public", "device_mode", "token_display", "encryption_key_file",
        "encryption_key", "session.idle_minutes", "session.max_hours", "kiosk.countdown_after_seconds",
        "kiosk.idle_seconds", "kiosk.hosts", "trusted_proxies", "log_level", "log_format", "log_requests",
        "audit_log_file", "metrics.listen", "demo.client_secret", "limits.sign_ins_per_minute",
        "limits.sign_in_burst", "limits.callbacks_per_minute", "limits.forced_refreshes_per_minute",
        "limits.operator_requests_per_minute", "limits.connections", "limits.exempt", "limits.pending_sign_ins",
        "limits.pending_megabytes", "limits.free_megabytes",
    ]
    static let application = [
        "page", "title", "kind", "client_id", "client_secret", "client_secret_file", "client_authentication",
        "certificate_file", "private_key_file", "federated_token_file", "authority", "policies.sign_in",
        "policies.edit_profile", "policies.reset_password", "allowed_tenants", "scopes", "api", "prompt",
        "extra_query_parameters", "allowed_users", "client_secret_expires", "redirect_uri",
    ]
    private static let lists: Set<String> = [
        "trusted_proxies", "allowed_tenants", "allowed_users", "scopes", "extra_query_parameters", "hosts", "exempt",
    ]
    /// Secrets that only the environment may hold: a configuration file is copied, committed and shown.
    static let environmentOnly: Set<String> = ["encryption_key", "client_secret"]

    static func isList(_ key: String) -> Bool { lists.contains(lastPart(of: key)) }

    static func lastPart(of key: String) -> String { key.split(separator: ".").last.map(String.init) ?? key }

    static func environmentName(of key: String) -> String {
        "COMPANION_"
            + key.uppercased().replacingOccurrences(of: ".", with: "_").replacingOccurrences(of: "-", with: "_")
    }
}

extension CompanionConfiguration {
    /// Reads options over environment over file over default, and reports every mistake at once.
    ///
    /// - Parameters:
    ///   - options: what the command line says, by key (`host` and `port` are parts of `listen`).
    ///   - environment: the process's environment.
    ///   - path: the configuration file's path.
    ///   - needsApplications: whether naming none is a mistake; the demo has its own.
    /// - Throws: ``ConfigurationMistakes`` with all of them.
    public static func read(
        options: [String: String] = [:], environment: [String: String] = [:], file path: String?,
        needsApplications: Bool = true
    ) throws(ConfigurationMistakes) -> CompanionConfiguration {
        var reading = ConfigurationReading(options: options, environment: environment, file: path)
        let configuration = reading.configuration(needsApplications: needsApplications)
        guard reading.mistakes.all.isEmpty else { throw reading.mistakes }
        return configuration
    }
}

/// One pass over all keys. A wrong value leaves its default in place, so that the pass goes on to the next mistake.
struct ConfigurationReading {
    var mistakes = ConfigurationMistakes()
    private let options: [String: String]
    private let folder: String
    private let applications: [String]
    private let reader: ConfigReader

    init(options: [String: String], environment: [String: String], file path: String?) {
        var mistakes = ConfigurationMistakes()
        let file = path.map { ConfigurationFile(path: $0, mistakes: &mistakes) } ?? ConfigurationFile()
        self.options = options
        folder = path.map { URL(fileURLWithPath: $0).deletingLastPathComponent().path } ?? "."
        applications =
            environment["COMPANION_APPS"].map { ConfigurationReading.items([$0]) } ?? file.applications
        let environmentProvider = EnvironmentVariablesProvider(environmentVariables: environment)
            .prefixKeys(with: ConfigKey(["companion"]))
        reader = ConfigReader(providers: [
            InMemoryProvider(
                values: Dictionary(
                    uniqueKeysWithValues: options.map { key, value in
                        (
                            AbsoluteConfigKey(key.split(separator: ".").map(String.init)),
                            ConfigValue(stringLiteral: value)
                        )
                    })),
            environmentProvider, InMemoryProvider(values: file.values),
        ])

        let known =
            ConfigurationKeys.general
            + applications.flatMap { id in
                ConfigurationKeys.application.map { "apps.\(id).\($0)" }
            }
        for key in file.keys {
            if !known.contains(key) {
                mistakes.add(key, "is not a setting; the README lists them")
            } else if ConfigurationKeys.environmentOnly.contains(ConfigurationKeys.lastPart(of: key)) {
                mistakes.add(
                    key, "must not stand in a file; set \(ConfigurationKeys.environmentName(of: key)), or \(key)_file")
            }
        }
        let knownNames = Set(known.map(ConfigurationKeys.environmentName) + ["COMPANION_APPS", "COMPANION_CONFIG"])
        for name in environment.keys.sorted() where name.hasPrefix("COMPANION_") && !knownNames.contains(name) {
            mistakes.add(name, "is not a setting; the README lists them")
        }
        self.mistakes = mistakes
    }

    mutating func configuration(needsApplications: Bool) -> CompanionConfiguration {
        let (host, port) = listen()
        var result = CompanionConfiguration(port: port)
        result.host = host
        result.publicURL = publicURL(default: .localhost(port: port))
        result.database = text("database") ?? result.database
        result.publicFolder = text("public") ?? result.publicFolder
        result.deviceMode = choice("device_mode") ?? .private
        result.tokenDisplay = choice("token_display") ?? .masked
        if result.deviceMode == .shared, result.tokenDisplay == .full {
            mistakes.add("token_display", "must not be full when device_mode is shared; use masked or hidden")
        }
        result.encryptionKey = encryptionKey(besides: result.database)
        result.sessionIdle = duration("session.idle_minutes", unit: 60) ?? result.deviceMode.sessionIdle
        result.sessionMaximum = duration("session.max_hours", unit: 3600) ?? result.deviceMode.sessionMaximum
        result.kioskCountdownAfter = duration("kiosk.countdown_after_seconds", unit: 1) ?? result.kioskCountdownAfter
        result.kioskIdle = duration("kiosk.idle_seconds", unit: 1) ?? result.kioskIdle
        if result.kioskIdle <= result.kioskCountdownAfter {
            mistakes.add(
                "kiosk.idle_seconds", "must be longer than kiosk.countdown_after_seconds: people need to see it")
        }
        result.kioskHosts = list("kiosk.hosts").filter { host in
            let isHost = KioskPolicy.isHost(host)
            if !isHost {
                mistakes.add(
                    "kiosk.hosts",
                    "has “\(host)”; write a host alone, as adfs.contoso.com, or *.contoso.com for all below")
            }
            return isHost
        }
        result.trustedProxies = networks("trusted_proxies")
        result.limits = limits()
        if let level = text("log_level") {
            let levels = ["trace", "debug", "info", "notice", "warning", "error", "critical"]
            if !levels.contains(level) { mistakes.add("log_level", "must be one of \(levels.joined(separator: ", "))") }
            result.logLevel = level
        }
        result.logFormat = choice("log_format") ?? .text
        if let answer: YesOrNo = choice("log_requests") { result.logRequests = answer == .true }
        result.auditLogFile = path("audit_log_file")
        if let address = text("metrics.listen") {
            result.metricsListener = ListenAddress(address)
            if result.metricsListener == nil {
                mistakes.add("metrics.listen", "must be an address and a port, as 127.0.0.1:9464")
            } else if result.metricsListener?.port == port, port != 0 {
                mistakes.add("metrics.listen", "must have another port than listen, as 127.0.0.1:9464")
            }
        }
        result.demoClientSecret = text("demo.client_secret")
        result.newcomers = newcomerLimits()
        if applications.isEmpty, needsApplications {
            mistakes.add("apps", "names no application; see “Connect a real tenant” in the README")
        }
        result.applications = applications.compactMap { application($0, publicURL: result.publicURL) }
        if let reason = result.publicURL.conflict(with: applications) { mistakes.add("public_url", reason) }
        if result.deviceMode == .private, let kiosk = result.applications.first(where: { $0.page == .kiosk }) {
            mistakes.add("apps.\(kiosk.id).page", "is a kiosk, which needs device_mode: shared")
        }
        return result
    }

    private enum YesOrNo: String, CaseIterable { case `true`, `false` }

    private mutating func listen() -> (host: String, port: Int) {
        var host = "127.0.0.1"
        var port = 8080
        if let listen = text("listen") {
            if let address = ListenAddress(listen) {
                (host, port) = (address.host, address.port)
            } else {
                mistakes.add("listen", "must be an address and a port, as 127.0.0.1:8080")
            }
        }
        if let option = options["host"] { host = option }
        if let option = options["port"] {
            guard let number = Int(option), (0...65535).contains(number) else {
                mistakes.add("--port", "must be a number between 0 and 65535")
                return (host, port)
            }
            port = number
        }
        return (host, port)
    }

    private mutating func publicURL(default fallback: PublicURL) -> PublicURL {
        guard let text = text("public_url") else { return fallback }
        do {
            return try PublicURL(text)
        } catch {
            mistakes.add("public_url", error.reason)
            return fallback
        }
    }

    private mutating func encryptionKey(besides database: String) -> EncryptionKey {
        if let value = text("encryption_key") {
            if (try? KeyRing(text: value)) == nil {
                mistakes.add(
                    "encryption_key",
                    "must be the base64 of 32 bytes, as `openssl rand -base64 32` prints; after a rotation NEW,OLD")
            }
            return .value(value)
        }
        let folder = URL(fileURLWithPath: database).deletingLastPathComponent()
        return .file(path("encryption_key_file") ?? folder.appendingPathComponent("companion.key").path)
    }

    // MARK: One value each

    func text(_ key: String) -> String? {
        let value = reader.string(forKey: ConfigKey(key.split(separator: ".").map(String.init)))
        return value?.isEmpty == true ? nil : value
    }

    /// A path in the file is relative to the file's folder.
    func path(_ key: String) -> String? {
        text(key).map { $0.hasPrefix("/") || folder == "." ? $0 : folder + "/" + $0 }
    }

    func list(_ key: String) -> [String] {
        let values = reader.stringArray(forKey: ConfigKey(key.split(separator: ".").map(String.init)))
        return ConfigurationReading.items(values ?? [])
    }

    private static func items(_ values: [String]) -> [String] {
        values.flatMap { $0.split(whereSeparator: { $0 == "," || $0.isWhitespace }).map(String.init) }
    }

    mutating func networks(_ key: String) -> [AddressRange] {
        list(key).compactMap { item in
            let range = AddressRange(item)
            if range == nil { mistakes.add(key, "has “\(item)”, which is no address or CIDR network") }
            return range
        }
    }

    mutating func choice<Choice: RawRepresentable & CaseIterable>(_ key: String) -> Choice?
    where Choice.RawValue == String {
        guard let value = text(key) else { return nil }
        if let choice = Choice(rawValue: value) { return choice }
        let choices = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        mistakes.add(key, "must be one of \(choices), not “\(value)”")
        return nil
    }

    mutating func date(_ key: String) -> Date? {
        guard let value = text(key) else { return nil }
        if let date = try? Date(value, strategy: .iso8601.year().month().day()) { return date }
        mistakes.add(key, "must be a date, as 2027-01-31, not “\(value)”")
        return nil
    }

    private mutating func duration(_ key: String, unit seconds: Double) -> Duration? {
        guard let value = text(key) else { return nil }
        guard let number = Double(value), number > 0, number * seconds <= 366 * 86_400 else {
            mistakes.add(key, "must be a number above 0, not “\(value)”")
            return nil
        }
        return .seconds(number * seconds)
    }
}
