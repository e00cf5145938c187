import ArgumentParser
import Companion
import Foundation

/// `companion serve`: the server on a configuration; the demo where there is none.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serve the configured applications (the demo where nothing is configured).")

    @OptionGroup var file: ConfigurationOptions
    @OptionGroup var server: ServerOptions

    func run() async throws {
        let environment = ProcessInfo.processInfo.environment
        let path = ConfigurationPath.find(option: file.config, environment: environment)
        guard path != nil || environment["COMPANION_APPS"] != nil else {
            try await Running.demo(options: server.values, environment: environment)
            return
        }
        let configuration = try ConfigurationPath.read(path, options: server.values, environment: environment)
        try await Running.serve(configuration)
    }
}

/// `companion demo`: the server plus the built-in demo tenant, whatever is configured.
struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serve the demo: the companion and a tenant of its own on the next port. Nothing to configure.")

    @OptionGroup var server: ServerOptions

    func run() async throws {
        try await Running.demo(options: server.values, environment: ProcessInfo.processInfo.environment)
    }
}

/// Where the configuration is.
enum ConfigurationPath {
    /// The option, else `COMPANION_CONFIG`, else `companion.yaml` or `companion.json` of the working directory.
    static func find(option: String?, environment: [String: String]) -> String? {
        option ?? environment["COMPANION_CONFIG"]
            ?? ["companion.yaml", "companion.json"].first { FileManager.default.fileExists(atPath: $0) }
    }

    /// The configuration, or the list of its mistakes and exit status 1.
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
