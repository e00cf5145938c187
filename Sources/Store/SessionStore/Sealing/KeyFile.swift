import Cryptography
public import Foundation

extension KeyRing {
    /// `fsync`, or a replacement in tests, because a sync cannot be observed from outside.
    package typealias Sync = (Int32) -> Int32

    /// Returns the keys of the key file; creates the file (mode 0600) with one new key if it does not exist.
    ///
    /// A new file appears complete or not at all, even if two processes start at once or the power fails: it is written
    /// under another name (O_EXCL), synced and linked to its name, and the folder is synced.
    package static func load(
        orCreateAt path: String, randomBytes: (Int) -> [UInt8] = SecureRandom.bytes, sync: Sync = fsync
    ) throws(StoreError) -> KeyRing {
        if let existing = try load(existingAt: path) { return existing }
        let key = try newKey(randomBytes)
        let temporary = try writeTemporary([key], beside: path, randomBytes, sync)
        defer { unlink(temporary) }
        if link(temporary, path) != 0, errno != EEXIST {
            throw .keyFile("The key file \(path) cannot be created: \(systemMessage()).")
        }
        try syncFolder(of: path, sync)
        guard let created = try load(existingAt: path) else {
            throw .keyFile("The key file \(path) vanished while it was being created. Start again.")
        }
        return created
    }

    /// Puts a new key first in the file, in one atomic step. The older keys stay, to open what they sealed. A running
    /// server notices this within a second, seals with the new key from then on, and reseals what the older keys
    /// sealed. After that, call `SessionStore.retireOlderKeys()`.
    package static func rotate(
        fileAt path: String, randomBytes: (Int) -> [UInt8] = SecureRandom.bytes, sync: Sync = fsync
    ) throws(StoreError) -> KeyRing {
        let lock = try lockFile(path)
        defer { Foundation.close(lock) }
        let ring = try mustLoad(path)
        return try replace(path, with: [newKey(randomBytes), ring.current] + ring.older, randomBytes, sync)
    }

    /// Removes older keys from the file, in one atomic step; never the first key. What they sealed can no longer be
    /// opened.
    static func drop(
        _ ids: Set<KeyID>, fromFileAt path: String, randomBytes: (Int) -> [UInt8] = SecureRandom.bytes,
        sync: Sync = fsync
    ) throws(StoreError) -> KeyRing {
        let lock = try lockFile(path)
        defer { Foundation.close(lock) }
        let ring = try mustLoad(path)
        return try replace(path, with: [ring.current] + ring.older.filter { !ids.contains($0.id) }, randomBytes, sync)
    }

