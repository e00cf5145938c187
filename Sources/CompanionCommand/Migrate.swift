import ArgumentParser
import Companion
import Foundation
import PostgresStore
import SQLiteStore

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
        let path = configuration.database
        if let postgres = try configuration.openablePostgres() {
            let steps = try dryRun ? PostgresStore.pendingMigrations(postgres) : PostgresStore.migrate(postgres)
            for step in steps { print(step) }
            guard !steps.isEmpty else { return print("\(path) is already up to date.") }
            return print(dryRun ? "\(path) is unchanged. These migrations would run." : "\(path) is up to date.")
        }
        let steps =
            dryRun
            ? try SQLiteStore.rehearseMigration(databaseAt: path) : try SQLiteStore.migrate(databaseAt: path)
        let isRewritten = try !dryRun && SQLiteStore.rewrite(databaseAt: path)
        if isRewritten { print("\(path) was rewritten. From now on it returns free space to the disk.") }
        guard !steps.isEmpty else {
            if !isRewritten { print("\(path) is already up to date.") }
            return
        }
        for step in steps { print(step) }
        let count = steps.count == 1 ? "1 migration" : "\(steps.count) migrations"
        print(
            dryRun
                ? "\(count) succeeded on a copy. \(path) is unchanged." : "\(count) succeeded. \(path) is up to date.")
    }
    private func move(_ source: CompanionConfiguration, to place: String) async throws {
        var target = try database.configuration(database: place)
        // The very same keys: the values stay sealed as they are.
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
