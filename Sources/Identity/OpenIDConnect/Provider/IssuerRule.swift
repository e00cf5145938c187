/// The `iss` values that a token of an authority may carry. The rule is built once from the metadata; no rule accepts
/// everything.
enum IssuerRule: Sendable, Hashable {
    /// One tenant: `iss` is exactly this, and its `tid`, if it must have one, is the GUID in it.
    case tenant(issuer: String, tenantID: String, needsTenantID: Bool)
    /// Many tenants: the metadata's issuer contains `{tenantid}`, which is replaced by the token's `tid`.
    case template(String)
    /// A user flow of B2C: `iss` is exactly this. It contains the flow, or else the token must name it.
    case userFlow(issuer: String, tenantID: String, policy: String, isNamed: Bool)
    /// A provider without tenants: `iss` is exactly this.
    case exact(String)

    static let placeholder = "{tenantid}"

    /// Returns the rule for the issuer in the discovery document of `authority`; nil when it is not the authority's
    /// issuer.
    init?(metadataIssuer issuer: String, authority: Authority) {
        // Apart from the braces, it is a URL.
        guard issuer.utf8.count <= 2048, issuer.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let rule: IssuerRule? =
            switch authority.kind {
            case .workforce: Self.workforce(issuer, authority)
            case .external: Self.external(issuer, authority)
            case .b2c: Self.userFlow(issuer, authority)
            case .oidc: Self.provider(issuer, authority)
            }
        guard let rule else { return nil }
        self = rule
    }

    /// Returns the rule of a workforce authority. Only common and organizations have `…/{tenantid}/v2.0`; every other
    /// issuer names a tenant, which is the authority's GUID if the authority names one.
    private static func workforce(_ issuer: String, _ authority: Authority) -> IssuerRule? {
        let isTemplate = issuer.contains(placeholder)
        let filled = fill(issuer, tenantID: Authority.consumersTenantID)
        guard let endpoint = Endpoint(filled), authority.mayIssue(as: endpoint), !filled.contains("{"),
            let tenantID = tenantID(in: endpoint)
        else { return nil }
        switch authority.segment {
        case .common, .organizations:
            return isTemplate ? .template(issuer) : nil
        case .consumers:
            guard !isTemplate, tenantID == Authority.consumersTenantID else { return nil }
        case .tenant(let name):
            guard !isTemplate, !isGUID(name) || name == tenantID else { return nil }
        case nil: return nil
        }
        return .tenant(issuer: issuer, tenantID: tenantID, needsTenantID: true)
    }

    /// Returns the rule of an external tenant. Its host is different from the authority's (`{guid}.ciamlogin.com`): the
    /// configured authority's own discovery document determines the issuer.
    private static func external(_ issuer: String, _ authority: Authority) -> IssuerRule? {
        guard let endpoint = Endpoint(issuer), endpoint.scheme == "https" || authority.isLoopback,
            let tenantID = tenantID(in: endpoint)
        else { return nil }
        if case .tenant(let name) = authority.segment, isGUID(name), name != tenantID { return nil }
        return .tenant(issuer: issuer, tenantID: tenantID, needsTenantID: false)
    }

    /// Returns the rule of a user flow: `https://{host}/{GUID}/v2.0/` or `https://{host}/tfp/{GUID}/{policy}/v2.0/`,
    /// with or without the slash at the end.
    private static func userFlow(_ issuer: String, _ authority: Authority) -> IssuerRule? {
        guard let policy = authority.policy, let endpoint = Endpoint(issuer), endpoint.origin == authority.origin,
            endpoint.query == nil
        else { return nil }
        var names = endpoint.path.split(separator: "/").map { $0.lowercased() }
        let isNamed = names.first == "tfp"
        if isNamed { names.removeFirst() }
        guard names.count == (isNamed ? 3 : 2), names.last == "v2.0", isGUID(names[0]), !isNamed || names[1] == policy
        else { return nil }
        if case .tenant(let name) = authority.segment, isGUID(name), name != names[0] { return nil }
        return .userFlow(issuer: issuer, tenantID: names[0], policy: policy, isNamed: isNamed)
    }

