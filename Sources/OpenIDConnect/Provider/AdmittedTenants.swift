/// The tenants whose accounts may sign in to an application: the configured authority's own, and those that the operator
/// lists. The token's `tid` decides, whatever the spelling of the authority, and nothing in a request widens it.
public struct AdmittedTenants: Sendable, Hashable {
    private enum Rule: Hashable {
        case any
        /// Every one but that of personal accounts.
        case organizations
        case only(Set<String>)
    }

    private let rule: Rule

    /// - Parameters:
    ///   - authority: the configured one.
    ///   - ownTenantID: the one tenant of the authority; nil where it has many, or knows none.
    ///   - listed: the tenants that the operator lists, in lower case.
    fileprivate init(authority: Authority, ownTenantID: String?, listed: Set<String>) {
        switch (authority.kind, authority.segment) {
        case (.workforce, .consumers), (.workforce, .tenant):
            rule = .only(listed.union([ownTenantID].compactMap(\.self)))
        case (.workforce, .organizations):
            rule = listed.isEmpty ? .organizations : .only(listed.subtracting([Authority.consumersTenantID]))
        // Elsewhere the issuer already says which tenant it is: a list can only narrow that.
        case (.workforce, _), (.external, _), (.b2c, _), (.oidc, _):
            rule = listed.isEmpty ? .any : .only(listed)
        }
    }

    /// Whether a token with this `tid` is of an admitted tenant; nil is a token without one.
    public func contains(_ tenantID: String?) -> Bool {
        let tenantID = tenantID?.lowercased()
        return switch rule {
        case .any: true
        case .organizations: tenantID != Authority.consumersTenantID
        case .only(let tenants): tenantID.map(tenants.contains) ?? false
        }
    }
}

extension Authority {
    /// The tenants that this configured authority and the operator's list admit.
    ///
    /// - Parameter listed: tenant IDs in lower case.
    /// - Returns: nil when the authority is named by a domain, whose ID its metadata alone says.
    public func admittedTenants(listed: Set<String>) -> AdmittedTenants? {
        guard kind == .workforce, case .tenant(let name) = segment else {
            let own = segment == .consumers ? Self.consumersTenantID : nil
            return AdmittedTenants(authority: self, ownTenantID: own, listed: listed)
        }
        return isGUID(name) ? AdmittedTenants(authority: self, ownTenantID: name, listed: listed) : nil
    }
}

extension ProviderMetadata {
    /// The tenants that this configured authority and the operator's list admit.
    ///
    /// - Parameter listed: tenant IDs in lower case.
    public func admittedTenants(listed: Set<String>) -> AdmittedTenants {
        AdmittedTenants(authority: authority, ownTenantID: tenantID, listed: listed)
    }

    /// The one tenant whose accounts sign in at this authority, in lower case; nil where there are many, or none.
    public var tenantID: String? { issuerRule.tenantID }
}
