import EventLoop

/// At most one run of a piece of work for a key at a time; whoever asks meanwhile waits for that run's outcome.
///
/// The work runs in a task of its own, so that it ends even when the request that began it goes away: a refresh token
/// that the provider has already replaced must still be stored.
actor SingleFlight<Key: Hashable & Sendable, Value: Sendable> {
    private var running: [Key: Task<Value, any Error>] = [:]

    /// Runs the work, or joins the run under way for the same key.
    func run(_ key: Key, _ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        if let task = running[key] { return try await task.value }
        let task = Task.detached(executorPreference: Worker.current) { [self] in
            do {
                let value = try await work()
                await finished(key)
                return value
            } catch {
                await finished(key)
                throw error
            }
        }
        running[key] = task
        return try await task.value
    }

    private func finished(_ key: Key) {
        running[key] = nil
    }
}
