import ArgumentParser
import Companion
import Foundation
import SessionStore

/// `companion migrate`: brings the database to this version, as the server does when it starts.
struct Migrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Bring the database to this version, or try that on a copy.",
        discussion: """
            The server does the same when it starts. Stop it first, and make a backup (`companion backup`): an older \
            version cannot use a migrated database.
            """)

    @Flag(help: "Run the migrations on a copy beside the database, and remove the copy.") var dryRun = false
    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        let path = try database.existing().database
        let steps =
            dryRun
            ? try SessionStore.rehearseMigration(databaseAt: path) : try SessionStore.migrate(databaseAt: path)
        guard !steps.isEmpty else {
            print("\(path) is of this version: nothing to do.")
            return
        }
        for step in steps { print(step) }
        let count = steps.count == 1 ? "1 migration" : "\(steps.count) migrations"
        print(
            dryRun ? "\(count) ran well on a copy; \(path) is as it was." : "\(count) ran. \(path) is of this version.")
    }
}
