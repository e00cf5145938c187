import WebFormats

/// The reason for which a configured authority was refused; `reason` says what to write instead.
public struct AuthorityError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The reason, for the operator.
    public let reason: String
    /// The reason.
    public var description: String { reason }
}

/// The authority that signs people in, as configured by the operator. It belongs to one of the ``Kind``s of identity
/// platform. A loopback host (also with http) may stand for any of them, for a tenant under test.
public struct Authority: Sendable, Hashable, CustomStringConvertible {
    /// The rules that the authority follows.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Entra ID: `https://login.microsoftonline.com/{tenant GUID or domain, common, organizations, consumers}`, or
        /// a host of a national cloud.
        case workforce
        /// Entra External ID: `https://{sub}.ciamlogin.com[/{tenant}]`, or a custom domain.
        case external
        /// Azure AD B2C: `https://{host}/[tfp/]{tenant}/{policy}`; each user flow is an authority of its own.
        case b2c
        /// Any OpenID provider, named by its issuer.
        case oidc
    }

    /// The accounts that may sign in.
    public enum Segment: Sendable, Hashable {
        /// One directory: its GUID in lower case, or one of its domains.
        case tenant(String)
        /// Work, school and personal accounts.
        case common
        /// Work and school accounts.
        case organizations
        /// Personal accounts.
        case consumers
    }

    /// The tenant of personal accounts.
    public static let consumersTenantID = "9188040d-6c67-4c5b-b112-36a304b66dad"

    /// The rules that it follows.
    public let kind: Kind
    /// The accounts that may sign in; nil for `oidc`, which has no tenants.
    public let segment: Segment?
    /// B2C's user flow in lower case.
    public let policy: String?
    /// The scheme, host, port, and the canonical path without a slash at the end.
    private let root: Endpoint

    /// Parses a configured authority.
    public init(_ text: String, kind: Kind = .workforce) throws(AuthorityError) {
        guard let endpoint = Endpoint(text) else {
            throw AuthorityError(reason: "The authority is not a URL such as \(kind.example).")
        }
        guard endpoint.query == nil else {
            throw AuthorityError(reason: "The authority has a query: leave out everything from the question mark on.")
        }
        guard endpoint.isTrustworthy else {
            throw AuthorityError(reason: "The authority must be https: plain http is for localhost only.")
        }
        try kind.checkHost(of: endpoint)
        let names = endpoint.path.split(separator: "/").map(String.init)
        self.kind = kind
        switch kind {
        case .workforce:
            let segment = try Self.segment(names)
            (self.segment, policy) = (segment, nil)
            root = endpoint.replacingPath("/" + segment.name)
        case .external:
            let tenant = try Self.externalTenant(names, host: endpoint)
            (segment, policy) = (.tenant(tenant), nil)
            root = endpoint.replacingPath("/" + tenant)
        case .b2c:
            let (prefix, tenant, policy) = try Self.userFlow(names)
            (segment, self.policy) = (.tenant(tenant), policy)
            root = endpoint.replacingPath("\(prefix)/\(tenant)/\(policy)")
        case .oidc:
            (segment, policy) = (nil, nil)
            var path = endpoint.path[...]
            while path.last == "/" { path.removeLast() }
            root = endpoint.replacingPath(String(path))
        }
    }

    /// Returns the same tenant's authority for another user flow.
    ///
    /// - Throws: when this is not a B2C authority, or the name cannot be a user flow's name.
    public func withPolicy(_ policy: String) throws(AuthorityError) -> Authority {
        guard kind == .b2c else { throw AuthorityError(reason: "User flows belong to Azure AD B2C alone.") }
        let path = root.path.split(separator: "/").dropLast().joined(separator: "/")
        return try Authority("\(origin)/\(path)/\(policy)", kind: .b2c)
    }

    /// Returns the same cloud's authority for one tenant, for example for a guest.
    ///
    /// - Throws: when this is not a workforce authority, or the name is neither a tenant ID nor a domain; `common`,
    ///   `organizations` and `consumers` are neither.
    public func withTenant(_ tenant: String) throws(AuthorityError) -> Authority {
        guard kind == .workforce, !tenant.contains("/") else {
            throw AuthorityError(reason: "A tenant is named by its ID or one of its domains, at a workforce authority.")
        }
        let authority = try Authority("\(origin)/\(tenant)", kind: .workforce)
        guard case .tenant = authority.segment else {
            throw AuthorityError(reason: "A tenant is named by its ID or one of its domains, never as \(tenant).")
        }
        return authority
    }

    /// The scheme, host and port, such as `https://login.microsoftonline.com`.
    public var origin: String { root.origin }

    /// The host without its port, such as `login.microsoftonline.com`.
    public var environment: String { root.host }

    /// Whether the host is this machine.
    public var isLoopback: Bool { root.isLoopback }

    /// The canonical URL, without a slash at the end.
    public var description: String { root.path == "/" ? origin : origin + root.path }

    /// The request for the OpenID Connect discovery document.
    public var discoveryRequest: ProviderRequest {
        let version = kind == .oidc ? "" : "/v2.0"
        let path = root.path == "/" ? "" : root.path
        return .get(root.replacingPath("\(path)\(version)/.well-known/openid-configuration"))
    }

    /// Returns the endpoint of a path on the authority's host.
    func endpoint(path: String) -> Endpoint { root.replacingPath(path) }

    /// Whether an issuer in a workforce authority's metadata is acceptable. The discovery document of an alias names
    /// the cloud's main host.
    func mayIssue(as issuer: Endpoint) -> Bool {
        if issuer.origin == origin { return true }
        guard let cloud = Cloud.hosts[root.host] else { return false }
        return issuer.scheme == "https" && issuer.port == nil && Cloud.hosts[issuer.host] == cloud
    }

    /// Whether an issuer belongs to a known workforce host: one of Microsoft's clouds; or, for a tenant under test, the
    /// authority's own address.
    func isWorkforce(issuer: Endpoint) -> Bool {
        Cloud.hosts[issuer.host] != nil || isLoopback && issuer.origin == origin
    }

    // MARK: The path after the host

    private static func segment(_ names: [String]) throws(AuthorityError) -> Segment {
        guard names.count == 1, let name = names.first?.lowercased() else {
            throw AuthorityError(
                reason: "After the host the authority names one thing: a tenant ID, a domain of the tenant, "
                    + "common, organizations or consumers.")
        }
        switch name {
        case "common": return .common
        case "organizations": return .organizations
        case "consumers": return .consumers
        default: break
        }
        guard isTenant(name) else {
            throw AuthorityError(
                reason: "The authority's path is neither a tenant ID (a GUID), a domain such as "
                    + "contoso.onmicrosoft.com, common, organizations nor consumers.")
        }
        return .tenant(name)
    }

    /// Returns the tenant. An authority without a path means the tenant that its subdomain names.
    private static func externalTenant(_ names: [String], host: Endpoint) throws(AuthorityError) -> String {
        guard let name = names.first?.lowercased() else {
            guard host.host.hasSuffix(Kind.externalHosts), let subdomain = host.host.split(separator: ".").first else {
                throw AuthorityError(
                    reason: "On a custom domain the authority names the tenant: add its ID or domain behind the host.")
            }
            let domain = "\(subdomain).onmicrosoft.com"
            guard isTenant(domain) else {
                throw AuthorityError(
                    reason: "A tenant's subdomain has letters, digits and - only, such as contoso.ciamlogin.com.")
            }
            return domain
        }
        guard names.count == 1, isTenant(name) else {
            throw AuthorityError(
                reason: "After the host the authority names the external tenant alone: its ID, or a domain such as "
                    + "contoso.onmicrosoft.com.")
        }
        return name
    }

    private static func userFlow(
        _ names: [String]
    ) throws(AuthorityError) -> (prefix: String, tenant: String, policy: String) {
        let hasPrefix = names.count == 3 && names[0].lowercased() == "tfp"
        let rest = hasPrefix ? Array(names.dropFirst()) : names
        guard rest.count == 2, isTenant(rest[0].lowercased()) else {
            throw AuthorityError(
                reason: "After the host the authority names the tenant and the user flow, as in "
                    + "/tfp/contoso.onmicrosoft.com/b2c_1_susi.")
        }
        let policy = rest[1].lowercased()
        guard policy.utf8.count <= 64,
            policy.utf8.allSatisfy({ $0.isAlphanumeric || "_-".utf8.contains($0) })
        else {
            throw AuthorityError(reason: "A user flow's name has letters, digits, _ and - only, such as b2c_1_susi.")
        }
        return (hasPrefix ? "/tfp" : "", rest[0].lowercased(), policy)
    }

    /// Whether the name is a tenant ID or a domain.
    private static func isTenant(_ name: String) -> Bool {
        if isGUID(name) { return true }
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        return labels.count > 1
            && labels.allSatisfy { label in
                !label.isEmpty && label.utf8.allSatisfy { $0.isAlphanumeric || $0 == UInt8(ascii: "-") }
            }
    }
}

