import HTTPTypes
import WebFormats

// What a client asks of a provider about an account that is signed in: its claims, and the end of its tokens.

/// Asks for claims about the person (OpenID Connect Core section 5.3).
public struct UserInfoRequest: Sendable, Redacted {
    /// To be sent.
    public let providerRequest: ProviderRequest

    /// Nil when the provider has no such endpoint.
    public init?(accessToken: String, metadata: ProviderMetadata) {
        guard let endpoint = metadata.userInfoEndpoint else { return nil }
        var request = ProviderRequest.get(endpoint)
        request.head.headerFields[.authorization] = "Bearer \(accessToken)"
        providerRequest = request
    }

    /// Checks that a successful answer is about the account (section 5.3.2: another `sub` must not be used).
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
    public init?(refreshToken: String, metadata: ProviderMetadata, registration: ClientRegistration) throws(OpenIDError)
    {
        guard let endpoint = metadata.revocationEndpoint else { return nil }
        providerRequest = try .authenticated(
            endpoint, metadata: metadata, registration: registration,
            form: [("token", refreshToken), ("token_type_hint", "refresh_token")])
    }
}
