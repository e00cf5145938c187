/// The tenants whose accounts may sign in to an application: the configured authority's own, and those that the
/// operator lists. The token's `tid` decides, however the authority is spelled, and no request can extend it.
public struct AdmittedTenants: Sendable, Hashable {
    private enum Rule: Hashable {
        case any
        /// All tenants except that of personal accounts.
        case organizations
        case only(Set<String>)
    }

    private let rule: Rule

    /// - Parameters:
    ///   - authority: the configured authority.
    ///   - ownTenantID: the only tenant of the authority; nil if it has many, or none.
    ///   - listed: the tenants that the operator lists, in lower case.
    fileprivate init(authority: Authority, ownTenantID: String?, listed: Set<String>) {
        switch (authority.kind, authority.segment) {
        case (.workforce, .consumers), (.workforce, .tenant):
            rule = .only(listed.union([ownTenantID].compactMap(\.self)))
        case (.workforce, .organizations):
            rule = listed.isEmpty ? .organizations : .only(listed.subtracting([Authority.consumersTenantID]))
        // The issuer already names the tenant here: a list can only narrow that.
        case (.workforce, _), (.external, _), (.b2c, _), (.oidc, _):
            rule = listed.isEmpty ? .any : .only(listed)
        }
    }

    /// Whether a token with this `tid` belongs to an admitted tenant; nil stands for a token without one.
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
    /// Returns the tenants that this configured authority and the operator's list admit.
    ///
    /// - Parameter listed: tenant IDs in lower case.
    /// - Returns: nil when the authority is named by a domain, whose ID is only in its metadata.
    public func admittedTenants(listed: Set<String>) -> AdmittedTenants? {
        guard kind == .workforce, case .tenant(let name) = segment else {
            let own = segment == .consumers ? Self.consumersTenantID : nil
            return AdmittedTenants(authority: self, ownTenantID: own, listed: listed)
        }
        return isGUID(name) ? AdmittedTenants(authority: self, ownTenantID: name, listed: listed) : nil
    }
}

extension ProviderMetadata {
    /// Returns the tenants that this configured authority and the operator's list admit.
    ///
    /// - Parameter listed: tenant IDs in lower case.
    public func admittedTenants(listed: Set<String>) -> AdmittedTenants {
        AdmittedTenants(authority: authority, ownTenantID: tenantID, listed: listed)
    }

    /// The only tenant whose accounts sign in at this authority, in lower case; nil if there are many, or none.
    public var tenantID: String? { issuerRule.tenantID }
}
