import Foundation
import TestSupport
import Testing

/// Servers whose standard error is a pipe that nobody reads, as with a stuck log driver.
@Suite(.timeLimit(.minutes(5))) struct UnreadLogTests {
    private let ports: HeldPorts
    private var port: Int { ports.first }

    init() throws { ports = try HeldPorts(2) }

    /// A demo with a line for each request, of which nobody has read any.
    private func unread() throws -> RunningTenant {
        let demo = try RunningTenant(
            ["--port", String(port)], command: "demo", shell: "COMPANION_LOG_REQUESTS=true exec \"$@\"")
        _ = try demo.printed(until: "http://localhost:\(port)")
        return demo
    }

    private func ask(_ paths: String, times: Int = 1) throws -> (status: Int32, output: String) {
        // A route takes the query, which has the number.
        let url = "http://localhost:\(port)\(paths)" + (times > 1 ? "?[1-\(times)]" : "")
        return try curl("--max-time", "120", "--output", "/dev/null", "--write-out", "%{http_code}\n", url)
    }

    @Test func `every kind of answer comes, and the reader who comes back learns how many lines are missing`() throws {
        let demo = try unread()
        let times = 6000
        let many = try ask("/api/ios/me", times: times)
        #expect(many.status == 0)
        #expect(many.output == String(repeating: "401\n", count: times))
        for (path, status) in [("/api/ios/account", "200"), ("/ios", "200"), ("/readyz", "200"), ("/", "200")] {
            #expect(try ask(path).output == "\(status)\n", "\(path)")
        }
        let metrics = try curl("--max-time", "20", "http://localhost:\(port)/metrics").output
        let found = metrics.firstMatch(of: /\ncompanion_log_lines_dropped_total ([0-9]+)\n/)
        let dropped = try #require(found.flatMap { Int($0.output.1) })
        try #require(dropped > 0)

        let lines = try demo.errors(until: "log lines were dropped").split(separator: "\n")
        let gap = try #require(lines.firstIndex { $0.contains("were dropped") })
        let count = try #require(lines[gap].firstMatch(of: /([0-9]+) log lines/).flatMap { Int($0.output.1) })
        // The metrics' own line came after its number.
        #expect(count == dropped + 1)
        #expect(lines[..<gap].count { $0.contains("request ") } + count == times + 5)
        #expect(try ask("/ios").output == "200\n")
        demo.process.terminate()
        let end = try demo.end()
        #expect(end.status == 0)
        #expect(end.errors.contains("route=/{app}") && !end.errors.contains("were dropped"))
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP])
    func `a stop signal ends a server although nobody reads its log`(signal: Int32) throws {
        let demo = try unread()
        // More lines than a pipe holds.
        #expect(try ask("/api/ios/me", times: 500).status == 0)
        kill(demo.process.processIdentifier, signal)
        try demo.process.waitForEnd()
        #expect(demo.process.terminationReason == .exit)
        #expect(demo.process.terminationStatus == 0)
    }

    @Test func `a server that nohup has started outlives its terminal`() throws {
        let demo = try RunningTenant(
            ["--port", String(port)], command: "demo", shell: "trap '' HUP; exec \"$@\"")
        _ = try demo.printed(until: "http://localhost:\(port)")
        kill(demo.process.processIdentifier, SIGHUP)
        #expect(try ask("/ios").output == "200\n")
        demo.process.terminate()
        #expect(try demo.end().status == 0)
    }
}
