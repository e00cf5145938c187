import EventLoop
import Foundation
import Synchronization

/// The number of times that something was done, the time that it took, and its share of the processors.
struct Measured {
    let count: Int
    let seconds: Double
    let processorSeconds: Double

    /// Where a measurement begins.
    struct Moment {
        let time = ContinuousClock.now
        let processor = Measured.processorSeconds()
    }

    init(count: Int, since start: Moment) {
        self.count = count
        seconds = start.time.duration(to: .now) / .seconds(1)
        processorSeconds = Measured.processorSeconds() - start.processor
    }

    /// Calls `body` again and again with 0, 1, …, in so many tasks at a time on the event loop's workers, until it returns
    /// false to each of them.
    static func run(
        tasks: Int, _ body: @escaping @Sendable (Int) async throws -> Bool
    ) async throws -> Measured {
        let workers = try WorkerGroup()
        let numbers = Numbers()
        let start = Moment()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<tasks {
                group.addTask(executorPreference: workers.next()) {
                    while try await body(numbers.next()) { numbers.countOne() }
                }
            }
            try await group.waitForAll()
        }
        let measured = Measured(count: numbers.counted, since: start)
        await workers.shutdown()
        return measured
    }

    private final class Numbers: Sendable {
        private let given = Atomic<Int>(0)
        private let done = Atomic<Int>(0)
        var counted: Int { done.load(ordering: .relaxed) }
        func next() -> Int { given.wrappingAdd(1, ordering: .relaxed).oldValue }
        func countOne() { done.wrappingAdd(1, ordering: .relaxed) }
    }

    /// The time that all threads of this process have taken, in both modes.
    private static func processorSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    func report() {
        let (rate, cost) = (Double(count) / seconds, processorSeconds / Double(max(1, count)) * 1e6)
        print("{\"count\": \(count), \"seconds\": \(seconds), \"rate\": \(rate), \"cpu_us\": \(cost)}")
    }
}
