import Foundation
import SessionStore

/// What an inspection of the store means for the operator.
struct StorageFindings {
    /// Below it, the next sign-ins may fail: the store needs room for its log.
    static let leastFreeBytes: Int64 = 64 << 20
    /// Below it, somebody should know.
    static let comfortableFreeBytes: Int64 = 512 << 20
    /// One part in so many should be free.
    static let comfortableShare: Int64 = 20

    let found: StoreInspection
    /// Where the database is.
    let database: String
    /// Where the keys are.
    let key: EncryptionKey
    /// Why the keys cannot be used; nil when they can, or are not made yet.
    let keyFailure: StoreError?

    var all: [CheckFinding] { permissions + [keys] + retirement + integrity + space }

    private var permissions: [CheckFinding] {
        let open = found.files.filter { $0.mode & 0o077 != 0 }
        guard let worst = open.first else {
            return found.files.isEmpty ? [] : [.good("file_permissions", "The database is for its owner only.")]
        }
        let what = "\(worst.path) is open to other users (mode \(String(worst.mode, radix: 8)))."
        let why = "It names who has signed in, and what it says of sessions counts; tokens in it are sealed."
        let remedy = "chmod 600 " + open.map(\.path).joined(separator: " ")
        return [
            worst.mode & 0o027 != 0
                ? .mistake("file_permissions", what, why: why, remedy: remedy)
                : .advice("file_permissions", what, why: why, remedy: remedy)
        ]
    }

    private var keys: CheckFinding {
        let lost = found.keys.filter { !$0.isAtHand && $0.values > 0 }
        let sealed = lost.map(\.values).reduce(0, +)
        if let keyFailure {
            return .mistake(
                "key", keyFailure.description, why: "Without its key the server does not start.",
                remedy: "Mend the key file, or restore it from your backup; run this as the server's user.")
        }
        if !lost.isEmpty {
            return .mistake(
                "key",
                "\(sealed) values in the database are sealed with a key that is not at hand (\(lost[0].id)).",
                why: "The server does not start: without that key it cannot open what it keeps.",
                remedy:
                    "Put the old key back (key \(key)), as a further line of the key file; or, if it is lost, move the "
                    + "database away: everybody then signs in again.")
        }
        if found.keys.isEmpty { return .good("key", "There is no key yet: the first start makes it (\(key)).") }
        return .good("key", "The key is there and opens what the database holds (\(key)).")
    }

    private var retirement: [CheckFinding] {
        let older = found.keys.filter { $0.isAtHand && !$0.isCurrent }
        guard !older.isEmpty, keyFailure == nil else { return [] }
        let left = older.map(\.values).reduce(0, +)
        guard left == 0 else {
            return [
                .good("older_keys", "\(left) values are still sealed with older keys; the running server renews them.")
            ]
        }
        return [
            .advice(
                "older_keys", "\(older.count) older keys seal nothing any more.",
                why: "Who has an old key and an old copy of the database can read the tokens in it.",
                remedy: "Run `companion keys retire`; keep the old keys as long as you keep backups from their time.")
        ]
    }

    private var integrity: [CheckFinding] {
        if let failure = found.failure {
            return [
                .mistake(
                    "database", failure.description, why: "Nobody can sign in without the database.",
                    remedy:
                        "Check the path and who owns it, and run this as the server's user; restore the latest backup if it is damaged."
                )
            ]
        }
        guard found.damage.isEmpty else {
            return [
                .mistake(
                    "database", "The database is damaged: \(found.damage.prefix(3).joined(separator: "; "))",
                    why: "Sessions are lost or wrong, and it gets worse; usually the disk fails.",
                    remedy:
                        "Stop the server, keep a copy of the files, look at the disk (`dmesg`, `smartctl`), and restore the latest backup."
                )
            ]
        }
        if let failure = found.writeFailure {
            return [
                .mistake(
                    "database", "Nothing can be written: \(failure.description)",
                    why: "Nobody can sign in or out until it is over; nobody is signed out by it.",
                    remedy:
                        "Look which program holds it besides the server (`fuser -v \(database)`: a copy, an editor), and "
                        + "whether its disk is mounted read-only (`findmnt -T \(database)`). The server goes on by itself afterwards."
                )
            ]
        }
        guard !found.files.isEmpty else {
            return [.good("database", "There is no database yet: the first start makes it (\(database)).")]
        }
        guard found.pendingMigrations.isEmpty else {
            return [
                .advice(
                    "database",
                    "The database is of an older version; the next start changes it (\(found.pendingMigrations.count) steps).",
                    why: "An older companion cannot use it afterwards.",
                    remedy: "`companion backup FILE` first; `companion migrate --dry-run` tries it on a copy.")
            ]
        }
        return [.good("database", "The database is sound (\(found.fileBytes >> 10) KB).")]
    }

    private var space: [CheckFinding] {
        let folder = URL(fileURLWithPath: database).deletingLastPathComponent().path
        guard let free = found.freeBytes else {
            return [
                .mistake(
                    "disk_space", "The database's folder \(folder) is not there or cannot be looked into.",
                    why: "The server makes its database there.",
                    remedy: "Make the folder, for the user who runs the server alone (mode 700).")
            ]
        }
        let what = "\(free >> 20) MB are free in \(folder)."
        let why = "On a full disk nobody can sign in or out; who is signed in goes on until tokens must be renewed."
        let remedy = "Free some space, or put the database elsewhere."
        if free < Self.leastFreeBytes { return [.mistake("disk_space", what, why: why, remedy: remedy)] }
        let share = (found.diskBytes ?? 0) / Self.comfortableShare
        if free < max(Self.comfortableFreeBytes, found.fileBytes, share) {
            return [.advice("disk_space", what, why: why, remedy: remedy)]
        }
        return [.good("disk_space", what)]
    }
}
