/// A page that the provider shows (OpenID Connect Core section 3.1.2.1). Where a prompt is optional, nil means "if
/// necessary".
public enum Prompt: String, Sendable, Hashable, CaseIterable {
    /// The account picker. It excludes a login hint.
    case selectAccount = "select_account"
    /// The password, even if there is a session.
    case login
    /// The consent page.
    case consent
    /// The registration page.
    case create
    /// No page: the provider responds at once, possibly with an error.
    case none
}

/// The way in which the callback arrives.
public enum ResponseMode: String, Sendable, Hashable {
    /// A GET with parameters in the query. A SameSite=Lax cookie is sent with it.
    case query
    /// A cross-site POST. A SameSite=Lax cookie is not sent with it.
    case formPost = "form_post"
}

/// The authorization request (RFC 6749 section 4.1.1), to which the browser is sent to sign in.
public struct AuthorizationRequest: Sendable {
    /// A page that the provider has to show; nil means that it shows what is necessary.
    public var prompt: Prompt?
    /// The maximum age of the person's authentication, in seconds; nil for no limit. A provider that supports `max_age`
    /// authenticates the person again if it is older, and reports the time (`auth_time`).
    public var maxAge: Int?
    /// The requested authentication context class references, separated by spaces, the preferred one first; nil
    /// requests none.
    public var acrValues: String?
    /// The username to sign in. It is omitted with `select_account`, which excludes it.
    public var loginHint: String?
    /// The tenant or domain whose sign-in page is shown, or `consumers`.
    public var domainHint: String?
    /// Scopes that replace the registration's; the standard ones are added.
    public var scopes: [String]?
    /// Claims to request, for example after a claims challenge.
    public var claims: ClaimsRequest?
    /// The way in which the callback arrives.
    public var responseMode: ResponseMode
    /// Whether consent is asked for beside the prompt. Some providers grant `offline_access` only then (OpenID Connect
    /// Core section 11), and refuse the request with `invalid_request` otherwise.
    public var asksForConsent = false
    /// Parameters that the provider supports and this module does not, such as `ui_locales`. A parameter with the name
    /// of one of ours is omitted, so that it cannot replace it.
    public var extraParameters: [(name: String, value: String)] = []

    /// Creates a request that leaves everything else to the provider.
    public init(
        prompt: Prompt? = nil, loginHint: String? = nil, domainHint: String? = nil, scopes: [String]? = nil,
        claims: ClaimsRequest? = nil, responseMode: ResponseMode = .query
    ) {
        self.prompt = prompt
        self.loginHint = loginHint
        self.domainHint = domainHint
        self.scopes = scopes
        self.claims = claims
        self.responseMode = responseMode
    }

    /// The parameters that only this module may set, whether this request has them or not.
    public static let ownParameters: Set<String> = [
        "client_id", "client_secret", "client_assertion", "client_assertion_type", "response_type", "redirect_uri",
        "response_mode", "scope", "state", "nonce", "code_challenge", "code_challenge_method", "client_info", "prompt",
        "max_age", "acr_values", "login_hint", "domain_hint", "claims", "request", "request_uri", "id_token_hint",
        "registration",
        "p",
    ]

    /// Returns the URL to which the browser is redirected. It contains state and nonce: never log it.
    public func url(
        metadata: ProviderMetadata, registration: ClientRegistration, attempt: AuthorizationAttempt
    ) -> String {
        metadata.authorizationEndpoint.appending(
            parameters(metadata: metadata, registration: registration, attempt: attempt))
    }

    /// Whether the request asks for `offline_access` and could ask for consent, too. Microsoft's platforms do not need
    /// it.
    public func mayLackConsent(metadata: ProviderMetadata, registration: ClientRegistration) -> Bool {
        let hasQuestion = prompt.map { $0 == .login || $0 == .selectAccount } ?? true
        return metadata.authority.kind == .oidc && !asksForConsent && hasQuestion
            && requestedScopes(metadata, registration).contains(ClientRegistration.offlineAccess)
    }

    private func requestedScopes(_ metadata: ProviderMetadata, _ registration: ClientRegistration) -> [String] {
        registration.scopes(scopes ?? registration.scopes, at: metadata)
    }

