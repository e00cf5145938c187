import WebFormats

/// An application in a tenant: one of the registered ones, or Graph.
struct GraphPrincipal: Sendable {
    let id: String
    let appID: String
    let name: String
    let roles: [DemoClient.AppRole]
    /// Nil for Graph.
    let client: DemoClient?

    /// The tenant of Microsoft's own applications.
    private static let microsoft = "f8cdef31-a31e-4b4a-93e4-5f571e91255a"

    var entity: GraphEntity {
        let scopes = client?.graphScopes ?? GraphPermissions.scopes
        let names = [appID] + (client?.identifierURIs ?? [Scopes.graphIdentifier])
        return GraphEntity(
            type: .servicePrincipal,
            members: [
                "id": .string(id), "appId": .string(appID), "displayName": .string(name),
                "appDisplayName": .string(name), "accountEnabled": true,
                "appOwnerOrganizationId": .string(client?.homeTenantID ?? Self.microsoft),
                "appRoleAssignmentRequired": .bool(client?.assignmentRequired ?? false),
                "appRoles": .appRoles(roles), "createdDateTime": .string(GraphDates.created),
                "homepage": JSONValue(client?.homeURL), "logoutUrl": JSONValue(client?.frontChannelLogoutURI),
                "oauth2PermissionScopes": .array(scopes), "replyUrls": .texts(client?.redirectURIs ?? []),
                "servicePrincipalNames": .texts(names), "servicePrincipalType": "Application",
                "signInAudience": .string(client?.signInAudience ?? "AzureADMultipleOrgs"),
            ])
    }
}

extension GraphCall {
    /// `GET /servicePrincipals`
    func servicePrincipals() -> GraphAnswer {
        .collection(
            GraphCollection(
                context: "servicePrincipals", types: [.servicePrincipal],
                entities: platform.principals(in: tenantID).map(\.entity)))
    }

    /// `GET /servicePrincipals/{id}` and `/servicePrincipals(appId='{client ID}')`
    func servicePrincipal() throws(GraphError) -> GraphAnswer {
        .object(try foundPrincipal().entity, of: "servicePrincipals")
    }

    func foundPrincipal() throws(GraphError) -> GraphPrincipal {
        guard
            let principal = platform.principals(in: tenantID).first(where: { isKey(ofID: $0.id, orAppID: $0.appID) })
        else { throw .notFound(key) }
        return principal
    }
}

extension Platform {
    /// Returns the service principals of a tenant, with Graph's last.
    func principals(in tenantID: String) -> [GraphPrincipal] {
        registrations.all.filter { $0.isKnown(in: tenantID) }.map(principal) + [graphPrincipal]
    }

    func principal(of client: DemoClient) -> GraphPrincipal {
        GraphPrincipal(
            id: registrations.servicePrincipalID(of: client), appID: client.id, name: client.name,
            roles: client.appRoles, client: client)
    }

    var graphPrincipal: GraphPrincipal {
        GraphPrincipal(
            id: nameBasedID("service principal", AccessToken.graphAudience), appID: AccessToken.graphAudience,
            name: "Microsoft Graph", roles: DemoClient.AppRole.graph, client: nil)
    }

    /// Returns the principal of a resource by an identifier in scopes; nil if it is none of those.
    func principal(ofResource audience: String) -> GraphPrincipal? {
        if [AccessToken.graphAudience, Scopes.graphIdentifier].contains(audience.lowercased()) {
            return graphPrincipal
        }
        return registrations.owner(of: audience).map(principal)
    }

    /// Returns the app roles that were granted to an application itself, with the principals that define them.
    func grantedRoles(of client: DemoClient) -> [(principal: GraphPrincipal, role: DemoClient.AppRole)] {
        client.applicationRoles.sorted { $0.key < $1.key }.flatMap { audience, values in
            principal(ofResource: audience).map { principal in
                values.compactMap { value in principal.roles.first { $0.value == value }.map { (principal, $0) } }
            } ?? []
        }
    }
}

extension GraphPermissions {
    /// The IDs of the delegated permissions, which are the same in every tenant.
    ///
    /// Source: Graph's permissions reference.
    static let scopeIDs = [
        "openid": "37f7f235-527c-4136-accd-4a02d197296e", "profile": "14dad69e-099b-42c9-810b-d002981feec1",
        "email": "64a6cdd6-aab1-4aaf-94b8-3cc8405e90d0", "offline_access": "7427e0e9-2fba-42fe-b0c0-848c9e6a8182",
        "User.Read": "e1fe6dd8-ba31-4d61-89e7-88639da4683d",
        "User.ReadBasic.All": "b340eb25-3456-403f-be2f-af7a0d370277",
        "User.ReadWrite": "b4e74841-8e56-480b-be8b-910348b18b4c",
        "Mail.Read": "570282fd-fa5c-430d-a7fd-fc8dc98a9dca", "Mail.Send": "e383f46e-2787-4529-855e-0e479a3ffac0",
        "Calendars.Read": "465a38f9-76ea-45b9-9f34-9e8b0d4b0b42",
        "Contacts.Read": "ff74d97f-43af-4b68-9f2a-b77ee6968c5d", "Files.Read": "10465720-29dd-4523-a11a-6a75c743c9d9",
        "Notes.Read": "371361e4-b9e2-4a3f-8315-2a301a3b0a3d", "People.Read": "ba47897c-39ec-4d83-8086-ee8256fa737d",
        "Presence.Read": "76bc735e-aecd-4a1d-8b4c-2b915deabb79", "Tasks.Read": "f45671fb-e0fe-4b4b-be20-3d3ce43f1bcb",
        "User.Read.All": "a154be20-db9c-4678-8ab7-66f6cc099a59",
        "Group.Read.All": "5f8c59db-677d-491f-a6b8-5f174b11ec1d",
        "GroupMember.Read.All": "bc024368-1153-4739-b217-4326f2e966d0",
        "Application.Read.All": "c79f8feb-a9db-4090-85f9-90d820caa0eb",
        "Directory.Read.All": "06da0dbc-49e2-44d2-8312-53f166ab848a",
    ]

    /// The delegated permissions in Graph's form.
    static let scopes: [JSONValue] = {
        let openID = Scopes.openID.map { ($0, $0, false) }
        let permissions = Scopes.graph.map { ($0.name, $0.title.text, $0.adminOnly) }
        return (openID + permissions).compactMap { name, title, adminOnly in
            scopeIDs[name].map { .permissionScope(name, id: $0, title: title, adminOnly: adminOnly) }
        }
    }()
}
