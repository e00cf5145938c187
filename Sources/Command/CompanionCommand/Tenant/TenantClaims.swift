import Foundation
import TenantDirectory
import Yams

// The parts of a tenant's file that decide about claims
extension DemoClient.AppRole {
    /// - Parameter node: The value alone, or a mapping.
    init?(_ node: Node, at path: String, _ yaml: inout YAMLReading) {
        guard case .mapping = node else {
            guard let value = Self.value(node, at: path, &yaml) else { return nil }
            self.init(value: value)
            return
        }
        let fields = yaml.fields(node, at: path, ["value", "id", "display_name", "allowed", "enabled"])
        let allowed = yaml.items(list: fields["allowed"], at: "\(path).allowed").compactMap { node, path in
            yaml.choice(node, at: path, ["user": MemberType.user, "application": .application])
        }
        let id = yaml.objectID(fields["id"], at: "\(path).id")
        let displayName = yaml.text(fields["display_name"], at: "\(path).display_name")
        let isEnabled = fields["enabled"] == nil || yaml.flag(fields["enabled"], at: "\(path).enabled")
        if fields["value"] == nil { yaml.add("needs a value", at: path, node) }
        guard let value = Self.value(fields["value"], at: "\(path).value", &yaml) else { return nil }
        self.init(
            value: value, id: id, displayName: displayName, isEnabled: isEnabled,
            allowed: allowed.isEmpty ? Set(MemberType.allCases) : Set(allowed))
    }

    private static func value(_ node: Node?, at path: String, _ yaml: inout YAMLReading) -> String? {
        guard let node, let value = yaml.text(node, at: path) else { return nil }
        guard !value.contains(" ") else {
            yaml.add("must have no spaces", at: path, node)
            return nil
        }
        return value
    }
}

extension DemoClient.OptionalClaims {
    init?(_ node: Node?, at path: String, _ yaml: inout YAMLReading) {
        guard let node else { return nil }
        let fields = yaml.fields(node, at: path, ["id_token", "access_token"])
        self.init(
            idToken: yaml.names(fields["id_token"], at: "\(path).id_token", of: Self.knownInIDToken),
            accessToken: yaml.names(fields["access_token"], at: "\(path).access_token", of: Self.knownInAccessToken))
    }
}

extension DemoClient.GroupMembershipClaims {
    static let words: KeyValuePairs<String, Self> = [
        "none": .none, "security": .securityGroup, "roles": .directoryRole, "assigned": .applicationGroup, "all": .all,
    ]
}

extension DemoGroup {
    init?(_ node: Node, at path: String, _ yaml: inout YAMLReading) {
        let fields = yaml.fields(node, at: path, ["name", "id", "kind", "member_of", "roles"])
        guard case .mapping = node else { return nil }
        let id = yaml.objectID(fields["id"], at: "\(path).id")
        let memberOf = yaml.texts(fields["member_of"], at: "\(path).member_of")
        let roles = yaml.lists(fields["roles"], at: "\(path).roles")
        guard let name = yaml.text(fields["name"], at: "\(path).name") else {
            if fields["name"] == nil { yaml.add("needs a name", at: path, node) }
            return nil
        }
        let role = Self.roleTemplates[name].map(Kind.role)
        let kind = yaml.choice(
            fields["kind"], at: "\(path).kind",
            ["security": Kind.security, "distribution": .distribution, "role": role])
        if kind == .some(nil) {
            yaml.add(
                "is no directory role; the roles are \(Self.roleTemplates.keys.sorted().joined(separator: ", "))",
                at: "\(path).name", fields["name"])
        }
        self.init(name: name, id: id, kind: kind ?? nil, memberOf: memberOf, roles: roles)
    }
}

extension YAMLReading {
    /// Returns the scopes of APIs, and the authentication contexts that they demand, by identifier. An API is a list of
    /// scopes, or a mapping with further settings.
    mutating func apis(_ node: Node?, at path: String) -> (scopes: [String: [String]], contexts: [String: String]) {
        guard let node else { return ([:], [:]) }
        var (scopes, contexts): ([String: [String]], [String: String]) = ([:], [:])
        for (identifier, api) in fields(node, at: path) {
            let path = "\(path).\(identifier)"
            guard case .mapping = api else {
                scopes[identifier] = texts(api, at: path)
                continue
            }
            let fields = fields(api, at: path, ["scopes", "requires_context"])
            scopes[identifier] = texts(fields["scopes"], at: "\(path).scopes")
            contexts[identifier] = context(fields["requires_context"], at: "\(path).requires_context")
        }
        return (scopes, contexts)
    }

    /// Returns the permissions that a registration lists, by their API. An empty list is none; nil says nothing.
    mutating func permissions(_ node: Node?, at path: String) -> [String: [String]]? {
        guard let node else { return nil }
        if case .sequence(let items) = node, items.isEmpty { return [:] }
        return lists(node, at: path)
    }

    /// Returns the policies of authentication contexts.
    mutating func contexts(_ node: Node?, at path: String) -> [String: ContextPolicy]? {
        guard let node else { return nil }
        var contexts: [String: ContextPolicy] = [:]
        for (name, policy) in fields(node, at: path) {
            guard AuthenticationContext.isID(name) else {
                add("is not one of c1 to c99", at: "\(path).\(name)", policy)
                continue
            }
            contexts[name] = choice(
                policy, at: "\(path).\(name)",
                ["second_factor": ContextPolicy.secondFactor, "password": .password, "blocked": .blocked])
        }
        return contexts
    }

    /// Returns the ID of an authentication context.
    fileprivate mutating func context(_ node: Node?, at path: String) -> String? {
        guard let node, let text = text(node, at: path) else { return nil }
        guard AuthenticationContext.isID(text) else {
            add("must be one of c1 to c99", at: path, node)
            return nil
        }
        return text
    }

    /// Returns the items of a list, or the one value that stands for a list of one.
    mutating func items(list node: Node?, at path: String) -> [(node: Node, path: String)] {
        guard let node, case .scalar = node else { return items(node, at: path) }
        return [(node, path)]
    }

    /// Returns a list of known names.
    fileprivate mutating func names(_ node: Node?, at path: String, of known: [String]) -> [String] {
        items(list: node, at: path).compactMap { node, path in
            guard let name = text(node, at: path) else { return nil }
            guard known.contains(name) else {
                add(Self.unknown(name, among: known, called: "claims"), at: path, node)
                return nil
            }
            return name
        }
    }

    /// Returns an object ID in lower case.
    fileprivate mutating func objectID(_ node: Node?, at path: String) -> String? {
        guard let node, let text = text(node, at: path) else { return nil }
        guard UUID(uuidString: text) != nil else {
            add("must be a GUID such as \(DemoClient.id(for: text))", at: path, node)
            return nil
        }
        return text.lowercased()
    }
}