    /// Returns the rule of a provider, whose issuer is exactly what was configured (OpenID Connect Discovery 1.0
    /// section 4.3). A slash at the end may differ, because it is removed before the well-known path is added (section
    /// 4.1).
    private static func provider(_ issuer: String, _ authority: Authority) -> IssuerRule? {
        let configured = authority.description
        return issuer == configured || issuer == configured + "/" ? .exact(issuer) : nil
    }

    /// Returns the tenant in `…/{GUID}/v2.0`.
    private static func tenantID(in endpoint: Endpoint) -> String? {
        let parts = endpoint.path.split(separator: "/", omittingEmptySubsequences: false)
        guard endpoint.query == nil, parts.count == 3, parts[0].isEmpty, parts[2] == "v2.0", isGUID(parts[1]) else {
            return nil
        }
        return parts[1].lowercased()
    }

    // MARK: Checks

    /// Returns the fault in a token's `iss`, `tid` or user flow; nil when all are right.
    func fault(of claims: IDTokenClaims) -> IDTokenFault? {
        let tenantID = claims.tenantID?.lowercased()
        if let tenantID, !isGUID(tenantID), !isExact { return .tenant }
        switch self {
        case .template(let template):
            guard let tenantID = claims.tenantID else { return .tenant }
            return claims.issuer == Self.fill(template, tenantID: tenantID) ? nil : .issuer
        case .tenant(let issuer, let own, let needsTenantID):
            if tenantID == nil, needsTenantID { return .tenant }
            guard claims.issuer == issuer else { return .issuer }
            return tenantID ?? own == own ? nil : .tenant
        case .userFlow(let issuer, let own, let policy, let isNamed):
            guard claims.issuer == issuer else { return .issuer }
            guard tenantID ?? own == own else { return .tenant }
            return claims.policy.map { $0 == policy } ?? isNamed ? nil : .policy
        case .exact(let issuer):
            return claims.issuer == issuer ? nil : .issuer
        }
    }

    /// The only tenant that the rule is about; nil if there are many, or none.
    var tenantID: String? {
        switch self {
        case .tenant(_, let tenantID, _), .userFlow(_, let tenantID, _, _): tenantID
        case .template, .exact: nil
        }
    }

    private var isExact: Bool {
        if case .exact = self { true } else { false }
    }

    /// Whether a callback's `iss` (RFC 9207) can belong to this authority: the tenant is not known yet.
    func mayBe(_ issuer: String) -> Bool {
        guard issuer.utf8.allSatisfy({ $0 < 0x80 }) else { return false }
        switch self {
        case .tenant(let own, _, _), .userFlow(let own, _, _, _), .exact(let own): return issuer == own
        case .template(let template):
            if issuer == template { return true }
            let parts = issuer.split(separator: "/")
            return parts.contains { isGUID($0) && Self.fill(template, tenantID: String($0)) == issuer }
        }
    }

    /// Replaces `{tenantid}`, in metadata and in the `issuer` member of a key alike. Each ID token needs this, and a search
    /// by characters takes many times as long as one by bytes.
    static func fill(_ template: String, tenantID: String) -> String {
        var filled = ""
        var rest = template[...]
        while let brace = rest.utf8.firstIndex(of: UInt8(ascii: "{")) {
            let isPlaceholder = rest[brace...].utf8.starts(with: placeholder.utf8)
            let end = rest.utf8.index(brace, offsetBy: isPlaceholder ? placeholder.utf8.count : 1)
            filled.append(contentsOf: isPlaceholder ? rest[..<brace] : rest[..<end])
            if isPlaceholder { filled.append(tenantID) }
            rest = rest[end...]
        }
        filled.append(contentsOf: rest)
        return filled
    }
}