    /// Returns the parameters of the request.
    func parameters(
        metadata: ProviderMetadata, registration: ClientRegistration, attempt: AuthorizationAttempt
    ) -> [(name: String, value: String)] {
        let scopeParameter = requestedScopes(metadata, registration).joined(separator: " ")
        var parameters: [(name: String, value: String)] = [
            ("client_id", registration.clientID),
            ("response_type", "code"),
            ("redirect_uri", registration.redirectURI),
            ("response_mode", responseMode.rawValue),
            ("scope", scopeParameter),
            ("state", attempt.state),
            ("nonce", attempt.nonce),
            ("code_challenge", attempt.codeChallenge),
            ("code_challenge_method", "S256"),
            ("client_info", "1"),
        ]
        let prompts = [prompt, asksForConsent ? .consent : nil].compactMap { $0?.rawValue }
        if !prompts.isEmpty { parameters.append(("prompt", prompts.joined(separator: " "))) }
        if let maxAge { parameters.append(("max_age", String(maxAge))) }
        if let acrValues { parameters.append(("acr_values", acrValues)) }
        if let loginHint, !loginHint.isEmpty, prompt != .selectAccount { parameters.append(("login_hint", loginHint)) }
        if let domainHint, !domainHint.isEmpty { parameters.append(("domain_hint", domainHint)) }
        if let claims = registration.claimsParameter(claims) { parameters.append(("claims", claims)) }
        for extra in extraParameters where !Self.ownParameters.contains(extra.name) { parameters.append(extra) }
        return parameters
    }
}

/// The logout request (OpenID Connect RP-Initiated Logout 1.0 section 2).
public struct LogoutRequest: Sendable {
    /// The address to which the provider sends the browser afterwards; it must be registered.
    public var postLogoutRedirectURI: String?
    /// The ID token's `login_hint` claim. With it, no account picker is shown.
    public var logoutHint: String?
    /// The ID token itself, which B2C and other providers require. Personal data: never log it.
    public var idTokenHint: String?
    /// The `state`, which comes back with the browser and proves that the provider sent it.
    public var state: String?

    /// Creates a request with the known values of the account.
    public init(
        postLogoutRedirectURI: String? = nil, logoutHint: String? = nil, idTokenHint: String? = nil,
        state: String? = nil
    ) {
        self.postLogoutRedirectURI = postLogoutRedirectURI
        self.logoutHint = logoutHint
        self.idTokenHint = idTokenHint
        self.state = state
    }

    /// Returns the URL to which the browser is redirected; nil when the provider has no such endpoint.
    public func url(metadata: ProviderMetadata, registration: ClientRegistration) -> String? {
        var parameters = [(name: "client_id", value: registration.clientID)]
        if let postLogoutRedirectURI { parameters.append(("post_logout_redirect_uri", postLogoutRedirectURI)) }
        if let logoutHint { parameters.append(("logout_hint", logoutHint)) }
        if let idTokenHint { parameters.append(("id_token_hint", idTokenHint)) }
        if let state { parameters.append(("state", state)) }
        return metadata.endSessionEndpoint?.appending(parameters)
    }
}

/// The request for an administrator's consent: to one tenant, or to organizations if the tenant is not known yet.
public struct AdminConsentRequest: Sendable {
    private let endpoint: Endpoint

    /// - Parameters:
    ///   - authority: the application's authority.
    ///   - tenant: a tenant ID or domain that replaces the authority's; refused when it is neither.
    public init(authority: Authority, tenant: String? = nil) throws(AuthorityError) {
        var authority = authority
        if let tenant { authority = try authority.withTenant(tenant) }
        endpoint = try Self.endpoint(of: authority)
    }

    /// Returns the URL to which the browser is redirected. It contains the state: never log it.
    public func url(registration: ClientRegistration, attempt: AuthorizationAttempt) -> String {
        endpoint.appending([
            ("client_id", registration.clientID),
            ("scope", registration.scopes.joined(separator: " ")),
            ("redirect_uri", registration.redirectURI),
            ("state", attempt.state),
        ])
    }

    private static func endpoint(of authority: Authority) throws(AuthorityError) -> Endpoint {
        guard authority.kind == .workforce else {
            throw AuthorityError(reason: "Administrators agree at workforce authorities only.")
        }
        switch authority.segment {
        case .tenant(let name): return authority.endpoint(path: "/\(name)/v2.0/adminconsent")
        case .common, .organizations:
            return authority.endpoint(path: "/organizations/v2.0/adminconsent")
        case .consumers, nil:
            throw AuthorityError(reason: "An administrator agrees for one tenant: name its ID or one of its domains.")
        }
    }
}
