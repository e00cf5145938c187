import WebFormats

/// What the operator registered at the provider for one application, but for what proves who it is: that makes an
/// ``AuthenticatedClient`` of it.
public struct ClientRegistration: Sendable {
    /// The application's ID.
    public let clientID: String
    /// Exactly as registered: the provider compares every character.
    public var redirectURI: String
    /// What the application asks for at sign-in; ``standardScopes`` are added.
    public let scopes: [String]
    /// GUIDs of the tenants that the operator lists, in lower case: see ``AdmittedTenants``.
    public let allowedTenants: Set<String>
    /// What the client can handle, sent as the `xms_cc` claims request; `cp1` opts in to continuous access evaluation.
    public let clientCapabilities: [String]

    /// Always requested: an ID token with a name in it, and a refresh token.
    public static let standardScopes = ["openid", "profile", "offline_access"]

    /// OpenID Connect's own scopes, which belong to no API.
    static let openIDScopes = Set(standardScopes + ["email"])

    /// The APIs that the scopes belong to, each once in order, as Microsoft's platforms read them: an API's identifier stands
    /// before a scope's last slash, a scope without one is Microsoft Graph's, and a GUID alone is that application's own.
    public var apis: [String] {
        scopes.map(MicrosoftGraph.shortName).filter { !Self.openIDScopes.contains($0) }.map { name in
            guard let slash = name.lastIndex(of: "/") else { return isGUID(name) ? name : "Microsoft Graph" }
            // An identifier may end with a slash of its own, as in https://management.azure.com//.default.
            return String(name[..<slash].reversed().drop { $0 == "/" }.reversed())
        }.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// Takes the values as configured.
    public init(
        clientID: String, redirectURI: String, scopes: [String],
        allowedTenants: some Sequence<String> = [], clientCapabilities: [String] = []
    ) {
        self.clientID = clientID
        self.redirectURI = redirectURI
        self.scopes = scopes
        self.allowedTenants = Set(allowedTenants.map { $0.lowercased() })
        self.clientCapabilities = clientCapabilities
    }

    /// The `scope` parameter: what is asked for, then the standard ones, each once.
    func scopeParameter(_ requested: [String]) -> String {
        var seen: Set<String> = []
        return (requested + Self.standardScopes).filter { seen.insert($0).inserted }.joined(separator: " ")
    }

    /// The `claims` parameter: the client's capabilities with the request's claims merged in; nil when there are none.
    func claimsParameter(_ claims: ClaimsRequest?) -> String? {
        guard !clientCapabilities.isEmpty else { return claims?.json }
        let capabilities = ClaimsRequest.capabilities(clientCapabilities)
        return (claims.map(capabilities.merging) ?? capabilities).json
    }
}

/// A registered client with what proves who it is. Requests to the endpoints at which a client authenticates (RFC 6749
/// section 2.3) take nothing less.
public struct AuthenticatedClient: Sendable {
    /// What is registered.
    public var registration: ClientRegistration
    /// How the client proves who it is.
    public let authentication: ClientAuthentication

    /// Takes the registration and the proof as it is now.
    public init(_ registration: ClientRegistration, authentication: ClientAuthentication) {
        self.registration = registration
        self.authentication = authentication
    }
}

/// The `claims` request parameter (OpenID Connect Core section 5.5): capabilities, or a provider's claims challenge.
public struct ClaimsRequest: Sendable, Hashable {
    private let value: JSONValue

    /// Nil when the text is not a JSON object, or is longer than 8 KiB.
    public init?(json: String) {
        guard json.utf8.count <= 8192, let value = JSONValue(parsing: [UInt8](json.utf8)), value.object != nil else {
            return nil
        }
        self.value = value
    }

    private init(value: JSONValue) {
        self.value = value
    }

    /// Compact JSON with sorted members: equal requests have equal text.
    public var json: String { value.text }

    /// Both requests in one; where both name the same member, `other` wins.
    public func merging(_ other: ClaimsRequest) -> ClaimsRequest {
        ClaimsRequest(value: value.merging(other.value))
    }

    static func capabilities(_ capabilities: [String]) -> ClaimsRequest {
        let values = JSONValue.object(["values": .array(capabilities.map(JSONValue.string))])
        return ClaimsRequest(value: .object(["access_token": .object(["xms_cc": values])]))
    }
}
