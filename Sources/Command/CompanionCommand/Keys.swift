import ArgumentParser
import CompanionCore
import SessionStore

/// `companion keys` manages the keys that encrypt tokens in the database, also while the server runs.
struct Keys: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List, rotate or retire the keys that encrypt tokens.",
        subcommands: [List.self, Rotate.self, Retire.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the keys, one per line: ID, use, and number of values encrypted with it.")
        @OptionGroup var database: DatabaseOptions

        func run() async throws {
            try await database.withStore { store in
                let waiting = try await store.waitingKey()?.id
                for use in try await store.keyUses() {
                    let duty =
                        use.isCurrent ? "seals" : use.id == waiting ? "waits" : use.isAtHand ? "opens" : "MISSING"
                    print(use.id, duty, use.values)
                }
            }
        }
    }

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a new key, which encrypts from now on. The old keys still decrypt older values.",
            discussion: """
                When several companions share a PostgreSQL database, the key seals as soon as all of them have it. Run the \
                command on one machine, and copy the key file to the others.
                """)
        @OptionGroup var database: DatabaseOptions

        /// The time that servers with the same key file have to notice a new key; they need two seconds at most.
        private static let patience: Duration = .seconds(5)

        func run() async throws {
            let file = try database.keyFile()
            guard try database.configuration().database.isClustered else {
                let ring = try KeyRing.rotate(fileAt: file)
                return report(
                    ring, "A running server notices within a second and gradually seals everything again", file)
            }
            try await database.withStore { store in
                let ring = try KeyRing.rotate(fileAt: file)
                let end = ContinuousClock.now + Self.patience
                var waiting = try await store.waitingKey()
                while waiting != nil, .now < end {
                    try await Task.sleep(for: .milliseconds(200))
                    waiting = try await store.waitingKey()
                }
                guard let waiting else {
                    return report(
                        ring, "Every companion has it, and one of them gradually seals everything again", file)
                }
                report(
                    ring,
                    """
                    It does not seal yet: copy \(file) to \(waiting.hosts.joined(separator: ", ")).
                    When every companion has it, one of them gradually seals everything again
                    """, file)
            }
        }

        private func report(_ ring: KeyRing, _ what: String, _ file: String) {
            print(
                """
                The new key is \(ring.currentKeyID). Older keys that still open what they sealed: \(ring.keyIDs.count - 1).
                \(what); `companion keys list` shows
                its progress. Run `companion keys retire` in half an hour to remove the old keys from the file: until then, \
                browsers may bring back sign-ins that they have sealed.
                Back up \(file) now.
                """)
        }
    }

    struct Retire: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Encrypt remaining values with the new key, and remove the older keys from the key file.",
            discussion:
                "Half an hour after the rotation: until then, browsers may bring back sign-ins that an older key sealed."
        )
        @OptionGroup var database: DatabaseOptions

        func run() async throws {
            let file = try database.keyFile()
            try await database.withStore { store in
                let (retired, kept) = try await store.retireOlderKeys()
                if retired.isEmpty, kept.isEmpty { print("There is only one key, so there is nothing to retire.") }
                for id in retired { print("\(id) was removed from \(file).") }
                if !retired.isEmpty {
                    print("Earlier backups of the database need it. Keep a copy as long as you keep those backups.")
                }
                for use in kept {
                    print(
                        "\(use.id) was not removed: it seals \(use.values) values that cannot be opened because they are "
                            + "damaged or in the wrong row. End those sessions (`companion sessions revoke`) and try again."
                    )
                }
                if !kept.isEmpty { throw ExitCode(1) }
            }
        }
    }
}

extension DatabaseOptions {
    /// Returns the path of the key file.
    ///
    /// - Throws: ``CommandFailure`` if the key comes from the environment, where the operator must change it.
    fileprivate func keyFile() throws -> String {
        switch try configuration().encryptionKey {
        case .file(let path): return path
        case .value:
            throw CommandFailure(
                """
                The key comes from COMPANION_ENCRYPTION_KEY. To rotate it, set that to NEW,OLD (create NEW with \
                `openssl rand -base64 32`) and restart. When `companion keys list` shows 0 for OLD and half an hour has passed, \
                set it to NEW and restart.
                """)
        }
    }
}
