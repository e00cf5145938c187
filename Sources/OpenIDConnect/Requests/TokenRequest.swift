public import WebFormats

/// Redeems a code (RFC 6749 section 4.1.3).
public struct CodeRequest: Sendable, Redacted {
    /// The request to be sent to the token endpoint.
    public let providerRequest: ProviderRequest

    private let callback: ValidatedCallback
    private let admitted: AdmittedTenants
    private let registration: ClientRegistration
    private let scopes: [String]

    /// - Parameters:
    ///   - callback: the checked callback; its metadata and attempt are used.
    ///   - scopes: the scopes of the authorization request; nil: the registration's.
    ///   - claims: the claims of the authorization request.
    ///   - client: the client with its credential.
    ///   - configured: the configured authority's metadata, if the sign-in went to another tenant's: it decides who may
    ///     sign in.
    /// - Throws: when the client cannot authenticate.
    public init(
        redeeming callback: ValidatedCallback, scopes: [String]? = nil, claims: ClaimsRequest? = nil,
        client: AuthenticatedClient, configured: ProviderMetadata? = nil
    ) throws(OpenIDError) {
        let registration = client.registration
        self.callback = callback
        admitted = (configured ?? callback.metadata).admittedTenants(listed: registration.allowedTenants)
        self.registration = registration
        self.scopes = scopes ?? registration.scopes
        providerRequest = try .token(
            at: callback.metadata, client, scopes: self.scopes, claims: claims,
            grant: [
                ("grant_type", "authorization_code"), ("code", callback.code),
                ("redirect_uri", registration.redirectURI), ("code_verifier", callback.attempt.codeVerifier),
            ])
    }

    /// Reads the response and checks its ID token, with the keys and the clock of `directory`.
    public func tokens(
        from response: ProviderResponse, directory: ProviderDirectory
    ) async throws(OpenIDError) -> SignedInTokens {
        let answer = try TokenResponse(
            parsing: response, from: callback.metadata, requestedScopes: scopes, now: directory.now)
        guard let token = answer.idToken else { throw OpenIDError(.missing) }
        let checks = IDTokenChecks(
            metadata: callback.metadata, admitted: admitted, registration: registration, directory: directory,
            subject: .signIn(nonce: callback.attempt.nonce, callbackIssuer: callback.issuer))
        let claims = try await checks.claims(of: token)
        return SignedInTokens(
            idToken: token, idTokenClaims: claims, homeAccountID: answer.homeAccountID ?? claims.fallbackAccountID,
            tokens: answer.tokens)
    }
}

/// Uses a refresh token (RFC 6749 section 6).
public struct RefreshRequest: Sendable, Redacted {
    /// The request to be sent to the token endpoint.
    public let providerRequest: ProviderRequest

    private let account: KnownIdentity
    private let guestAccountID: String?
    private let metadata: ProviderMetadata
    private let admitted: AdmittedTenants
    private let registration: ClientRegistration
    private let scopes: [String]
    private let granted: [String]?

    /// - Parameters:
    ///   - refreshToken: the account's newest refresh token.
    ///   - account: the identity that signed in; a new ID token must be about the same.
    ///   - scopes: the scopes of the access token, for one resource; nil: the registration's. Microsoft's platforms
    ///     choose the resource by them, and accept scopes that were consented to since. They are not sent to other
    ///     providers: requesting more than was granted is `invalid_scope` (RFC 6749 section 6), and without scopes the
    ///     token is for what was granted.
    ///   - granted: the scopes that were granted before, if they are known.
    ///   - claims: a claims challenge to satisfy.
    ///   - metadata: the metadata of the authority at which the account signed in, or of another tenant's.
    ///   - client: the client with its credential.
    ///   - configured: the configured authority's metadata, if `metadata` is another tenant's.
    ///   - guestAccountID: the home account id, for a tenant in which the account is a guest: there the person has
    ///     another `iss`, `sub` and `oid`, and only `client_info` is the same.
    /// - Throws: when the client cannot authenticate.
    public init(
        refreshToken: String, account: KnownIdentity, scopes: [String]? = nil, granted: [String]? = nil,
        claims: ClaimsRequest? = nil, metadata: ProviderMetadata, client: AuthenticatedClient,
        configured: ProviderMetadata? = nil,
        guestAccountID: String? = nil
    ) throws(OpenIDError) {
        let registration = client.registration
        let sendsScopes = metadata.authority.kind != .oidc
        self.granted = sendsScopes ? nil : granted
        self.guestAccountID = guestAccountID
        self.account = account
        self.metadata = metadata
        admitted = (configured ?? metadata).admittedTenants(listed: registration.allowedTenants)
        self.registration = registration
        self.scopes = scopes ?? registration.scopes
        providerRequest = try .token(
            at: metadata, client, scopes: sendsScopes ? self.scopes : nil, claims: claims,
            grant: [("grant_type", "refresh_token"), ("refresh_token", refreshToken)])
    }

    /// Reads the response. An ID token in it is checked and must be about the same account; it may be missing.
    public func tokens(
        from response: ProviderResponse, directory: ProviderDirectory
    ) async throws(OpenIDError) -> RefreshedTokens {
        let answer = try TokenResponse(
            parsing: response, from: metadata, requestedScopes: scopes, unsaid: granted, now: directory.now)
        if let guestAccountID, answer.homeAccountID != guestAccountID { throw OpenIDError(.otherAccount) }
        guard let token = answer.idToken else {
            return RefreshedTokens(idToken: nil, idTokenClaims: nil, tokens: answer.tokens)
        }
        let checks = IDTokenChecks(
            metadata: metadata, admitted: admitted, registration: registration, directory: directory,
            subject: guestAccountID == nil ? .refresh(account) : .guest)
        return RefreshedTokens(
            idToken: token, idTokenClaims: try await checks.claims(of: token), tokens: answer.tokens)
    }
}

/// The stored identity of a signed-in person: the ID token's `iss`, `sub` and `tid`.
public struct KnownIdentity: Sendable, Hashable {
    /// `iss`
    public var issuer: String
    /// `sub`
    public var subject: String
    /// `tid`, if there was one.
    public var tenantID: String?

    /// Creates an identity from stored values.
    public init(issuer: String, subject: String, tenantID: String?) {
        self.issuer = issuer
        self.subject = subject
        self.tenantID = tenantID
    }
}

extension ProviderRequest {
    fileprivate static func token(
        at metadata: ProviderMetadata, _ client: AuthenticatedClient, scopes: [String]?, claims: ClaimsRequest?,
        grant: [(name: String, value: String)]
    ) throws(OpenIDError) -> ProviderRequest {
        var form = grant
        if let scopes { form.append(("scope", client.registration.scopeParameter(scopes))) }
        form.append(("client_info", "1"))
        if let claims = client.registration.claimsParameter(claims) { form.append(("claims", claims)) }
        return try .authenticated(metadata.tokenEndpoint, metadata: metadata, client: client, form: form)
    }
}
