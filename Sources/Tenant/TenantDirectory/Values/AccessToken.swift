package import WebFormats

/// The access tokens that the tenant's Graph accepts.
package enum AccessToken {
    /// Graph's application ID, which is the audience of its tokens.
    package static let graphAudience = "00000003-0000-0000-c000-000000000000"
    /// The `nbf` of a claims challenge that this token has met. The real platform has no such claim.
    package static let challengeClaim = "demo_claims_nbf"
    /// The number of the latest `expire_tokens` before this token was issued. The real platform has no such claim.
    package static let expiryClaim = "demo_expiry"
    /// The seconds by which tokens are backdated for clocks that are behind, as on the real platform.
    package static let backdating = 300
    /// Says of a token for Graph that its client takes claims challenges (`cp1`). The real platform has no such claim.
    package static let capabilityClaim = "demo_cp1"
}

extension JSONValue {
    /// The client of an access token of either version.
    package var clientIDOfToken: String? { (self["appid"] ?? self["azp"])?.string }
}
