import FileLocking
import Foundation
import SessionStore

/// The right to be the only server of a database file.
///
/// The lock is not on the database itself: closing a descriptor of a file that SQLite has open in this process would
/// drop SQLite's own locks.
struct ServerLock: Sendable {
    private let path: String
    private let lock: FileLock

    /// - Parameter path: the database, which exists.
    /// - Throws: `unavailable` when another server has the lock, or when there can be none. A database where nothing
    ///   can be locked is unsafe for SQLite, too.
    init(ofDatabaseAt path: String) throws(StoreError) {
        self.path = path
        do throws(FileLock.Failure) {
            // Two names of one file, such as a symbolic link, have one lock, as they have one log.
            lock = try FileLock(beside: URL(fileURLWithPath: path).resolvingSymlinksInPath().path)
        } catch {
            throw .unavailable(Self.reason(for: error, path))
        }
    }

    /// The reason for which this may not be the only server any more, with the remedy; nil while it is. If the lock file
    /// was deleted or replaced, the one that has its name now is locked first.
    var problem: String? {
        do throws(FileLock.Failure) {
            try lock.renew()
            return nil
        } catch {
            return "\(lock.file) was deleted or replaced: \(Self.reason(for: error, path))"
        }
    }

    private static func reason(for failure: FileLock.Failure, _ path: String) -> String {
        switch failure {
        case .taken:
            "another server works with the database \(path), and a file can have only one: stop that server "
                + "first, or give each a database of its own (--database FILE)"
        case .impossible(let reason): reason
        }
    }

    /// Lets another server have the file.
    func release() { lock.release() }
}
