import Foundation

/// The folder of the certificates, in the hands of one process.
struct LockedFolder: ~Copyable {
    private static let maxFileBytes = 64 << 10

    private let descriptor: Int32

    /// Creates the folder for its user alone, unless it exists, and waits until no other process works in it.
    init(_ path: String) throws(DevelopmentCAError) {
        descriptor = try Self.lock(path)
    }

    private static func lock(_ path: String) throws(DevelopmentCAError) -> Int32 {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw .files(path: path, reason: error.localizedDescription)
        }
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path) }
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno != EINTR else { continue }
            let error = failure(path)
            close(descriptor)
            throw error
        }
        return descriptor
    }

    deinit { close(descriptor) }

    /// Returns a file's text; nil if there is no such file.
    func read(_ path: String) throws(DevelopmentCAError) -> String? {
        do {
            let data = try Data(contentsOf: URL(fileURLWithPath: path))
            guard data.count <= Self.maxFileBytes else { throw CocoaError(.fileReadTooLarge) }
            return String(decoding: data, as: UTF8.self)
        } catch CocoaError.fileReadNoSuchFile {
            return nil
        } catch {
            throw .files(path: path, reason: error.localizedDescription)
        }
    }

    /// Writes a file, which other processes see whole or not at all.
    func write(_ text: String, to path: String, mode: mode_t) throws(DevelopmentCAError) {
        let beside = path + ".new"
        unlink(beside)
        let file = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
        guard file >= 0 else { throw Self.failure(beside) }
        defer { close(file) }
        var rest = Array(text.utf8)[...]
        guard fchmod(file, mode) == 0 else { throw Self.failure(beside) }
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Self.failure(beside) }
            rest = rest.dropFirst(count)
        }
        guard fsync(file) == 0, rename(beside, path) == 0 else { throw Self.failure(path) }
    }

    private static func failure(_ path: String) -> DevelopmentCAError {
        .files(path: path, reason: String(cString: strerror(errno)))
    }
}
