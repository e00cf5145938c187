import ArgumentParser
import Companion
import Foundation

/// `companion backup` writes a consistent copy of the database, also while the server runs.
struct Backup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copy the database to a new file, also while the server runs.",
        discussion: """
            The copy is consistent, has mode 0600, and never replaces another file. Its tokens are sealed: keep a copy of \
            the key file too, somewhere else. To restore: stop the server, remove the database with its -wal and -shm \
            files, put the copy and the key file in their places, owned by the server's user, and start the server.

            For a PostgreSQL database the command prints how pg_dump copies it.
            """)

    @Argument(help: "The file to create.") var target: String
    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        let configuration = try database.existing()
        guard !FileManager.default.fileExists(atPath: target) else {
            throw CommandFailure("\(target) already exists and is left unchanged. Name another file.")
        }
        try configuration.place.backUp(to: target, key: configuration.encryptionKey)
        print("\(configuration.database) was copied to \(target).")
        switch configuration.encryptionKey {
        case .file(let path):
            print("It opens only with the keys in \(path). Keep a copy of that file too, in another place.")
        case .value: print("It opens only with the present COMPANION_ENCRYPTION_KEY. Keep that too, in another place.")
        }
    }
}
