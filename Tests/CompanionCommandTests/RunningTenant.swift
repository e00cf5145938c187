import Foundation
import TestSupport
import Testing
import WebFormats

/// `companion tenant`, or another command, as a process with a folder of its own.
final class RunningTenant {
    let folder: URL
    let process = Process()
    private let output = Pipe()
    private let errors = Pipe()

    /// - Parameters:
    ///   - shell: A script that starts `"$@"`; nil starts it directly.
    ///   - folder: The folder of an earlier one, whose certificates are used again.
    ///   - variables: Further variables of its environment.
    init(
        _ arguments: [String], command: String = "tenant", shell: String? = nil, folder: URL? = nil,
        variables: [String: String] = [:]
    ) throws {
        self.folder =
            folder ?? TemporaryFolder.ofProcess.appendingPathComponent("tenant-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
        let companion = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appendingPathComponent("companion")
        if let shell {
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = ["-c", shell, "sh", companion.path, command] + arguments
        } else {
            process.executableURL = companion
            process.arguments = [command] + arguments
        }
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../..")
        var environment = [
            "COMPANION_PUBLIC": root.standardized.appendingPathComponent("Public").path, "HOME": self.folder.path,
            "PATH": "/usr/bin:/bin",
        ]
        // With the address sanitizer, these say that it looks for no leaks.
        environment["ASAN_OPTIONS"] = ProcessInfo.processInfo.environment["ASAN_OPTIONS"]
        process.environment = environment.merging(variables) { $1 }
        process.currentDirectoryURL = self.folder
        process.standardOutput = output
        process.standardError = errors
        process.standardInput = FileHandle.nullDevice
        try process.run()
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        try? process.waitForEnd()
        TemporaryFolder.remove(folder)
    }

    /// Returns what is printed until a text occurs in it, or the end.
    func printed(until text: String) throws -> String { try output.fileHandleForReading.text(until: text) }

    /// The same of standard error.
    func errors(until text: String) throws -> String { try errors.fileHandleForReading.text(until: text) }

    /// Returns the line for programs.
    func announcement() throws -> JSONValue {
        let line = try printed(until: "\n")
        #expect(line.split(separator: "\n").count == 1)
        return try #require(JSONValue(parsing: line.utf8))
    }

    /// Waits for the end. Returns the status and what stands on standard error, but for the warning of a machine that
    /// allows few open files.
    func end() throws -> (status: Int32, errors: String) {
        let text = try errors.fileHandleForReading.text()
            .replacing(/.*the descriptor limit allows.*\n/, with: "")
        try process.waitForEnd(printed: text)
        return (process.terminationStatus, text)
    }
}

/// Runs `curl` and returns its exit status and what it printed.
func curl(_ arguments: String...) throws -> (status: Int32, output: String) {
    try runToEnd("/usr/bin/curl", ["--silent", "--show-error", "--noproxy", "*"] + arguments)
}
