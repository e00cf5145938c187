public import FoundationEssentials
public import WebFormats

/// The tokens that the provider granted, without the ID token.
public struct GrantedTokens: Sendable, Redacted {
    /// The access token for the API. A secret.
    public let accessToken: String
    /// The refresh token for the next access token; nil: keep using the old one. A secret.
    public let refreshToken: String?
    /// The scopes of the access token: as in the response, or as requested when the response does not name them.
    public let scopes: [String]
    /// The requested scopes that were not granted, spelled as in the request; never OpenID Connect's own scopes.
    public let declinedScopes: [String]
    /// The time when the access token expires. Treat it as expired 300 s earlier, as MSAL does.
    public fileprivate(set) var expiresOn: Date
    /// The time from which the provider suggests an early, optional refresh.
    public fileprivate(set) var refreshOn: Date?
}

/// The result of a sign-in. Everything in it was checked.
public struct SignedInTokens: Sendable, Redacted {
    /// The ID token as it was sent, for `id_token_hint` at sign-out. Personal data.
    public let idToken: String
    /// The claims of the person who signed in.
    public let idTokenClaims: IDTokenClaims
    /// The account's key: `uid.utid` of `client_info`, otherwise `oid.tid`, otherwise a hash of `iss` and `sub`.
    public let homeAccountID: String
    /// The granted tokens.
    public let tokens: GrantedTokens
}

/// The result of a refresh.
public struct RefreshedTokens: Sendable, Redacted {
    /// The ID token as it was sent, if the provider sent one.
    public let idToken: String?
    /// The current claims, if the provider sent an ID token. They were checked to be about the same account.
    public let idTokenClaims: IDTokenClaims?
    /// The granted tokens.
    public let tokens: GrantedTokens
}

/// A successful response of the token endpoint (RFC 6749 section 5.1). Its ID token is not checked yet.
struct TokenResponse: Redacted {
    /// The tokens, with times by the clock at the response's arrival.
    let granted: GrantedTokens
    private let arrival: (wall: Date, steady: ContinuousClock.Instant)
    let idToken: String?
    let homeAccountID: String?

    /// - Parameters:
    ///   - requestedScopes: the scopes that the caller wants.
    ///   - unsaid: the granted scopes if the response does not name them (RFC 6749 section 5.1); nil: the requested
    ///     ones.
    init(
        parsing response: ProviderResponse, to request: ProviderRequest, from metadata: ProviderMetadata,
        requestedScopes: [String], unsaid: [String]? = nil, now: ProviderClock
    ) throws(OpenIDError) {
        let json: JSONValue
        switch try ProviderAnswer(response, now: now) {
        case .success(let value): json = value
        case .failure(let answer):
            throw answer.openIDError(at: metadata.authority.kind, after: SentValues(in: [request]))
        case .refused(400) where response.body.isEmpty && metadata.authority.kind == .oidc:
            // Some providers refuse a grant without an error (Glewlwyd, for a refresh token that was used before).
            throw ErrorAnswer.emptyRefusal.openIDError
        case .refused(let status):
            // There is no OAuth error in it: it is an error page of a proxy, which proves nothing about the account.
            throw Self.unusable("The token endpoint returned \(status) without an OAuth error")
        }
        guard let accessToken = json["access_token"]?.string, !accessToken.isEmpty,
            json["token_type"]?.string?.lowercased() == "bearer"
        else { throw Self.unusable("The token endpoint's answer holds no bearer token") }
        guard let lifetime = Self.seconds(json["expires_in"] ?? .integer(Self.assumedLifetime)) else {
            throw Self.unusable("The token endpoint's answer has an expires_in that is not a number of seconds")
        }
        let time = now()
        let refreshIn = json["refresh_in"].flatMap(Self.seconds).flatMap { $0 < lifetime ? $0 : nil }
        let said = json["scope"]?.string?.split(separator: " ").map(String.init) ?? []
        let scopes = said.isEmpty ? unsaid ?? requestedScopes : said
        arrival = (time, .now)
        granted = GrantedTokens(
            accessToken: accessToken,
            refreshToken: json["refresh_token"]?.string.flatMap { $0.isEmpty ? nil : $0 },
            scopes: scopes, declinedScopes: Self.declined(requestedScopes, granted: scopes),
            expiresOn: time.addingTimeInterval(TimeInterval(lifetime)),
            refreshOn: refreshIn.map { time.addingTimeInterval(TimeInterval($0)) })
        idToken = json["id_token"]?.string.flatMap { $0.isEmpty ? nil : $0 }
        homeAccountID = json["client_info"]?.string.flatMap(Self.homeAccountID)
    }

    /// A wall clock that has moved by more than this since a response arrived, in seconds, was set.
    private static let drift: TimeInterval = 60

    /// Returns the tokens. If the clock was set since the response arrived, their times are by the clock of now.
    func tokens(now: Date) -> GrantedTokens {
        let change = now.timeIntervalSince(arrival.wall) - arrival.steady.duration(to: .now) / .seconds(1)
        guard abs(change) > Self.drift else { return granted }
        var tokens = granted
        tokens.expiresOn += change
        tokens.refreshOn? += change
        return tokens
    }

    /// Returns the requested scopes that were not granted. Scopes are compared without regard to case, and with or
    /// without Graph's own prefix. `.default` stands for all scopes that were consented to before.
    private static func declined(_ requested: [String], granted: [String]) -> [String] {
        let granted = Set(granted.map(MicrosoftGraph.shortName))
        return requested.filter { scope in
            let name = MicrosoftGraph.shortName(of: scope)
            return !name.hasSuffix(".default") && !ClientRegistration.openIDScopes.contains(name)
                && !granted.contains(name)
        }
    }

    /// RFC 6749 only recommends `expires_in`. An API that disagrees returns 401, which forces a refresh.
    private static let assumedLifetime = 3600

    private static func seconds(_ value: JSONValue) -> Int? {
        value.lenientInteger.flatMap { $0 >= 0 ? min($0, 365 * 24 * 3600) : nil }
    }

    /// Reads `client_info`, which is base64url JSON `{uid, utid}`; an unusable one counts as missing.
    private static func homeAccountID(clientInfo: String) -> String? {
        guard let bytes = Base64URL.decode(clientInfo.utf8), let json = JSONValue(parsing: bytes),
            let uid = json["uid"]?.string, let utid = json["utid"]?.string, isPlain(uid), isPlain(utid)
        else { return nil }
        return "\(uid).\(utid)"
    }

    private static func isPlain(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isAlphanumeric || "-_".utf8.contains($0) }
    }

    private static func unusable(_ what: String) -> OpenIDError {
        OpenIDError(.providerUnavailable, "\(what). Try again later.")
    }
}

extension JSONValue {
    /// An integer, or one written as a string, as in B2C's `expires_in`.
    var lenientInteger: Int? {
        switch self {
        case .integer(let value): value
        case .string(let text): text.utf8.count <= 18 ? Int(text) : nil
        default: nil
        }
    }
}
