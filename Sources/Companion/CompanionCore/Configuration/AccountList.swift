import OpenIDConnect
package import WebFormats

/// The accounts that a rule of the configuration names: users, members of groups, holders of app roles.
package struct AccountList: Sendable, Equatable {
    /// The users.
    package var users: [AllowedUser] = []
    /// The IDs of groups, in lower case.
    package var groups: Set<String> = []
    /// The values of app roles.
    package var roles: Set<String> = []

    /// Whether it names no one.
    package var isEmpty: Bool { users.isEmpty && groups.isEmpty && roles.isEmpty }

    /// Whether and why a list names an account.
    package enum Match: Sendable, Equatable {
        case user
        /// An app role, by its value.
        case role(String)
        /// A group, by its ID.
        case group(String)
        case no
        /// The account's groups are not known now.
        case unknown

        /// Whether the list names the account.
        package var isNamed: Bool { self != .no && self != .unknown }
    }

    /// Returns whether and why the list names an account.
    package func match(_ account: AllowedUser.Claims, _ membership: Membership) -> Match {
        if users.contains(where: { $0.names(account) }) { return .user }
        if let role = roles.intersection(membership.roles).min() { return .role(role) }
        guard !groups.isEmpty else { return .no }
        if let group = groups.intersection(membership.groups).min() { return .group(group) }
        return groups.isSubset(of: membership.decided ?? groups) ? .no : .unknown
    }
}

/// The groups and app roles of an account, as far as rules may name them.
package struct Membership: Sendable, Equatable {
    /// The origin of the groups.
    package enum Source: String, Sendable {
        /// The ID token.
        case token
        /// Microsoft Graph, because the ID token had too many.
        case graph
    }

    /// The app roles.
    package let roles: Set<String>
    /// The groups that are known, by their IDs in lower case.
    package let groups: Set<String>
    /// The groups about which it is known whether the account is in them; nil for all.
    package let decided: Set<String>?
    /// The origin of the groups; nil if no one has said anything about them.
    package let source: Source?

    /// - Parameters:
    ///   - claims: the claims of the validated ID token.
    ///   - answer: Graph's answer for this ID token, if it had too many groups.
    package init(claims: [String: JSONValue], _ answer: GroupAnswer?) {
        let own = DirectoryMembership(claims: claims)
        roles = own.roles
        switch own.groups {
        case .absent: (groups, decided, source) = ([], nil, nil)
        case .listed(let listed): (groups, decided, source) = (listed, nil, .token)
        case .tooMany:
            (groups, decided, source) = (answer?.groups ?? [], answer?.asked ?? [], answer == nil ? nil : .graph)
        }
    }
}

/// Graph's answer about an account's groups, reduced to those that rules name. It is stored beside the claims.
package struct GroupAnswer: Sendable, Equatable {
    /// The groups that were looked for.
    package let asked: Set<String>
    /// Those of them in which the account is.
    package let groups: Set<String>

    package init(asked: Set<String>, groups: Set<String>) {
        self.asked = asked
        self.groups = groups.intersection(asked)
    }

    /// Reads the stored form; nil if it has another form.
    package init?(_ text: String) {
        guard let json = JSONValue(parsing: text.utf8), let asked = json["asked"]?.array,
            let groups = json["groups"]?.array
        else { return nil }
        self.init(asked: Set(asked.compactMap(\.string)), groups: Set(groups.compactMap(\.string)))
    }

    /// The stored form.
    package var text: String {
        JSONValue.object(["asked": .list(asked.sorted()), "groups": .list(groups.sorted())]).text
    }
}
