import CompanionCore
import EventLoop

/// Runs at most one piece of work per key at a time. Concurrent callers with the same key share the outcome.
///
/// The work runs in a task of its own, so that it completes even if the request that started it is cancelled. For
/// example, a refresh token that the provider has replaced must still be stored.
actor SingleFlight<Key: Hashable & Sendable, Value: Sendable> {
    /// One run of the work.
    package struct Run {
        let task: Task<Value, any Error>
        package let began = ContinuousClock.now
    }

    private var running: [Key: Run] = [:]

    /// Runs the work, or joins the run under way for the same key.
    func run(_ key: Key, _ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        try await join(key, work).task.value
    }

    /// Returns the current run for the key, or starts one. Use this if the caller must not wait for its end.
    func join(_ key: Key, _ work: @escaping @Sendable () async throws -> Value) -> Run {
        if let run = running[key] { return run }
        // Log lines of the work belong to the request that started it.
        let context = RequestContext.current
        let task = Task.detached(executorPreference: Worker.current) { [self] in
            do {
                let value = try await RequestContext.$current.withValue(context) { try await work() }
                await finished(key)
                return value
            } catch {
                await finished(key)
                throw error
            }
        }
        let run = Run(task: task)
        running[key] = run
        return run
    }

    private func finished(_ key: Key) {
        running[key] = nil
    }
}

/// Runs pieces of work with the same key one after another, in the order of the calls.
actor OneAtATime<Key: Hashable & Sendable> {
    private var waiting: [Key: [CheckedContinuation<Void, Never>]] = [:]

    /// Runs the work after all earlier work for the same key has ended.
    func run<Value: Sendable>(_ key: Key, _ work: @Sendable () async throws -> Value) async throws -> Value {
        await enter(key)
        do {
            let value = try await work()
            leave(key)
            return value
        } catch {
            leave(key)
            throw error
        }
    }

    private func enter(_ key: Key) async {
        guard waiting[key] != nil else {
            waiting[key] = []
            return
        }
        await withCheckedContinuation { waiting[key]?.append($0) }
    }

    private func leave(_ key: Key) {
        if waiting[key]?.isEmpty ?? true {
            waiting[key] = nil
        } else {
            waiting[key]?.removeFirst().resume()
        }
    }
}
