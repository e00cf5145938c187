import Foundation

/// The first part of every endpoint's path, which determines the accounts that may sign in there.
package enum TenantSegment: Sendable, Hashable, Codable {
    case common, organizations, consumers
    /// One tenant, by its ID (its domain means the same tenant).
    case tenant(id: String)
    /// A user flow of the B2C tenant.
    case userFlow(UserFlow, Place)

    /// The place of a user flow's name in the addresses.
    package enum Place: Sendable, Codable {
        /// After the tenant, or after `tfp` and the tenant.
        case path, prefixedPath
        /// In the parameter `p`, as older applications have it (b2c-03).
        case query
    }

    private static let queryMark = "?p="

    /// Returns the text of a segment whose user flow is in the query.
    package static func text(_ tenant: String, userFlowInQuery name: String) -> String { tenant + queryMark + name }

    /// Parses the segment; returns nil for a tenant that does not exist (AADSTS90002).
    package init?(_ text: String) {
        if let mark = text.range(of: Self.queryMark) {
            guard Self.isUserFlowTenant(String(text[..<mark.lowerBound])),
                let flow = UserFlow(rawValue: text[mark.upperBound...].lowercased())
            else { return nil }
            self = .userFlow(flow, .query)
            return
        }
        let parts = text.lowercased().split(separator: "/").map(String.init)
        if parts.count > 1 {
            let names = parts.first == "tfp" ? Array(parts.dropFirst()) : parts
            guard names.count == 2, TenantSegment.isUserFlowTenant(names[0]), let flow = UserFlow(rawValue: names[1])
            else { return nil }
            self = .userFlow(flow, parts.count == 3 ? .prefixedPath : .path)
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
    package static func isUserFlowTenant(_ name: String) -> Bool {
        // Microsoft's sample for B2C names its tenant like this.
        [Tenant.fabrikamB2C, Tenant.fabrikamB2CDomain, "fabrikamb2c.onmicrosoft.com"].contains(name.lowercased())
    }

    /// Returns the path of an endpoint, with the query that belongs to it.
    package func path(of endpoint: String) -> String {
        guard case .userFlow(let flow, .query) = self else { return "\(path)/\(endpoint)" }
        return "\(Tenant.fabrikamB2CDomain)/\(endpoint)\(Self.queryMark)\(flow.rawValue)"
    }

    /// The spelling in the endpoints of the discovery document, and in the addresses of pages.
    package var path: String {
        switch self {
        case .common: "common"
        case .organizations: "organizations"
        case .consumers: "consumers"
        case .tenant(let id): id
        case .userFlow(let flow, let place):
            "\(place == .prefixedPath ? "tfp/" : "")\(Tenant.fabrikamB2CDomain)/\(flow.rawValue)"
        }
    }

    /// Whether it is a single tenant.
    package var isTenant: Bool {
        if case .tenant(let id) = self { id != Tenant.consumers } else { false }
    }

    /// The user flow, if the path is one of the B2C tenant.
    package var userFlow: UserFlow? {
        if case .userFlow(let flow, _) = self { flow } else { nil }
    }

    /// The ID of the one tenant that it names.
    package var tenantID: String? { if case .tenant(let id) = self { id } else { nil } }

    /// The ID of the tenant in messages; of the one that is the first where the path names none.
    package var directoryID: String {
        switch self {
        case .common, .organizations: Tenant.contoso
        case .consumers: Tenant.consumers
        case .tenant(let id): id
        case .userFlow: Tenant.fabrikamB2C
        }
    }

    /// The tenant's name in messages.
    var directoryName: String { Self.directoryName(ofID: directoryID) }

    /// Returns a tenant's name in messages, which is the one that people see; consumers' has none (tok-err-kinds-09).
    package static func directoryName(ofID id: String) -> String {
        id == Tenant.consumers ? id : Tenant.name(ofID: id)
    }
}
