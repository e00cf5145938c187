public import Foundation
import Synchronization

/// The event loop: one worker for each core. Keep it as long as anything runs on it, and `shutdown()` it at the end,
/// after what uses it (servers, clients) has been stopped.
public final class WorkerGroup: Sendable {
    /// The workers; their `index` is their place here.
    public let workers: [Worker]

    private let turn = Atomic<Int>(0)

    /// A write to a connection whose peer has gone must be an error of that write, not the end of the process.
    private static let ignoreBrokenPipes: Void = { _ = signal(SIGPIPE, SIG_IGN) }()

    /// Starts `count` workers (at least one). From then on the process ignores SIGPIPE.
    public init(count: Int = ProcessInfo.processInfo.activeProcessorCount) throws(EventLoopError) {
        Self.ignoreBrokenPipes
        var workers: [Worker] = []
        for index in 0..<max(1, count) {
            workers.append(try Worker(index: index))
        }
        self.workers = workers
    }

    /// The workers in turn.
    public func next() -> Worker {
        let place = turn.wrappingAdd(1, ordering: .relaxed).oldValue
        return workers[Int(UInt(bitPattern: place) % UInt(workers.count))]
    }

    /// Ends all workers and returns when the last has ended: nothing is watched and no timer fires from then on.
    /// Work that was submitted, and tasks which still prefer a worker, run on its bare queue.
    public func shutdown() async {
        for worker in workers { worker.requestStop() }
        for worker in workers { await worker.stopped() }
    }
}
