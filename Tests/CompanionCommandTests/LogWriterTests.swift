import Foundation
import TestSupport
import Testing

@testable import CompanionCommand

/// A log and the reader who may leave it lying.
@Suite(.timeLimit(.minutes(5))) struct LogWriterTests {
    /// A pipe, and a writer that leaves a hundred bytes waiting.
    private final class Place {
        let pipe = Pipe()
        let writer: LogWriter

        init(room: Int = 100) {
            writer = LogWriter(pipe.fileHandleForWriting.fileDescriptor, room: room)
            writer.announceDropped { "\($0) dropped\n" }
        }

        /// Fills the pipe, so that the writer's next line waits for the reader.
        func fill() {
            let descriptor = pipe.fileHandleForWriting.fileDescriptor
            let flags = fcntl(descriptor, F_GETFL)
            _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK)
            defer { _ = fcntl(descriptor, F_SETFL, flags) }
            while write(descriptor, "x", 1) == 1 {}
        }

        /// Reads until a text comes; without what filled the pipe.
        func read(until end: String) throws -> String {
            String(try pipe.fileHandleForReading.text(until: end).drop { $0 == "x" })
        }
    }

    @Test func `what is written comes in order, and is there after a drain`() throws {
        let place = Place(room: 1 << 20)
        let lines = (0..<1000).map { "line \($0)\n" }
        lines.forEach(place.writer.write)
        place.writer.drain(within: .seconds(20))
        #expect(try place.read(until: "line 999\n") == lines.joined())
        #expect(place.writer.dropped == 0)
    }

    @Test func `lines of many threads come whole, and those of each in order`() throws {
        let place = Place(room: 1 << 20)
        let writer = place.writer
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for number in 0..<500 { writer.write("\(thread) \(number)\n") }
        }
        place.writer.drain(within: .seconds(20))
        place.writer.write("end\n")
        let lines = try place.read(until: "end\n").split(separator: "\n").dropLast()
        for thread in 0..<4 {
            let own = lines.filter { $0.hasPrefix("\(thread) ") }
            #expect(own == (0..<500).map { "\(thread) \($0)" })
        }
    }

    @Test func `nobody waits for a reader who does not read, and the reader learns how many lines are missing`()
        async throws
    {
        let place = Place()
        place.fill()
        // The thread takes this one, and waits for the reader with it.
        place.writer.write("first\n")
        let writer = place.writer
        try #require(await eventually { !writer.isWaiting })
        for number in 0..<20 { place.writer.write("line \(number).\n") }
        #expect(place.writer.dropped == 8, "twelve have room")
        place.writer.write("a\n")
        #expect(place.writer.dropped == 9, "after a gap begins there is nothing, even if it had room")
        place.writer.drain(within: .milliseconds(10))
        #expect(place.writer.isWaiting, "the drain has an end of its own")
        let kept = (0..<12).map { "line \($0).\n" }.joined()
        #expect(try place.read(until: "dropped\n") == "first\n" + kept + "9 dropped\n")
        place.writer.write("next\n")
        #expect(try place.read(until: "next\n") == "next\n")
        #expect(place.writer.dropped == 9)
    }

    @Test func `a line that is longer than all the room is counted, and the next one is written`() throws {
        let place = Place()
        place.writer.write(String(repeating: "a", count: 200) + "\n")
        place.writer.drain(within: .seconds(20))
        place.writer.write("b\n")
        #expect(try place.read(until: "b\n") == "1 dropped\nb\n")
    }

    @Test func `a pipe that does not block is written when it has room`() throws {
        let place = Place()
        let descriptor = place.pipe.fileHandleForWriting.fileDescriptor
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        while write(descriptor, "x", 1) == 1 {}
        place.writer.write("a\n")
        #expect(try place.read(until: "a\n") == "a\n")
    }

    @Test func `a reader who has gone costs the lines, and nothing else`() throws {
        signal(SIGPIPE, SIG_IGN)
        let place = Place()
        try place.pipe.fileHandleForReading.close()
        for _ in 0..<3 { place.writer.write("a\n") }
        place.writer.drain(within: .seconds(20))
        #expect(place.writer.dropped == 3)
    }
}
