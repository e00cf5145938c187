import Cryptography
public import FoundationEssentials
public import WebFormats

/// The claims of an ID token that passed every check. They describe a person: never log them.
public struct IDTokenClaims: Sendable, Redacted {
    /// `iss`
    public let issuer: String
    /// `sub`: the person's identifier, for this client only.
    public let subject: String
    /// `tid`, unchanged; every workforce token has it.
    public let tenantID: String?
    /// The user flow of a B2C token in lower case: `tfp`, or `acr` in older tokens.
    public let policy: String?
    /// `oid`: the person's identifier in the tenant.
    public let objectID: String?
    /// `preferred_username`: to be shown and used in hints, never a key.
    public let preferredUsername: String?
    /// `name`
    public let name: String?
    /// `email`, or the first of a B2C user flow's `emails`.
    public let email: String?
    /// `sid`: the provider's session, for front-channel logout.
    public let sessionID: String?
    /// `login_hint`: the hint for logout.
    public let loginHint: String?
    /// `exp`
    public let expiresOn: Date
    /// `iat`
    public let issuedAt: Date
    /// `auth_time`; nil if the provider does not send it.
    public let authenticationTime: AuthenticationTime?
    /// The JSON text of all claims, as it was signed.
    public let json: String

    let audience: [String]
    let authorizedParty: String?
    let notBefore: Date?
    let nonce: String?

    /// Returns any claim of the token by its name; each call parses the JSON text.
    public subscript(name: String) -> JSONValue? { JSONValue(parsing: Array(json.utf8))?[name] }

    /// The name to show: the preferred username, otherwise the e-mail address, otherwise the name; nil if the token has
    /// none of them, for example with providers that leave it to UserInfo.
    public var username: String? { [preferredUsername, email, name].lazy.compactMap(\.self).first { !$0.isEmpty } }

    /// The account's key if there is no `client_info`: `oid.tid`, otherwise a hash of `iss` and `sub`.
    var fallbackAccountID: String {
        if let objectID, let tenantID { return "\(objectID).\(tenantID)" }
        return Base64URL.encode(SHA256.hash(data: "\(issuer)\n\(subject)".utf8))
    }

    /// Reads the claims, and checks their types and that the required ones exist (OpenID Connect Core section 2). The
    /// issuer rule decides whether `tid` is required.
    init(_ token: SignedToken) throws(OpenIDError) {
        let payload = token.payload
        issuer = try Self.required("iss", in: payload, \.string)
        subject = try Self.required("sub", in: payload) {
            $0.string.flatMap { (1...255).contains($0.utf8.count) ? $0 : nil }
        }
        expiresOn = try Self.required("exp", in: payload, Self.date)
        issuedAt = try Self.required("iat", in: payload, Self.date)
        audience = try Self.required("aud", in: payload, Self.audience)
        tenantID = payload["tid"]?.string
        objectID = payload["oid"]?.string
        // Identifiers are compared, stored and logged, and databases cannot store a NUL in a text.
        for (name, value) in [("sub", subject), ("tid", tenantID), ("oid", objectID)] {
            guard value.map(Self.isWithoutControls) ?? true else { throw OpenIDError(missingClaim: name) }
        }
        notBefore = try Self.optional("nbf", in: payload, Self.date)
        authorizedParty = try Self.optional("azp", in: payload, \.string)
        nonce = try Self.optional("nonce", in: payload, \.string)
        policy = (payload["tfp"]?.string ?? payload["acr"]?.string)?.lowercased()
        preferredUsername = payload["preferred_username"]?.string
        name = payload["name"]?.string
        email = payload["email"]?.string ?? payload["emails"]?.array?.first?.string
        sessionID = payload["sid"]?.string
        loginHint = payload["login_hint"]?.string
        authenticationTime = AuthenticationTime(in: payload)
        json = token.payloadText
    }

    private static func isWithoutControls(_ text: String) -> Bool { !text.unicodeScalars.contains(where: isControl) }

    /// Whether this is one of Unicode's 65 control characters, which stay the same in all its versions.
    static func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.value < 0x20 || 0x7F...0x9F ~= scalar.value }

    /// Reads a claim that may be missing, but must not have another type.
    private static func optional<Value>(
        _ name: String, in payload: JSONValue, _ read: (JSONValue) -> Value?
    ) throws(OpenIDError) -> Value? {
        payload[name] == nil ? nil : try required(name, in: payload, read)
    }

    private static func required<Value>(
        _ name: String, in payload: JSONValue, _ read: (JSONValue) -> Value?
    ) throws(OpenIDError) -> Value {
        guard let value = payload[name].flatMap(read) else { throw OpenIDError(missingClaim: name) }
        return value
    }

    /// Reads a NumericDate (RFC 7519 section 2), up to the year 9999, so that adding to it is harmless.
    private static func date(_ value: JSONValue) -> Date? {
        value.double.flatMap { (0...253_402_300_799).contains($0) ? Date(timeIntervalSince1970: $0) : nil }
    }

    /// Reads one string, or an array of strings.
    private static func audience(_ value: JSONValue) -> [String]? {
        if let one = value.string { return [one] }
        guard let several = value.array else { return nil }
        let strings = several.compactMap(\.string)
        return strings.count == several.count ? strings : nil
    }
}
