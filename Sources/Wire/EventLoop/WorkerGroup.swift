public import Foundation
import Synchronization

/// The event loop, with one worker for each core. Keep it for as long as anything runs on it, and call `shutdown()` at
/// the end, after its users (servers, clients) were stopped.
public final class WorkerGroup: Sendable {
    /// The workers; their `index` is their index here.
    public let workers: [Worker]

    private let turn = Atomic<Int>(0)

    /// Writing to a connection whose peer has disconnected must be an error of that write, and must not end the
    /// process.
    private static let ignoreBrokenPipes: Void = { _ = signal(SIGPIPE, SIG_IGN) }()

    /// Starts `count` workers (at least one). The process ignores SIGPIPE from then on.
    public init(count: Int = ProcessInfo.processInfo.activeProcessorCount) throws(EventLoopError) {
        Self.ignoreBrokenPipes
        var workers: [Worker] = []
        for index in 0..<max(1, count) {
            workers.append(try Worker(index: index))
        }
        self.workers = workers
    }

    /// Returns the workers in turn.
    public func next() -> Worker {
        let place = turn.wrappingAdd(1, ordering: .relaxed).oldValue
        return workers[Int(UInt(bitPattern: place) % UInt(workers.count))]
    }

    /// Ends all workers and returns when the last has ended: afterwards nothing is watched and no timer fires.
    /// Submitted work, and tasks that still prefer a worker, run on its bare queue.
    public func shutdown() async {
        for worker in workers { worker.requestStop() }
        for worker in workers { await worker.stopped() }
    }
}
