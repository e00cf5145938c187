import WebFormats

/// The permissions that can be requested: those of OpenID Connect, and delegated permissions of Graph.
enum Scope {
    static let openID = ["openid", "profile", "email", "offline_access"]

    struct Permission: Sendable {
        var name: String
        /// The text on the consent page.
        var title: HTML
        var adminOnly = false
    }

    /// The Graph permissions that tutorials use, in Graph's spelling.
    static let graph: [Permission] = [
        Permission(name: "User.Read", title: "Sign you in and read your profile"),
        Permission(name: "User.ReadBasic.All", title: "Read all users’ basic profiles"),
        Permission(name: "User.ReadWrite", title: "Read and update your profile"),
        Permission(name: "Mail.Read", title: "Read your mail"),
        Permission(name: "Mail.Send", title: "Send mail as you"),
        Permission(name: "Calendars.Read", title: "Read your calendars"),
        Permission(name: "Contacts.Read", title: "Read your contacts"),
        Permission(name: "Files.Read", title: "Read your files"),
        Permission(name: "Notes.Read", title: "Read your notebooks"),
        Permission(name: "People.Read", title: "Read your relevant people list"),
        Permission(name: "Presence.Read", title: "Read your presence"),
        Permission(name: "Tasks.Read", title: "Read your tasks"),
        Permission(name: "User.Read.All", title: "Read all users’ full profiles", adminOnly: true),
        Permission(name: "Group.Read.All", title: "Read all groups", adminOnly: true),
        Permission(name: "Directory.Read.All", title: "Read directory data", adminOnly: true),
    ]

    /// The permissions of the tenants' own APIs, by their audience.
    static let own: [(audience: String, permissions: [Permission])] = [
        (
            OwnAPI.external.audience,
            [
                Permission(name: "\(OwnAPI.external.audience)/tasks.read", title: "Read your tasks"),
                Permission(name: "\(OwnAPI.external.audience)/tasks.write", title: "Change your tasks"),
            ]
        ),
        (
            OwnAPI.b2c.audience,
            [Permission(name: "\(OwnAPI.b2c.audience)/demo.read", title: "Call the demo API")]
        ),
    ]

    private static let graphPrefixes = ["https://graph.microsoft.com/", "00000003-0000-0000-c000-000000000000/"]
    private static let byName = Dictionary(
        (graph + own.flatMap(\.permissions)).map { ($0.name.lowercased(), $0) }
    ) { first, _ in first }

    /// Returns the scopes of a request, in order and without duplicates, OpenID Connect's in lower case and Graph's in
    /// Graph's spelling. Throws AADSTS70011 with the first scope that does not exist.
    static func parse(_ text: String) throws(PlatformError) -> [String] {
        var scopes: [String] = []
        for word in text.split(separator: " ") {
            guard let scope = canonical(String(word)) else { throw .invalidScope(String(word)) }
            if !scopes.contains(scope) { scopes.append(scope) }
        }
        return scopes
    }

    private static func canonical(_ word: String) -> String? {
        var name = word.lowercased()
        if openID.contains(name) { return name }
        for prefix in graphPrefixes where name.hasPrefix(prefix) { name.removeFirst(prefix.count) }
        if name == ".default" { return "User.Read" }
        // B2C issues an application a token for itself when it names its own ID.
        if isClientID(name) { return name }
        return byName[name]?.name
    }

    static func permission(_ scope: String) -> Permission? { byName[scope.lowercased()] }

    private static func isClientID(_ name: String) -> Bool {
        name.split(separator: "-", omittingEmptySubsequences: false).map(\.count) == [8, 4, 4, 4, 12]
            && name.allSatisfy { $0.isHexDigit || $0 == "-" }
    }

    /// Returns the audience of a token with this scope; nil for OpenID Connect's own scopes, which belong to no
    /// resource.
    private static func resource(_ scope: String) -> String? {
        if openID.contains(scope) { return nil }
        if isClientID(scope) { return scope }
        return own.first { scope.hasPrefix($0.audience + "/") }?.audience ?? AccessToken.graphAudience
    }

    /// Returns the resources of the scopes in order, without duplicates.
    static func resources(_ scopes: [String]) -> [String] {
        scopes.compactMap(resource).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// Returns the scopes of the first resource, and those of OpenID Connect.
    static func ofFirstResource(_ scopes: [String]) -> [String] {
        let first = resources(scopes).first
        return scopes.filter { resource($0) == nil || resource($0) == first }
    }

    /// Returns the resource of the access token. With OpenID Connect's scopes alone it is Graph, for UserInfo.
    static func audience(_ scopes: [String]) -> String { resources(scopes).first ?? AccessToken.graphAudience }

    /// Returns the scopes that are listed in an access token and need consent by name.
    static func graphScopes(_ scopes: [String]) -> [String] { scopes.filter { !openID.contains($0) } }
}
