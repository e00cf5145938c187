import CompanionCore
import EventLoop
import Synchronization

/// Looks twice a second how late each worker fires a timer: what every request on that worker waits, too.
final class EventLoopLag: Sendable {
    private static let interval = Duration.milliseconds(500)

    private let metrics: Metrics
    private let isStopped = Atomic(false)

    init(metrics: Metrics) {
        self.metrics = metrics
    }

    /// Begins on every worker.
    func start(on workers: WorkerGroup) {
        for worker in workers.workers { worker.submit { self.look(worker) } }
    }

    /// The timers end by themselves within their interval, or with their worker.
    func stop() { isStopped.store(true, ordering: .relaxed) }

    private func look(_ worker: Worker) {
        guard !isStopped.load(ordering: .relaxed) else { return }
        let due = MonotonicTime.read() + EventLoopLag.interval
        _ = worker.addTimer(after: due - worker.now) {
            self.metrics.eventLoop(lag: MonotonicTime.read() - due)
            self.look(worker)
        }
    }
}
