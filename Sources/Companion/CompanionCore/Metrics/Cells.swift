import EventLoop
import Synchronization

/// Counters that every thread can increment. Each worker has a row of them, and all other threads share one.
///
/// An increment is one relaxed atomic instruction on memory that no other worker writes, so it takes no lock. A
/// reader sums the rows.
///
/// Sharing is safe without the compiler's check, because the memory is allocated once and only its atomics change.
package final class Cells: @unchecked Sendable {
    /// The row of the caller's thread. Several increments can share one lookup.
    package struct Row {
        fileprivate let index: Int
    }

    /// Two rows never share a cache line (64 bytes), nor a pair of lines that the processor fetches together.
    private static let wordsApart = 16

    private let words: UnsafeMutablePointer<Atomic<UInt64>>
    private let count: Int
    private let stride: Int
    private let rows: Int

    /// - Parameters:
    ///   - count: the number of counters.
    ///   - workers: the number of workers of the event loop.
    init(count: Int, workers: Int) {
        self.count = count
        rows = workers + 1
        stride = (count / Cells.wordsApart + 2) * Cells.wordsApart
        words = .allocate(capacity: stride * rows)
        for index in 0..<stride * rows { (words + index).initialize(to: Atomic(0)) }
    }

    deinit {
        words.deinitialize(count: stride * rows)
        words.deallocate()
    }

    /// The row of the caller's thread.
    package var row: Row { Row(index: min(Worker.current?.index ?? rows - 1, rows - 1)) }

    /// Adds to one counter. An index out of range is ignored.
    package func add(_ amount: UInt64 = 1, at index: Int, row: Row) {
        guard index >= 0, index < count else { return }
        words[row.index * stride + index].wrappingAdd(amount, ordering: .relaxed)
    }

    /// Returns the sum of one counter over all rows.
    subscript(index: Int) -> UInt64 {
        guard index >= 0, index < count else { return 0 }
        var sum: UInt64 = 0
        for row in 0..<rows { sum &+= words[row * stride + index].load(ordering: .relaxed) }
        return sum
    }
}
