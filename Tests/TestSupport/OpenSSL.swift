import Foundation

/// Runs `openssl`, and returns its exit status and everything that it printed.
public func openssl(_ arguments: String...) throws -> (status: Int32, output: String) { try openssl(arguments) }

/// Runs `openssl` with a list of arguments.
public func openssl(_ arguments: [String]) throws -> (status: Int32, output: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["openssl"] + arguments
    let output = Pipe()
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, text)
}
