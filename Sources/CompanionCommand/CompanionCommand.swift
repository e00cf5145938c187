import ArgumentParser
import Companion

/// The executable `companion`.
@main
struct CompanionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "companion",
        abstract:
            "A web companion for Microsoft's MSAL tutorials: sign in, call Microsoft Graph and sign out in a browser.",
        version: "companion \(companionVersion)",
        subcommands: [
            Serve.self, Demo.self, Check.self, Sessions.self, Keys.self, Backup.self, Migrate.self,
            Health.self, KioskPolicyCommand.self,
        ],
        defaultSubcommand: Serve.self)
}

/// Where the configuration file is; shared by the commands that read one.
struct ConfigurationOptions: ParsableArguments {
    @Option(help: "The configuration file (YAML or JSON). Default: COMPANION_CONFIG, companion.yaml or companion.json.")
    var config: String?
}

/// What `serve` and `demo` have in common.
struct ServerOptions: ParsableArguments {
    @Option(help: "The address to listen on. Default: 127.0.0.1.")
    var host: String?

    @Option(help: "The port to listen on. Default: 8080.")
    var port: Int?

    @Option(help: "The database of sessions and sealed tokens. Default: companion.sqlite.")
    var database: String?

    @Option(help: "The folder that holds the pages. Default: Public.")
    var `public`: String?

    @Option(help: "The log level: trace, debug, info, notice, warning, error or critical. Default: info.")
    var logLevel: String?

    @Option(help: "The log format: text or json. Default: text.")
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
