import FoundationEssentials

/// Asks for a token of the application's own (RFC 6749 section 4.4), to learn whether the provider accepts its proof of
/// who it is. Whatever comes is thrown away.
public struct OwnTokenRequest: Sendable, RedactedDescription {
    /// To be sent to the token endpoint.
    public let providerRequest: ProviderRequest

    /// nil for a public client, which proves nothing.
    ///
    /// - Throws: when the client cannot prove who it is.
    public init?(metadata: ProviderMetadata, registration: ClientRegistration) throws(OpenIDError) {
        if case .publicClient = registration.authentication { return nil }
        var form = [(name: "grant_type", value: "client_credentials")]
        // Entra ID wants a resource; for itself an application needs no permission.
        if metadata.authority.kind != .oidc { form.append(("scope", "\(registration.clientID)/.default")) }
        providerRequest = try .authenticated(
            metadata.tokenEndpoint, metadata: metadata, registration: registration, form: form)
    }

    /// What the answer says against the client or the endpoint; nil when it does not. The endpoint looks at the client
    /// first (RFC 6749 section 3.2.1), so that any other error means that the proof was accepted.
    public func refusal(in response: ProviderResponse, now: ProviderClock) -> OpenIDError? {
        do throws(OpenIDError) {
            guard case .failure(let answer) = try ProviderAnswer(response, now: now), answer.error == "invalid_client"
            else { return nil }
            return answer.openIDError
        } catch {
            // An answer without usable JSON says nothing, but 429 and 5xx do.
            return response.head.status == .tooManyRequests || response.head.status.kind == .serverError ? error : nil
        }
    }
}
