import CompanionCore
import EventLoop
import OpenIDConnect
import Synchronization

/// One exchange with a token endpoint, refused while the endpoint has asked for a pause.
struct TokenExchange: Sendable {
    let provider: ProviderClient
    let throttle: TokenThrottle
    let times: RefreshTimes
    /// A time limit for the HTTP client that never ends first. The client's own timer would fire before a waiting
    /// response is read, for example after the machine was suspended.
    private static let clientLimit: Duration = .seconds(24 * 3600)

    /// Sends the request and parses the response.
    ///
    /// - Parameters:
    ///   - client: the client, with its token endpoint.
    ///   - grant: the grant that is redeemed. A code's exchange ends when a person's patience does; a refresh may take
    ///     longer.
    ///   - isRepeatable: whether the grant is good for several uses, as Microsoft's refresh tokens are. Then it is sent once
    ///     more if the endpoint stays silent, and has answered others.
    ///   - admit: the last check before the request is sent.
    ///   - read: reads the response.
    /// - Returns: the response, whose ID token is not checked yet.
    /// - Throws: the ``Problem`` of a pause without sending the request; ``OpenIDError`` `provider_unavailable` after the
    ///   time limit; errors of `admit`, the provider and `read`.
    func run<Tokens: Sendable>(
        _ request: ProviderRequest, by client: TokenThrottle.Client, _ grant: TokenThrottle.Grant,
        isRepeatable: Bool = false, admit: () throws(Problem) -> Void = {},
        _ read: (ProviderResponse) throws(OpenIDError) -> TokenAnswer<Tokens>
    ) async throws -> TokenAnswer<Tokens> {
        let leave = try throttle.begin(grant, of: client)
        do {
            try admit()
            let end = ContinuousClock.now + (grant.isRefresh ? times.exchange : times.code)
            let answer = try read(try await answer(to: request, before: end, isRepeatable: isRepeatable))
            throttle.end(leave, grant, of: client, error: nil)
            return answer
        } catch {
            throttle.end(leave, grant, of: client, error: error)
            throw error
        }
    }

    /// Checks the ID token of a response. While the provider's keys are not to be had, the check is repeated, and not
    /// the request: the grant is spent. The directory decides how often it asks for the keys.
    ///
    /// - Throws: ``OpenIDError`` of the last check; `provider_unavailable` if none ends in time.
    func check<Tokens: Sendable>(_ answer: TokenAnswer<Tokens>) async throws -> Tokens {
        let end = ContinuousClock.now + times.checks
        var last = ProviderClient.unreachable
        while true {
            let outcome = await Patience.outcome(before: end) { try await answer.tokens() }
            guard let outcome else { throw last }
            guard case .failure(let error as OpenIDError) = outcome, error.isProvisional, !error.isOfClock,
                ContinuousClock.now + times.recheck < end, (try? await Task.sleep(for: times.recheck)) != nil
            else { return try outcome.get() }
            last = error
        }
    }

    /// Returns the first response. A request that was swallowed would otherwise cost its caller the whole time limit.
    private func answer(to request: ProviderRequest, before end: ContinuousClock.Instant, isRepeatable: Bool)
        async throws -> ProviderResponse
    {
        let start = ContinuousClock.now
        let race = FirstResponse()
        var requests: [Task<Void, Never>] = []
        defer { requests.forEach { $0.cancel() } }
        requests.append(send(request, in: race))
        var look = isRepeatable ? start + times.silence : end
        while true {
            if let answer = await Patience.outcome(before: min(look, end), of: race.response) {
                return try answer.get()
            }
            guard look < end else { throw ProviderClient.unreachable }
            if provider.hasAnswered(request, since: start) {
                RequestContext.current?.note(cause: "the token endpoint has answered others, and is asked again")
                requests.append(send(request, in: race))
                look = end
            } else {
                look += times.silence
            }
        }
    }

    private func send(_ request: ProviderRequest, in race: FirstResponse) -> Task<Void, Never> {
        race.enter()
        return Task(executorPreference: Worker.current) {
            do {
                race.finish(.success(try await provider.send(request, timeout: TokenExchange.clientLimit)))
            } catch {
                race.finish(.failure(error))
            }
        }
    }
}

/// The first response to one of several equal requests; the last error if none gets one.
private final class FirstResponse: Sendable {
    private struct State {
        var open = 0
        var result: Result<ProviderResponse, any Error>?
        var waiters: [CheckedContinuation<Result<ProviderResponse, any Error>, Never>] = []
    }

    private let state = Mutex(State())

    /// One more request is sent.
    func enter() { state.withLock { $0.open += 1 } }

    func finish(_ result: Result<ProviderResponse, any Error>) {
        let waiters = state.withLock { state -> [CheckedContinuation<Result<ProviderResponse, any Error>, Never>] in
            state.open -= 1
            if state.result == nil, (try? result.get()) != nil || state.open == 0 { state.result = result }
            guard state.result != nil else { return [] }
            defer { state.waiters = [] }
            return state.waiters
        }
        waiters.forEach { $0.resume(returning: result) }
    }

    @Sendable func response() async throws -> ProviderResponse {
        try await withCheckedContinuation { continuation in
            let known = state.withLock { state in
                if state.result == nil { state.waiters.append(continuation) }
                return state.result
            }
            if let known { continuation.resume(returning: known) }
        }.get()
    }
}
