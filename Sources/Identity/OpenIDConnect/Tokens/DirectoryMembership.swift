public import WebFormats

/// The groups and app roles in the claims of a validated ID token (Entra ID, optional claims and app roles).
public struct DirectoryMembership: Sendable, Equatable {
    /// The groups, as far as the token has them.
    public enum Groups: Sendable, Equatable {
        /// The token has no claim about groups: the registration asks for none, or the account is in none.
        case absent
        /// All groups, in lower case.
        case listed(Set<String>)
        /// There were too many for a token, so it lists none (`_claim_names`, or `hasgroups` in the implicit flow).
        case tooMany
    }

    /// `groups`
    public let groups: Groups
    /// `roles`, spelled as in the token.
    public let roles: Set<String>

    /// Reads the claims. A claim of another type counts as absent.
    public init(claims: [String: JSONValue]) {
        roles = Set(claims["roles"]?.array?.compactMap(\.string) ?? [])
        if let listed = claims["groups"]?.array {
            groups = .listed(Set(listed.compactMap { $0.string?.lowercased() }))
        } else if claims["_claim_names"]?["groups"] != nil || claims["hasgroups"]?.bool == true {
            groups = .tooMany
        } else {
            groups = .absent
        }
    }
}

/// Graph's `POST /me/getMemberObjects`, which lists a person's groups without paging. The permission `User.Read`
/// suffices.
public enum MemberObjects {
    /// The reason why there is no list.
    public enum Failure: Error, Sendable, Equatable {
        /// More IDs than Graph returns (`Directory_ResultSizeLimitExceeded`).
        case tooMany
        /// The token lacks a permission, or is for another API; the status.
        case refused(Int)
        /// Graph does not work now; the status.
        case unavailable(Int)
    }

    /// Returns the request.
    ///
    /// - Parameters:
    ///   - me: the configured address of Graph's `/me`. The address in a token's `_claim_sources` must not be used: it is
    ///     that of Azure AD Graph, which is switched off, and whoever writes a token could choose it.
    ///   - accessToken: the person's access token for Graph.
    public static func request(at me: Endpoint, accessToken: String) -> ProviderRequest {
        let endpoint = me.appending(path: me.path.hasSuffix("/") ? "getMemberObjects" : "/getMemberObjects")
        var request = ProviderRequest.post(endpoint, form: [])
        request.head.headerFields[.contentType] = "application/json"
        request.head.headerFields[.authorization] = "Bearer \(accessToken)"
        request.body = Array(#"{"securityEnabledOnly":false}"#.utf8)
        return request
    }

    /// Returns the IDs of groups and directory roles in lower case.
    public static func read(_ response: ProviderResponse) throws(Failure) -> Set<String> {
        let json = JSONValue(parsing: response.body)
        let status = response.head.status
        guard status == .ok else {
            if json?["error"]?["code"]?.string == "Directory_ResultSizeLimitExceeded" { throw .tooMany }
            throw [400, 401, 403, 404].contains(status.code) ? .refused(status.code) : .unavailable(status.code)
        }
        guard let values = json?["value"]?.array else { throw .unavailable(status.code) }
        let ids = values.compactMap { $0.string?.lowercased() }
        guard ids.count == values.count else { throw .unavailable(status.code) }
        return Set(ids)
    }
}
