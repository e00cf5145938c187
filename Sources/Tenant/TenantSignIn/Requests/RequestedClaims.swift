import HTTPTypes
import TenantDirectory
import WebFormats

/// The claims that the `claims` parameter requests (OpenID Connect Core §5.5), as far as the tenant uses them.
struct RequestedClaims: Sendable, Hashable, Codable {
    /// Whether the claims of a second-factor error were sent back.
    var secondFactor = false
    /// `nbf`: the value from Graph's claims challenge.
    var notBefore: Int?
    /// `acrs`: the authentication contexts of the access token. A code from an older version has none.
    var accessTokenContexts: [String]?
    /// `acrs`: the authentication contexts of the ID token. A code from an older version has none.
    var idTokenContexts: [String]?
    /// `xms_cc`: the capabilities of the client. A code from an older version has none.
    var capabilities: [String]?
    /// Whether `auth_time` is there because of `max_age` or its own request. A code from an older version has none.
    var hasMaxAge: Bool?

    static let none = RequestedClaims()

    /// The capabilities that exist: `cp1` stands for claims challenges.
    private static let knownCapabilities = ["cp1"]

    /// Parses the parameter. Throws if the text is not a JSON object. Claims and values that the tenant does not know are
    /// ignored.
    init(_ text: String?) throws(PlatformError) {
        guard let text, !text.isEmpty else { return }
        guard let claims = JSONValue(parsing: text.utf8), claims.object != nil else { throw .malformedRequest }
        let accessToken = claims["access_token"]
        secondFactor = accessToken?["capolids"] != nil
        let value = accessToken?["nbf"]?["value"]
        notBefore = value?.integer ?? value?.string.flatMap { Int($0) }
        accessTokenContexts = AuthenticationContext.known(Self.values(accessToken?["acrs"]))
        idTokenContexts = AuthenticationContext.known(Self.values(claims["id_token"]?["acrs"]))
        if claims["id_token"]?.object?["auth_time"] != nil { hasMaxAge = true }
        let capabilities = Self.values(accessToken?["xms_cc"]).map { $0.lowercased() }
        self.capabilities = Self.knownCapabilities.filter(capabilities.contains)
    }

    private init() {}

    /// Whether the client takes claims challenges.
    var takesChallenges: Bool { capabilities?.contains("cp1") == true }

    /// The authentication contexts of both tokens.
    var contexts: [String] { (accessTokenContexts ?? []) + (idTokenContexts ?? []) }

    /// Returns the contexts and the capabilities of both requests, and the rest of this one.
    func including(_ other: RequestedClaims) -> RequestedClaims {
        var claims = self
        claims.accessTokenContexts = AuthenticationContext.known(
            (accessTokenContexts ?? []) + (other.accessTokenContexts ?? []))
        claims.idTokenContexts = AuthenticationContext.known((idTokenContexts ?? []) + (other.idTokenContexts ?? []))
        claims.hasMaxAge = hasMaxAge ?? other.hasMaxAge
        claims.capabilities = capabilities.flatMap { $0.isEmpty ? nil : $0 } ?? other.capabilities
        return claims
    }

    /// Returns the requested value or values of a claim.
    private static func values(_ claim: JSONValue?) -> [String] {
        ([claim?["value"]] + (claim?["values"]?.array ?? [])).compactMap { $0?.string }
    }
}

extension Grants {
    /// Throws if a request without a page asks for contexts whose policy is not met.
    func checkContexts(
        _ claims: RequestedClaims, of account: DemoAccount, by authentication: Authentication
    ) throws(PlatformError) {
        let unmet = unmet(claims.contexts, of: account, by: authentication)
        if unmet.values.contains(.blocked) { throw .blockedByPolicy }
        guard !unmet.isEmpty else { return }
        var error = unmet.values.contains(.secondFactor) ? PlatformError.secondFactorNeeded : .passwordNeeded
        error.claims = AuthenticationContext.claims(
            accessToken: (claims.accessTokenContexts ?? []).filter { unmet[$0] != nil },
            idToken: (claims.idTokenContexts ?? []).filter { unmet[$0] != nil })
        throw error
    }
}

extension PlatformError {
    fileprivate static let passwordNeeded = Self(
        error: "interaction_required", number: 70043,
        message: "The sign-in is older than conditional access allows for this (sign-in frequency).",
        suberror: "basic_action")
}
