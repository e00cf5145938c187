import EventLoop
import OpenIDConnect
import SessionStore
import Synchronization

/// One exchange with a token endpoint, unless that has asked for a pause.
struct TokenExchange: Sendable {
    let provider: ProviderClient
    let throttle: TokenThrottle
    /// How long the exchange and the checks of its answer may take together: they end well before a refresh's turn
    /// (``SessionStore/refreshTurnTime``) does.
    var limit: Duration = .seconds(12)

    /// Sends the request and reads the answer.
    ///
    /// - Parameters:
    ///   - client: who asks, and at which token endpoint.
    ///   - grant: what the request redeems.
    ///   - admit: has the last word before the request goes out.
    ///   - read: checks the answer, for which it may have to look at the provider's keys.
    /// - Throws: ``Problem`` `throttled` without asking; ``OpenIDError`` `provider_unavailable` when it takes too long; else
    ///   what `admit`, the provider or `read` throws.
    func run<Tokens: Sendable>(
        _ request: ProviderRequest, by client: TokenThrottle.Client, _ grant: TokenThrottle.Grant,
        admit: () throws(Problem) -> Void = {}, _ read: @escaping @Sendable (ProviderResponse) async throws -> Tokens
    ) async throws -> Tokens {
        let leave = try throttle.begin(grant, of: client)
        do {
            try admit()
            let end = ContinuousClock.now + limit
            let answer = try await provider.send(request, timeout: limit)
            let tokens = try await first(before: end) { try await read(answer) }
            throttle.end(leave, grant, of: client, error: nil)
            return tokens
        } catch {
            throttle.end(leave, grant, of: client, error: error)
            throw error
        }
    }

    /// What the work comes to, unless that takes too long. It goes on then, and nobody waits for it: what it waits for may be
    /// asked for by others too.
    private func first<Value: Sendable>(
        before end: ContinuousClock.Instant, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let outcome = Outcome<Value>()
        let timer = Task(executorPreference: Worker.current) {
            try await Task.sleep(until: end)
            outcome.set(.failure(ProviderClient.unreachable))
        }
        Task(executorPreference: Worker.current) {
            do {
                outcome.set(.success(try await work()))
            } catch {
                outcome.set(.failure(error))
            }
            timer.cancel()
        }
        return try await outcome.value
    }
}

/// The first of several outcomes, for one who waits.
private final class Outcome<Value: Sendable>: Sendable {
    private struct State {
        var result: Result<Value, any Error>?
        var waiter: CheckedContinuation<Value, any Error>?
    }

    private let state = Mutex(State())

    func set(_ result: Result<Value, any Error>) {
        let waiter = state.withLock { state -> CheckedContinuation<Value, any Error>? in
            guard state.result == nil else { return nil }
            state.result = result
            return state.waiter
        }
        waiter?.resume(with: result)
    }

    var value: Value {
        get async throws {
            try await withCheckedThrowingContinuation { continuation in
                let known = state.withLock { state in
                    state.waiter = continuation
                    return state.result
                }
                if let known { continuation.resume(with: known) }
            }
        }
    }
}
