import HTTPTypes
import WebFormats

/// The claims that the `claims` parameter requests for the access token (OpenID Connect Core §5.5), as far as the
/// tenant uses them.
struct RequestedClaims: Sendable, Hashable, Codable {
    /// Whether the claims of a second-factor error were sent back.
    var secondFactor = false
    /// `nbf`: the value from Graph's claims challenge.
    var notBefore: Int?

    static let none = RequestedClaims()

    /// Parses the parameter. Throws if the text is not a JSON object. Claims that the tenant does not know (including
    /// `xms_cc`) are ignored.
    init(_ text: String?) throws(PlatformError) {
        guard let text, !text.isEmpty else { return }
        guard let claims = JSONValue(parsing: text.utf8), claims.object != nil else { throw .malformedRequest }
        let accessToken = claims["access_token"]
        secondFactor = accessToken?["capolids"] != nil || accessToken?["acrs"] != nil
        let value = accessToken?["nbf"]?["value"]
        notBefore = value?.integer ?? value?.string.flatMap { Int($0) }
    }

    private init() {}
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
