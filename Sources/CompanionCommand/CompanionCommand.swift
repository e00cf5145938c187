import ArgumentParser
import Companion
import CompanionCore

/// The executable `companion`.
@main
struct CompanionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "companion",
        abstract:
            "A web companion for Microsoft's MSAL tutorials: sign in, call Microsoft Graph and sign out in a browser.",
        version: "companion \(companionVersion)",
        subcommands: [
            Serve.self, Demo.self, TenantCommand.self, Check.self, Sessions.self, Keys.self, Backup.self, Migrate.self,
            Health.self, Tokens.self, KioskPolicyCommand.self, Native.self,
        ],
        defaultSubcommand: Serve.self)
}

/// The location of the configuration file, for the commands that read one.
struct ConfigurationOptions: ParsableArguments {
    @Option(help: "The configuration file (YAML or JSON). Default: COMPANION_CONFIG, companion.yaml or companion.json.")
    var config: String?
}

/// The options that `serve` and `demo` share.
struct ServerOptions: ParsableArguments {
    @Option(help: "The address to listen on. Default: \(ListenAddress.standard.host).")
    var host: String?

    @Option(help: "The port to listen on. Default: \(ListenAddress.standard.port).")
    var port: Int?

    @Option(help: .setting("database"))
    var database: String?

    @Option(help: .setting("public"))
    var `public`: String?

    @Option(help: .setting("log_level"))
    var logLevel: String?

    @Option(help: .setting("log_format"))
    var logFormat: String?

    /// The given options by configuration key.
    var values: [String: String] {
        let all: [(String, String?)] = [
            ("host", host), ("port", port.map(String.init)), ("database", database), ("public", `public`),
            ("log_level", logLevel), ("log_format", logFormat),
        ]
        return all.reduce(into: [:]) { values, option in values[option.0] = option.1 }
    }
}

extension ArgumentHelp {
    /// Returns the help text from a setting's declaration.
    static func setting(_ key: String) -> ArgumentHelp {
        guard let setting = CompanionConfiguration.settings.first(where: { $0.key == key }) else { return "" }
        let choices = setting.values.contains(", ") ? " One of \(setting.values)." : ""
        return ArgumentHelp("\(setting.help)\(choices)\(setting.standard.map { " Default: \($0)." } ?? "")")
    }
}
