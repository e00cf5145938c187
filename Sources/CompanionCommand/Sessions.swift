import ArgumentParser
import Companion
import Foundation
import SessionStore

/// `companion sessions`: works on the database, also while the server runs.
struct Sessions: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List, revoke or purge sessions.", subcommands: [List.self, Revoke.self, Purge.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "One line a session: key, begin, last use, accounts.")
        @OptionGroup var database: DatabaseOptions

        func run() async throws {
            try await database.withStore { store in
                var last: SessionKey?
                while case let page = try await store.list(after: last), !page.isEmpty {
                    for session in page {
                        let accounts = session.accounts.map { "\($0.app):\($0.username)" }.joined(separator: " ")
                        print(
                            session.key, session.createdAt.formatted(.iso8601), session.lastSeenAt.formatted(.iso8601),
                            accounts)
                    }
                    last = page.last?.key
                }
            }
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "End a session, a user's sessions, or all of them.")
        @OptionGroup var database: DatabaseOptions
        @Argument(help: "The sessions' keys, as `list` prints them.") var keys: [String] = []
        @Option(help: "End every session in which this username is signed in.") var username: String?
        @Flag(help: "End every session.") var all = false

        func validate() throws {
            guard !keys.isEmpty || username != nil || all else {
                throw ValidationError("Say which: the keys that `companion sessions list` prints, --username or --all.")
            }
        }

        func run() async throws {
            let configuration = try database.existing()
            // What cannot be written down is said first, and does not keep anybody from ending a session.
            let audit: AuditLog?
            do {
                audit = try AuditLog(besideServerOf: configuration)
            } catch {
                FileHandle.standardError.write(Data("\(error)\n".utf8))
                audit = nil
            }
            try await database.withStore { store in
                var ended: [SessionKey] = []
                defer {
                    audit?.endedByCommandLine(ended)
                    print("\(ended.count) ended")
                }
                if all { ended += try await store.revokeAll() }
                if let username { ended += try await store.revoke(username: username) }
                for text in keys {
                    guard let key = SessionKey(text) else { throw ValidationError("“\(text)” is no session's key.") }
                    if try await store.revoke(key) { ended.append(key) }
                }
            }
        }
    }

    struct Purge: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Delete the sessions that have expired.")
        @OptionGroup var database: DatabaseOptions

        func run() async throws {
            try await database.withStore { store in print("\(try await store.purgeExpired()) deleted") }
        }
    }
}
