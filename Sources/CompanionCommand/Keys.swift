import ArgumentParser
import Companion
import Foundation
import SessionStore

/// `companion keys`: the keys that seal tokens in the database, also while the server runs.
struct Keys: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List, rotate or retire the keys that seal tokens.",
        subcommands: [List.self, Rotate.self, Retire.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "One line a key: id, what it does, how many values in the database it seals.")
        @OptionGroup var database: DatabaseOptions

        func run() async throws {
            try await database.withStore { store in
                for use in try await store.keyUses() {
                    let duty = use.isCurrent ? "seals" : use.isAtHand ? "opens" : "MISSING"
                    print(use.id, duty, use.values)
                }
            }
        }
    }

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Put a new key first in the key file. The old ones go on opening what they sealed.")
        @OptionGroup var database: DatabaseOptions

        func run() async throws {
            let file = try database.keyFile()
            let ring = try KeyRing.rotate(fileAt: file)
            print(
                """
                \(ring.currentKeyID) seals from now on; \(ring.keyIDs.count - 1) older open what they sealed.
                A running server notices within a second and seals everything anew, little by little: `companion keys list`
                shows how far it is. Then `companion keys retire` takes the old keys out of the file.
                Copy \(file) to where you keep its backup now.
                """)
        }
    }

    struct Retire: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Seal anew what older keys still seal, and take those keys out of the key file.")
        @OptionGroup var database: DatabaseOptions

        func run() async throws {
            let file = try database.keyFile()
            // A server that has not noticed the last rotation may be sealing with an older key right now.
            let age = KeyRing.lastChange(ofFileAt: file).map { Date.now.timeIntervalSince($0) } ?? .infinity
            let left = KeyRing.settlingTime - .seconds(max(0, age))
            if left > .zero {
                print("The keys were changed a moment ago; waiting until a running server has noticed.")
                try await Task.sleep(for: left)
            }
            try await database.withStore { store in
                let (retired, kept) = try await store.retireOlderKeys()
                if retired.isEmpty, kept.isEmpty { print("There is one key: nothing to retire.") }
                for id in retired { print("\(id) is gone from \(file).") }
                if !retired.isEmpty { print("Backups of the database from before need it: keep it with them.") }
                for use in kept {
                    print(
                        "\(use.id) stays: it seals \(use.values) values that do not open, which are damaged or in the "
                            + "wrong row. End those sessions (`companion sessions revoke`) and try again.")
                }
                if !kept.isEmpty { throw ExitCode(1) }
            }
        }
    }
}

extension DatabaseOptions {
    /// The key file; keys of the environment are changed there.
    fileprivate func keyFile() throws -> String {
        switch try configuration().encryptionKey {
        case .file(let path): return path
        case .value:
            throw CommandFailure(
                """
                The key comes from COMPANION_ENCRYPTION_KEY. To rotate it, set that to NEW,OLD (NEW from \
                `openssl rand -base64 32`) and restart; when `companion keys list` shows 0 for the old one, leave NEW alone.
                """)
        }
    }
}
