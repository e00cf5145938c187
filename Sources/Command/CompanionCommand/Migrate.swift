import ArgumentParser
import Companion
import CompanionCore

/// `companion migrate` updates the database to this version's format, as the server does when it starts.
struct Migrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Update the database to this version's format, or try that on a copy.",
        discussion: """
            The server does the same when it starts. Stop it first, and make a backup (`companion backup`), because an \
            older version cannot use a migrated database. A database from an early version is also rewritten, so that it \
            returns free space to the disk.

            With --to, all sessions are copied to another database, from a file to PostgreSQL or back, while no server \
            works with either. People stay signed in when the server is then configured with the other database.
            """)

    @Flag(help: "Run the migrations on a copy in the same folder, and remove the copy.") var dryRun = false
    @Option(help: "Copy all sessions to this database: a file, or postgresql://…") var to: String?
    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        let configuration = try database.existing()
        if let to { return try await move(configuration, to: to) }
        for line in try configuration.place.migrate(isRehearsal: dryRun) { print(line) }
    }

    private func move(_ source: CompanionConfiguration, to place: String) async throws {
        var target = try database.configuration(database: place)
        // The keys are the same, so the values stay encrypted as they are.
        target.encryptionKey = source.encryptionKey
        let count = try await source.copySessions(to: target)
        print(
            """
            \(count) sessions were copied from \(source.database) to \(target.database).
            Configure the server with the new database, and with the same key (\(source.encryptionKey)).
            \(source.database) is unchanged. Remove it when all is well: it contains the same sessions.
            """)
    }
}
