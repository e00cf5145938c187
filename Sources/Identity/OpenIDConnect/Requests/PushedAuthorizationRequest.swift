public import FoundationEssentials
import HTTPTypes
public import WebFormats

/// An authorization request whose parameters are sent to the provider in advance (RFC 9126), so that nobody on the
/// way can change one. The browser's address has the client ID, and besides those that some providers demand of each
/// authentication request (OpenID Connect Core sections 3.1.2.1 and 6.2): `response_type`, `redirect_uri`, and `scope` with
/// `openid` alone, because they would examine more scopes there without the parameters that belong to them.
public struct PushedAuthorizationRequest: Sendable, Redacted {
    /// The request to be sent to the provider. It contains state, nonce and the client's credential: never log it.
    public let providerRequest: ProviderRequest
    /// Whether the provider accepts no other authorization requests.
    public let isRequired: Bool

    private let authorizationEndpoint: Endpoint
    private let kind: Authority.Kind
    /// The parameters that stay in the browser's address.
    private let open: [(name: String, value: String)]

    /// - Returns: nil if the provider does not announce it, or is one of Microsoft's platforms, which do not support it.
    /// - Throws: when the client cannot authenticate.
    public init?(
        _ request: AuthorizationRequest, metadata: ProviderMetadata, client: AuthenticatedClient,
        attempt: AuthorizationAttempt
    ) throws(OpenIDError) {
        guard metadata.authority.kind == .oidc, let endpoint = metadata.pushedAuthorizationEndpoint else { return nil }
        let parameters = request.parameters(metadata: metadata, registration: client.registration, attempt: attempt)
        providerRequest = try .authenticated(
            endpoint, metadata: metadata, client: client,
            // A client that authenticates by a header field has its ID in the form as well (section 2.1).
            form: parameters.filter { $0.name != "client_id" }, alwaysNamesClient: true)
        isRequired = metadata.requiresPushedAuthorization
        authorizationEndpoint = metadata.authorizationEndpoint
        kind = metadata.authority.kind
        open =
            parameters.filter { ["client_id", "response_type", "redirect_uri"].contains($0.name) }
            + [("scope", "openid")]
    }

    /// Returns the URL to which the browser is redirected, from the provider's response (section 2.2).
    ///
    /// - Throws: the provider's error, or `provider_unavailable` if there is no usable response.
    public func url(from response: ProviderResponse, now: ProviderClock) throws(OpenIDError) -> String {
        if response.head.status == .created || response.head.status == .ok,
            let uri = JSONValue(parsing: response.body)?["request_uri"]?.string, (1...2048).contains(uri.utf8.count),
            uri.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        {
            return authorizationEndpoint.appending(open + [("request_uri", uri)])
        }
        switch try ProviderAnswer(response, now: now) {
        case .failure(let answer): throw answer.openIDError(at: kind, after: SentValues(in: [providerRequest]))
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
