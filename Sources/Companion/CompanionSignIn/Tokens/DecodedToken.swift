package import WebFormats

/// A token's header and payload, decoded for developers without a key, and without the signature.
package struct DecodedToken {
    /// Claims that identify a session, a device or a sign-in. They are masked unless whole tokens are shown.
    private static let masked: Set<String> = [
        "nonce", "sid", "aio", "rh", "uti", "at_hash", "c_hash", "deviceid", "login_hint", "ipaddr", "xms_st",
    ]

    package let header: [String: JSONValue]
    package let payload: [String: JSONValue]

    /// Decodes a token; returns nil if it is not a JSON Web Token, which only the API can read.
    package init?(_ token: String) {
        let parts = token.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let header = DecodedToken.object(parts[0]), let payload = DecodedToken.object(parts[1])
        else { return nil }
        self.header = header
        self.payload = payload
    }

    /// Returns the payload for a page, without the nonce, which is a secret of the sign-in (security law 1).
    package func payload(isFull: Bool) -> [String: JSONValue] { DecodedToken.shown(payload, isFull: isFull) }

    /// Returns the claims of an account, or of a token, for a page.
    package static func shown(_ claims: [String: JSONValue], isFull: Bool) -> [String: JSONValue] {
        var claims = claims
        for name in isFull ? ["nonce"] : masked where claims[name] != nil { claims[name] = "…" }
        return claims
    }

    /// Returns a time from the payload, in seconds since 1970.
    package func time(_ name: String) -> Int? {
        payload[name]?.double.flatMap { Int(exactly: $0.rounded(.towardZero)) }
    }

    private static func object(_ part: Substring.UTF8View) -> [String: JSONValue]? {
        Base64URL.decode(part).flatMap { JSONValue(parsing: $0)?.object }
    }
}
