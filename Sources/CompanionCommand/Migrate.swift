import ArgumentParser
import Companion
import Foundation
import SQLiteStore

/// `companion migrate` updates the database to this version's format, as the server does when it starts.
struct Migrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Update the database to this version's format, or try that on a copy.",
        discussion: """
            The server does the same when it starts. Stop it first, and make a backup (`companion backup`), because an \
            older version cannot use a migrated database. A database from an early version is also rewritten, so that it \
            returns free space to the disk.
            """)

    @Flag(help: "Run the migrations on a copy in the same folder, and remove the copy.") var dryRun = false
    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        let path = try database.existing().database
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
}
