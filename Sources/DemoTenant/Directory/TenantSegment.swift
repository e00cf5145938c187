/// The first segment of every endpoint's path: who may sign in there.
enum TenantSegment: Sendable, Hashable, Codable {
    case common, organizations, consumers
    /// One tenant, by its id (its domain is the same tenant).
    case tenant(id: String)

    /// nil for a tenant that does not exist (AADSTS90002).
    init?(_ text: String) {
        switch text.lowercased() {
        case "common": self = .common
        case "organizations": self = .organizations
        case "consumers": self = .consumers
        case Tenant.contoso, Tenant.contosoDomain: self = .tenant(id: Tenant.contoso)
        case Tenant.consumers: self = .tenant(id: Tenant.consumers)
        default: return nil
        }
    }

    /// As it stands in the endpoints that discovery names.
    var path: String {
        switch self {
        case .common: "common"
        case .organizations: "organizations"
        case .consumers: "consumers"
        case .tenant(let id): id
        }
    }

    /// The tenant in the issuer; `common` and `organizations` have a template there, literally.
    var issuerTenant: String {
        switch self {
        case .common, .organizations: "{tenantid}"
        case .consumers: Tenant.consumers
        case .tenant(let id): id
        }
    }

    func admits(_ account: DemoAccount) -> Bool {
        switch self {
        case .common: true
        case .organizations: account.kind == .work
        case .consumers: account.kind == .personal
        case .tenant(let id): account.tenantID == id
        }
    }
}
