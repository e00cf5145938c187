import Foundation
import GRDB
import Synchronization

/// The reasons for which nothing may be stored in an open database, although SQLite might accept it: damage that it has
/// reported, files that no longer have the names under which they were opened, and another server of the database. What
/// is written into a file without a name is gone when the server ends.
final class Soundness: Sendable {
    private let path: String
    private let lock: ServerLock?
    private let files: [(name: String, identity: FileIdentity)]
    /// Damage that SQLite has reported. Files do not heal, so it stays until the server is started again.
    private let damage = Mutex<String?>(nil)

    /// - Parameters:
    ///   - path: the database, which is open.
    ///   - lock: keeps other servers away; nil if this is no server.
    init(path: String, lock: ServerLock?) {
        self.path = path
        self.lock = lock
        files = ["", "-wal", "-shm"].compactMap { suffix in
            FileIdentity(path + suffix).map { (path + suffix, $0) }
        }
    }

    /// The problem as of now, with its remedy; nil if there is none.
    var problem: String? {
        if let damage = damage.withLock({ $0 }) {
            return "\(path) is damaged (\(damage)): stop the server, keep a copy of its files, and restore the latest "
                + "backup"
        }
        if let file = files.first(where: { FileIdentity($0.name) != $0.identity }) { return Self.replaced(file.name) }
        return lock?.problem
    }

    static func replaced(_ name: String) -> String {
        "\(name) was deleted or replaced while the server works with it: put it back, or stop the server and restore the "
            + "latest backup"
    }

    /// Notes an error of SQLite that shows damage.
    func note(_ error: any Error) {
        guard let error = error as? DatabaseError, [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode) else {
            return
        }
        note(damage: error.message ?? "error")
    }

    /// Notes damage.
    func note(damage found: String) { damage.withLock { $0 = $0 ?? found } }
}

/// The identity of the file at a path.
struct FileIdentity: Equatable {
    private let device, inode: UInt64

    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino))
    }
}
