import ArgumentParser
import Companion
import Foundation
import SessionStore

/// `companion backup`: a copy of the database at one moment, also while the server runs.
struct Backup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copy the database to a new file, also while the server runs.",
        discussion: """
            The copy is of one moment, mode 0600, and never takes another file's place. Its tokens are sealed: keep a \
            copy of the key file too, somewhere else. To restore: stop the server, remove the database with its -wal and \
            -shm, put the copy and the key file in place for the server's user, start.
            """)

    @Argument(help: "The file to make.") var target: String
    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        let configuration = try database.existing()
        guard !FileManager.default.fileExists(atPath: target) else {
            throw CommandFailure("\(target) is there already and is left alone: name another file.")
        }
        try SessionStore.backUp(databaseAt: configuration.database, to: target)
        print("\(configuration.database) is copied to \(target).")
        switch configuration.encryptionKey {
        case .file(let path): print("It opens only with the keys in \(path): keep a copy of that too, apart from it.")
        case .value: print("It opens only with COMPANION_ENCRYPTION_KEY as it is now: keep that too, apart from it.")
        }
    }
}
