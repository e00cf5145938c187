import TenantDirectory
import WebFormats

/// Consents and assignments, as Graph lists them.
extension GraphCall {
    /// `GET /oauth2PermissionGrants`
    func permissionGrants() -> GraphAnswer {
        .list("oauth2PermissionGrants", of: [.permissionGrant], graph.permissionGrants(in: tenantID))
    }

    /// `GET /servicePrincipals/{id}/oauth2PermissionGrants`: the consents to an application.
    func permissionGrantsOfPrincipal() throws(GraphError) -> GraphAnswer {
        let principal = try foundPrincipal()
        let grants = graph.permissionGrants(in: tenantID).filter { $0.members["clientId"] == .string(principal.id) }
        return .list("oauth2PermissionGrants", of: [.permissionGrant], grants)
    }

    /// `GET /servicePrincipals/{id}/appRoleAssignments`: the roles that an application was granted.
    func appRoleAssignments() throws(GraphError) -> GraphAnswer {
        let principal = try foundPrincipal()
        let assignments = graph.roleAssignments(in: tenantID).filter {
            $0.members["principalId"] == .string(principal.id)
        }
        return list(assignments, of: principal, "appRoleAssignments")
    }

    /// `GET /servicePrincipals/{id}/appRoleAssignedTo`: the people, groups and applications with the application's roles.
    func appRoleAssignedTo() throws(GraphError) -> GraphAnswer {
        let principal = try foundPrincipal()
        let assignments = graph.roleAssignments(in: tenantID).filter {
            $0.members["resourceId"] == .string(principal.id)
        }
        return list(assignments, of: principal, "appRoleAssignedTo")
    }

    private func list(_ assignments: [GraphEntity], of principal: GraphPrincipal, _ name: String) -> GraphAnswer {
        .list("servicePrincipals('\(principal.id)')/\(name)", of: [.appRoleAssignment], assignments)
    }
}

extension Graph {
    /// Returns the consents of a tenant: one object for each application, resource and person, or everyone.
    fileprivate func permissionGrants(in tenantID: String) -> [GraphEntity] {
        let (own, administrator) = state.read { ($0.consents, $0.adminConsents) }
        return registrations.all.filter { $0.isKnown(in: tenantID) }.flatMap { client in
            var grants: [GraphEntity] = []
            if Tenant.organizations.contains(tenantID), let scopes = administrator[client.id] {
                grants += self.grants(of: scopes, to: client, by: nil)
            }
            for account in people.accounts {
                guard let id = account.objectID(in: tenantID), let scopes = own[self.grants.consentKey(client, account)]
                else {
                    continue
                }
                grants += self.grants(of: scopes, to: client, by: id)
            }
            return grants
        }
    }

    private func grants(of scopes: Set<String>, to client: DemoClient, by personID: String?) -> [GraphEntity] {
        let sorted = scopes.sorted()
        // OpenID Connect's scopes belong to Graph.
        let resources = Dictionary(grouping: sorted) { scope in self.scopes.audience([scope]) }
        return resources.sorted { $0.key < $1.key }.compactMap { audience, scopes in
            guard let resource = principal(ofResource: audience) else { return nil }
            let principalID = registrations.servicePrincipalID(of: client)
            let names = scopes.map { $0.hasPrefix(audience + "/") ? String($0.dropFirst(audience.count + 1)) : $0 }
            let own = "\(principalID) \(resource.id) \(personID ?? "")"
            return GraphEntity(
                type: .permissionGrant,
                members: [
                    "id": .string(Base64URL.encode(nameBasedID("consent", own).utf8)),
                    "clientId": .string(principalID), "resourceId": .string(resource.id),
                    "consentType": personID == nil ? "AllPrincipals" : "Principal",
                    "principalId": JSONValue(personID), "scope": .string(names.joined(separator: " ")),
                ])
        }
    }

    /// Returns all assignments of app roles in a tenant.
    fileprivate func roleAssignments(in tenantID: String) -> [GraphEntity] {
        let clients = registrations.all.filter { $0.isKnown(in: tenantID) }
        let known = people.accounts.compactMap { account in account.objectID(in: tenantID).map { (account, $0) } }
        let isHome = tenantID == Tenant.contoso
        return clients.flatMap { client in
            let resource = principal(of: client)
            let ofPeople = known.flatMap { account, id in
                assignments(
                    account.roles[client.id.lowercased()], at: resource, to: id, people.displayName(of: account), "User"
                )
            }
            let ofGroups = (isHome ? directory.groups : []).flatMap { group in
                assignments(group.roles[client.name], at: resource, to: group.id, group.name, "Group")
            }
            let own = grantedRoles(of: client).map { resource, role in
                assignment(
                    role.id, at: resource, to: registrations.servicePrincipalID(of: client), client.name,
                    "ServicePrincipal")
            }
            return ofPeople + ofGroups + own
        }
    }

    /// Returns the assignments of roles to a person or a group. An assignment without a role is the default access.
    private func assignments(
        _ values: [String]?, at resource: GraphPrincipal, to id: String, _ name: String, _ type: String
    ) -> [GraphEntity] {
        guard let values else { return [] }
        let roles = resource.roles.filter { values.contains($0.value) }.map(\.id)
        return (roles.isEmpty ? ["00000000-0000-0000-0000-000000000000"] : roles).map {
            assignment($0, at: resource, to: id, name, type)
        }
    }

    private func assignment(
        _ roleID: String, at resource: GraphPrincipal, to id: String, _ name: String, _ type: String
    ) -> GraphEntity {
        GraphEntity(
            type: .appRoleAssignment,
            members: [
                "id": .string(Base64URL.encode(nameBasedID("assignment", "\(id) \(resource.id) \(roleID)").utf8)),
                "appRoleId": .string(roleID), "createdDateTime": .string(GraphDates.created),
                "principalDisplayName": .string(name), "principalId": .string(id), "principalType": .string(type),
                "resourceDisplayName": .string(resource.name), "resourceId": .string(resource.id),
            ])
    }
}
