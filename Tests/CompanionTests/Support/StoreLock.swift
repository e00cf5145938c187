import Foundation
import TestSupport

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
        try? process.waitForEnd()
    }

    private func run(_ statement: String) throws {
        input.write(Data("\(statement)\nSELECT 'done';\n".utf8))
        let answer = try output.text(until: "\n")
        guard answer == "done\n" else { throw TestFailure("sqlite3: \(statement) \(answer)") }
    }
}
