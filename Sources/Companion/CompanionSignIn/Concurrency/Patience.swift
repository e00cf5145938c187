import EventLoop
import Synchronization

/// Waits for work that continues even if the caller stops waiting.
enum Patience {
    /// A timer that fires later than this shows that the whole process was suspended. Responses that arrived meanwhile
    /// still have to be read, so the work gets this much extra time.
    private static let lateness: Duration = .seconds(1)

    /// Returns the outcome of the work; nil if it has not ended in time.
    static func outcome<Value: Sendable>(
        before end: ContinuousClock.Instant, of work: @escaping @Sendable () async throws -> Value
    ) async -> Result<Value, any Error>? {
        let outcome = Outcome<Value>()
        let timer = Task(executorPreference: Worker.current) {
            try await Task.sleep(until: end)
            if end.duration(to: .now) > lateness { try await Task.sleep(for: lateness) }
            outcome.set(nil)
        }
        Task(executorPreference: Worker.current) {
            do {
                outcome.set(.success(try await work()))
            } catch {
                outcome.set(.failure(error))
            }
            timer.cancel()
        }
        return await outcome.value
    }
}

/// The first outcome, for one waiting caller.
private final class Outcome<Value: Sendable>: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Result<Value, any Error>?, Never>)
        case known(Result<Value, any Error>?)
    }

    private let state = Mutex(State.open)

    /// Sets the outcome if there is none yet; nil means that the time is over.
    func set(_ result: Result<Value, any Error>?) {
        let waiter = state.withLock { state -> CheckedContinuation<Result<Value, any Error>?, Never>? in
            if case .known = state { return nil }
            defer { state = .known(result) }
            guard case .awaited(let waiter) = state else { return nil }
            return waiter
        }
        waiter?.resume(returning: result)
    }

    var value: Result<Value, any Error>? {
        get async {
            await withCheckedContinuation { continuation in
                let known = state.withLock { state -> Result<Value, any Error>?? in
                    if case .known(let result) = state { return .some(result) }
                    state = .awaited(continuation)
                    return .none
                }
                if let known { continuation.resume(returning: known) }
            }
        }
    }
}
