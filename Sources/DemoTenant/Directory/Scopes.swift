import WebFormats

/// The permissions that can be requested: those of OpenID Connect, delegated permissions of Graph, and those of the APIs
/// that applications expose.
struct Scopes: Sendable {
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
        Permission(name: "GroupMember.Read.All", title: "Read all group memberships", adminOnly: true),
        Permission(name: "Application.Read.All", title: "Read all applications", adminOnly: true),
        Permission(name: "Directory.Read.All", title: "Read directory data", adminOnly: true),
    ]

    /// The permissions of the tenants' own APIs.
    static let own: [Permission] = [
        Permission(name: "\(OwnAPI.external.audience)/tasks.read", title: "Read your tasks"),
        Permission(name: "\(OwnAPI.external.audience)/tasks.write", title: "Change your tasks"),
        Permission(name: "\(OwnAPI.b2c.audience)/demo.read", title: "Call the demo API"),
        Permission(name: "\(OwnAPI.payroll.audience)/\(OwnAPI.payroll.scope)", title: "Read your payslips"),
    ]

    /// Graph's identifier in scopes.
    static let graphIdentifier = "https://graph.microsoft.com"

    private static let graphPrefixes = [graphIdentifier, AccessToken.graphAudience].map { $0 + "/" }
    private static let defaultName = ".default"

    private let byName: [String: Permission]
    /// The identifiers of the APIs beside Graph, the longest first.
    private let audiences: [String]

    /// - Parameter clients: The applications, some of which expose APIs.
    init(_ clients: [DemoClient]) {
        let exposed = clients.flatMap { client in
            client.exposes.sorted { $0.key < $1.key }.flatMap { audience, names in
                names.map { Permission(name: "\(audience)/\($0)", title: "\(client.name): \($0)") }
            }
        }
        byName = Dictionary((Self.graph + Self.own + exposed).map { ($0.name.lowercased(), $0) }) { first, _ in first }
        audiences = Set(OwnAPI.allCases.map(\.audience) + clients.flatMap(\.exposes.keys))
            .sorted { ($0.count, $0) > ($1.count, $1) }
    }

    /// Returns the scopes of a request, in order and without duplicates, OpenID Connect's in lower case and the others in
    /// their API's spelling. Throws AADSTS70011 with the first scope that does not exist.
    func parse(_ text: String) throws(PlatformError) -> [String] {
        var scopes: [String] = []
        for word in text.split(separator: " ") {
            let meant = scopesMeant(by: String(word))
            guard !meant.isEmpty else { throw .invalidScope(String(word)) }
            scopes += meant.filter { !scopes.contains($0) }
        }
        return scopes
    }

    private func scopesMeant(by word: String) -> [String] {
        let name = Self.withoutGraph(word).lowercased()
        if Self.openID.contains(name) { return [name] }
        if name == Self.defaultName { return ["User.Read"] }
        if name.hasSuffix("/" + Self.defaultName) {
            let audience = name.dropLast(Self.defaultName.count + 1)
            if Self.isClientID(audience) { return [String(audience)] }
            guard let known = audiences.first(where: { $0.lowercased() == audience }) else { return [] }
            return byName.values.map(\.name).filter { self.audience(ofScope: $0) == known }.sorted()
        }
        // B2C issues an application a token for itself when it names its own ID.
        if Self.isClientID(name) { return [name] }
        return byName[name].map { [$0.name] } ?? []
    }

    /// Returns the audience of tokens for a resource by its identifier; nil if it is neither Graph nor an API that is
    /// exposed. Graph's may end in a slash, as its name in a directory does.
    func audience(ofResource identifier: String) -> String? {
        let name = identifier.lowercased()
        if [Self.graphIdentifier, Self.graphIdentifier + "/", AccessToken.graphAudience].contains(name) {
            return AccessToken.graphAudience
        }
        return audiences.first { $0.lowercased() == name }
    }

    /// Returns a scope without Graph's identifier. Scopes without one belong to Graph.
    private static func withoutGraph(_ word: String) -> String {
        for prefix in graphPrefixes where word.lowercased().hasPrefix(prefix) {
            return String(word.dropFirst(prefix.count))
        }
        return word
    }

    func permission(_ scope: String) -> Permission? { byName[scope.lowercased()] }

    private static func isClientID(_ name: some StringProtocol) -> Bool {
        name.split(separator: "-", omittingEmptySubsequences: false).map(\.count) == [8, 4, 4, 4, 12]
            && name.allSatisfy { $0.isHexDigit || $0 == "-" }
    }

    private func audience(ofScope scope: String) -> String? { audiences.first { scope.hasPrefix($0 + "/") } }

    /// Returns the audience of a token with this scope; nil for OpenID Connect's own scopes, which belong to no
    /// resource.
    private func resource(_ scope: String) -> String? {
        if Self.openID.contains(scope) { return nil }
        if Self.isClientID(scope) { return scope }
        return audience(ofScope: scope) ?? AccessToken.graphAudience
    }

    /// Returns the resources of the scopes in order, without duplicates.
    func resources(_ scopes: [String]) -> [String] {
        scopes.compactMap(resource).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// Returns the scopes of the first resource, and those of OpenID Connect.
    func ofFirstResource(_ scopes: [String]) -> [String] {
        let first = resources(scopes).first
        return scopes.filter { resource($0) == nil || resource($0) == first }
    }

    /// Returns the resource of the access token. With OpenID Connect's scopes alone it is Graph, for UserInfo.
    func audience(_ scopes: [String]) -> String { resources(scopes).first ?? AccessToken.graphAudience }

    /// Returns the scopes that are listed in an access token and need consent by name.
    static func graphScopes(_ scopes: [String]) -> [String] { scopes.filter { !openID.contains($0) } }

    /// Returns the scopes as the answer lists them, in the form in which they were asked: with Graph's identifier or
    /// without it, and `.default` itself besides. Clients compare them with those that they asked for, and find nothing
    /// in their cache otherwise.
    ///
    /// - Parameter asked: The parameter of the request; nil if it had none.
    func listed(_ scopes: [String], asked: String?) -> String {
        let isForGraph = audience(scopes) == AccessToken.graphAudience
        // Only Graph's tokens list OpenID Connect's scopes, and none lists offline_access.
        var listed = scopes.filter { $0 != "offline_access" && (isForGraph || !Self.openID.contains($0)) }
        for word in (asked ?? "").split(separator: " ").map(String.init) {
            let name = Self.withoutGraph(word)
            for scope in scopesMeant(by: word) where name.count < word.count {
                guard let place = listed.firstIndex(of: scope) else { continue }
                listed[place] = word.dropLast(name.count) + scope
            }
            if name.lowercased().hasSuffix(Self.defaultName), !listed.contains(word) { listed.append(word) }
        }
        return listed.joined(separator: " ")
    }
}
