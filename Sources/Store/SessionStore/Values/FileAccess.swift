import Foundation

/// The permissions of a file.
public struct FileAccess: Sendable, Hashable {
    /// The file's path.
    public let path: String
    /// The permission bits, such as 0o600.
    public let mode: UInt32

    /// Reads the permissions; nil if the file does not exist, or its folder is not accessible.
    public init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(path: path, mode: status.st_mode & 0o7777)
    }

    package init(path: String, mode: UInt32) {
        self.path = path
        self.mode = mode
    }
}

/// A value that distinguishes a file from an earlier file of the same name, and from itself before a change.
package struct FileStamp: Sendable, Equatable {
    private let inode, size, seconds, nanoseconds: Int

    /// Reads the stamp; nil if the file does not exist.
    package init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        inode = Int(truncatingIfNeeded: status.st_ino)
        size = status.st_size
        seconds = status.st_mtim.tv_sec
        nanoseconds = status.st_mtim.tv_nsec
    }
}
