import Foundation
import Languages
import SessionStore

/// Interprets the store's condition for the operator.
struct StorageFindings {
    /// Below this value sign-ins may fail soon, because the store needs space for its log.
    static let leastFreeBytes: Int64 = 64 << 20
    /// Below this value the check warns.
    static let comfortableFreeBytes: Int64 = 512 << 20
    /// The check warns if less than one part in this number is free.
    static let comfortableShare: Int64 = 20

    let health: StoreHealth
    /// The database's files.
    let files: [FileAccess]
    /// The database's location.
    let database: String
    /// The location of the keys.
    let key: EncryptionKey
    /// The reason why the keys cannot be used; nil if they can, or do not exist yet.
    let keyFailure: StoreError?

    var all: [CheckFinding] { permissions + ofKeys + integrity + space }

    /// The findings that do not depend on the kind of database.
    var ofKeys: [CheckFinding] { [keys] + retirement }

    private var permissions: [CheckFinding] {
        let open = files.filter { $0.mode & 0o077 != 0 }
        guard let worst = open.first else {
            return files.isEmpty ? [] : [.good("file_permissions", "Only its owner can access the database.")]
        }
        let what: Message = "\(worst.path) is open to other users (mode \(String(worst.mode, radix: 8)))."
        let why =
            "It contains the names of the people who signed in, and anyone who can write it can change sessions. Tokens are sealed."
        let remedy = "Run chmod 600 " + open.map(\.path).joined(separator: " ")
        return [
            worst.mode & 0o027 != 0
                ? .mistake("file_permissions", what, why: why, remedy: remedy)
                : .advice("file_permissions", what, why: why, remedy: remedy)
        ]
    }

    private var keys: CheckFinding {
        let lost = health.keys.filter { !$0.isAtHand && $0.values > 0 }
        let sealed = lost.map(\.values).reduce(0, +)
        if let keyFailure {
            return .mistake(
                "key", Message(verbatim: keyFailure.description), why: "The server does not start without its key.",
                remedy: "Fix the key file, or restore it from your backup. Run this check as the server's user.")
        }
        if !lost.isEmpty {
            return .mistake(
                "key",
                "\(sealed) values in the database are sealed with a key that is missing (\(lost[0].id)).",
                why: "The server does not start, because it cannot open its data without that key.",
                remedy:
                    "Add the old key to the key file as another line (key \(key)). If it is lost, move the database away; "
                    + "then all people have to sign in again.")
        }
        if health.keys.isEmpty {
            return .good("key", "There is no key yet. The server creates it at its first start (\(key)).")
        }
        return .good("key", "The key opens everything in the database (\(key)).")
    }

    private var retirement: [CheckFinding] {
        let older = health.keys.filter { $0.isAtHand && !$0.isCurrent }
        guard !older.isEmpty, keyFailure == nil else { return [] }
        let left = older.map(\.values).reduce(0, +)
        guard left == 0 else {
            return [
                .good(
                    "older_keys",
                    "\(left) values are still sealed with older keys. The running server seals them again.")
            ]
        }
        return [
            .advice(
                "older_keys", "\(older.count) older keys no longer seal anything.",
                why: "Anyone who has an old key and an old copy of the database can read the tokens in it.",
                remedy:
                    "Half an hour after the rotation, run `companion keys retire`. Keep the old keys as long as you keep backups from their time."
            )
        ]
    }

    private var integrity: [CheckFinding] {
        if let failure = health.failure {
            return [
                .mistake(
                    "database", Message(verbatim: failure.description), why: "Nobody can sign in without the database.",
                    remedy:
                        "Check the path and its owner, and run this check as the server's user. If the database is damaged, restore the latest backup."
                )
            ]
        }
        guard health.damage.isEmpty else {
            return [
                .mistake(
                    "database", "The database is damaged: \(health.damage.prefix(3).joined(separator: "; "))",
                    why: "Sessions are lost or wrong, and the damage grows. Usually the disk is failing.",
                    remedy:
                        "Stop the server, keep a copy of the files, examine the disk (`dmesg`, `smartctl`), and restore the latest backup."
                )
            ]
        }
        if let failure = health.writeFailure {
            return [
                .mistake(
                    "database", "The database cannot be written: \(failure.description)",
                    why: "Nobody can sign in or out for now, but people who are signed in stay signed in.",
                    remedy:
                        "Find out which other program holds it (`fuser -v \(database)`: a copy, an editor), and whether "
                        + "its disk is mounted read-only (`findmnt -T \(database)`). The server then recovers by itself."
                )
            ]
        }
        guard health.exists else {
            return [
                .good("database", "There is no database yet. The server creates it at its first start (\(database)).")
            ]
        }
        guard health.pendingMigrations.isEmpty else {
            return [
                .advice(
                    "database",
                    "The database is from an older version. The next start migrates it (\(health.pendingMigrations.count) steps).",
                    why: "Older versions of the companion cannot use it afterwards.",
                    remedy: "Run `companion backup FILE` first. `companion migrate --dry-run` tries it on a copy.")
            ]
        }
        return [.good("database", "The database is sound (\(health.bytes >> 10) KB).")]
    }

    private var space: [CheckFinding] {
        let folder = URL(fileURLWithPath: database).deletingLastPathComponent().path
        guard let free = health.freeBytes else {
            return [
                .mistake(
                    "disk_space", "The database's folder \(folder) does not exist or cannot be read.",
                    why: "The server creates its database there.",
                    remedy: "Create the folder, accessible only to the user who runs the server (mode 700).")
            ]
        }
        let what: Message = "\(free >> 20) MB are free in \(folder)."
        let why =
            "On a full disk nobody can sign in or out. People who are signed in can go on until a token must be renewed."
        let remedy = "Free some space, or move the database."
        if free < Self.leastFreeBytes { return [.mistake("disk_space", what, why: why, remedy: remedy)] }
        let share = (health.totalBytes ?? 0) / Self.comfortableShare
        if free < max(Self.comfortableFreeBytes, health.bytes, share) {
            return [.advice("disk_space", what, why: why, remedy: remedy)]
        }
        return [.good("disk_space", what)]
    }
}
