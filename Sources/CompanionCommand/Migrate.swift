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
            version cannot use a migrated database. A database that an early version made is rewritten too, so that it \
            gives free space back to the disk.
            """)

    @Flag(help: "Run the migrations on a copy beside the database, and remove the copy.") var dryRun = false
    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        let path = try database.existing().database
        let steps =
            dryRun
            ? try SessionStore.rehearseMigration(databaseAt: path) : try SessionStore.migrate(databaseAt: path)
        let isRewritten = try !dryRun && SessionStore.rewrite(databaseAt: path)
        if isRewritten { print("\(path) was rewritten: it gives free space back to the disk from now on.") }
        guard !steps.isEmpty else {
            if !isRewritten { print("\(path) is of this version: nothing to do.") }
            return
        }
        for step in steps { print(step) }
        let count = steps.count == 1 ? "1 migration" : "\(steps.count) migrations"
        print(
            dryRun ? "\(count) ran well on a copy; \(path) is as it was." : "\(count) ran. \(path) is of this version.")
    }
}
