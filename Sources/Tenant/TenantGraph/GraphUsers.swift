import TenantDirectory
import WebFormats

extension GraphCall {
    /// Returns the person whose object ID or `userPrincipalName` is the key. A personal account finds only itself.
    func person() -> DemoAccount? {
        let person = graph.person(key, in: tenantID)
        return tenantID != Tenant.consumers || person == caller.account ? person : nil
    }

    /// `GET /users`
    func users() -> GraphAnswer {
        let people = graph.people.accounts.filter { $0.objectID(in: tenantID) != nil }
        return .list("users", of: [.user], people.map { graph.graphUser($0, in: tenantID) })
    }

    /// `GET /me` and `/users/{id}`
    func user(of account: DemoAccount) -> GraphAnswer {
        .object(graph.graphUser(account, in: tenantID), of: "users")
    }
}

extension DemoAccount {
    /// Returns Graph's `id` in a tenant, which for guests is not the one at home.
    func graphID(in tenantID: String) -> String {
        kind == .personal ? graphID : objectID(in: tenantID) ?? objectID
    }

    /// Returns Graph's `userPrincipalName` in a tenant. That of a guest is made from the address.
    func principalName(in tenantID: String) -> String {
        guard tenantID != self.tenantID, let domain = Tenant.domain(ofID: tenantID) else { return username }
        return "\(username.replacing("@", with: "_"))#EXT#@\(domain)"
    }
}

extension Graph {
    /// Returns the person of a tenant with an object ID or a `userPrincipalName`.
    func person(_ key: String, in tenantID: String) -> DemoAccount? {
        let key = key.lowercased()
        return people.accounts.first { account in
            account.objectID(in: tenantID) != nil
                && [account.graphID(in: tenantID), account.principalName(in: tenantID)].contains {
                    $0.lowercased() == key
                }
        }
    }

    func graphUser(_ account: DemoAccount, in tenantID: String) -> GraphEntity {
        let isWork = account.kind == .work
        let isGuest = tenantID != account.tenantID
        let name = account.principalName(in: tenantID)
        var members: [String: JSONValue] = [
            "businessPhones": isWork && account.mobilePhone != nil ? [JSONValue(account.mobilePhone)] : [],
            "displayName": .string(people.displayName(of: account)), "givenName": .string(account.givenName),
            "id": .string(account.graphID(in: tenantID)), "jobTitle": JSONValue(account.jobTitle),
            "mail": .string(account.knownName), "officeLocation": JSONValue(account.officeLocation),
            "preferredLanguage": isWork ? "en-US" : .null, "surname": .string(account.surname),
            "userPrincipalName": .string(name),
        ]
        guard account.kind != .personal else { return GraphEntity(type: .user, members: members) }
        let further: [String: JSONValue] = [
            "accountEnabled": true, "createdDateTime": .string(GraphDates.created(account.registered)),
            "identities": [
                [
                    "signInType": "userPrincipalName", "issuer": JSONValue(Tenant.domain(ofID: tenantID)),
                    "issuerAssignedId": .string(name),
                ]
            ],
            "companyName": isGuest ? .null : .string(Tenant.name(ofID: tenantID)),
            "externalUserState": isGuest ? "Accepted" : .null, "imAddresses": [.string(account.username)],
            "mailNickname": .string(String(name.prefix { $0 != "@" })), "showInAddressList": isGuest ? .null : true,
            "usageLocation": isWork ? "US" : .null, "userType": isGuest ? "Guest" : "Member",
        ]
        members.merge(further) { $1 }
        return GraphEntity(type: .user, members: members)
    }
}

/// The dates of objects that were always there.
enum GraphDates {
    /// The time when the directory was made.
    static let created = "2025-03-03T09:00:00Z"

    /// Returns the time when something was registered.
    static func created(_ identity: RunTimeIdentity?) -> String {
        identity?.created.formatted(.iso8601) ?? created
    }
}
