import CompanionCore
import EventLoop
import Synchronization

/// Measures twice a second how late each worker fires a timer. Every request on that worker waits as long.
final class EventLoopLag: Sendable {
    private static let interval = Duration.milliseconds(500)

    private let metrics: Metrics
    private let isStopped = Atomic(false)

    init(metrics: Metrics) {
        self.metrics = metrics
    }

    /// Starts the measurement on every worker.
    func start(on workers: WorkerGroup) {
        for worker in workers.workers { worker.submit { self.look(worker) } }
    }

    /// Stops the measurement. Each timer ends within its interval, or with its worker.
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
