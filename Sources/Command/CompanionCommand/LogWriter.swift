import Foundation
import Synchronization

/// Writes lines to a descriptor, in their order, on a thread of its own, so that nobody who writes waits for the reader.
/// Lines for which a slow reader leaves no room are dropped and counted, and a line in their place says how many they were.
///
/// A line waits for microseconds while the reader reads. A process that is killed in between loses it. A writer lives as
/// long as the process.
final class LogWriter: Sendable {
    private struct Waiting {
        var lines: [[UInt8]] = []
        var bytes = 0
        /// The lines that found no room. Nothing follows them before the thread has taken what waits, so that there is one
        /// gap, at a known place.
        var dropped = 0
        /// Signalled when all of this has been written.
        var marks: [DispatchSemaphore] = []
        var notice: @Sendable (Int) -> String = { "\($0) lines were dropped, because nobody read them in time\n" }

        var isEmpty: Bool { lines.isEmpty && dropped == 0 && marks.isEmpty }
    }

    private let descriptor: Int32
    private let room: Int
    private let waiting = Mutex(Waiting())
    private let total = Atomic<Int>(0)
    private let wakeUp = DispatchSemaphore(value: 0)

    /// The number of lines that were dropped, or could not be written, since the start.
    var dropped: Int { total.load(ordering: .relaxed) }

    /// Whether there is something that the thread has not taken yet.
    var isWaiting: Bool { waiting.withLock { !$0.isEmpty } }

    /// - Parameters:
    ///   - descriptor: a file, pipe, socket or terminal, which the caller keeps open.
    ///   - room: the bytes that may wait. As many again may be on their way.
    init(_ descriptor: Int32, room: Int = 1 << 20) {
        self.descriptor = descriptor
        self.room = room
        Thread.detachNewThread { [self] in run() }
    }

    /// Makes the line that says how many were dropped, with its line feed.
    func announceDropped(_ notice: @escaping @Sendable (Int) -> String) { waiting.withLock { $0.notice = notice } }

    /// Appends a line, with its line feed, and returns at once.
    func write(_ line: String) {
        let bytes = Array(line.utf8)
        add { waiting in
            guard waiting.dropped == 0, waiting.bytes + bytes.count <= room else {
                waiting.dropped += 1
                total.add(1, ordering: .relaxed)
                return
            }
            waiting.lines.append(bytes)
            waiting.bytes += bytes.count
        }
    }

    /// Waits until everything is written that was appended before, at most for so long.
    func drain(within limit: Duration = .seconds(1)) {
        let mark = DispatchSemaphore(value: 0)
        add { $0.marks.append(mark) }
        _ = mark.wait(timeout: .now() + limit / .seconds(1))
    }

    private func add(_ change: (inout Waiting) -> Void) {
        let wasEmpty = waiting.withLock { waiting in
            defer { change(&waiting) }
            return waiting.isEmpty
        }
        if wasEmpty { wakeUp.signal() }
    }

    // MARK: The thread

    private func run() {
        var unsaid = 0
        while true {
            wakeUp.wait()
            let taken = waiting.withLock { waiting in
                defer { waiting = Waiting(notice: waiting.notice) }
                return waiting
            }
            for line in taken.lines where !put(line) {
                unsaid += 1
                total.add(1, ordering: .relaxed)
            }
            unsaid += taken.dropped
            if unsaid > 0, put(Array(taken.notice(unsaid).utf8)) { unsaid = 0 }
            for mark in taken.marks { mark.signal() }
        }
    }

    /// Writes one line with one call where the kernel takes it whole, so that it does not mix with other processes' lines.
    /// - Returns: false if it cannot be written, as when the reader is gone or the disk is full.
    private func put(_ line: [UInt8]) -> Bool {
        var rest = line[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                // Another process has made the file that both share one that does not block.
                var place = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&place, 1, -1)
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }
}
