public import FoundationEssentials
public import WebFormats

/// An access token of an application itself. It belongs to no person.
public struct AppOnlyToken: Sendable, Redacted {
    /// The token.
    public let secret: String
    /// The time when it expires.
    public let expiresOn: Date
}

/// A request for an application's own token (RFC 6749 section 4.4; Entra ID's client credentials flow).
public struct ClientCredentialsRequest: Sendable, Redacted {
    /// The request to be sent to the token endpoint.
    public let providerRequest: ProviderRequest

    /// - Parameter scope: one resource and `/.default`: single permissions cannot be requested.
    /// - Throws: when the client cannot authenticate.
    public init(scope: String?, metadata: ProviderMetadata, client: AuthenticatedClient) throws(OpenIDError) {
        var form: [(name: String, value: String)] = [("grant_type", "client_credentials")]
        if let scope { form.append(("scope", scope)) }
        providerRequest = try .authenticated(metadata.tokenEndpoint, metadata: metadata, client: client, form: form)
    }

    /// Reads the response. A refresh token in it is ignored, because the application can always ask again.
    public func token(from response: ProviderResponse, now: ProviderClock) throws(OpenIDError) -> AppOnlyToken {
        switch try ProviderAnswer(response, now: now) {
        case .success(let json):
            guard let secret = json["access_token"]?.string, json["token_type"]?.string?.lowercased() == "bearer",
                let seconds = json["expires_in"]?.integer ?? json["expires_in"]?.string.flatMap(Int.init),
                (1...864_000).contains(seconds)
            else { throw OpenIDError(.providerUnavailable, "The identity provider's token response is not usable.") }
            return AppOnlyToken(secret: secret, expiresOn: now().addingTimeInterval(TimeInterval(seconds)))
        case .failure(let answer): throw answer.openIDError
        case .refused(let status):
            throw OpenIDError(.providerUnavailable, "The identity provider returned \(status) without an error.")
        }
    }
}

extension MicrosoftGraph {
    /// Returns the scope of an application's own token for Graph.
    ///
    /// - Parameter me: the configured address of Graph's `/me`. An emulator's Graph has the name of the global one.
    public static func defaultScope(at me: Endpoint) -> String {
        (GraphProfile.hosts.contains(me.host) ? me.origin : "https://graph.microsoft.com") + "/.default"
    }
}
