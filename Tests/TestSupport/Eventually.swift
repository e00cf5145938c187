public import Dispatch
import Foundation
import Testing

/// The time after which a test gives up waiting for something that has to happen. It ends hangs, and judges no machine.
/// In seconds; `TEST_PATIENCE_FACTOR` multiplies it.
public let patience = 60 * (ProcessInfo.processInfo.environment["TEST_PATIENCE_FACTOR"].flatMap(Double.init) ?? 1)

/// Waits until a condition holds. It does not use a task's sleep, because its timers make Dispatch open descriptors
/// permanently, and tests count descriptors.
/// - Returns: False when it does not hold in time, so that a test fails by its expectation instead of hanging.
public func eventually(_ condition: () async -> Bool) async -> Bool {
    let end = ContinuousClock.now + .seconds(patience)
    var pause: UInt32 = 1000
    while await !condition() {
        guard ContinuousClock.now < end, !Task.isCancelled else { return false }
        usleep(pause)
        pause = min(pause * 2, 20_000)
        await Task.yield()
    }
    return true
}

extension DispatchSemaphore {
    /// Holds a thread until the test lets it go on. Where the test has ended without that, the thread goes on by itself,
    /// and that is a failure.
    public func holdThread(_ name: String) {
        if wait(timeout: .now() + patience) == .timedOut { Issue.record("nobody let go: \(name)") }
    }
}
