/// Which `iss` a token of an authority may carry. Built once from the metadata; there is no rule that accepts anything.
enum IssuerRule: Sendable, Hashable {
    /// One tenant: `iss` is exactly this, and its `tid` is the GUID in it.
    case tenant(issuer: String, tenantID: String)
    /// Many tenants: the metadata's issuer holds `{tenantid}`, to be replaced by the token's `tid`.
    case template(String)

    static let placeholder = "{tenantid}"

    /// The rule for what the discovery document of `authority` says; nil when that is not its issuer.
    ///
    /// `…/{tenantid}/v2.0` belongs to common and organizations alone; everybody else's issuer names a tenant, and
    /// where the authority names a GUID, that one.
    init?(metadataIssuer issuer: String, authority: Authority) {
        let isTemplate = issuer.contains(Self.placeholder)
        let filled = Self.fill(issuer, tenantID: Authority.consumersTenantID)
        guard let endpoint = Endpoint(filled), authority.mayIssue(as: endpoint), endpoint.query == nil,
            !filled.contains("{")
        else { return nil }
        let parts = endpoint.path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].isEmpty, parts[2] == "v2.0", isGUID(parts[1]) else { return nil }
        let tenantID = parts[1].lowercased()
        switch authority.segment {
        case .common, .organizations:
            guard isTemplate else { return nil }
            self = .template(issuer)
        case .consumers:
            guard !isTemplate, tenantID == Authority.consumersTenantID else { return nil }
            self = .tenant(issuer: issuer, tenantID: tenantID)
        case .tenant(let name):
            guard !isTemplate, !isGUID(name) || name == tenantID else { return nil }
            self = .tenant(issuer: issuer, tenantID: tenantID)
        }
    }

    /// The one issuer of a token with this `tid`.
    func issuer(tenantID: String) -> String {
        switch self {
        case .tenant(let issuer, _): issuer
        case .template(let template): Self.fill(template, tenantID: tenantID)
        }
    }

    /// Whether a token of this tenant may exist under the rule at all.
    func admits(tenantID: String) -> Bool {
        switch self {
        case .tenant(_, let own): own == tenantID.lowercased()
        case .template: true
        }
    }

    /// Whether a callback's `iss` (RFC 9207) can be of this authority: the tenant is not known yet.
    func mayBe(_ issuer: String) -> Bool {
        switch self {
        case .tenant(let own, _): return issuer == own
        case .template(let template):
            if issuer == template { return true }
            let parts = issuer.split(separator: "/")
            return parts.contains { isGUID($0) && Self.fill(template, tenantID: String($0)) == issuer }
        }
    }

    /// `{tenantid}` replaced, in metadata and in the `issuer` member of a key alike.
    static func fill(_ template: String, tenantID: String) -> String {
        template.replacing(placeholder, with: tenantID)
    }
}