extension Authority.Segment {
    /// The name in the path.
    var name: String {
        switch self {
        case .tenant(let name): name
        case .common: "common"
        case .organizations: "organizations"
        case .consumers: "consumers"
        }
    }
}

/// Microsoft's separate clouds.
private enum Cloud {
    case global, usGovernment, china

    static let hosts: [String: Cloud] = [
        "login.microsoftonline.com": .global, "login.windows.net": .global, "login.microsoft.com": .global,
        "sts.windows.net": .global,
        "login.microsoftonline.us": .usGovernment, "login.usgovcloudapi.net": .usGovernment,
        "login.partner.microsoftonline.cn": .china, "login.chinacloudapi.cn": .china,
    ]

    /// Microsoft Graph's root endpoint (Microsoft's "National cloud deployments").
    var graph: String {
        switch self {
        case .global: "https://graph.microsoft.com/"
        case .usGovernment: "https://graph.microsoft.us/"
        case .china: "https://microsoftgraph.chinacloudapi.cn/"
        }
    }
}

/// Microsoft Graph. Each of Microsoft's clouds has its own.
public enum MicrosoftGraph {
    /// The beginnings of its addresses in all clouds.
    private static let roots = [Cloud.global, .usGovernment, .china].map(\.graph)

    /// Returns a scope in lower case, without Graph's address: both spellings mean the same.
    static func shortName(of scope: String) -> String {
        let name = scope.lowercased()
        let graph = roots.first(where: name.hasPrefix)
        return graph.map { String(name.dropFirst($0.count)) } ?? name
    }

