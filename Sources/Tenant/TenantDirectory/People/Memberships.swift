/// Who is a member of which group. Groups that contain each other in a circle end nothing.
extension Directory {
    /// Returns the groups of an account in the order of the configuration, the direct ones first.
    ///
    /// Personal accounts and the consumers of Azure AD B2C have none.
    ///
    /// - Parameter transitive: Whether the groups count that contain its groups.
    package func groups(of account: DemoAccount, transitive: Bool) -> [DemoGroup] {
        guard account.kind == .work || account.kind == .external else { return [] }
        var names: [String] = []
        var seen: Set<String> = []
        var next = account.groups
        while !next.isEmpty {
            let found = next.filter { seen.insert($0).inserted }
            names += found
            next = transitive ? found.flatMap { group(name: $0)?.memberOf ?? [] } : []
        }
        return names.compactMap(group)
    }
}

// The check of the configuration
extension Directory {
    /// The reason why an assignment is refused.
    package struct AssignmentMistake: Error { var reason: String }

    /// Returns app roles by client ID in lower case, of app roles by the application's name.
    package static func assignments(
        _ roles: [String: [String]], to clients: [DemoClient]
    ) throws(AssignmentMistake) -> [String: [String]] {
        var assignments: [String: [String]] = [:]
        for (name, values) in roles {
            guard let client = clients.first(where: { $0.name == name }) else {
                throw AssignmentMistake(reason: "it has roles of '\(name)', and there is no such application")
            }
            for value in values {
                guard let role = client.appRoles.first(where: { $0.value == value }) else {
                    throw AssignmentMistake(reason: "'\(value)' is not an app role of '\(name)'")
                }
                guard role.allowedMemberTypes.contains(.user) else {
                    throw AssignmentMistake(reason: "the app role '\(value)' of '\(name)' is not for people")
                }
            }
            assignments[client.id.lowercased()] = values
        }
        return assignments
    }

    /// Returns the groups of the configuration, and those that are only named. The last of several with one name counts.
    static func allGroups(
        _ configured: [DemoGroup], namedBy accounts: [DemoAccount], clients: [DemoClient]
    ) throws(DemoTenantError) -> [DemoGroup] {
        var groups: [DemoGroup] = []
        var places: [String: Int] = [:]
        func put(_ group: DemoGroup) {
            if let place = places[group.name] {
                groups[place] = group
            } else {
                places[group.name] = groups.count
                groups.append(group)
            }
        }
        for group in configured { put(group) }
        for name in groups.flatMap(\.memberOf) + accounts.flatMap(\.groups) where places[name] == nil {
            put(DemoGroup(name: name))
        }
        var ids: Set<String> = []
        for group in groups {
            guard ids.insert(group.id).inserted else {
                throw .group(group.name, reason: "another group has its ID \(group.id)")
            }
            if case .role = group.kind, !group.memberOf.isEmpty {
                throw .group(group.name, reason: "a directory role is no member of a group")
            }
            do {
                _ = try assignments(group.roles, to: clients)
            } catch {
                throw .group(group.name, reason: error.reason)
            }
        }
        return groups
    }
}
