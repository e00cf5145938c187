import WebFormats

/// The ways in which the tenant can differ from normal. A rule sets some of them; nil leaves one alone.
struct Effects: Sendable {
    var accessTokenSeconds: Int?
    var refreshTokenSeconds: Int?
    /// Whether a refresh token that is used twice revokes its family (RFC 9700 section 4.14.2).
    var hasSingleUseRefreshTokens: Bool?
    /// The responses to send instead of the real ones.
    var tokenError: Controls.InjectedAnswer?
    var graphError: Controls.InjectedAnswer?
    /// The delays, in milliseconds.
    var tokenDelay: Int?
    var graphDelay: Int?
    /// The endpoint whose requests get no response.
    var closedConnection: Controls.Endpoint?
    /// Whether the responses to token requests are lost: the request is carried out, but the client gets a gateway's 504.
    var losesTokenAnswer: Bool?
    var outage: Controls.Outage?
    /// The value of the claim `nbf` that Graph requires in the request for a token.
    var claimsChallenge: Int?
    /// The number that access tokens have to carry, or a higher one, in order not to count as expired.
    var tokenExpiry: Int?
    /// The fault of the ID token for a code.
    var idTokenFault: DemoIDTokenFault?
    /// The numbers of errors.
    var tokenPlatformError: Int?
    var authorizePlatformError: Int?
    /// A scope that the APIs require in every token.
    var missingScope: String?
    /// A scope that is never granted.
    var declinedScope: String?
    /// B2C: whether the older form of issuer and user-flow claim is used.
    var hasIssuerWithoutPolicy: Bool?
    /// Claims of ID tokens that replace the real ones; null omits a claim.
    var idTokenClaims: [String: JSONValue]?
    /// Whether ID tokens lack `auth_time`, like those of Entra ID without that optional claim.
    var omitsAuthTime: Bool?
    /// Whether `prompt=login` and `max_age` are ignored, as by a provider that does not support them.
    var ignoresFreshness: Bool?
    /// Whether the tenant behaves like another provider: a refresh cannot request more than was granted, and there is a
    /// revocation endpoint.
    var isGeneric: Bool?
    /// Whether the published keys include one of a type that clients do not know.
    var publishesUnknownKey: Bool?
}

extension Controls {
    /// A response to send instead of the real one.
    struct InjectedAnswer: Sendable, Hashable {
        var status: Int
        /// The body. A string is sent unchanged, anything else as JSON.
        var body: JSONValue
        var headers: [String: String]
    }

    /// The endpoints that can fail.
    enum Endpoint: String, Sendable, CaseIterable { case token, graph }

    /// The platforms that can stop responding, as if they were down or unreachable.
    enum Outage: String, Sendable, CaseIterable {
        case all, workforce, external, b2c

        /// Whether the outage covers the tenant whose path begins like this.
        func covers(_ tenant: String) -> Bool {
            let name = tenant.lowercased()
            let own: Outage =
                name.hasPrefix("tfp") || TenantSegment.isUserFlowTenant(String(name.prefix { $0 != "/" }))
                ? .b2c : [Tenant.fabrikam, Tenant.fabrikamDomain].contains(name) ? .external : .workforce
            return self == .all || self == own
        }
    }

    /// The endpoint that returns an error by number.
    enum PlatformErrorEndpoint: String, Sendable, CaseIterable { case authorize, token }
}
