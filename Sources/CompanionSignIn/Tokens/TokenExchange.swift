import CompanionCore
import EventLoop
import OpenIDConnect
import SessionStore

/// One exchange with a token endpoint, unless that has asked for a pause.
struct TokenExchange: Sendable {
    let provider: ProviderClient
    let throttle: TokenThrottle
    let times: RefreshTimes
    /// The client's own deadline must not come first: it counts before what waits in the socket is read, as after a machine
    /// was asleep.
    private static let clientLimit: Duration = .seconds(24 * 3600)

    /// Sends the request and reads the answer.
    ///
    /// - Parameters:
    ///   - client: who asks, and at which token endpoint.
    ///   - grant: what the request redeems. The answer to a code has as long as a person waits, the one to a refresh longer.
    ///   - admit: has the last word before the request goes out.
    ///   - read: checks the answer, for which it may have to look at the provider's keys.
    /// - Throws: ``Problem`` `throttled` without asking; ``OpenIDError`` `provider_unavailable` when it takes too long; else
    ///   what `admit`, the provider or `read` throws.
    func run<Tokens: Sendable>(
        _ request: ProviderRequest, by client: TokenThrottle.Client, _ grant: TokenThrottle.Grant,
        admit: () throws(Problem) -> Void = {}, _ read: @escaping @Sendable (ProviderResponse) async throws -> Tokens
    ) async throws -> Tokens {
        let leave = try throttle.begin(grant, of: client)
        let patience = ContinuousClock.now + times.checks
        do {
            try admit()
            let answer = try await answer(to: request, before: grant.isRefresh ? .now + times.exchange : patience)
            // An answer that came is not given up because it came late.
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
