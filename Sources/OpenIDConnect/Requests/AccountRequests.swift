import HTTPTypes
public import WebFormats

// What a client asks of a provider about an account that is signed in: its claims, and the end of its tokens.

/// Claims about the person (OpenID Connect Core section 5.3), for people to read: not for a log, and never a key.
public struct UserInfo: Sendable, Redacted {
    /// As ``IDTokenClaims/username``.
    public let username: String?
    /// `name`
    public let name: String?

    /// The request for what the provider says of the person whose access token it is.
    public static func request(to endpoint: Endpoint, accessToken: String) -> ProviderRequest {
        var request = ProviderRequest.get(endpoint)
        request.head.headerFields[.authorization] = "Bearer \(accessToken)"
        return request
    }

    /// Reads an answer; nil when it is none, or about somebody else.
    public init?(_ response: ProviderResponse, subject: String) {
        guard response.head.status == .ok, Self.isAbout(subject: subject, body: response.body),
            let claims = JSONValue(parsing: response.body)
        else { return nil }
        func text(_ name: String) -> String? { claims[name]?.string.flatMap { $0.isEmpty ? nil : $0 } }
        username = text("preferred_username") ?? text("email") ?? text("name")
        name = text("name")
    }

    /// Whether a successful answer is about the account (section 5.3.2: another `sub` must not be used).
    public static func isAbout(subject: String, body: [UInt8]) -> Bool {
        JSONValue(parsing: body)?["sub"]?.string == subject
    }
}

/// Ends a refresh token and what was made from it (RFC 7009).
public struct RevocationRequest: Sendable, Redacted {
    /// To be sent. Whatever the answer, the token is forgotten here.
    public let providerRequest: ProviderRequest

    /// Nil when the provider has no such endpoint.
    ///
    /// - Throws: when the client cannot prove who it is.
    public init?(refreshToken: String, metadata: ProviderMetadata, client: AuthenticatedClient) throws(OpenIDError) {
        guard let endpoint = metadata.revocationEndpoint else { return nil }
        providerRequest = try .authenticated(
            endpoint, metadata: metadata, client: client,
            form: [("token", refreshToken), ("token_type_hint", "refresh_token")])
    }
}
