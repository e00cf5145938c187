public import Foundation

/// A folder for a test's files. It goes with its last reference, and at the latest with the process.
public final class TemporaryFolder: Sendable {
    /// The folder of this process, for all files of its tests. It is removed when the process ends: a task that has not
    /// ended by then holds what would remove its files.
    public static let ofProcess: URL = {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("tests-\(getpid())")
        try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        atexit { TemporaryFolder.remove(TemporaryFolder.ofProcess) }
        return url
    }()

    /// Removes a folder with all that is in it. `FileManager` gives up as soon as somebody else removes or creates a file
    /// in the folder at the same time: 23 of 300 times beside a thread that replaced a file.
    public static func remove(_ url: URL) {
        for _ in 0..<1000 where FileManager.default.fileExists(atPath: url.path) {
            try? FileManager.default.removeItem(at: url)
        }
    }

    /// The absolute path.
    public let path: String

    /// Names a new folder.
    ///
    /// - Parameter isMade: Whether it exists already.
    public init(isMade: Bool = false) throws {
        path = Self.ofProcess.appendingPathComponent(UUID().uuidString).path
        if isMade { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
    }

    deinit { Self.remove(URL(fileURLWithPath: path)) }

    /// Reads a file.
    public func text(_ name: String) throws -> String { try String(contentsOfFile: path + "/" + name, encoding: .utf8) }

    /// Reads a file's bytes.
    public func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: path + "/" + name)))
    }

    /// Writes a file.
    public func write(_ text: String, to name: String) throws {
        try text.write(toFile: path + "/" + name, atomically: true, encoding: .utf8)
    }

    /// Writes a file's bytes.
    public func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path + "/" + name))
    }
}
