import TenantDirectory
import WebFormats

extension GraphCall {
    /// `GET /groups`
    func groups() -> GraphAnswer {
        let groups = graph.groups(in: tenantID).filter { !$0.isRole }
        return .list("groups", of: [.group], groups.map(\.graphEntity))
    }

    /// `GET /groups/{id}`
    func group() throws(GraphError) -> GraphAnswer { .object(try foundGroup().graphEntity, of: "groups") }

    /// `GET /groups/{id}/members`: the direct members, people first.
    func members() throws(GraphError) -> GraphAnswer {
        let group = try foundGroup()
        let people = graph.members(of: group, in: tenantID).map {
            graph.graphUser($0, in: tenantID).typed
        }
        let groups = graph.groups(in: tenantID).filter { $0.memberOf.contains(group.name) }
        return .list("directoryObjects", of: [.user, .group], people + groups.map(\.graphEntity.typed), .references)
    }

    /// `GET /me/memberOf`
    func directMemberships(of account: DemoAccount) -> GraphAnswer { memberships(of: account, transitive: false) }

    /// `GET /me/transitiveMemberOf`
    func transitiveMemberships(of account: DemoAccount) -> GraphAnswer { memberships(of: account, transitive: true) }

    private func memberships(of account: DemoAccount, transitive: Bool) -> GraphAnswer {
        let groups = graph.groups(of: account, in: tenantID, transitive: transitive)
        return .list("directoryObjects", of: [.group, .directoryRole], groups.map(\.graphEntity.typed), .references)
    }

    /// `GET /organization`
    func organizations() -> GraphAnswer {
        .list("organization", of: [.organization], [graph.organization(tenantID)])
    }

    /// `GET /organization/{id}`
    func organization() throws(GraphError) -> GraphAnswer {
        guard key.lowercased() == tenantID else { throw .notFound(key) }
        return .object(graph.organization(tenantID), of: "organization")
    }

    private func foundGroup() throws(GraphError) -> DemoGroup {
        let id = key.lowercased()
        guard let group = graph.groups(in: tenantID).first(where: { $0.id.lowercased() == id && !$0.isRole }) else {
            throw .notFound(key)
        }
        return group
    }
}

extension Graph {
    /// Returns the groups of an account in a tenant. A guest has none.
    func groups(of account: DemoAccount, in tenantID: String, transitive: Bool) -> [DemoGroup] {
        account.tenantID == tenantID ? directory.groups(of: account, transitive: transitive) : []
    }

    /// Returns the groups of a tenant: those of the first organization, elsewhere those that have members.
    fileprivate func groups(in tenantID: String) -> [DemoGroup] {
        guard tenantID != Tenant.contoso else { return directory.groups }
        let names = people.accounts.filter { $0.tenantID == tenantID }
            .flatMap { directory.groups(of: $0, transitive: true).map(\.name) }
        let known = Set(names)
        return directory.groups.filter { known.contains($0.name) }
    }

    fileprivate func members(of group: DemoGroup, in tenantID: String) -> [DemoAccount] {
        people.accounts.filter { $0.tenantID == tenantID && $0.groups.contains(group.name) }
    }

    fileprivate func organization(_ tenantID: String) -> GraphEntity {
        GraphEntity(
            type: .organization,
            members: [
                "id": .string(tenantID), "displayName": .string(Tenant.name(ofID: tenantID)),
                "createdDateTime": .string(GraphDates.created), "countryLetterCode": "US",
                "tenantType": tenantID == Tenant.fabrikam ? "CIAM" : "AAD",
                "verifiedDomains": [
                    [
                        "capabilities": "Email, OfficeCommunicationsOnline", "isDefault": true, "isInitial": true,
                        "name": JSONValue(Tenant.domain(ofID: tenantID)), "type": "Managed",
                    ]
                ],
            ])
    }
}

extension DemoGroup {
    var isRole: Bool { if case .role = kind { true } else { false } }

    fileprivate var graphEntity: GraphEntity {
        let shared: [String: JSONValue] = ["id": .string(id), "displayName": .string(name)]
        if case .role(let templateID) = kind {
            return GraphEntity(
                type: .directoryRole, members: shared.merging(["roleTemplateId": .string(templateID)]) { $1 })
        }
        let nickname = name.lowercased().filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
        let isForMail = kind == .distribution
        let address = "\(nickname)@\(Tenant.contosoDomain)"
        return GraphEntity(
            type: .group,
            members: shared.merging([
                "createdDateTime": .string(GraphDates.created), "renewedDateTime": .string(GraphDates.created),
                "securityEnabled": .bool(!isForMail), "mailEnabled": .bool(isForMail),
                "mailNickname": .string(nickname), "mail": isForMail ? .string(address) : .null,
                "proxyAddresses": isForMail ? [.string("SMTP:\(address)")] : [],
            ]) { $1 })
    }
}

extension GraphEntity {
    /// The object as one of a collection with objects of several types.
    fileprivate var typed: GraphEntity {
        var entity = self
        entity.members["@odata.type"] = .string("#microsoft.graph.\(type.name)")
        return entity
    }
}
