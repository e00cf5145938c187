/// The resources of scopes at Microsoft's platforms. An authorization request may span several, for the consent to all of them;
/// a token request names scopes of one, besides those of OpenID Connect (AADSTS28000 otherwise).
public enum ScopeResources {
    /// Returns the scopes of the first scope's resource, in their order, with OpenID Connect's own.
    public static func ofFirst(_ scopes: [String]) -> [String] {
        guard let first = scopes.lazy.compactMap(resource).first else { return scopes }
        return scopes.filter { resource(of: $0).map { $0 == first } ?? true }
    }

    /// Returns a scope's resource: what stands before its last slash, and Graph's if there is none; nil for OpenID
    /// Connect's scopes.
    private static func resource(of scope: String) -> String? {
        let name = MicrosoftGraph.shortName(of: scope)
        if ClientRegistration.openIDScopes.contains(name) { return nil }
        return name.lastIndex(of: "/").map { String(name[..<$0]) } ?? ""
    }
}
