import ArgumentParser
import CompanionSignIn
import Foundation
import SessionStore

/// `companion sessions` lists and ends sessions in the database, also while the server runs.
struct Sessions: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List sessions, end them, or delete expired ones.", subcommands: [List.self, Revoke.self, Purge.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the sessions, one per line: key, start, last use, accounts.")
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
        @Argument(help: "The keys of the sessions, as `list` prints them.") var keys: [String] = []
        @Option(help: "End every session in which this username is signed in.") var username: String?
        @Flag(help: "End every session.") var all = false

        func validate() throws {
            guard !keys.isEmpty || username != nil || all else {
                throw ValidationError(
                    "Name the sessions by their keys (see `companion sessions list`), or use --username or --all.")
            }
        }

        func run() async throws {
            let configuration = try database.existing()
            // If the audit log cannot be written, this is reported first, and the sessions are still ended.
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
                    guard let key = SessionKey(text) else {
                        throw ValidationError("“\(text)” is not the key of a session.")
                    }
                    if try await store.revoke(key) { ended.append(key) }
                }
            }
        }
    }

    struct Purge: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Delete expired sessions.")
        @OptionGroup var database: DatabaseOptions

        func run() async throws {
            try await database.withStore { store in print("\(try await store.purgeExpired()) deleted") }
        }
    }
}
