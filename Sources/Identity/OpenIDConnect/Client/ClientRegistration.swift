import WebFormats

/// The operator's registration of one application at the provider, without the credential: that turns it into an
/// ``AuthenticatedClient``.
public struct ClientRegistration: Sendable {
    /// The application's ID.
    public let clientID: String
    /// The redirect URI exactly as registered: the provider compares every character.
    public var redirectURI: String
    /// The scopes that the application requests at sign-in; ``standardScopes`` are added, unless ``scopesAreComplete``.
    public let scopes: [String]
    /// Whether nothing but `openid` is added to the scopes. Microsoft's platforms ignore this, because they grant the
    /// standard scopes to everyone.
    public let scopesAreComplete: Bool
    /// The GUIDs of the tenants that the operator lists, in lower case: see ``AdmittedTenants``.
    public let allowedTenants: Set<String>
    /// The client's capabilities, sent as the `xms_cc` claims request; `cp1` opts in to continuous access evaluation.
    public let clientCapabilities: [String]

    /// The scopes that are added: for an ID token with a name in it, and a refresh token.
    public static let standardScopes = ["openid", "profile", offlineAccess]

    /// The scope that asks for a refresh token.
    static let offlineAccess = "offline_access"

    /// OpenID Connect's own scopes, which do not belong to any API.
    static let openIDScopes = Set(standardScopes + ["email"])

    /// The name of Microsoft Graph among ``apis``.
    public static let graphName = "Microsoft Graph"

    /// The APIs of the scopes, without duplicates, in order, in the notation of Microsoft's platforms: an API's
    /// identifier stands before a scope's last slash, a scope without a slash is Microsoft Graph's, and a GUID alone is
    /// that application's own.
    public var apis: [String] {
        scopes.map(MicrosoftGraph.shortName).filter { !Self.openIDScopes.contains($0) }.map { name in
            guard let slash = name.lastIndex(of: "/") else { return isGUID(name) ? name : Self.graphName }
            // An identifier may end with a slash of its own, for example in https://management.azure.com//.default.
            return String(name[..<slash].reversed().drop { $0 == "/" }.reversed())
        }.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// Creates a registration from configured values.
    public init(
        clientID: String, redirectURI: String, scopes: [String], scopesAreComplete: Bool = false,
        allowedTenants: some Sequence<String> = [], clientCapabilities: [String] = []
    ) {
        self.clientID = clientID
        self.redirectURI = redirectURI
        self.scopes = scopes
        self.scopesAreComplete = scopesAreComplete
        self.allowedTenants = Set(allowedTenants.map { $0.lowercased() })
        self.clientCapabilities = clientCapabilities
    }

    /// Returns the scopes to request, without duplicates: those that are wanted, then the standard ones.
    func scopes(_ wanted: [String], at metadata: ProviderMetadata) -> [String] {
        var seen: Set<String> = []
        return (wanted + addedScopes(at: metadata)).filter { seen.insert($0).inserted }
    }

    /// The standard scopes, as far as the provider knows them. Some providers refuse every sign-in for the sake of
    /// `offline_access`: those that lack it, and those that demand consent with it (OpenID Connect Core section 11).
    private func addedScopes(at metadata: ProviderMetadata) -> [String] {
        guard metadata.authority.kind == .oidc else { return Self.standardScopes }
        guard !scopesAreComplete else { return ["openid"] }
        return Self.standardScopes.filter { $0 != Self.offlineAccess || metadata.offersOfflineAccess }
    }

    /// Returns the `claims` parameter: the client's capabilities merged with the request's claims; nil if there are
    /// none.
    public func claimsParameter(_ claims: ClaimsRequest?) -> String? {
        guard !clientCapabilities.isEmpty else { return claims?.json }
        let capabilities = ClaimsRequest.capabilities(clientCapabilities)
        return (claims.map(capabilities.merging) ?? capabilities).json
    }
}

/// A registered client with its credential. Requests to the endpoints at which a client authenticates (RFC 6749 section
/// 2.3) require this type.
public struct AuthenticatedClient: Sendable {
    /// The client's registration.
    public var registration: ClientRegistration
    /// The client's credential.
    public let authentication: ClientAuthentication

    /// Creates a client from its registration and its current credential.
    public init(_ registration: ClientRegistration, authentication: ClientAuthentication) {
        self.registration = registration
        self.authentication = authentication
    }
}

/// The `claims` request parameter (OpenID Connect Core section 5.5): capabilities, or a provider's claims challenge.
public struct ClaimsRequest: Sendable, Hashable {
    private let value: JSONValue

    /// Parses a JSON object; nil when the text is not one, or is longer than 8 KiB.
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

    /// Merges both requests; if both name the same member, `other` wins.
    public func merging(_ other: ClaimsRequest) -> ClaimsRequest {
        ClaimsRequest(value: value.merging(other.value))
    }

    static func capabilities(_ capabilities: [String]) -> ClaimsRequest {
        let values = JSONValue.object(["values": .array(capabilities.map(JSONValue.string))])
        return ClaimsRequest(value: .object(["access_token": .object(["xms_cc": values])]))
    }
}
