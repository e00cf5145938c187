import HTTPServer
import HTTPTypes
import HTTPWire
import WebFormats

extension GraphCall {
    /// Returns the person whose object ID or `userPrincipalName` is the key. A personal account finds only itself.
    func person() -> DemoAccount? {
        let person = platform.person(key, in: tenantID)
        return tenantID != Tenant.consumers || person == caller.account ? person : nil
    }

    /// `GET /users`
    func users() -> GraphAnswer {
        let people = platform.accounts.filter { $0.objectID(in: tenantID) != nil }
        return .collection(
            GraphCollection(
                context: "users", types: [.user], entities: people.map { platform.graphUser($0, in: tenantID) }))
    }

    /// `GET /me` and `/users/{id}`
    func user(of account: DemoAccount) -> GraphAnswer {
        .object(platform.graphUser(account, in: tenantID), of: "users")
    }

    /// `GET /me/photo`
    func photo(of account: DemoAccount) throws(GraphError) -> GraphAnswer {
        guard account.portrait != nil else { throw .noPhoto }
        let side = Portrait.side
        return .response(
            .json(
                .ok,
                [
                    "@odata.context": .string(
                        "\(platform.baseURL)/v1.0/$metadata#users('\(account.graphID(in: tenantID))')/photo/$entity"),
                    "@odata.mediaContentType": "image/jpeg", "@odata.mediaEtag": "\"\(account.graphID(in: tenantID))\"",
                    "id": "\(side)x\(side)", "height": .integer(side), "width": .integer(side),
                ]))
    }

    /// `GET /me/photo/$value`
    func picture(of account: DemoAccount) async throws(GraphError) -> GraphAnswer {
        guard let portrait = account.portrait else { throw .noPhoto }
        return .response(.noStore(.ok, "image/jpeg", await platform.picture(portrait)))
    }
}

extension GraphError {
    fileprivate static let noPhoto = GraphError(
        status: .notFound, code: "ImageNotFound", message: "The photo of this user was not found.")
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

extension Platform {
    /// Returns the person of a tenant with an object ID or a `userPrincipalName`.
    func person(_ key: String, in tenantID: String) -> DemoAccount? {
        let key = key.lowercased()
        return accounts.first { account in
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
            "displayName": .string(displayName(of: account)), "givenName": .string(account.givenName),
            "id": .string(account.graphID(in: tenantID)), "jobTitle": JSONValue(account.jobTitle),
            "mail": .string(account.username), "officeLocation": JSONValue(account.officeLocation),
            "preferredLanguage": isWork ? "en-US" : .null, "surname": .string(account.surname),
            "userPrincipalName": .string(name),
        ]
        guard account.kind != .personal else { return GraphEntity(type: .user, members: members) }
        let further: [String: JSONValue] = [
            "accountEnabled": true, "createdDateTime": .string(GraphDates.created),
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

    /// Returns the picture, which is drawn once.
    func picture(_ portrait: Portrait) async -> [UInt8] {
        if let known = photos.withLock({ $0[portrait] }) { return known }
        // Drawing takes too long for the event loop.
        let drawn = await Task.detached { portrait.jpeg }.value
        photos.withLock { $0[portrait] = drawn }
        return drawn
    }
}

/// The dates of objects that were always there.
enum GraphDates {
    /// The time when the directory was made.
    static let created = "2025-03-03T09:00:00Z"
}
