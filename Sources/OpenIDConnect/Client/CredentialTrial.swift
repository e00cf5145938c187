public import FoundationEssentials
public import WebFormats

/// Asks the token endpoint for something, to learn whether it accepts the client's proof of who it is. Nothing comes of it:
/// a token is thrown away, and the code does not exist.
public struct CredentialTrial: Sendable, Redacted {
    /// What is asked for.
    public enum Grant: Sendable, CaseIterable {
        /// A token of the application's own (RFC 6749 section 4.4). Microsoft's platforms know it in a tenant, and not at
        /// `common`; other providers may not know it at all, or not for this client.
        case clientCredentials
        /// A code that cannot exist, as a sign-in redeems one (RFC 6749 section 4.1.3).
        case madeUpCode
    }

    /// What the answer says of the client.
    public enum Verdict: Sendable {
        /// The proof was taken.
        case accepted
        /// The proof was refused.
        case refused(OpenIDError)
        /// The endpoint does not work, or wants a pause.
        case unavailable(OpenIDError)
        /// Neither; the OAuth error, where there was one.
        case unknown(String?)
    }

    /// To be sent to the token endpoint.
    public let providerRequest: ProviderRequest

    private let grant: Grant
    private let kind: Authority.Kind

    /// Nil for a public client's own token, which there is none of. A code that such a client redeems without a secret shows
    /// whether it is one at the provider too.
    ///
    /// - Throws: when the client cannot prove who it is.
    public init?(
        _ grant: Grant, metadata: ProviderMetadata, client: AuthenticatedClient,
        randomBytes: @Sendable (Int) -> [UInt8]
    ) throws(OpenIDError) {
        if case .publicClient = client.authentication, grant == .clientCredentials { return nil }
        self.grant = grant
        kind = metadata.authority.kind
        var form: [(name: String, value: String)]
        switch grant {
        case .clientCredentials:
            form = [("grant_type", "client_credentials")]
            // Entra ID wants a resource; for itself an application needs no permission.
            if kind != .oidc { form.append(("scope", "\(client.registration.clientID)/.default")) }
        case .madeUpCode:
            let attempt = AuthorizationAttempt(randomBytes: randomBytes)
            form = [
                ("grant_type", "authorization_code"), ("code", attempt.state),
                ("redirect_uri", client.registration.redirectURI), ("code_verifier", attempt.codeVerifier),
            ]
        }
        providerRequest = try .authenticated(
            metadata.tokenEndpoint, metadata: metadata, client: client, form: form)
    }

    /// What the answer proves. `invalid_client` is a failed authentication of the client (RFC 6749 section 5.2), but for
    /// the numbers with which Entra ID refuses a redirect URI. The code is looked at after the client (section 3.2.1), so
    /// that `invalid_grant` means that the client was accepted; of Entra ID that is not known, which finds the tenant
    /// by the code.
    public func verdict(on response: ProviderResponse, now: ProviderClock) -> Verdict {
        do throws(OpenIDError) {
            switch try ProviderAnswer(response, now: now) {
            case .success(let token):
                return grant == .clientCredentials && token["access_token"]?.string != nil ? .accepted : .unknown(nil)
            case .failure(let answer) where answer.error == "invalid_client":
                let isAboutAddress = !PlatformErrors.redirectURIMismatch.isDisjoint(with: answer.aadsts)
                return isAboutAddress ? .unknown(answer.error) : .refused(answer.openIDError)
            case .failure(let answer):
                let isAccepted = grant == .madeUpCode && kind == .oidc && answer.error == "invalid_grant"
                return isAccepted ? .accepted : .unknown(answer.error)
            case .refused: return .unknown(nil)
            }
        } catch {
            // An answer without usable JSON says nothing, but 429 and 5xx do.
            let isAnswer = response.head.status == .tooManyRequests || response.head.status.kind == .serverError
            return isAnswer ? .unavailable(error) : .unknown(nil)
        }
    }
}
