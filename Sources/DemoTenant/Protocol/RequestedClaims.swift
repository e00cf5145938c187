import HTTPTypes
import WebFormats

/// What the `claims` parameter asks of the access token (OpenID Connect Core §5.5), as far as the tenant acts on it.
struct RequestedClaims: Sendable, Hashable, Codable {
    /// The claims which a second-factor error handed out came back.
    var secondFactor = false
    /// `nbf`: the value that Graph's claims challenge handed out.
    var notBefore: Int?

    static let none = RequestedClaims()

    /// Throws for what is not a JSON object. Claims that the tenant does not know (`xms_cc` among them) are ignored.
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
    /// What the error's `claims` says (the real platform's shape; the value names a policy).
    static let claimsChallenge: String = {
        let claims: JSONValue = [
            "access_token": ["capolids": ["essential": true, "values": ["3d1c9a52-8f0e-4a86-b1c7-9e2f6d405a13"]]]
        ]
        return claims.text
    }()
}
