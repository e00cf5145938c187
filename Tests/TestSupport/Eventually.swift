/// Waits until a condition holds.
/// - Returns: False when it does not hold within ten seconds, so that a test fails by its expectation and not by hanging.
public func eventually(_ condition: () async -> Bool) async -> Bool {
    let end = ContinuousClock.now + .seconds(10)
    while await !condition() {
        guard ContinuousClock.now < end, (try? await Task.sleep(for: .milliseconds(1))) != nil else { return false }
    }
    return true
}
