import Foundation

/// A file and who may do what with it.
public struct FileAccess: Sendable, Hashable {
    /// Where it is.
    public let path: String
    /// The permission bits, as 0o600.
    public let mode: UInt32

    /// nil when there is no such file, or its folder may not be looked into.
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

/// What tells a file from the one that had its name before, and from itself before it was changed.
package struct FileStamp: Sendable, Equatable {
    private let inode, size, seconds, nanoseconds: Int

    /// nil when there is no such file.
    package init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        inode = Int(truncatingIfNeeded: status.st_ino)
        size = status.st_size
        seconds = status.st_mtim.tv_sec
        nanoseconds = status.st_mtim.tv_nsec
    }
}
