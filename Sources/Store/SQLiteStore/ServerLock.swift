import Foundation
import SessionStore
import Synchronization

/// The right to be the only server of a database file: a lock (flock) on a file beside it. It ends with the process,
/// however that ends, so a server that was killed leaves no lock.
///
/// The lock is not on the database itself: closing a descriptor of a file that SQLite has open in this process would
/// drop SQLite's own locks.
final class ServerLock: Sendable {
    private let descriptor: Mutex<Int32>

    /// - Parameter path: the database, which exists.
    /// - Throws: `unavailable` when another server has the lock, or when there can be none. A database where nothing
    ///   can be locked is unsafe for SQLite, too.
    init(ofDatabaseAt path: String) throws(StoreError) {
        // Two names of one file, such as a symbolic link, have one lock, as they have one log.
        let file = URL(fileURLWithPath: path).resolvingSymlinksInPath().path + ".lock"
        let descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .unavailable("the lock file \(file) cannot be opened: \(systemMessage())") }
        // If root starts a server, the database's owner must still be able to.
        var status = stat()
        if stat(path, &status) == 0 { _ = fchown(descriptor, status.st_uid, status.st_gid) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let (isTaken, message) = (errno == EWOULDBLOCK, systemMessage())
            Foundation.close(descriptor)
            throw .unavailable(
                isTaken
                    ? "another server works with the database \(path), and a file can have only one: stop that server "
                        + "first, or give each a database of its own (--database FILE)"
                    : "the lock file \(file) cannot be locked: \(message). Put the database on a disk of this machine")
        }
        self.descriptor = Mutex(descriptor)
    }

    deinit { release() }

    /// Lets another server have the file.
    func release() {
        descriptor.withLock { descriptor in
            if descriptor >= 0 { Foundation.close(descriptor) }
            descriptor = -1
        }
    }
}
