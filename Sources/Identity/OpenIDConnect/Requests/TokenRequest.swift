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

    /// Reads the response, whose ID token is checked with the keys and the clock of `directory`.
    public func answer(from response: ProviderResponse, directory: ProviderDirectory) throws(OpenIDError)
        -> TokenAnswer<SignedInTokens>
    {
        let answer = try TokenResponse(
            parsing: response, to: providerRequest, from: callback.metadata, requestedScopes: scopes,
            now: directory.now)
        guard let token = answer.idToken else { throw OpenIDError(.missing) }
        let checks = IDTokenChecks(
            metadata: callback.metadata, admitted: admitted, registration: registration, directory: directory,
            subject: .signIn(nonce: callback.attempt.nonce, callbackIssuer: callback.issuer))
        return TokenAnswer(
            refreshToken: answer.granted.refreshToken, isUnchecked: true, bytes: response.body.count
        ) { () async throws(OpenIDError) in
            let claims = try await checks.claims(of: token)
            return SignedInTokens(
                idToken: token, idTokenClaims: claims,
                homeAccountID: answer.homeAccountID ?? claims.fallbackAccountID,
                tokens: answer.tokens(now: directory.now()))
        }
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

    /// Reads the response. An ID token in it is checked with the keys and the clock of `directory`, and must be about
    /// the same account; it may be missing.
    public func answer(from response: ProviderResponse, directory: ProviderDirectory) throws(OpenIDError)
        -> TokenAnswer<RefreshedTokens>
    {
        let answer = try TokenResponse(
            parsing: response, to: providerRequest, from: metadata, requestedScopes: scopes, unsaid: granted,
            now: directory.now)
        if let guestAccountID, answer.homeAccountID != guestAccountID { throw OpenIDError(.otherAccount) }
        let checks = IDTokenChecks(
            metadata: metadata, admitted: admitted, registration: registration, directory: directory,
            subject: guestAccountID == nil ? .refresh(account) : .guest)
        return TokenAnswer(
            refreshToken: answer.granted.refreshToken, isUnchecked: answer.idToken != nil, bytes: response.body.count
        ) { () async throws(OpenIDError) in
            var claims: IDTokenClaims?
            if let token = answer.idToken { claims = try await checks.claims(of: token) }
            return RefreshedTokens(
                idToken: answer.idToken, idTokenClaims: claims, tokens: answer.tokens(now: directory.now()))
        }
    }
}

/// A token response that parses, and whose ID token is not checked yet. The grant that it answers may be spent, so
/// ``refreshToken`` should be stored before anything is checked.
public struct TokenAnswer<Tokens: Sendable>: Sendable, Redacted {
    /// The next refresh token, if there is one. A secret.
    public let refreshToken: String?
    /// Whether there is an ID token to be checked.
    public let isUnchecked: Bool
    /// The size of the response, in bytes.
    public let bytes: Int

    private let check: @Sendable () async throws(OpenIDError) -> Tokens

    init(
        refreshToken: String?, isUnchecked: Bool, bytes: Int,
        _ check: @escaping @Sendable () async throws(OpenIDError) -> Tokens
    ) {
        self.refreshToken = refreshToken
        self.isUnchecked = isUnchecked
        self.bytes = bytes
        self.check = check
    }

    /// Checks the response. A check that fails with ``OpenIDError/isProvisional`` may pass later.
    public func tokens() async throws(OpenIDError) -> Tokens { try await check() }
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
        if let scopes {
            form.append(("scope", client.registration.scopes(scopes, at: metadata).joined(separator: " ")))
        }
        form.append(("client_info", "1"))
        if let claims = client.registration.claimsParameter(claims) { form.append(("claims", claims)) }
        return try .authenticated(metadata.tokenEndpoint, metadata: metadata, client: client, form: form)
    }
}
