import WebFormats

/// The checked part of an OpenID Connect discovery document that a relying party needs (OpenID Connect Discovery 1.0
/// section 4.3). Every endpoint is https, or http on a loopback host if the authority itself is on one.
public struct ProviderMetadata: Sendable, Hashable {
    /// The authority whose document it is.
    public let authority: Authority
    /// The issuer in the document; for common and organizations it contains `{tenantid}`.
    public let issuer: String
    /// The endpoint to which the browser goes to sign in.
    public let authorizationEndpoint: Endpoint
    /// The endpoint at which codes and refresh tokens are redeemed.
    public let tokenEndpoint: Endpoint
    /// The endpoint of the signing keys.
    public let keysEndpoint: Endpoint
    /// The endpoint to which the browser goes to sign out.
    public let endSessionEndpoint: Endpoint?
    /// The endpoint that returns claims about the person for an access token (OpenID Connect Core section 5.3).
    public let userInfoEndpoint: Endpoint?
    /// The endpoint at which tokens are revoked (RFC 7009).
    public let revocationEndpoint: Endpoint?
    /// The endpoint that takes authorization requests in advance (RFC 9126).
    public let pushedAuthorizationEndpoint: Endpoint?
    /// Whether the provider takes no others (`require_pushed_authorization_requests`).
    public let requiresPushedAuthorization: Bool
    /// Whether every callback must name its issuer (RFC 9207 section 2.4).
    public let requiresIssuerInCallback: Bool

    /// Whether the issuer has the configured kind, where discovery leaves that open: an external tenant's issuer begins
    /// with the tenant's ID, for example `https://{GUID}.ciamlogin.com/{GUID}/v2.0`. Nil if only the tenant's owner can
    /// know, also at a numeric address of this machine, in front of which no ID can stand.
    public var isOfConfiguredKind: Bool? {
        guard authority.kind == .external, let tenantID, let endpoint = Endpoint(issuer),
            !endpoint.host.hasPrefix(tenantID + ".")
        else { return true }
        guard !endpoint.isLoopback || endpoint.host.hasSuffix("localhost") else { return nil }
        return authority.isWorkforce(issuer: endpoint) ? false : nil
    }

    let issuerRule: IssuerRule
    /// Whether `scopes_supported` lists `offline_access`.
    let offersOfflineAccess: Bool
    /// The methods with which clients may authenticate at the token endpoint; nil when the document does not name them.
    let secretMethods: [String]?

    init(parsing response: ProviderResponse, of authority: Authority, now: ProviderClock) throws(OpenIDError) {
        let document = try ProviderAnswer(response, now: now).document(named: "discovery document")
        let named = document["issuer"]?.string
        guard let issuer = named,
            let rule = IssuerRule(metadataIssuer: issuer, authority: authority)
        else {
            let other = named.flatMap { Endpoint($0) }.map { " It is that of \($0)." } ?? ""
            throw Self.invalid("The discovery document's issuer is not that of \(authority).\(other)")
        }
        self.authority = authority
        self.issuer = issuer
        issuerRule = rule
        authorizationEndpoint = try Self.endpoint("authorization_endpoint", in: document, of: authority)
        tokenEndpoint = try Self.endpoint("token_endpoint", in: document, of: authority)
        keysEndpoint = try Self.endpoint("jwks_uri", in: document, of: authority)
        endSessionEndpoint = try Self.optionalEndpoint("end_session_endpoint", in: document, of: authority)
        userInfoEndpoint = try Self.optionalEndpoint("userinfo_endpoint", in: document, of: authority)
        revocationEndpoint = try Self.optionalEndpoint("revocation_endpoint", in: document, of: authority)
        pushedAuthorizationEndpoint = try Self.optionalEndpoint(
            "pushed_authorization_request_endpoint", in: document, of: authority)
        requiresPushedAuthorization = document["require_pushed_authorization_requests"] == .bool(true)
        offersOfflineAccess =
            document["scopes_supported"]?.array?.contains(.string(ClientRegistration.offlineAccess)) ?? false
        secretMethods = document["token_endpoint_auth_methods_supported"]?.array?.compactMap(\.string)
        requiresIssuerInCallback = document["authorization_response_iss_parameter_supported"] == .bool(true)
    }

    private static func endpoint(
        _ name: String, in document: JSONValue, of authority: Authority
    ) throws(OpenIDError) -> Endpoint {
        guard let endpoint = document[name]?.string.flatMap({ Endpoint($0) }) else {
            throw invalid("The discovery document of \(authority) has no usable \(name).")
        }
        guard endpoint.scheme == "https" || endpoint.isLoopback && authority.isLoopback else {
            throw invalid("The discovery document of \(authority) names a \(name) that is not https.")
        }
        return endpoint
    }

    private static func optionalEndpoint(
        _ name: String, in document: JSONValue, of authority: Authority
    ) throws(OpenIDError) -> Endpoint? {
        switch document[name] {
        case nil, .null: nil
        default: try endpoint(name, in: document, of: authority)
        }
    }

    static func invalid(_ reason: String) -> OpenIDError {
        OpenIDError(.invalidMetadata, reason + " Check the configured authority.")
    }
}
