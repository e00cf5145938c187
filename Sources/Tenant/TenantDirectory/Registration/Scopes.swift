package import WebFormats

/// The permissions that can be requested: those of OpenID Connect, delegated permissions of Graph, and those of the APIs
/// that applications expose.
package struct Scopes: Sendable {
    package static let openID = ["openid", "profile", "email", "offline_access"]

    package struct Permission: Sendable {
        package var name: String
        /// The ID, which is the same in every tenant; empty for those of the tenants' own APIs.
        package var id = ""
        /// The text on the consent page.
        package var title: HTML
        package var adminOnly = false
    }

    /// The texts of Graph's permissions that tutorials use; of all others the consent page shows the name.
    static let graphTitles: [String: HTML] = [
        "User.Read": "Sign you in and read your profile",
        "User.ReadBasic.All": "Read all users’ basic profiles",
        "User.ReadWrite": "Read and update your profile",
        "Mail.Read": "Read your mail",
        "Mail.Send": "Send mail as you",
        "Calendars.Read": "Read your calendars",
        "Contacts.Read": "Read your contacts",
        "Files.Read": "Read your files",
        "Notes.Read": "Read your notebooks",
        "People.Read": "Read your relevant people list",
        "Presence.Read": "Read your presence",
        "Tasks.Read": "Read your tasks",
        "User.Read.All": "Read all users’ full profiles",
        "Group.Read.All": "Read all groups",
        "GroupMember.Read.All": "Read all group memberships",
        "Application.Read.All": "Read all applications",
        "Directory.Read.All": "Read directory data",
    ]

    /// The permissions of the tenants' own APIs.
    package static let own: [Permission] = [
        Permission(name: "\(OwnAPI.external.audience)/tasks.read", title: "Read your tasks"),
        Permission(name: "\(OwnAPI.external.audience)/tasks.write", title: "Change your tasks"),
        Permission(name: "\(OwnAPI.b2c.audience)/demo.read", title: "Call the demo API"),
        Permission(name: "\(OwnAPI.payroll.audience)/\(OwnAPI.payroll.scope)", title: "Read your payslips"),
    ]

    /// Graph's identifier in scopes.
    package static let graphIdentifier = "https://graph.microsoft.com"

    private static let graphPrefixes = [graphIdentifier, AccessToken.graphAudience].map { $0 + "/" }
    private static let defaultName = ".default"

    private struct Table: Sendable {
        let byName: [String: Permission]
        /// The identifiers of the APIs beside Graph, the longest first.
        let audiences: [String]
        /// The client IDs of the applications, in lower case, with the scopes of their APIs.
        let exposedByID: [String: [String]]
        /// The client IDs of the applications by the identifiers of their APIs.
        let owners: [String: String]
    }

    private let table: Live<Table>
    private var byName: [String: Permission] { table.current.byName }
    private var audiences: [String] { table.current.audiences }
    private let byGraphID: [String: String]

    /// - Parameters:
    ///   - clients: The applications, some of which expose APIs.
    ///   - reference: Graph's permissions.
    package init(_ clients: [DemoClient], reference: PermissionReference) {
        let exposed = clients.map { client in
            let permissions = client.exposes.sorted { $0.key < $1.key }.flatMap { audience, names in
                names.map { Permission(name: "\(audience)/\($0)", title: "\(client.name): \($0)") }
            }
            return (id: client.id.lowercased(), permissions: permissions)
        }
        let permissions = reference.delegated + Self.own + exposed.flatMap(\.permissions)
        let owners = clients.flatMap { client in client.exposes.keys.map { ($0, client.id) } }
        table = Live(
            Table(
                byName: Dictionary(permissions.map { ($0.name.lowercased(), $0) }) { first, _ in first },
                audiences: Set(OwnAPI.allCases.map(\.audience) + clients.flatMap(\.exposes.keys))
                    .sorted { ($0.count, $0) > ($1.count, $1) },
                exposedByID: Dictionary(exposed.map { ($0.id, $0.permissions.map(\.name)) }) { first, _ in first },
                owners: Dictionary(owners) { first, _ in first }))
        byGraphID = Dictionary(reference.delegated.map { ($0.id, $0.name) }) { first, _ in first }
    }

    /// Becomes what another is, for everyone who has this one.
    func become(_ other: Scopes) { table.current = other.table.current }

    /// Returns the scopes of a request, in order and without duplicates, OpenID Connect's in lower case and the others in
    /// their API's spelling. Throws with the first scope that does not exist: 650053 if its resource does, 500011 if that does
    /// not, and 70011 if it is no scope at all.
    ///
    /// - Parameters:
    ///   - client: The application that asks; what `.default` means depends on its registration.
    ///   - tenant: The name of the tenant in the error: its ID at the token endpoint, and what people call it at the
    ///     authorization endpoint (tok-err-kinds-09).
    package func parse(
        _ text: String, of client: DemoClient? = nil, tenant: String = Tenant.contoso
    ) throws(PlatformError) -> [String] {
        let (scopes, refusal) = read(text, of: client, tenant: tenant)
        if let refusal { throw refusal }
        return scopes
    }

    /// Returns the scopes of a request that exist, and the error of the first one that does not.
    package func read(
        _ text: String, of client: DemoClient?, tenant: String
    ) -> (scopes: [String], refusal: PlatformError?) {
        var scopes: [String] = []
        var refusal: PlatformError?
        for word in text.split(separator: " ").map(String.init) {
            let meant = scopesMeant(by: word, of: client)
            if meant.isEmpty, refusal == nil { refusal = unknown(word, of: client, tenant: tenant) }
            scopes += meant.filter { !scopes.contains($0) }
        }
        return (scopes, refusal)
    }

    private func unknown(_ word: String, of client: DemoClient?, tenant: String) -> PlatformError {
        let name = Self.withoutGraph(word)
        if !name.contains("/"), name.allSatisfy({ $0.isLetter || $0.isNumber || "._-".contains($0) }) {
            return .unknownScope(name, of: AccessToken.graphAudience, askedBy: client)
        }
        if let audience = audience(ofScope: word) {
            return .unknownScope(
                String(word.dropFirst(audience.count + 1)), of: table.current.owners[audience] ?? audience,
                askedBy: client)
        }
        guard let slash = word.lastIndex(of: "/"), slash > word.startIndex, word.index(after: slash) < word.endIndex
        else { return .invalidScope(word) }
        let resource = String(word[..<slash])
        if table.current.exposedByID[resource.lowercased()] != nil {
            return .unknownScope(String(word[word.index(after: slash)...]), of: resource, askedBy: client)
        }
        return .unknownResource(resource, in: tenant)
    }

    private func scopesMeant(by word: String, of client: DemoClient? = nil) -> [String] {
        let name = Self.withoutGraph(word).lowercased()
        if Self.openID.contains(name) { return [name] }
        // Graph's may be named by their IDs.
        if let known = byGraphID[name], word.lowercased() != name { return [known] }
        if name == Self.defaultName { return listed(by: client, of: [AccessToken.graphAudience]) ?? ["User.Read"] }
        if name.hasSuffix("/" + Self.defaultName) {
            let audience = name.dropLast(Self.defaultName.count + 1)
            if Self.isClientID(audience) {
                guard let exposed = table.current.exposedByID[String(audience)] else { return [] }
                return listed(by: client, of: resources(exposed)) ?? (exposed.isEmpty ? [String(audience)] : exposed)
            }
            guard let known = audiences.first(where: { $0.lowercased() == audience }) else { return [] }
            return listed(by: client, of: [known])
                ?? byName.values.map(\.name).filter { self.audience(ofScope: $0) == known }.sorted()
        }
        // B2C issues an application a token for itself when it names its own ID.
        if Self.isClientID(name) { return [name] }
        if let known = byName[name] { return [known.name] }
        // An API may be named by its application's ID.
        guard let slash = name.firstIndex(of: "/") else { return [] }
        let exposed = table.current.exposedByID[String(name[..<slash])] ?? []
        let wanted = String(name[name.index(after: slash)...])
        return exposed.filter { $0.dropFirst((audience(ofScope: $0) ?? "").count + 1).lowercased() == wanted }
    }

    /// Returns the scopes of resources that a registration lists; nil if it lists none of theirs.
    private func listed(by client: DemoClient?, of audiences: [String]) -> [String]? {
        let words = (client?.permissions ?? [:]).sorted { $0.key < $1.key }
            .flatMap { api in api.value.map { "\(api.key)/\($0)" } }
        var listed: [String] = []
        for scope in words.flatMap({ scopesMeant(by: $0) }) {
            guard let audience = resource(scope), audiences.contains(audience) else { continue }
            if !listed.contains(scope) { listed.append(scope) }
        }
        return listed.isEmpty ? nil : listed
    }

    /// Whether a scope exists.
    func has(_ scope: String) -> Bool { !scopesMeant(by: scope).isEmpty }

    /// Returns the audience of tokens for a resource by its identifier; nil if it is neither Graph nor an API that is
    /// exposed. Graph's may end in a slash, as its name in a directory does.
    package func audience(ofResource identifier: String) -> String? {
        let name = identifier.lowercased()
        let own = Origins.current ?? Self.graphIdentifier
        if [Self.graphIdentifier, Self.graphIdentifier + "/", AccessToken.graphAudience, own].contains(name) {
            return AccessToken.graphAudience
        }
        return audiences.first { $0.lowercased() == name }
    }

    /// Throws if the parameter `resource` names another API than the scopes (t2-authz-21, t2-tok-12).
    package func check(resource: String?, of scopes: [String]) throws(PlatformError) {
        let wanted = resources(scopes)
        guard let resource, !wanted.isEmpty else { return }
        guard let named = audience(ofResource: resource), wanted.contains(named) else { throw .resourceMismatch }
    }

    /// Returns a scope without Graph's identifier. Scopes without one belong to Graph.
    private static func withoutGraph(_ word: String) -> String {
        // Our own Graph is at our own address.
        let own = Origins.current.map { [$0 + "/"] } ?? []
        for prefix in graphPrefixes + own where word.lowercased().hasPrefix(prefix) {
            return String(word.dropFirst(prefix.count))
        }
        return word
    }

    package func permission(_ scope: String) -> Permission? { byName[scope.lowercased()] }

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
    package func resources(_ scopes: [String]) -> [String] {
        scopes.compactMap(resource).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// Returns the scopes of the first resource, and those of OpenID Connect.
    package func ofFirstResource(_ scopes: [String]) -> [String] {
        let first = resources(scopes).first
        return scopes.filter { resource($0) == nil || resource($0) == first }
    }

    /// Returns the resource of the access token. With OpenID Connect's scopes alone it is Graph, for UserInfo.
    package func audience(_ scopes: [String]) -> String { resources(scopes).first ?? AccessToken.graphAudience }

    /// Returns the scopes that are listed in an access token and need consent by name.
    package static func graphScopes(_ scopes: [String]) -> [String] { scopes.filter { !openID.contains($0) } }

    /// Returns the scopes as the answer lists them, in the form in which they were asked: with Graph's identifier or
    /// without it, and `.default` itself besides. Clients compare them with those that they asked for, and find nothing
    /// in their cache otherwise.
    ///
    /// - Parameter asked: The parameter of the request; nil if it had none.
    package func listed(_ scopes: [String], asked: String?) -> String {
        let isForGraph = audience(scopes) == AccessToken.graphAudience
        // Only Graph's tokens list OpenID Connect's scopes, and none lists offline_access.
        var listed = Self.sorted(
            scopes.filter { $0 != "offline_access" && (isForGraph || !Self.openID.contains($0)) })
        for word in (asked ?? "").split(separator: " ").map(String.init) {
            let name = Self.withoutGraph(word)
            let meant =
                name.lowercased() == Self.defaultName
                ? scopes.filter { resource($0) == AccessToken.graphAudience } : scopesMeant(by: word)
            for scope in meant where name.count < word.count {
                guard let place = listed.firstIndex(of: scope) else { continue }
                listed[place] = word.dropLast(name.count) + scope
            }
            if name.lowercased().hasSuffix(Self.defaultName), !listed.contains(word) { listed.append(word) }
        }
        return listed.joined(separator: " ")
    }

    /// Returns scopes in the platform's order, which is the alphabet's (tok-ok-02).
    package static func sorted(_ scopes: [String]) -> [String] {
        scopes.sorted { ($0.lowercased(), $0) < ($1.lowercased(), $1) }
    }
}
