import ArgumentParser
import Companion
import CompanionCore
import Foundation

/// The executable `companion`.
@main
struct CompanionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "companion",
        abstract:
            "A web companion for Microsoft's MSAL tutorials: sign in, call Microsoft Graph and sign out in a browser.",
        discussion: "With --licenses it prints the licences of all that it contains.",
        version: "companion \(companionVersion)",
        subcommands: [
            Serve.self, Demo.self, TenantCommand.self, Check.self, Sessions.self, Keys.self, Backup.self, Migrate.self,
            Health.self, Tokens.self, KioskPolicyCommand.self, SettingsCommand.self,
        ],
        defaultSubcommand: Serve.self)

    static func main() async {
        let words = Array(CommandLine.arguments.dropFirst())
        if let unknown = UnknownCommand(words, below: Self.self) {
            FileHandle.standardError.write(Data("\(unknown)\n".utf8))
            exit(withError: ExitCode.validationFailure)
        }
        guard words != ["--licenses"] else { return printLicenses() }
        await main(words)
    }

    /// Needs no configuration, so that a mistake in one hides no licence.
    private static func printLicenses() {
        do {
            let publicFolder = ProcessInfo.processInfo.environment["COMPANION_PUBLIC"] ?? "Public"
            let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            FileHandle.standardOutput.write(try Licenses.text(publicFolder: publicFolder, program: program))
        } catch {
            exit(withError: error)
        }
    }
}

/// The location of the configuration file, for the commands that read one.
struct ConfigurationOptions: ParsableArguments {
    @Option(help: "The configuration file (YAML or JSON). Default: COMPANION_CONFIG, companion.yaml or companion.json.")
    var config: String?
}

/// The options that name the server's address.
struct AddressOptions: ParsableArguments {
    @Option(help: "The address on which the server listens. Default: \(ListenAddress.standard.host).")
    var host: String?

    @Option(help: "The port on which the server listens. Default: \(ListenAddress.standard.port).")
    var port: Int?

    /// The given options by configuration key.
    var values: [String: String] {
        var values: [String: String] = [:]
        values["host"] = host
        values["port"] = port.map(String.init)
        return values
    }
}

/// The options that `serve` and `demo` share.
struct ServerOptions: ParsableArguments {
    @OptionGroup var address: AddressOptions

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
            ("database", database), ("public", `public`), ("log_level", logLevel), ("log_format", logFormat),
        ]
        return all.reduce(into: address.values) { values, option in values[option.0] = option.1 }
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
