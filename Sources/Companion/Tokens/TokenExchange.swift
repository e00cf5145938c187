import OpenIDConnect

/// One exchange with a token endpoint, unless that has asked this client for a pause.
struct TokenExchange: Sendable {
    let provider: ProviderClient
    let throttle: Throttle

    /// Sends the request and reads the answer.
    ///
    /// - Throws: ``Problem`` `throttled` without asking; else what the provider or `read` throws.
    func run<Tokens>(
        _ request: ProviderRequest, at metadata: ProviderMetadata, clientID: String,
        _ read: (ProviderResponse) async throws -> Tokens
    ) async throws -> Tokens {
        let key = "\(metadata.tokenEndpoint) \(clientID)"
        try throttle.check(key)
        do {
            return try await read(try await provider.send(request))
        } catch {
            throttle.note(key, retryAfter: (error as? OpenIDError)?.retryAfter)
            throw error
        }
    }
}
