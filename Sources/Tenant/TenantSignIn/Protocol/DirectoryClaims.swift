import TenantDirectory
import WebFormats

/// The claims of a person's token that the directory decides: groups, app roles, directory roles.
struct DirectoryClaims {
    /// A token lists so many groups at most. With more it lists none, and says where they are instead.
    static let mostGroups = 200

    let directory: Directory
    let account: DemoAccount
    /// The tenant that issues the token.
    let tenantID: String
    /// The application for an ID token, and the API's application for an access token.
    let registration: DemoClient

    /// The claims by name. Personal accounts have none.
    var members: [String: JSONValue] {
        guard account.kind != .personal else { return [:] }
        var members = groupClaims
        if let roles = directory.roles(of: account, at: registration), !roles.isEmpty {
            members["roles"] = .array(roles.map(JSONValue.string))
        }
        return members
    }

    private var groupClaims: [String: JSONValue] {
        // A guest is in no group of the host's organization here.
        guard tenantID == account.tenantID else { return [:] }
        let registered = registration.groupMembershipClaims
        let groups =
            registered == .none
            ? [] : directory.groups(of: account, transitive: registered != .applicationGroup)
        return switch registered {
        case .none: [:]
        case .securityGroup: list(groups.filter { $0.kind != .distribution })
        case .directoryRole: roleTemplates(groups)
        case .applicationGroup:
            list(groups.filter { $0.kind != .distribution && $0.roles[registration.name] != nil })
        case .all: list(groups).merging(roleTemplates(groups)) { $1 }
        }
    }

    private func list(_ groups: [DemoGroup]) -> [String: JSONValue] {
        guard !groups.isEmpty else { return [:] }
        guard groups.count > Self.mostGroups else { return ["groups": .array(groups.map { .string($0.id) })] }
        // The platform still names Azure AD Graph, which is switched off. Clients have to make their own call of Graph.
        let endpoint =
            "https://graph.windows.net/\(tenantID)/users/\(account.objectID(in: tenantID) ?? account.objectID)"
            + "/getMemberObjects"
        return [
            "_claim_names": ["groups": "src1"], "_claim_sources": ["src1": ["endpoint": .string(endpoint)]],
        ]
    }

    private func roleTemplates(_ groups: [DemoGroup]) -> [String: JSONValue] {
        let templates = groups.compactMap { group -> JSONValue? in
            if case .role(let templateID) = group.kind { .string(templateID) } else { nil }
        }
        return templates.isEmpty ? [:] : ["wids": .array(templates)]
    }
}
