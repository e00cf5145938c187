import HTTPTypes
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
        let capabilities = Self.values(accessToken?["xms_cc"]).map { $0.lowercased() }
        self.capabilities = Self.knownCapabilities.filter(capabilities.contains)
    }

    private init() {}

    /// The authentication contexts of both tokens.
    var contexts: [String] { (accessTokenContexts ?? []) + (idTokenContexts ?? []) }

    /// Returns the contexts and the capabilities of both requests, and the rest of this one.
    func including(_ other: RequestedClaims) -> RequestedClaims {
        var claims = self
        claims.accessTokenContexts = AuthenticationContext.known(
            (accessTokenContexts ?? []) + (other.accessTokenContexts ?? []))
        claims.idTokenContexts = AuthenticationContext.known((idTokenContexts ?? []) + (other.idTokenContexts ?? []))
        claims.capabilities = capabilities.flatMap { $0.isEmpty ? nil : $0 } ?? other.capabilities
        return claims
    }

    /// Returns the requested value or values of a claim.
    private static func values(_ claim: JSONValue?) -> [String] {
        ([claim?["value"]] + (claim?["values"]?.array ?? [])).compactMap { $0?.string }
    }
}

/// The demand for a second factor.
enum SecondFactor {
    /// The error's `claims`, in the real platform's form. The value identifies a policy.
    static let claimsChallenge: String = {
        let claims: JSONValue = [
            "access_token": ["capolids": ["essential": true, "values": ["3d1c9a52-8f0e-4a86-b1c7-9e2f6d405a13"]]]
        ]
        return claims.text
    }()
}
