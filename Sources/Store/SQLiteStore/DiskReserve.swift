import Foundation
import Synchronization

/// Whether the disk has less than a reserve left.
final class DiskReserve: Sendable {
    private struct State {
        var lookedAt: Int64?
        var isLow = false
    }

    private let path: String
    private let state = Mutex(State())

    /// - Parameter path: a file on the disk.
    init(besides path: String) {
        self.path = path
    }

    /// Whether too little is free, as of at most a second ago. A disk that cannot be inspected counts as not low.
    ///
    /// - Parameter bytes: the bytes that must be free; on a small disk a tenth of the disk.
    func isLow(bytes: Int, now: Int64) -> Bool {
        guard bytes > 0 else { return false }
        return state.withLock { state in
            // A clock that was set back must not keep the answer.
            if let at = state.lookedAt, (0..<1000).contains(now &- at) { return state.isLow }
            state.lookedAt = now
            let (free, disk) = Self.space(besides: path)
            state.isLow = free.map { $0 < min(Int64(bytes), (disk ?? .max) / 10) } ?? false
            return state.isLow
        }
    }

    /// Returns the free bytes where the file is (or will be), and the size of that file system; nil if the folder does
    /// not exist.
    static func space(besides path: String) -> (free: Int64?, disk: Int64?) {
        var status = statvfs()
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        guard statvfs(folder, &status) == 0 else { return (nil, nil) }
        func bytes(_ blocks: UInt) -> Int64 {
            Int64(clamping: UInt64(blocks).multipliedReportingOverflow(by: UInt64(status.f_frsize)).partialValue)
        }
        return (bytes(status.f_bavail), bytes(status.f_blocks))
    }
}
