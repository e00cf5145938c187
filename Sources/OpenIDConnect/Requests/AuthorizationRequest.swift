/// What the provider is to show (OpenID Connect Core section 3.1.2.1; facts). Nil where a prompt is optional means "if
/// necessary".
public enum Prompt: String, Sendable, Hashable, CaseIterable {
    /// The account picker. Excludes a login hint.
    case selectAccount = "select_account"
    /// The password, whatever session there is.
    case login
    /// The consent page.
    case consent
    /// The registration page.
    case create
    /// Nothing: answer at once, or with an error.
    case none
}

/// How the callback comes.
public enum ResponseMode: String, Sendable, Hashable {
    /// As a GET with parameters in the query: a SameSite=Lax cookie comes with it.
    case query
    /// As a cross-site POST: a SameSite=Lax cookie does not come with it.
    case formPost = "form_post"
}

/// The authorization request (RFC 6749 section 4.1.1): where the browser is sent to sign in.
public struct AuthorizationRequest: Sendable {
    /// What the provider is to show; nil: what is necessary.
    public var prompt: Prompt?
    /// How long ago the person may have proved who they are, in seconds; nil asks for nothing. A provider that knows
    /// `max_age` asks anew where it was longer ago, and says when it was (`auth_time`).
    public var maxAge: Int?
    /// The username to sign in. Left out beside `select_account`, which it excludes.
    public var loginHint: String?
    /// The tenant or domain whose sign-in page is wanted, or `consumers`.
    public var domainHint: String?
    /// Instead of the registration's scopes; the standard ones are added.
    public var scopes: [String]?
    /// Claims to ask for, as after a claims challenge.
    public var claims: ClaimsRequest?
    /// How the callback comes.
    public var responseMode: ResponseMode
    /// Parameters that the provider knows and this module does not, as `ui_locales`. One that is named like ours is left
    /// out: it cannot take another's place.
    public var extraParameters: [(name: String, value: String)] = []

    /// A request with everything left to the provider.
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

    /// What only this module may say, whether this request says it or not.
    public static let ownParameters: Set<String> = [
        "client_id", "client_secret", "client_assertion", "client_assertion_type", "response_type", "redirect_uri",
        "response_mode", "scope", "state", "nonce", "code_challenge", "code_challenge_method", "client_info", "prompt",
        "max_age", "login_hint", "domain_hint", "claims", "request", "request_uri", "id_token_hint", "registration",
        "p",
    ]

    /// The URL to redirect the browser to. It holds state and nonce: not for a log.
    public func url(
        metadata: ProviderMetadata, registration: ClientRegistration, attempt: AuthorizationAttempt
    ) -> String {
        var parameters: [(name: String, value: String)] = [
            ("client_id", registration.clientID),
            ("response_type", "code"),
            ("redirect_uri", registration.redirectURI),
            ("response_mode", responseMode.rawValue),
            ("scope", registration.scopeParameter(scopes ?? registration.scopes)),
            ("state", attempt.state),
            ("nonce", attempt.nonce),
            ("code_challenge", attempt.codeChallenge),
            ("code_challenge_method", "S256"),
            ("client_info", "1"),
        ]
        if let prompt { parameters.append(("prompt", prompt.rawValue)) }
        if let maxAge { parameters.append(("max_age", String(maxAge))) }
        if let loginHint, !loginHint.isEmpty, prompt != .selectAccount { parameters.append(("login_hint", loginHint)) }
        if let domainHint, !domainHint.isEmpty { parameters.append(("domain_hint", domainHint)) }
        if let claims = registration.claimsParameter(claims) { parameters.append(("claims", claims)) }
        for extra in extraParameters where !Self.ownParameters.contains(extra.name) { parameters.append(extra) }
        return metadata.authorizationEndpoint.appending(parameters)
    }
}

/// The logout request (OpenID Connect RP-Initiated Logout 1.0 section 2).
public struct LogoutRequest: Sendable {
    /// Where the provider sends the browser afterwards; must be registered.
    public var postLogoutRedirectURI: String?
    /// The ID token's `login_hint` claim: no account picker then.
    public var logoutHint: String?
    /// The ID token itself, which B2C and other providers ask for. Personal data: not for a log.
    public var idTokenHint: String?
    /// Comes back with the browser, which proves that the provider sent it.
    public var state: String?

    /// A request with what is known of the account.
    public init(
        postLogoutRedirectURI: String? = nil, logoutHint: String? = nil, idTokenHint: String? = nil,
        state: String? = nil
    ) {
        self.postLogoutRedirectURI = postLogoutRedirectURI
        self.logoutHint = logoutHint
        self.idTokenHint = idTokenHint
        self.state = state
    }

    /// The URL to redirect the browser to; nil when the provider has no such endpoint.
    public func url(metadata: ProviderMetadata, registration: ClientRegistration) -> String? {
        var parameters = [(name: "client_id", value: registration.clientID)]
        if let postLogoutRedirectURI { parameters.append(("post_logout_redirect_uri", postLogoutRedirectURI)) }
        if let logoutHint { parameters.append(("logout_hint", logoutHint)) }
        if let idTokenHint { parameters.append(("id_token_hint", idTokenHint)) }
        if let state { parameters.append(("state", state)) }
        return metadata.endSessionEndpoint?.appending(parameters)
    }
}

/// The request for an administrator's consent: to one tenant, or to organizations where it is not known yet.
public struct AdminConsentRequest: Sendable {
    private let endpoint: Endpoint

    /// - Parameters:
    ///   - authority: the application's.
    ///   - tenant: a tenant ID or domain instead of the authority's; refused when it is neither.
    public init(authority: Authority, tenant: String? = nil) throws(AuthorityError) {
        var authority = authority
        if let tenant { authority = try authority.withTenant(tenant) }
        endpoint = try Self.endpoint(of: authority)
    }

    /// The URL to redirect the browser to. It holds the state: not for a log.
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
