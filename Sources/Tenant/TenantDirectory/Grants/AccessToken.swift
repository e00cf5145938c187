import Cryptography
import Foundation
package import WebFormats

/// The access tokens that the tenant's Graph accepts.
package enum AccessToken {
    /// Graph's application ID, which is the audience of its tokens.
    package static let graphAudience = "00000003-0000-0000-c000-000000000000"
    /// The `nbf` of a claims challenge that this token has met. The real platform has no such claim.
    package static let challengeClaim = "demo_claims_nbf"
    /// The number of the latest `expire_tokens` before this token was issued. The real platform has no such claim.
    package static let expiryClaim = "demo_expiry"
}

extension DemoAccount {
    /// Returns a pairwise subject. It is always the same for one user at one application, and cannot be used to
    /// recognise the user at another.
    package func subject(in tenantID: String, audience: String) -> String {
        let object = objectID(in: tenantID) ?? objectID
        return Base64URL.encode(SHA256.hash(data: Data("\(tenantID)|\(object)|\(audience)".utf8)))
    }
}

extension TenantState {
    /// The first characters of an opaque access token, as of the real platform's for personal accounts (id-msa-06).
    private static let opaquePrefix = "EwB"

    /// Returns an access token that nobody else can read.
    package func opaqueToken(_ claims: [String: JSONValue]) throws -> String {
        Self.opaquePrefix + (try sealer.seal(JSONValue.object(claims).text, for: .accessToken))
    }

    /// Returns the claims of a token that has a valid signature of one of our keys, or that only we can read.
    package func verifiedClaims(_ token: String) -> JSONValue? {
        if token.hasPrefix(Self.opaquePrefix) {
            let text = sealer.open(
                String(token.dropFirst(Self.opaquePrefix.count)), for: .accessToken, as: String.self)
            return text.flatMap { JSONValue(parsing: $0.utf8) }
        }
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard let first = parts.first, let header = Base64URL.decode(first.utf8).flatMap({ JSONValue(parsing: $0) }),
            let key = header["kid"]?.string.flatMap(key)
        else { return nil }
        return key.claims(of: parts, header: header.object ?? [:])
    }
}

extension JSONValue {
    /// The client of an access token of either version.
    package var clientIDOfToken: String? { (self["appid"] ?? self["azp"])?.string }
}
