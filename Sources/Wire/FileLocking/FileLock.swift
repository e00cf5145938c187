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

    private let descriptor: Mutex<Int32>

    /// - Parameter path: the file, which need not exist yet.
    package init(beside path: String) throws(Failure) {
        let file = path + ".lock"
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
        self.descriptor = Mutex(descriptor)
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
