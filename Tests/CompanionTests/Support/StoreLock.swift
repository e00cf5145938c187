import Foundation

/// SQLite's write lock, in the hands of another program.
final class StoreLock {
    private let process: Process
    private let input: FileHandle
    private let output: FileHandle

    init(_ database: String) throws {
        (process, input, output) = try SQLiteShell.start(database)
    }

    func take() throws { try run("BEGIN IMMEDIATE;") }
    func release() throws { try run("ROLLBACK;") }

    /// Ends the other program, which gives the lock back.
    func close() {
        try? input.close()
        process.waitUntilExit()
    }

    private func run(_ statement: String) throws {
        input.write(Data("\(statement)\nSELECT 'done';\n".utf8))
        let answer = String(decoding: output.availableData, as: UTF8.self)
        guard answer == "done\n" else { throw TestFailure("sqlite3: \(statement) \(answer)") }
    }
}
