import WebFormats

// What a client asks of a provider about an account that is signed in: its claims, and the end of its tokens.

/// Claims about the person (OpenID Connect Core section 5.3).
public enum UserInfo {
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
