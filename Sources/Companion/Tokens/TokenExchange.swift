import OpenIDConnect
import SessionStore

/// One exchange with a token endpoint, unless that has asked for a pause.
struct TokenExchange: Sendable {
    /// The exchange, and a look at the provider's keys where the answer needs it, end well before a refresh's turn
    /// (``SessionStore/refreshTurnTime``) does.
    private static let timeout: Duration = .seconds(12)

    let provider: ProviderClient
    let throttle: TokenThrottle

    /// Sends the request and reads the answer.
    ///
    /// - Parameters:
    ///   - client: who asks, and at which token endpoint.
    ///   - grant: what the request redeems.
    ///   - admit: has the last word before the request goes out.
    /// - Throws: ``Problem`` `throttled` without asking; else what `admit`, the provider or `read` throws.
    func run<Tokens>(
        _ request: ProviderRequest, by client: TokenThrottle.Client, _ grant: TokenThrottle.Grant,
        admit: () throws(Problem) -> Void = {}, _ read: (ProviderResponse) async throws -> Tokens
    ) async throws -> Tokens {
        let leave = try throttle.begin(grant, of: client)
        do {
            try admit()
            let tokens = try await read(try await provider.send(request, timeout: TokenExchange.timeout))
            throttle.end(leave, grant, of: client, error: nil)
            return tokens
        } catch {
            throttle.end(leave, grant, of: client, error: error)
            throw error
        }
    }
}
