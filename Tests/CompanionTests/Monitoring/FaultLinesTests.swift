import Foundation
import Logging
import Synchronization
import Testing

@testable import Companion
@testable import CompanionCore

/// Many faults with one cause, and the lines that they have together.
@Suite struct FaultLinesTests {
    /// Seconds that are over when a test says so, and the lines.
    private final class Story: Sendable {
        private let timers = Mutex<[@Sendable () -> Void]>([])
        private let written = Mutex<[String]>([])
        var lines: [String] { written.withLock { $0 } }
        var isIdle: Bool { timers.withLock(\.isEmpty) }

        func faults() -> FaultLines<String, Int> {
            FaultLines(afterASecond: { [self] then in timers.withLock { $0.append(then) } }) { [self] fault, others in
                written.withLock { $0.append("\(fault)+\(others)") }
            }
        }

        func secondIsOver() {
            let due = timers.withLock { timers in
                defer { timers = [] }
                return timers
            }
            due.forEach { $0() }
        }
    }

    @Test func `the first fault of a cause is written at once, then the newest of each second with a count`() {
        let story = Story()
        let faults = story.faults()
        for number in 1...5 { faults.note(number, of: "a") }
        #expect(story.lines == ["1+0"])
        story.secondIsOver()
        #expect(story.lines == ["1+0", "5+3"], "five are five")
        for number in 6...1005 { faults.note(number, of: "a") }
        story.secondIsOver()
        #expect(story.lines.last == "1005+999")
        faults.note(1006, of: "a")
        story.secondIsOver()
        #expect(story.lines.last == "1006+0")
        story.secondIsOver()
        #expect(story.lines.count == 4)
        #expect(story.isIdle, "without faults nothing waits")
        faults.note(1007, of: "a")
        #expect(story.lines.last == "1007+0", "a new beginning")
    }

    @Test func `another cause has its own line`() {
        let story = Story()
        let faults = story.faults()
        for number in 1...3 { for cause in ["a", "b"] { faults.note(number, of: cause) } }
        #expect(story.lines == ["1+0", "1+0"])
        story.secondIsOver()
        #expect(story.lines.suffix(2) == ["3+1", "3+1"])
    }

    @Test func `more causes than there is room for are written one by one`() {
        let story = Story()
        let faults = story.faults()
        let most = FaultLines<String, Int>.maxCauses
        for round in 1...2 { for cause in 0...most { faults.note(round, of: "\(cause)") } }
        #expect(story.lines.count == most + 2)
        #expect(story.lines.suffix(2) == ["1+0", "2+0"])
    }

    @Test func `at the end nothing stays uncounted`() {
        let story = Story()
        let faults = story.faults()
        for number in 1...4 { faults.note(number, of: "a") }
        faults.end()
        #expect(story.lines == ["1+0", "4+2"])
        story.secondIsOver()
        #expect(story.lines.count == 2)
    }

    @Test(arguments: [(Logger.Level.info, false, 2), (.info, true, 40), (.debug, false, 40), (.warning, true, 2)])
    func `where other requests have no lines, forty that fail alike have two, with the whole count`(
        level: Logger.Level, isWanted: Bool, expected: Int
    ) async throws {
        try await Site.run { site in
            site.log.level.withLock { $0 = level }
            try await site.restart { $0.logRequests = isWanted }
            await site.stopTenant()
            let visitor = Visitor(site)
            for _ in 0..<40 { _ = try await visitor.get("/auth/ios/sign-in") }
            // A line that waits for its second comes at the stop.
            try await site.restart()
            let lines = site.log.all.filter { $0.hasPrefix("warning request ") }
            if expected == 40 {
                #expect(lines.count == 40)
                #expect(!lines.contains { $0.contains("others") })
            } else {
                #expect((2...20).contains(lines.count), "one a second, and the first")
                let others = lines.compactMap { $0.firstMatch(of: /"others": ([0-9]+)/)?.output.1 }
                #expect(others.compactMap { Int($0) }.reduce(lines.count, +) == 40)
            }
            for line in lines { #expect(line.contains("provider_unavailable") && line.contains("request_id")) }
        }
    }
}
