import ArgumentParser
import Companion
import CompanionCore
import Foundation
import SessionStore

/// The database that the server uses, for the commands that work on it.
struct DatabaseOptions: ParsableArguments {
    @OptionGroup var file: ConfigurationOptions
    @Option(
        help:
            "The database: a file, or postgresql://… Default: the one in the configuration, or \(StoreAddress.standard)."
    )
    var database: String?

    /// Returns the configuration. The command's option takes precedence.
    ///
    /// - Parameter other: a database that takes precedence over both.
    func configuration(database other: String? = nil) throws -> CompanionConfiguration {
        let environment = ProcessInfo.processInfo.environment
        let path = ConfigurationPath.find(option: file.config, environment: environment)
        var options: [String: String] = [:]
        options["database"] = other ?? database
        return try ConfigurationPath.read(path, options: options, environment: environment, needsApplications: false)
    }

    /// Returns the configuration of an existing database, because these commands never create one.
    ///
    /// - Throws: ``CommandFailure`` if there is no database.
    func existing() throws -> CompanionConfiguration {
        let configuration = try configuration()
        guard try configuration.place.exists() else {
            throw CommandFailure("There is no database at \(configuration.database). Name it with --database.")
        }
        return configuration
    }

    /// Opens the store, and closes it even if `body` throws.
    func withStore(_ body: (SessionStore) async throws -> Void) async throws {
        let store = try SessionStore(configuration: existing())
        try await closing(store.close) { try await body(store) }
    }
}

/// The reason why a command failed, with the remedy: one line on standard error, and exit status 1.
struct CommandFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
