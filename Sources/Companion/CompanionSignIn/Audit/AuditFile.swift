import Foundation
import Synchronization

/// The audit log's own file: one JSON object per line, each in a single write, mode 0600. If the file is moved away or
/// deleted, for example by logrotate, the next line goes to a new file.
final class AuditFile: Sendable {
    /// The reason why the file cannot be written, for the operator.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private struct State {
        var descriptor: Int32 = -1
        /// Whether the last write ended within its line.
        var isMidLine = false
    }

    private let path: String
    private let mayMake: Bool
    private let write: @Sendable (Int32, [UInt8]) -> Int
    private let state = Mutex(State())

    /// Opens the file.
    ///
    /// - Parameters:
    ///   - mayMake: whether to create a missing file. The command line does not, because as root it would create a file
    ///     that the server cannot write.
    ///   - write: `write(2)`; in tests it can stop short, as on a full disk.
    /// - Throws: if the file cannot be written, or is not a regular file.
    init(
        _ path: String, mayMake: Bool,
        write: @escaping @Sendable (Int32, [UInt8]) -> Int = { Foundation.write($0, $1, $1.count) }
    ) throws(Failure) {
        self.path = path
        self.mayMake = mayMake
        self.write = write
        let descriptor = try open()
        state.withLock { $0.descriptor = descriptor }
    }

    deinit {
        state.withLock { state in if state.descriptor >= 0 { close(state.descriptor) } }
    }

    /// Appends a line, which must not contain a line feed.
    func append(_ line: [UInt8]) throws(Failure) {
        try state.withLock { (state) throws(Failure) in
            if !isCurrent(state.descriptor) {
                let next = try open()
                close(state.descriptor)
                state = State(descriptor: next)
            }
            let bytes = (state.isMidLine ? [0x0A] : []) + line + [0x0A]
            let written = write(state.descriptor, bytes)
            guard written == bytes.count else {
                let reason = written < 0 ? message() : "only \(written) of \(bytes.count) bytes were written"
                if written > 0 { state.isMidLine = true }
                throw failure(reason)
            }
            state.isMidLine = false
        }
    }

    private func isCurrent(_ descriptor: Int32) -> Bool {
        var opened = stat()
        var named = stat()
        return fstat(descriptor, &opened) == 0 && stat(path, &named) == 0
            && opened.st_ino == named.st_ino && opened.st_dev == named.st_dev
    }

    /// Opens the file without blocking, even if it is a pipe.
    private func open() throws(Failure) -> Int32 {
        let flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (mayMake ? O_CREAT : 0)
        let descriptor = Foundation.open(path, flags, 0o600)
        guard descriptor >= 0 else { throw failure(message()) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw failure("it is not an ordinary file")
        }
        return descriptor
    }

    private func failure(_ reason: String) -> Failure {
        Failure(description: "The audit log \(path) cannot be written: \(reason).")
    }

    private func message() -> String { String(cString: strerror(errno)) }
}
