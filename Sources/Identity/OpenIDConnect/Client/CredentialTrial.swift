public import FoundationEssentials
public import WebFormats

/// A request to the token endpoint that shows whether it accepts the client's credential. It has no effect: a token is
/// discarded, and the code does not exist.
public struct CredentialTrial: Sendable, Redacted {
    /// The kind of the request.
    public enum Grant: Sendable, CaseIterable {
        /// A token for the application itself (RFC 6749 section 4.4). Microsoft's platforms support it in a tenant, but
        /// not at `common`; other providers may not support it at all, or not for this client.
        case clientCredentials
        /// A code that cannot exist, in the form of a sign-in (RFC 6749 section 4.1.3).
        case madeUpCode
    }

    /// The conclusion about the client.
    public enum Verdict: Sendable {
        /// The credential was accepted.
        case accepted
        /// The credential was accepted, but the application may have no token for itself, because nobody has assigned it to
        /// a role (AADSTS501051).
        case unassigned
        /// The credential was refused.
        case refused(OpenIDError)
        /// The endpoint does not work, or asks for a pause.
        case unavailable(OpenIDError)
        /// The response shows neither; the OAuth error, if there was one.
        case unknown(String?)
    }

    /// The request to be sent to the token endpoint.
    public let providerRequest: ProviderRequest

    private let grant: Grant
    private let kind: Authority.Kind

    /// Creates a trial; nil for a public client's own token, because a public client cannot get one. Redeeming a code
    /// without a secret also shows whether the client is public at the provider.
    ///
    /// - Throws: when the client cannot authenticate.
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
            // Entra ID requires a resource; an application needs no permission for itself.
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

    /// Returns the conclusion from a response. `invalid_client` is a failed authentication of the client (RFC 6749
    /// section 5.2), except with the numbers with which Entra ID refuses a redirect URI or a missing assignment. The code is checked after the
    /// client (section 3.2.1), so `invalid_grant` means that the client was accepted. With Entra ID this is not
    /// certain, because it finds the tenant by the code.
    public func verdict(on response: ProviderResponse, now: ProviderClock) -> Verdict {
        do throws(OpenIDError) {
            switch try ProviderAnswer(response, now: now) {
            case .success(let token):
                return grant == .clientCredentials && token["access_token"]?.string != nil ? .accepted : .unknown(nil)
            case .failure(let answer) where answer.aadsts.contains(PlatformErrors.applicationUnassigned):
                return .unassigned
            case .failure(let answer) where answer.isAboutCredential:
                return .refused(answer.openIDError)
            case .failure(let answer) where answer.error == "invalid_client":
                let isAboutAddress = !PlatformErrors.redirectURIMismatch.isDisjoint(with: answer.aadsts)
                return isAboutAddress
                    ? .unknown(answer.error)
                    : .refused(
                        answer.openIDError(at: kind, after: SentValues(in: [providerRequest])))
            case .failure(let answer):
                let isAccepted = grant == .madeUpCode && kind == .oidc && answer.error == "invalid_grant"
                return isAccepted ? .accepted : .unknown(answer.error)
            case .refused: return .unknown(nil)
            }
        } catch {
            // A response without usable JSON proves nothing, but 429 and 5xx do.
            let isAnswer = response.head.status == .tooManyRequests || response.head.status.kind == .serverError
            return isAnswer ? .unavailable(error) : .unknown(nil)
        }
    }
}

extension AuthenticatedClient {
    /// Returns the client with the other way of sending its secret, if the metadata of a generic provider lists that; a
    /// provider that lists none takes the `Authorization` field (RFC 8414 section 2). The method is nil if none is configured:
    /// then each request tries both.
    public func withOtherSecretMethod(
        at metadata: ProviderMetadata
    ) -> (client: AuthenticatedClient, method: ClientAuthentication.SecretMethod?)? {
        guard metadata.authority.kind == .oidc, case .secret(let secret, let method) = authentication else {
            return nil
        }
        let other: ClientAuthentication.SecretMethod =
            (method ?? metadata.usableSecretMethods(for: secret, of: registration.clientID).first) == .post
            ? .basic : .post
        guard (metadata.secretMethods ?? ["client_secret_basic"]).contains("client_secret_\(other.rawValue)") else {
            return nil
        }
        let client = AuthenticatedClient(registration, authentication: .secret(secret, method: other))
        return (client, method == nil ? nil : other)
    }
}
