import HTTPClient
import OpenIDConnect

/// Whether a provider answers right now. What is known of it may be hours old, and a kiosk has no way back from a page that
/// does not come.
struct ProviderReach: Sendable {
    private static let patience: Duration = .seconds(3)
    let client: HTTPClient
    let metrics: Metrics

    /// Asks for the authority's metadata.
    ///
    /// - Throws: ``OpenIDError`` `provider_unavailable` when no answer comes, or an error of the provider's.
    func check(_ authority: Authority) async throws(OpenIDError) {
        var head = authority.discoveryRequest.head
        RequestContext.current?.mark(&head.headerFields)
        let host = head.authority ?? "-"
        let start = ContinuousClock.now
        let answer: HTTPClientResponse?
        do throws(HTTPClientError) {
            answer = try await client.send(head, timeout: Self.patience)
            metrics.provider(host, answer?.head, took: start.duration(to: .now))
        } catch {
            let reason = "\(error.kind): \(error.reason)"
            metrics.provider(host, nil, took: start.duration(to: .now), failure: reason)
            RequestContext.current?.note(cause: reason)
            answer = nil
        }
        guard let answer, answer.head.status.kind != .serverError else {
            throw OpenIDError(unreachable: "The identity provider cannot be reached. Try again in a moment.")
        }
    }
}
