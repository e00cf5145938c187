import Dispatch
import Foundation
package import Logging
import Synchronization

/// The file of a tenant's state. It is written on a queue of its own, because a disk can take seconds. Of several states
/// that wait for the disk, only the latest is written.
///
/// A new file is synced before it takes the old one's name, and the folder after that, so that a power cut leaves the old
/// file or the new one.
package final class StateFile: Sendable {
    /// `fsync`, or a replacement in tests, because a sync cannot be observed from outside.
    package typealias Sync = @Sendable (Int32) -> Int32

    private struct Work {
        /// The state that waits for the disk.
        var next: TenantState.Record?
        /// The number of states that were to be written, and of those that were, or that a later one has replaced.
        var (saved, written) = (0, 0)
        var waiters: [(number: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let path: String
    private let sync: Sync
    private let logger: Logger
    private let queue = DispatchQueue(label: "demo tenant state")
    private let work = Mutex(Work())

    package init(path: String, sync: @escaping Sync, logger: Logger) {
        self.path = path
        self.sync = sync
        self.logger = logger
    }

    /// The number of states that were to be written.
    var saved: Int { work.withLock { $0.saved } }

    /// Writes a state soon. A disk failure is logged but not fatal: the demo continues, and the state lasts as long as the
    /// process.
    package func save(_ record: TenantState.Record) {
        let isFirst = work.withLock { work in
            defer {
                work.next = record
                work.saved += 1
            }
            return work.next == nil
        }
        if isFirst { queue.async { self.writeNext() } }
    }

    /// Waits until every state up to now is on the disk, or could not be written.
    package func isWritten() async {
        await withCheckedContinuation { continuation in
            let isReady = work.withLock { work in
                guard work.written < work.saved else { return true }
                work.waiters.append((work.saved, continuation))
                return false
            }
            if isReady { continuation.resume() }
        }
    }

    /// The same, for threads that may wait.
    func waitUntilWritten() { queue.sync {} }

    private func writeNext() {
        let next = work.withLock { work in work.next.take().map { (record: $0, number: work.saved) } }
        guard let next else { return }
        do {
            try write(next.record)
        } catch {
            logger.error("The demo tenant's state was not saved; it lasts until the process ends.", error: error)
        }
        let ready = work.withLock { work in
            work.written = next.number
            let ready = work.waiters.filter { $0.number <= next.number }
            work.waiters.removeAll { $0.number <= next.number }
            return ready
        }
        for waiter in ready { waiter.continuation.resume() }
    }

    /// Returns the state of the file; nil if there is none.
    package static func load(_ path: String) throws(DemoTenantError) -> TenantState.Record? {
        let data: Data
        do {
            data = try Data(contentsOf: URL(fileURLWithPath: path))
        } catch CocoaError.fileReadNoSuchFile {
            return nil
        } catch {
            throw .stateFile(path: path, reason: "it cannot be read; \(DemoTenantError.otherStateFile)")
        }
        do {
            return try JSONDecoder().decode(TenantState.Record.self, from: data)
        } catch {
            throw .stateFile(path: path, reason: "it is not a state file; remove it to start again")
        }
    }

    /// Writes a state at once, on this thread.
    package func write(_ record: TenantState.Record) throws {
        let beside = "\(path).new"
        let data = try JSONEncoder().encode(record)
        let descriptor = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw FileError("open") }
        do {
            defer { close(descriptor) }
            guard fchmod(descriptor, 0o600) == 0 else { throw FileError("chmod") }
            try data.withUnsafeBytes { bytes in
                var rest = bytes[...]
                while !rest.isEmpty {
                    let count = Foundation.write(
                        descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                    guard count > 0 else { throw FileError("write") }
                    rest = rest.dropFirst(count)
                }
            }
            guard sync(descriptor) == 0 else { throw FileError("sync") }
            guard rename(beside, path) == 0 else { throw FileError("rename") }
        } catch {
            unlink(beside)
            throw error
        }
        let folder = open(URL(fileURLWithPath: path).deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { throw FileError("open the folder") }
        defer { close(folder) }
        guard sync(folder) == 0 else { throw FileError("sync the folder") }
    }

    private struct FileError: Error, CustomStringConvertible {
        let description: String

        /// The error of the call that has just failed.
        init(_ call: String) { description = "\(call): \(String(cString: strerror(errno)))" }
    }
}
