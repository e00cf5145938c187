import HTTPTypes
public import WebFormats

// Requests about an account that is signed in: for its claims, and to revoke its tokens.

/// Claims about the person (OpenID Connect Core section 5.3), to be shown to people: never log them or use them as a
/// key.
public struct UserInfo: Sendable, Redacted {
    /// The username, chosen like ``IDTokenClaims/username``.
    public let username: String?
    /// `name`
    public let name: String?

    /// Returns the request for the provider's claims about the person whose access token it is.
    public static func request(to endpoint: Endpoint, accessToken: String) -> ProviderRequest {
        var request = ProviderRequest.get(endpoint)
        request.head.headerFields[.authorization] = "Bearer \(accessToken)"
        return request
    }

    /// Reads a response; nil when it is unusable, or about another person.
    public init?(_ response: ProviderResponse, subject: String) {
        guard response.head.status == .ok, let claims = JSONValue(parsing: response.body),
            claims["sub"]?.string == subject
        else { return nil }
        func text(_ name: String) -> String? { claims[name]?.string.flatMap { $0.isEmpty ? nil : $0 } }
        username = text("preferred_username") ?? text("email") ?? text("name")
        name = text("name")
    }

    /// Whether a successful response is about the account (section 5.3.2: a response with another `sub` must not be
    /// used).
    public static func isAbout(subject: String, body: [UInt8]) -> Bool {
        JSONValue(parsing: body)?["sub"]?.string == subject
    }
}

/// Ends a refresh token and the tokens that were made from it (RFC 7009).
public struct RevocationRequest: Sendable, Redacted {
    /// The request to be sent. Whatever the response, the token is forgotten here.
    public let providerRequest: ProviderRequest

    /// Creates a request; nil when the provider has no such endpoint.
    ///
    /// - Throws: when the client cannot authenticate.
    public init?(refreshToken: String, metadata: ProviderMetadata, client: AuthenticatedClient) throws(OpenIDError) {
        guard let endpoint = metadata.revocationEndpoint else { return nil }
        providerRequest = try .authenticated(
            endpoint, metadata: metadata, client: client,
            form: [("token", refreshToken), ("token_type_hint", "refresh_token")])
    }
}
