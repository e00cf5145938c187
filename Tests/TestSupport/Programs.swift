public import Foundation

/// A test has waited in vain for as long as it is patient.
public struct NotInTime: Error, CustomStringConvertible {
    /// That for which it has waited, and the last thing that it has seen.
    public let description: String

    init(_ event: String, seen: String) {
        description = "not within \(patience) s: \(event); the last was “\(seen.suffix(1000))”"
    }
}

/// Runs a program to its end, with nothing on its standard input. Returns its exit status and what it printed.
///
/// - Parameters:
///   - path: The program's file.
///   - folder: The folder in which it runs; nil for this process's.
///   - environment: Its environment; nil for this process's.
///   - withErrors: Whether its standard error is wanted, too.
public func runToEnd(
    _ path: String, _ arguments: [String], in folder: URL? = nil, environment: [String: String]? = nil,
    withErrors: Bool = false
) throws -> (status: Int32, output: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    if let folder { process.currentDirectoryURL = folder }
    if let environment { process.environment = environment }
    let output = Pipe()
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    if withErrors { process.standardError = output } else { process.standardError = FileHandle.nullDevice }
    try process.run()
    do {
        let text = try output.fileHandleForReading.text()
        try process.waitForEnd(printed: text)
        return (process.terminationStatus, text)
    } catch {
        kill(process.processIdentifier, SIGKILL)
        throw error
    }
}

extension Process {
    /// Waits until the program has ended.
    ///
    /// - Parameter printed: What it has printed, for those who read why it has not.
    /// - Throws: `NotInTime`.
    public func waitForEnd(printed: String = "") throws {
        let end = ContinuousClock.now + .seconds(patience)
        while isRunning {
            guard ContinuousClock.now < end else {
                let command = [executableURL?.path ?? ""] + (arguments ?? [])
                throw NotInTime("\(command.joined(separator: " ")) ends", seen: printed)
            }
            usleep(10_000)
        }
    }
}

extension FileHandle {
    /// Reads a pipe until a text has come, or to its end.
    ///
    /// - Throws: `NotInTime` when nothing comes for as long as a test is patient.
    public func text(until wanted: String? = nil) throws -> String {
        var all = Data()
        while true {
            if let wanted, all.range(of: Data(wanted.utf8)) != nil { break }
            guard hasMore else {
                let event = wanted.map { "“\($0)” is printed" } ?? "what is printed ends"
                throw NotInTime(event, seen: String(decoding: all, as: UTF8.self))
            }
            let more = availableData
            if more.isEmpty { break }
            all.append(more)
        }
        return String(decoding: all, as: UTF8.self)
    }

    /// Waits until there is something to read, if only the end.
    private var hasMore: Bool {
        var request = pollfd(fd: fileDescriptor, events: Int16(POLLIN), revents: 0)
        // In milliseconds.
        let longest = Int32(min(patience * 1000, 1e9))
        var count: Int32
        repeat { count = poll(&request, 1, longest) } while count < 0 && errno == EINTR
        return count > 0
    }
}
