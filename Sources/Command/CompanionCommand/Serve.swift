import ArgumentParser
import CompanionCore
import Foundation

/// `companion serve` runs the configured server, or the demo if nothing is configured.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serve the configured applications, or the demo when nothing is configured.")

    @OptionGroup var file: ConfigurationOptions
    @OptionGroup var server: ServerOptions

    func run() async throws {
        let environment = ProcessInfo.processInfo.environment
        let path = ConfigurationPath.find(option: file.config, environment: environment)
        guard path != nil || environment["COMPANION_APPS"] != nil else {
            try await Running.demo(options: server.values, environment: environment, isSecure: false)
            return
        }
        let configuration = try ConfigurationPath.read(path, options: server.values, environment: environment)
        try await Running.serve(configuration)
    }
}

/// `companion demo` runs the server with the built-in demo tenant, whatever is configured.
struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serve the demo: the companion, and a demo tenant on the next port. It needs no configuration.")

    @OptionGroup var server: ServerOptions

    @Flag(help: "Serve both over https, with a certificate for this machine alone that is made here.")
    var https = false

    @Option(help: "The bundle ID of an app of your own that signs in here, such as com.contoso.tasks. Repeatable.")
    var native: [String] = []

    func run() async throws {
        try await Running.demo(
            options: server.values, environment: ProcessInfo.processInfo.environment, isSecure: https, native: native)
    }
}

/// Finds and reads the configuration file.
enum ConfigurationPath {
    /// Returns the option, `COMPANION_CONFIG`, or `companion.yaml` or `companion.json` in the working directory, in
    /// this order; nil if none of them exists. A variable that is empty is a mistake, which the reading finds.
    static func find(option: String?, environment: [String: String]) -> String? {
        option ?? environment["COMPANION_CONFIG"].flatMap { $0.isEmpty ? nil : $0 }
            ?? ["companion.yaml", "companion.json"].first { FileManager.default.fileExists(atPath: $0) }
    }

    /// Returns the configuration.
    ///
    /// - Throws: exit status 1, after printing all mistakes.
    static func read(
        _ path: String?, options: [String: String], environment: [String: String], needsApplications: Bool = true
    ) throws -> CompanionConfiguration {
        do {
            return try CompanionConfiguration.read(
                options: options, environment: environment, file: path, needsApplications: needsApplications)
        } catch let mistakes {
            FileHandle.standardError.write(Data((mistakes.description + "\n").utf8))
            throw ExitCode(1)
        }
    }
}
