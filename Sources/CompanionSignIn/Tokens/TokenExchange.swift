import CompanionCore
import EventLoop
import OpenIDConnect

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
    ///   - admit: the last check before the request is sent.
    ///   - read: validates the response, for which it may need the provider's keys.
    /// - Throws: ``Problem`` `throttled` without sending the request; ``OpenIDError`` `provider_unavailable` after the
    ///   time limit; errors of `admit`, the provider and `read`.
    func run<Tokens: Sendable>(
        _ request: ProviderRequest, by client: TokenThrottle.Client, _ grant: TokenThrottle.Grant,
        admit: () throws(Problem) -> Void = {}, _ read: @escaping @Sendable (ProviderResponse) async throws -> Tokens
    ) async throws -> Tokens {
        let leave = try throttle.begin(grant, of: client)
        let patience = ContinuousClock.now + times.checks
        do {
            try admit()
            let answer = try await answer(to: request, before: grant.isRefresh ? .now + times.exchange : patience)
            // A refresh response that has arrived late is still validated.
            let end = grant.isRefresh ? .now + times.checks : patience
            let checked = await Patience.outcome(before: end) { try await read(answer) }
            guard let checked else { throw ProviderClient.unreachable }
            let tokens = try checked.get()
            throttle.end(leave, grant, of: client, error: nil)
            return tokens
        } catch {
            throttle.end(leave, grant, of: client, error: error)
            throw error
        }
    }

    private func answer(to request: ProviderRequest, before end: ContinuousClock.Instant) async throws
        -> ProviderResponse
    {
        let sending = Task(executorPreference: Worker.current) {
            try await provider.send(request, timeout: TokenExchange.clientLimit)
        }
        guard let answer = await Patience.outcome(before: end, of: { try await sending.value }) else {
            sending.cancel()
            throw ProviderClient.unreachable
        }
        return try answer.get()
    }
}
