/// The permissions that registrations list.
extension Grants {
    /// Throws if an application asks for an API that its registration does not list (t2-authz-08). Of a listed one it
    /// may ask for any scope, and for itself it needs no permission.
    package func checkPermissions(of client: DemoClient, scopes: [String]) throws(PlatformError) {
        guard let permissions = client.permissions else { return }
        let listed = Set(permissions.keys.map { registrations.identity(of: $0) })
        for audience in self.scopes.resources(scopes) {
            let resource = registrations.identity(of: audience)
            guard resource == client.id.lowercased() || listed.contains(resource) else {
                throw .resourceNotListed(audience, id: resource, by: client, listed: listed.sorted())
            }
        }
    }
}

extension PlatformError {
    fileprivate static func resourceNotListed(
        _ audience: String, id: String, by client: DemoClient, listed: [String]
    ) -> Self {
        let name = audience == AccessToken.graphAudience ? Scopes.graphIdentifier : audience
        return Self(
            error: "invalid_client", number: 650_057,
            message: "Invalid resource. The client has requested access to a resource which is not listed in the "
                + "requested permissions in the client's application registration. Client app ID: "
                + "\(client.id)(\(client.name)). "
                + "Resource value from request: \(name). Resource app ID: \(id). List of valid resources from app "
                + "registration: \(listed.joined(separator: ", ")).")
    }
}
