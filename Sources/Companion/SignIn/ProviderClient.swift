import HTTPClient
import OpenIDConnect

/// Requests to identity providers: each carries the trace on, is counted, and when it fails says why in the line of the
/// request that it was made for.
struct ProviderClient: Sendable {
    /// How long a person at a kiosk waits for a provider that may not be there.
    private static let patience: Duration = .seconds(3)

    let client: HTTPClient
    let metrics: Metrics

    /// The provider's answer, whatever its status.
    ///
    /// - Throws: ``OpenIDError`` `provider_unavailable` when no answer comes.
    func send(_ request: ProviderRequest, timeout: Duration? = nil) async throws(OpenIDError) -> ProviderResponse {
        var request = request
        RequestContext.current?.mark(&request.head.headerFields)
        let host = request.head.authority ?? "-"
        let start = ContinuousClock.now
        do throws(HTTPClientError) {
            let answer = try await client.send(request, timeout: timeout)
            metrics.provider(host, answer.head, took: start.duration(to: .now))
            RequestContext.current?.note(answer.head, of: .provider)
            return answer
        } catch {
            metrics.provider(host, nil, took: start.duration(to: .now), failure: error.description)
            RequestContext.current?.note(cause: error.description)
            throw ProviderClient.unreachable
        }
    }

    /// Asks whether a provider answers right now. What is known of it may be hours old, and a kiosk has no way back from a
    /// page that does not come.
    ///
    /// - Throws: ``OpenIDError`` `provider_unavailable` when no answer comes, or an error of the provider's.
    func requireAnswer(of authority: Authority) async throws(OpenIDError) {
        let answer = try await send(authority.discoveryRequest, timeout: ProviderClient.patience)
        guard answer.head.status.kind != .serverError else { throw ProviderClient.unreachable }
    }

    private static var unreachable: OpenIDError {
        OpenIDError(unreachable: "The identity provider cannot be reached. Try again in a moment.")
    }
}

extension HTTPClient {
    /// Sends what `OpenIDConnect` has put together.
    func send(
        _ request: ProviderRequest, timeout: Duration? = nil
    ) async throws(HTTPClientError) -> ProviderResponse {
        let answer = try await send(request.head, body: request.body, timeout: timeout)
        return ProviderResponse(head: answer.head, body: answer.body)
    }
}
