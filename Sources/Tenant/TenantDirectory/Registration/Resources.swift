/// The resources that tokens are for, and the roles that applications have there.
extension Registrations {
    /// Returns the object ID of an application's service principal, which is also the `oid` of its own tokens.
    package func servicePrincipalID(of client: DemoClient) -> String { nameBasedID("service principal", client.id) }

    /// Returns the object ID of an application's registration.
    package func applicationObjectID(of client: DemoClient) -> String {
        client.registered?.objectID ?? nameBasedID("application", client.id)
    }

    /// Returns the roles of an application in its own tokens for a resource; nil if there is no such resource.
    package func roles(of client: DemoClient, at audience: String) -> [String]? {
        guard appRoles(at: audience) != nil else { return nil }
        let resource = identity(of: audience)
        return client.applicationRoles.filter { identity(of: $0.key) == resource }
            .sorted { $0.key < $1.key }.flatMap(\.value)
            .reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// Returns the app roles that a resource defines; nil if there is no such resource.
    package func appRoles(at audience: String) -> [DemoClient.AppRole]? {
        if identity(of: audience) == AccessToken.graphAudience { return reference.application }
        if OwnAPI.allCases.contains(where: { $0.audience.lowercased() == audience.lowercased() }) { return [] }
        return owner(of: audience)?.appRoles
    }

    /// Returns one name for all identifiers of a resource.
    func identity(of audience: String) -> String {
        let name = audience.lowercased()
        if name == Scopes.graphIdentifier || name == AccessToken.graphAudience { return AccessToken.graphAudience }
        return owner(of: name)?.id.lowercased() ?? name
    }

    /// Throws if an application has a role that no resource gives to applications.
    func checkApplicationRoles(of client: DemoClient) throws(DemoTenantError) {
        for (resource, values) in client.applicationRoles {
            guard let known = appRoles(at: resource) else {
                throw .client(client.name, reason: "it has roles of '\(resource)', and there is no such resource")
            }
            for value in values
            where !known.contains(where: { $0.value == value && $0.allowedMemberTypes.contains(.application) }) {
                throw .client(
                    client.name, reason: "'\(value)' is not an app role of '\(resource)' for applications")
            }
        }
    }

    /// Throws if an application lists a permission that does not exist.
    func checkPermissions(of client: DemoClient, among scopes: Scopes) throws(DemoTenantError) {
        for (resource, names) in (client.permissions ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard appRoles(at: resource) != nil else {
                throw .client(
                    client.name, reason: "it has permissions of '\(resource)', and there is no such resource")
            }
            if let unknown = names.first(where: { !scopes.has("\(resource)/\($0)") }) {
                throw .client(client.name, reason: "'\(unknown)' is not a scope of '\(resource)'")
            }
        }
    }
}
