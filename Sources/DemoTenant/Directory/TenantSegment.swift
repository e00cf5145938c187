/// The first part of every endpoint's path, which determines the accounts that may sign in there.
enum TenantSegment: Sendable, Hashable, Codable {
    case common, organizations, consumers
    /// One tenant, by its ID (its domain means the same tenant).
    case tenant(id: String)
    /// A user flow of the B2C tenant. `hasPrefix` says whether the path began with `tfp`.
    case userFlow(UserFlow, hasPrefix: Bool)

    /// Parses the segment; returns nil for a tenant that does not exist (AADSTS90002).
    init?(_ text: String) {
        let parts = text.lowercased().split(separator: "/").map(String.init)
        if parts.count > 1 {
            let names = parts.first == "tfp" ? Array(parts.dropFirst()) : parts
            guard names.count == 2, TenantSegment.isUserFlowTenant(names[0]), let flow = UserFlow(rawValue: names[1])
            else { return nil }
            self = .userFlow(flow, hasPrefix: parts.count == 3)
            return
        }
        switch text.lowercased() {
        case "common": self = .common
        case "organizations": self = .organizations
        case "consumers": self = .consumers
        case Tenant.contoso, Tenant.contosoDomain: self = .tenant(id: Tenant.contoso)
        case Tenant.tailspin, Tenant.tailspinDomain: self = .tenant(id: Tenant.tailspin)
        case Tenant.fabrikam, Tenant.fabrikamDomain: self = .tenant(id: Tenant.fabrikam)
        case Tenant.consumers: self = .tenant(id: Tenant.consumers)
        default: return nil
        }
    }

    /// Whether the path begins with the B2C tenant's name, after which a user flow follows.
    static func isUserFlowTenant(_ name: String) -> Bool {
        // Microsoft's sample for B2C names its tenant like this.
        [Tenant.fabrikamB2C, Tenant.fabrikamB2CDomain, "fabrikamb2c.onmicrosoft.com"].contains(name.lowercased())
    }

    /// The spelling in the endpoints of the discovery document.
    var path: String {
        switch self {
        case .common: "common"
        case .organizations: "organizations"
        case .consumers: "consumers"
        case .tenant(let id): id
        case .userFlow(let flow, let hasPrefix):
            "\(hasPrefix ? "tfp/" : "")\(Tenant.fabrikamB2CDomain)/\(flow.rawValue)"
        }
    }

    /// Whether it is a single tenant.
    var isTenant: Bool {
        if case .tenant(let id) = self { id != Tenant.consumers } else { false }
    }

    /// The user flow, if the path is one of the B2C tenant.
    var userFlow: UserFlow? {
        if case .userFlow(let flow, _) = self { flow } else { nil }
    }

    /// The tenant's name in messages.
    var directoryName: String {
        switch self {
        case .common, .organizations: Tenant.contosoDomain
        case .consumers: Tenant.outlookDomain
        case .tenant(let id): Tenant.domain(ofID: id) ?? id
        case .userFlow: Tenant.fabrikamB2CDomain
        }
    }

    func admits(_ account: DemoAccount) -> Bool {
        switch self {
        case .common: account.kind == .work || account.kind == .personal
        case .organizations: account.kind == .work
        case .consumers: account.kind == .personal
        case .tenant(let id): account.objectID(in: id) != nil
        case .userFlow: account.kind == .b2c
        }
    }

    /// Returns the tenant that issues tokens for this account: the requested one, else the account's home.
    func tenantID(for account: DemoAccount) -> String {
        if case .tenant(let id) = self { id } else { account.tenantID }
    }
}

extension Platform {
    /// Returns the issuer in the discovery document. For `common` and `organizations` it contains a literal template.
    /// The external tenant's issuer is on another host than its authority, as on the platform; it is only a name and is
    /// never fetched.
    func issuer(of segment: TenantSegment) -> String {
        switch segment {
        case .common, .organizations: "\(baseURL)/{tenantid}/v2.0"
        case .consumers: issuer(ofTenant: Tenant.consumers)
        case .tenant(let id): issuer(ofTenant: id)
        case .userFlow(let flow, _):
            controls.settings.hasIssuerWithoutPolicy
                ? "\(baseURL)/\(Tenant.fabrikamB2C)/v2.0/"
                : "\(baseURL)/tfp/\(Tenant.fabrikamB2C)/\(flow.rawValue)/v2.0/"
        }
    }

    func issuer(ofTenant id: String) -> String {
        // An address has no names below it.
        guard id == Tenant.fabrikam, !baseURL.authorityOfOrigin.isAddress else { return "\(baseURL)/\(id)/v2.0" }
        return "\(baseURL.replacing("://", with: "://\(id)."))/\(id)/v2.0"
    }
}