    /// Returns the time of the file's last change; nil if the file does not exist.
    public static func lastChange(ofFileAt path: String) -> Date? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return Date(timeIntervalSince1970: Double(status.st_mtim.tv_sec) + Double(status.st_mtim.tv_nsec) / 1e9)
    }

    /// Locks the file, so that it is changed by one process at a time. Of two concurrent rotations, one would lose the
    /// other's key, and a server might already have sealed with it. The lock is on the old file, so a process that has
    /// waited checks that the file still has the name.
    private static func lockFile(_ path: String) throws(StoreError) -> Int32 {
        while true {
            let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
            guard descriptor >= 0 else {
                if errno == ENOENT { throw missing(path) }
                throw .keyFile("The key file \(path) cannot be read: \(systemMessage()).")
            }
            var locked = stat()
            var named = stat()
            guard flock(descriptor, LOCK_EX) == 0, fstat(descriptor, &locked) == 0 else {
                let message = systemMessage()
                Foundation.close(descriptor)
                throw .keyFile("The key file \(path) cannot be locked: \(message).")
            }
            if stat(path, &named) == 0, named.st_ino == locked.st_ino, named.st_dev == locked.st_dev {
                return descriptor
            }
            Foundation.close(descriptor)
        }
    }

    /// Returns the keys of the key file; nil if the file does not exist.
    public static func load(existingAt path: String) throws(StoreError) -> KeyRing? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw .keyFile(
                "The key file \(path) cannot be read: \(systemMessage()). Give it to the user who runs this.")
        }
        defer { Foundation.close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .keyFile("The key file \(path) is not an ordinary file.")
        }
        guard status.st_mode & 0o077 == 0 else {
            throw .keyFile("The key file \(path) is open to other users. Run: chmod 600 \(path)")
        }
        guard status.st_size <= maxFileBytes else {
            throw .keyFile("The key file \(path) is too large to be one. Restore it from your backup.")
        }
        var bytes = [UInt8](repeating: 0, count: maxFileBytes)
        var count = 0
        while true {
            let got = bytes.withUnsafeMutableBytes { buffer in
                Foundation.read(
                    descriptor, UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).baseAddress,
                    maxFileBytes - count)
            }
            if got < 0 {
                if errno == EINTR { continue }
                throw .keyFile("The key file \(path) cannot be read: \(systemMessage()).")
            }
            if got == 0 { break }
            count += got
        }
        let text = String(decoding: bytes.prefix(count), as: UTF8.self)
        return try KeyRing(keys: parse(text, source: "The key file \(path)"), file: path)
    }

    private static let maxFileBytes = 64 << 10

    private static func mustLoad(_ path: String) throws(StoreError) -> KeyRing {
        guard let ring = try load(existingAt: path) else { throw missing(path) }
        return ring
    }

    private static func missing(_ path: String) -> StoreError {
        .keyFile("There is no key file \(path) yet: it is created when the server first starts.")
    }

    private static func newKey(_ randomBytes: (Int) -> [UInt8]) throws(StoreError) -> Key {
        guard let key = Key(randomBytes(Key.byteCount)) else {
            throw .keyFile("The random generator gave too few bytes for a key.")
        }
        return key
    }

    private static func replace(_ path: String, with keys: [Key], _ randomBytes: (Int) -> [UInt8], _ sync: Sync)
        throws(StoreError) -> KeyRing
    {
        let temporary = try writeTemporary(keys, beside: path, randomBytes, sync)
        var status = stat()
        // After a rotation by root, the server's user must still be able to read the file.
        let keepsOwner = stat(path, &status) == 0 && chown(temporary, status.st_uid, status.st_gid) == 0
        guard keepsOwner, rename(temporary, path) == 0 else {
            let message = systemMessage()
            unlink(temporary)
            throw .keyFile("The key file \(path) cannot be replaced: \(message).")
        }
        try syncFolder(of: path, sync)
        return try KeyRing(keys: keys, file: path)
    }

    /// Writes a synced file of mode 0600 in the same folder.
    private static func writeTemporary(
        _ keys: [Key], beside path: String, _ randomBytes: (Int) -> [UInt8], _ sync: Sync
    )
        throws(StoreError) -> String
    {
        let temporary = "\(path).\(KeyID(bytes: randomBytes(KeyID.byteCount))).new"
        let text =
            "# Companion's encryption keys: the first seals, all open. Keep this file secret, and keep a copy of it apart\n"
            + "# from the database's backup. Without it, everyone must sign in again.\n"
            + keys.map { $0.base64 + "\n" }.joined()
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw .keyFile(
                "The key file \(path) cannot be created: \(systemMessage()). Its folder must exist and be writable.")
        }
        defer { Foundation.close(descriptor) }
        let bytes = Array(text.utf8)
        // The umask can only take bits away from 0600; fchmod makes it exact.
        guard write(descriptor, bytes, bytes.count) == bytes.count, fchmod(descriptor, 0o600) == 0,
            sync(descriptor) == 0
        else {
            let message = systemMessage()
            unlink(temporary)
            throw .keyFile("The key file \(path) cannot be written: \(message).")
        }
        return temporary
    }

    private static func syncFolder(of path: String, _ sync: Sync) throws(StoreError) {
        let folder = path.contains("/") ? String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex)) : "."
        let descriptor = open(folder.isEmpty ? "/" : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0, sync(descriptor) == 0 else {
            let message = systemMessage()
            if descriptor >= 0 { Foundation.close(descriptor) }
            throw .keyFile("The folder of the key file \(path) cannot be synced: \(message).")
        }
        Foundation.close(descriptor)
    }
}

/// Returns the system's message for `errno`.
package func systemMessage() -> String { String(cString: strerror(errno)) }