    /// Returns the address of the signed-in person at the Graph of an authority's cloud.
    ///
    /// - Parameter authority: the configured authority; a host that is not one of Microsoft's counts as the global
    ///   cloud.
    public static func me(authority: String?) -> Endpoint? {
        let cloud = authority.flatMap(Endpoint.init).flatMap { Cloud.hosts[$0.host] } ?? .global
        return Endpoint(cloud.graph + "v1.0/me")
    }
}

extension Authority.Kind {
    fileprivate static let externalHosts = ".ciamlogin.com"
    private static let userFlowHosts = ".b2clogin.com"

    var example: String {
        switch self {
        case .workforce: "https://login.microsoftonline.com/common"
        case .external: "https://contoso.ciamlogin.com"
        case .b2c: "https://contoso.b2clogin.com/tfp/contoso.onmicrosoft.com/b2c_1_susi"
        case .oidc: "https://id.example.com, the provider's issuer"
        }
    }

    /// Refuses a host that is known to belong to another kind.
    fileprivate func checkHost(of endpoint: Endpoint) throws(AuthorityError) {
        if endpoint.isLoopback { return }
        let isMicrosofts = Cloud.hosts[endpoint.host] != nil && endpoint.port == nil
        let isExternal = endpoint.host.hasSuffix(Self.externalHosts)
        let isUserFlows = endpoint.host.hasSuffix(Self.userFlowHosts)
        switch self {
        case .workforce where isExternal || isUserFlows:
            throw AuthorityError(
                reason:
                    "\(endpoint.host) belongs to an external or B2C tenant, but this application's kind is workforce.")
        case .workforce where !isMicrosofts:
            throw AuthorityError(
                reason: "\(endpoint.authority) is not a sign-in host of Microsoft's: use login.microsoftonline.com, "
                    + "login.microsoftonline.us or login.partner.microsoftonline.cn.")
        case .external where isMicrosofts || isUserFlows:
            throw AuthorityError(
                reason: "\(endpoint.host) is not an external tenant's host: use {subdomain}.ciamlogin.com or the "
                    + "tenant's custom domain, or another kind.")
        case .b2c where isExternal:
            throw AuthorityError(
                reason: "\(endpoint.host) belongs to an external tenant, but this application's kind is b2c.")
        default: break
        }
    }
}

/// Whether the text is a GUID: 8-4-4-4-12 hexadecimal digits.
func isGUID(_ text: some StringProtocol) -> Bool {
    var count = 0
    for byte in text.utf8 {
        switch count {
        case 8, 13, 18, 23: guard byte == UInt8(ascii: "-") else { return false }
        default: guard count < 36, Hex.value(of: byte) != nil else { return false }
        }
        count += 1
    }
    return count == 36
}

extension UInt8 {
    /// Whether this is a letter or a digit of ASCII. The properties of a character take many times as long to find.
    var isAlphanumeric: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
