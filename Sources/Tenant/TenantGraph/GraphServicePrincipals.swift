import TenantDirectory
import WebFormats

/// An application in a tenant: one of the registered ones, or Graph.
struct GraphPrincipal: Sendable {
    let id: String
    let appID: String
    let name: String
    let roles: [DemoClient.AppRole]
    /// Graph's scopes; those of another are its application's.
    var graphScopes: [JSONValue] = []
    /// Nil for Graph.
    let client: DemoClient?

    /// The tenant of Microsoft's own applications.
    private static let microsoft = "f8cdef31-a31e-4b4a-93e4-5f571e91255a"

    var entity: GraphEntity {
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
                "oauth2PermissionScopes": .array(scopes),
                "replyUrls": .texts(client?.redirectURIs ?? []),
                "servicePrincipalNames": .texts(names), "servicePrincipalType": "Application",
                "signInAudience": .string(client?.signInAudience ?? "AzureADMultipleOrgs"),
            ])
    }
}

extension GraphCall {
    /// `GET /servicePrincipals`
    func servicePrincipals() -> GraphAnswer {
        .list("servicePrincipals", of: [.servicePrincipal], graph.principals(in: tenantID).map(\.entity))
    }

    /// `GET /servicePrincipals/{id}` and `/servicePrincipals(appId='{client ID}')`
    func servicePrincipal() throws(GraphError) -> GraphAnswer {
        .object(try foundPrincipal().entity, of: "servicePrincipals")
    }

    func foundPrincipal() throws(GraphError) -> GraphPrincipal {
        guard
            let principal = graph.principals(in: tenantID).first(where: { isKey(ofID: $0.id, orAppID: $0.appID) })
        else { throw .notFound(key) }
        return principal
    }
}

extension Graph {
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
            name: "Microsoft Graph", roles: registrations.reference.application,
            graphScopes: graphScopes, client: nil)
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
