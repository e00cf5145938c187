import Cryptography
import Foundation
package import WebFormats

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
