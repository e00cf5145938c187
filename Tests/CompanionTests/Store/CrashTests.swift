import EventLoop
import Foundation
import HTTPClient
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn

/// `kill -9` at the companion's own process: what was answered is kept.
@Suite struct CrashTests {
    /// The visitors whose callback was answered.
    private final class Acknowledged: Sendable {
        private let visitors = Mutex<[Visitor]>([])
        var all: [Visitor] { visitors.withLock { $0 } }

        /// Answers how many there are now.
        func add(_ visitor: Visitor) -> Int {
            visitors.withLock { visitors in
                visitors.append(visitor)
                return visitors.count
            }
        }
    }

    private static let visitorCount = 200

    @Test(.needsTime("it kills a server four times in the middle of hundreds of sign-ins"))
    func `each browser that got the 303 is signed in after kill -9 in the middle of 200 sign-ins, again and again`()
        async throws
    {
        let folder = TemporaryFolder.ofProcess.appendingPathComponent("crash-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { TemporaryFolder.remove(folder) }
        let workers = try WorkerGroup(count: 1)
        let client = HTTPClient(workers: workers)
        let ports = try HeldPorts(2)
        let port = ports.first
        let origin = "http://localhost:\(port)"
        let acknowledged = Acknowledged()

        var companion = try await Self.start(port: port, folder: folder, client: client)
        // The kill comes after so many sign-ins were answered, each time in the middle of the others.
        for round in [1, 40, 120, 180] {
            let before = acknowledged.all.count
            let process = companion
            let identifier = process.processIdentifier
            let isKilled = Shared(false)
            let end = ContinuousClock.now + .seconds(patience)
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<Self.visitorCount {
                    group.addTask {
                        // On a slow machine some are not answered in time, and come again. Most of the requests after
                        // the kill fail, which is the point.
                        while !isKilled.value, ContinuousClock.now < end {
                            let visitor = Visitor(origin: origin, client: client)
                            guard let answer = try? await visitor.signIn(), answer.status == 303,
                                answer.location == "/ios"
                            else { continue }
                            if acknowledged.add(visitor) - before == round {
                                kill(identifier, SIGKILL)
                                isKilled.change { $0 = true }
                            }
                            return
                        }
                    }
                }
            }
            // If too few sign-ins got so far, the test should fail and not wait.
            if !isKilled.value, process.isRunning { kill(identifier, SIGKILL) }
            try process.waitForEnd()
            #expect(process.terminationReason == .uncaughtSignal)
            companion = try await Self.start(port: port, folder: folder, client: client)
            let visitors = acknowledged.all
            #expect(visitors.count - before >= round)
            for visitor in visitors {
                let account = try await visitor.api(.get, "/api/ios/account").json["account"] as? [String: Any]
                #expect(account?["username"] as? String == "adele@contoso.example")
            }
            let last = try #require(visitors.last)
            let me = try await last.api(.get, "/api/ios/me")
            #expect(me.status == 200)
            let database = folder.appendingPathComponent("companion.sqlite").path
            #expect(try SQLiteShell.run(database, "PRAGMA integrity_check;") == "ok\n")
        }
        companion.terminate()
        try companion.waitForEnd()
        #expect(companion.terminationStatus == 0, "SIGTERM is a graceful stop")
        await client.shutdown()
        await workers.shutdown()
    }

    /// Starts `companion demo` and waits until it answers.
    private static func start(port: Int, folder: URL, client: HTTPClient) async throws -> Process {
        let tests = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        let process = Process()
        process.executableURL = tests.appendingPathComponent("companion")
        process.arguments = [
            "demo", "--port", "\(port)", "--database", folder.appendingPathComponent("companion.sqlite").path,
            "--public", Site.publicFolder, "--log-level", "critical",
        ]
        process.environment = ProcessInfo.processInfo.environment.merging([
            // Hundreds of people sign in at once, all from here.
            "COMPANION_LIMITS_EXEMPT": "127.0.0.0/8,::1"
        ]) { $1 }
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        let request = HTTPRequest(method: .get, scheme: "http", authority: "localhost:\(port)", path: "/readyz")
        let deadline = ContinuousClock.now + .seconds(patience)
        while ContinuousClock.now < deadline, process.isRunning {
            if let answer = try? await client.send(request), answer.head.status == .ok { return process }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw TestFailure("companion demo does not answer")
    }
}

/// Debian's `sqlite3`, a second program at the same file.
enum SQLiteShell {
    static func run(_ database: String, _ statements: String) throws -> String {
        let (process, input, output) = try start(database)
        input.write(Data(statements.utf8))
        try input.close()
        let answer = try output.text()
        try process.waitForEnd(printed: answer)
        return answer
    }

    static func start(_ database: String) throws -> (Process, FileHandle, FileHandle) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/sqlite3")
        // Whoever writes beside it, such as a server each second, is waited for.
        process.arguments = ["-cmd", ".timeout 5000", database]
        let input = Pipe()
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        return (process, input.fileHandleForWriting, output.fileHandleForReading)
    }
}
