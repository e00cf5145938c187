/// Why a configured authority was refused; `reason` says what to write instead.
public struct AuthorityError: Error, Sendable, Equatable, CustomStringConvertible {
    /// For the operator.
    public let reason: String
    /// The same.
    public var description: String { reason }
}

/// Who signs people in: `https://login.microsoftonline.com/{tenant GUID or domain, common, organizations, consumers}`,
/// the same in a national cloud, or on a loopback host (there also by http) for a tenant under test.
///
/// Workforce only, so far. What is particular to that kind is here and in ``IssuerRule``.
public struct Authority: Sendable, Hashable, CustomStringConvertible {
    /// The path: which accounts may sign in.
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

    /// Which of Microsoft's separate clouds.
    public enum Cloud: Sendable, Hashable {
        /// login.microsoftonline.com
        case global
        /// login.microsoftonline.us
        case usGovernment
        /// login.partner.microsoftonline.cn
        case china
        /// A host of this machine.
        case loopback
    }

    /// The tenant of personal accounts.
    public static let consumersTenantID = "9188040d-6c67-4c5b-b112-36a304b66dad"

    /// The path.
    public let segment: Segment
    /// The cloud that the host belongs to.
    public let cloud: Cloud
    /// The configured URL, of which only scheme, host and port count from here on.
    private let root: Endpoint

    /// Parses what an operator configured.
    public init(_ text: String) throws(AuthorityError) {
        guard let endpoint = Endpoint(text) else {
            throw AuthorityError(
                reason: "The authority is not a URL such as https://login.microsoftonline.com/common.")
        }
        guard endpoint.query == nil else {
            throw AuthorityError(reason: "The authority has a query: leave out everything from the question mark on.")
        }
        cloud = try Self.cloud(of: endpoint)
        root = endpoint
        segment = try Self.segment(of: endpoint)
    }

    /// Scheme, host and port, as in `https://login.microsoftonline.com`.
    public var origin: String { root.origin }

    /// The host without its port, as in `login.microsoftonline.com`.
    public var environment: String { root.host }

    /// The canonical URL, without a slash at the end.
    public var description: String { "\(origin)/\(pathSegment)" }

    /// The request for the OpenID Connect discovery document.
    public var discoveryRequest: ProviderRequest {
        .get(endpoint(path: "/\(pathSegment)/v2.0/.well-known/openid-configuration"))
    }

    /// A path of the authority's host.
    func endpoint(path: String) -> Endpoint { root.replacingPath(path) }

    /// Two spellings of one authority are equal.
    public static func == (left: Authority, right: Authority) -> Bool { left.description == right.description }

    /// As `==`.
    public func hash(into hasher: inout Hasher) { hasher.combine(description) }

    var pathSegment: String {
        switch segment {
        case .tenant(let name): name
        case .common: "common"
        case .organizations: "organizations"
        case .consumers: "consumers"
        }
    }

    /// Hosts that may stand in the issuer of this authority's metadata: the discovery document of an alias names the
    /// cloud's first host.
    func mayIssue(as issuer: Endpoint) -> Bool {
        if issuer.origin == origin { return true }
        return issuer.scheme == "https" && issuer.port == nil && Self.hosts[issuer.host] == cloud
    }

    private static let hosts: [String: Cloud] = [
        "login.microsoftonline.com": .global, "login.windows.net": .global, "login.microsoft.com": .global,
        "sts.windows.net": .global,
        "login.microsoftonline.us": .usGovernment, "login.usgovcloudapi.net": .usGovernment,
        "login.partner.microsoftonline.cn": .china, "login.chinacloudapi.cn": .china,
    ]

    private static func cloud(of endpoint: Endpoint) throws(AuthorityError) -> Cloud {
        if endpoint.isLoopback { return .loopback }
        if endpoint.scheme != "https" {
            throw AuthorityError(reason: "The authority must be https: plain http is for localhost only.")
        }
        if let cloud = hosts[endpoint.host], endpoint.port == nil { return cloud }
        if endpoint.host.hasSuffix(".ciamlogin.com") || endpoint.host.hasSuffix(".b2clogin.com") {
            throw AuthorityError(
                reason:
                    "\(endpoint.host) belongs to an external or B2C tenant, but this application's kind is workforce.")
        }
        throw AuthorityError(
            reason: "\(endpoint.authority) is not a sign-in host of Microsoft's: use login.microsoftonline.com, "
                + "login.microsoftonline.us or login.partner.microsoftonline.cn.")
    }

    private static func segment(of endpoint: Endpoint) throws(AuthorityError) -> Segment {
        let parts = endpoint.path.split(separator: "/")
        guard parts.count == 1, let name = parts.first?.lowercased() else {
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
        if isGUID(name) { return .tenant(name) }
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        let isDomain =
            labels.count > 1
            && labels.allSatisfy { label in
                !label.isEmpty && label.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
            }
        guard isDomain else {
            throw AuthorityError(
                reason: "The authority's path is neither a tenant ID (a GUID), a domain such as "
                    + "contoso.onmicrosoft.com, common, organizations nor consumers.")
        }
        return .tenant(name)
    }
}

/// Whether the text is a GUID: 8-4-4-4-12 hexadecimal digits.
func isGUID(_ text: some StringProtocol) -> Bool {
    let groups = text.split(separator: "-", omittingEmptySubsequences: false)
    return groups.map(\.utf8.count) == [8, 4, 4, 4, 12]
        && groups.allSatisfy { $0.utf8.allSatisfy { hexValue($0) != nil } }
}
