import EventLoop
import Synchronization

/// Numbers that only grow and that every thread adds to: a row of them for each worker, and one for all other threads.
///
/// An addition is one relaxed atomic instruction on memory that no other worker writes, and needs no lock; the
/// reader takes the sum over the rows.
///
/// Safe to share unchecked: the memory is made once and only its atomics change.
package final class Cells: @unchecked Sendable {
    /// Which row the caller's thread adds to; ask once for several additions.
    package struct Row {
        fileprivate let index: Int
    }

    /// Two rows never share a cache line (64 bytes), nor the one that the processor fetches with it.
    private static let wordsApart = 16

    private let words: UnsafeMutablePointer<Atomic<UInt64>>
    private let count: Int
    private let stride: Int
    private let rows: Int

    /// - Parameters:
    ///   - count: how many numbers.
    ///   - workers: how many workers the event loop has.
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

    /// Adds to one number; one that there is not is left alone.
    package func add(_ amount: UInt64 = 1, at index: Int, row: Row) {
        guard index >= 0, index < count else { return }
        words[row.index * stride + index].wrappingAdd(amount, ordering: .relaxed)
    }

    /// One number, over all rows.
    subscript(index: Int) -> UInt64 {
        guard index >= 0, index < count else { return 0 }
        var sum: UInt64 = 0
        for row in 0..<rows { sum &+= words[row * stride + index].load(ordering: .relaxed) }
        return sum
    }
}
