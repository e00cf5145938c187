public import FoundationEssentials
import HTTPTypes
public import WebFormats

/// An authorization request whose parameters are sent to the provider in advance (RFC 9126), so that the browser's address
/// has none of them, and nobody on the way can change one.
public struct PushedAuthorizationRequest: Sendable, Redacted {
    /// The request to be sent to the provider. It contains state, nonce and the client's credential: never log it.
    public let providerRequest: ProviderRequest
    /// Whether the provider accepts no other authorization requests.
    public let isRequired: Bool

    private let authorizationEndpoint: Endpoint
    private let clientID: String

    /// - Returns: nil if the provider does not announce it, or is one of Microsoft's platforms, which do not support it.
    /// - Throws: when the client cannot authenticate.
    public init?(
        _ request: AuthorizationRequest, metadata: ProviderMetadata, client: AuthenticatedClient,
        attempt: AuthorizationAttempt
    ) throws(OpenIDError) {
        guard metadata.authority.kind == .oidc, let endpoint = metadata.pushedAuthorizationEndpoint else { return nil }
        // The client ID is required even where a header field has it (section 2.1), and may occur once.
        let parameters = request.parameters(metadata: metadata, registration: client.registration, attempt: attempt)
            .filter { $0.name != "client_id" }
        var pushed = try ProviderRequest.authenticated(endpoint, metadata: metadata, client: client, form: parameters)
        let id = client.registration.clientID
        if (try? FormFields(body: pushed.body))?["client_id"] == nil {
            pushed.body += Array("&\(FormEncoding.encode([("client_id", id)]))".utf8)
        }
        providerRequest = pushed
        isRequired = metadata.requiresPushedAuthorization
        authorizationEndpoint = metadata.authorizationEndpoint
        clientID = id
    }

    /// Returns the URL to which the browser is redirected, from the provider's response (section 2.2).
    ///
    /// - Throws: the provider's error, or `provider_unavailable` if there is no usable response.
    public func url(from response: ProviderResponse, now: ProviderClock) throws(OpenIDError) -> String {
        if response.head.status == .created || response.head.status == .ok,
            let uri = JSONValue(parsing: response.body)?["request_uri"]?.string, (1...2048).contains(uri.utf8.count),
            uri.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        {
            return authorizationEndpoint.appending([("client_id", clientID), ("request_uri", uri)])
        }
        switch try ProviderAnswer(response, now: now) {
        case .failure(let answer): throw answer.openIDError
        case .refused(let status):
            throw OpenIDError(
                .providerUnavailable, "The identity provider refused the pushed authorization request with \(status).")
        case .success:
            throw OpenIDError(
                .providerUnavailable,
                "The identity provider's answer to the pushed authorization request is not usable.")
        }
    }
}
