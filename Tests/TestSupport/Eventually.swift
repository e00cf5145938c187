import Foundation

/// Waits until a condition holds. It does not use a task's sleep, because its timers make Dispatch open descriptors
/// permanently, and tests count descriptors.
/// - Returns: False when it does not hold within ten seconds, so that a test fails by its expectation instead of
///   hanging.
public func eventually(_ condition: () async -> Bool) async -> Bool {
    let end = ContinuousClock.now + .seconds(10)
    while await !condition() {
        guard ContinuousClock.now < end, !Task.isCancelled else { return false }
        usleep(1000)
        await Task.yield()
    }
    return true
}
