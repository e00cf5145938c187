import Foundation
import Synchronization

/// The right to be the only server of a file: a lock (flock) on a file beside it, whose name ends with `.lock`. It ends
/// with the process, however that ends, so a server that was killed leaves no lock.
package final class FileLock: Sendable {
    /// The reason why there is no lock.
    package enum Failure: Error {
        /// Another server has it.
        case taken
        /// There can be none, because of this.
        case impossible(String)
    }

    /// The file that is locked.
    package let file: String
    private let path: String
    private let descriptor: Mutex<Int32>

    /// - Parameter path: the file, which need not exist yet.
    package init(beside path: String) throws(Failure) {
        self.path = path
        file = path + ".lock"
        descriptor = try Mutex(Self.lock(file, beside: path))
    }

    private static func lock(_ file: String, beside path: String) throws(Failure) -> Int32 {
        let descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw .impossible("the lock file \(file) cannot be opened: \(String(cString: strerror(errno)))")
        }
        // If root starts a server, the file's owner must still be able to.
        var status = stat()
        if stat(path, &status) == 0 { _ = fchown(descriptor, status.st_uid, status.st_gid) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            close(descriptor)
            guard code != EWOULDBLOCK else { throw .taken }
            throw .impossible(
                "the lock file \(file) cannot be locked: \(String(cString: strerror(code))). "
                    + "Put it on a disk of this machine")
        }
        return descriptor
    }

    /// Locks the file that has the name now, if the locked one was deleted or replaced: without its name, it keeps nobody
    /// away.
    package func renew() throws(Failure) {
        try descriptor.withLock { descriptor throws(Failure) in
            var held = stat()
            var named = stat()
            guard descriptor >= 0, fstat(descriptor, &held) == 0 else { return }
            if stat(file, &named) == 0, named.st_dev == held.st_dev, named.st_ino == held.st_ino { return }
            let new = try Self.lock(file, beside: path)
            close(descriptor)
            descriptor = new
        }
    }

    deinit { release() }

    /// Lets another server have the file.
    package func release() {
        descriptor.withLock { descriptor in
            if descriptor >= 0 { close(descriptor) }
            descriptor = -1
        }
    }
}
