import HTTPClient
import OpenIDConnect

/// Whether a provider answers right now. What is known of it may be hours old, and a kiosk has no way back from a page that
/// does not come.
struct ProviderReach: Sendable {
    private static let patience: Duration = .seconds(3)
    let client: HTTPClient

    /// Asks for the authority's metadata.
    ///
    /// - Throws: ``OpenIDError`` `provider_unavailable` when no answer comes, or an error of the provider's.
    func check(_ authority: Authority) async throws(OpenIDError) {
        let request = authority.discoveryRequest
        let answer = try? await client.send(request.head, body: request.body, timeout: Self.patience)
        guard let answer, answer.head.status.kind != .serverError else {
            throw OpenIDError(unreachable: "The identity provider cannot be reached. Try again in a moment.")
        }
    }
}
