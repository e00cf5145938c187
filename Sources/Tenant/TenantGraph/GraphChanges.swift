import Foundation
import HTTPTypes
import HTTPWire
import TenantControl
import TenantDirectory
import WebFormats

/// Applications and people that are registered at run time. Graph's properties become the keys of the tenant's file, so
/// that the same rules hold.
extension GraphCall {
    /// `POST /applications`
    func addApplication() throws(GraphError) -> GraphAnswer {
        let members = try checkedBody(.application, required: ["displayName"])
        var declaration = try declaration(ofApplication: members)
        declaration["client_id"] = .string(graph.clock.newID())
        let client = try registered { registry throws(RunTimeRegistry.Refusal) in
            try registry.addApplication(declaration, isNameUnique: false, makesSecret: false).client
        }
        return .created(graph.application(client, showsKeys: false), of: "applications")
    }

    /// `PATCH /applications/{id}`
    func changeApplication() throws(GraphError) -> GraphAnswer {
        let client = try registeredClient()
        let change = JSONValue.object(try checkedBody(.application, required: []))
        var current = graph.application(client, showsKeys: false).members
        // Where nothing is said of permissions, one is shown, which does not become the only one.
        current["requiredResourceAccess"] = nil
        let members = JSONValue.object(current).merging(change)
        let declaration = try declaration(ofApplication: members.object ?? [:])
        _ = try registered { registry throws(RunTimeRegistry.Refusal) in
            try registry.changeApplication(client.id, isNameUnique: false) { $0.merging(declaration) { $1 } }
        }
        return .done
    }

    /// `DELETE /applications/{id}`
    func removeApplication() throws(GraphError) -> GraphAnswer {
        let client = try registeredClient()
        try registered { registry throws(RunTimeRegistry.Refusal) in try registry.removeApplication(client.id) }
        return .done
    }

    /// `POST /applications/{id}/addPassword`
    func addPassword() throws(GraphError) -> GraphAnswer {
        let client = try registeredClient()
        let credential = try body()["passwordCredential"]
        let (start, end) = (try date(credential?["startDateTime"]), try date(credential?["endDateTime"]))
        let (secret, text) = try registered { registry throws(RunTimeRegistry.Refusal) in
            try registry.addSecret(to: client.id, name: credential?["displayName"]?.string, start: start, end: end)
        }
        let context = "\(graph.addresses.baseURL)/v1.0/$metadata#microsoft.graph.passwordCredential"
        return .response(
            .json(.ok, secret.graphCredential(text: text).merging(["@odata.context": .string(context)])))
    }

    /// `POST /applications/{id}/removePassword`
    func removePassword() throws(GraphError) -> GraphAnswer {
        let client = try registeredClient()
        guard let keyID = try body()["keyId"]?.string else { throw .missing("keyId", of: "passwordCredential") }
        guard client.secrets.contains(where: { $0.keyID == keyID.lowercased() }) else {
            throw .badDirectoryRequest("No password credential found with keyId '\(keyID)'.")
        }
        try registered { registry throws(RunTimeRegistry.Refusal) in try registry.removeSecret(keyID, from: client.id) }
        return .done
    }

    /// `POST /users`
    func addPerson() throws(GraphError) -> GraphAnswer {
        let members = try checkedBody(
            .user, required: ["accountEnabled", "displayName", "mailNickname", "passwordProfile", "userPrincipalName"])
        let name = members["userPrincipalName"]?.string ?? ""
        guard Tenant.id(ofDomain: String(name.drop { $0 != "@" }.dropFirst())) == tenantID else {
            throw .badDirectoryRequest(
                "The domain portion of the userPrincipalName property is invalid. You must use one of the verified "
                    + "domain names in your organization.")
        }
        var declaration = try declaration(ofPerson: members)
        declaration["username"] = .string(name)
        let account = try registered { registry throws(RunTimeRegistry.Refusal) in
            try registry.addPerson(declaration)
        }
        return .created(graph.graphUser(account, in: tenantID), of: "users")
    }

    /// `PATCH /users/{id}`
    func changePerson() throws(GraphError) -> GraphAnswer {
        guard let account = person() else { throw .notFound(key) }
        let declaration = try declaration(ofPerson: try checkedBody(.user, required: []))
        _ = try registered { registry throws(RunTimeRegistry.Refusal) in
            try registry.changePerson(account.username) { $0.merging(declaration) { $1 } }
        }
        return .done
    }

    /// `DELETE /users/{id}`
    func removePerson() throws(GraphError) -> GraphAnswer {
        guard let account = person() else { throw .notFound(key) }
        try registered { registry throws(RunTimeRegistry.Refusal) in try registry.removePerson(account.username) }
        return .done
    }

    /// `POST /me/revokeSignInSessions`: ends everything that was issued to a person until now. A guest's sessions are those of
    /// the home (user-revokesigninsessions.md).
    func revokeSessions(of account: DemoAccount) throws(GraphError) -> GraphAnswer {
        if tenantID == account.tenantID { graph.state.change { $0.revoke(account.username, at: graph.clock.now()) } }
        let root = graph.addresses.baseURL
        let answer: JSONValue = ["@odata.context": .string("\(root)/v1.0/$metadata#Edm.Boolean"), "value": true]
        // t2-graph-02
        return .response(.json(.ok, answer).with(.location, root))
    }

    // MARK: Requests

    /// Returns the members of the body, all of which the type has.
    private func checkedBody(
        _ type: GraphType, required: [String]
    ) throws(GraphError) -> [String: JSONValue] {
        let members = (try body().object ?? [:]).filter { !$0.key.hasPrefix("@") }
        for name in members.keys.sorted() where type.property(name) != name {
            throw .badDirectoryRequest("Invalid property '\(name)'.")
        }
        for name in required where (members[name] ?? .null) == .null { throw .missing(name, of: type.title) }
        return members
    }

    private func date(_ json: JSONValue?) throws(GraphError) -> Date? {
        guard let json, json != .null else { return nil }
        let text = json.string ?? json.text
        let styles = [Date.ISO8601FormatStyle(), Date.ISO8601FormatStyle(includingFractionalSeconds: true)]
        guard let date = styles.lazy.compactMap({ try? Date(text, strategy: $0) }).first else {
            throw .badRequest("Cannot convert the literal '\(text)' to the expected type 'Edm.DateTimeOffset'.")
        }
        return date
    }

    /// Makes a change, and returns Graph's error if it is refused.
    private func registered<Value>(
        _ change: (RunTimeRegistry) throws(RunTimeRegistry.Refusal) -> Value
    ) throws(GraphError) -> Value {
        guard let registry = graph.registry else { throw .denied([]) }
        do throws(RunTimeRegistry.Refusal) {
            return try change(registry)
        } catch {
            throw GraphError(error)
        }
    }

    // MARK: Declarations

    /// Returns an application as the tenant's file has it. Properties for which it has no key are left out.
    private func declaration(ofApplication members: [String: JSONValue]) throws(GraphError) -> [String: JSONValue] {
        let application = JSONValue.object(members)
        let api = application["api"]
        let scopes = (api?["oauth2PermissionScopes"]?.array ?? []).compactMap { $0["value"] }
        let identifiers = application["identifierUris"]?.array?.compactMap(\.string) ?? []
        let owners = identifiers.isEmpty ? [application["appId"]?.string].compactMap(\.self) : identifiers
        let exposes = scopes.isEmpty && identifiers.isEmpty ? [] : owners
        let web = application["web"]
        var declaration: [String: JSONValue] = [
            "name": application["displayName"] ?? .null, "web": web?["redirectUris"] ?? [],
            "spa": application["spa"]?["redirectUris"] ?? [],
            "native": application["publicClient"]?["redirectUris"] ?? [],
            "public_client_flows": application["isFallbackPublicClient"] ?? .null,
            "id_tokens": web?["implicitGrantSettings"]?["enableIdTokenIssuance"] ?? false,
            "exposes": .object(Dictionary(exposes.map { ($0, .array(scopes)) }) { first, _ in first }),
            "access_token_version": api?["requestedAccessTokenVersion"] ?? .null,
            "app_roles": .array((application["appRoles"]?.array ?? []).map(\.declaredRole)),
            "tenants": .array(try tenants(of: application["signInAudience"]).map(JSONValue.string)),
        ]
        declaration["group_claims"] = try groupClaims(application["groupMembershipClaims"])
        if let required = application["requiredResourceAccess"]?.array {
            declaration["permissions"] = permissions(required)
        }
        if let claims = application["optionalClaims"], claims != .null {
            let names = { (kind: String) in JSONValue.array((claims[kind]?.array ?? []).compactMap { $0["name"] }) }
            declaration["optional_claims"] = ["id_token": names("idToken"), "access_token": names("accessToken")]
        }
        return declaration
    }

    /// Returns the delegated permissions that an application lists. Those that this tenant does not have are left out, as
    /// are roles, which are not listed but granted.
    private func permissions(_ required: [JSONValue]) -> JSONValue {
        var permissions: [String: JSONValue] = [:]
        for resource in required {
            guard let principal = resource["resourceAppId"]?.string.flatMap(graph.principal(ofResource:)) else {
                continue
            }
            let ids = (resource["resourceAccess"]?.array ?? []).filter { $0["type"] == "Scope" }
                .compactMap { $0["id"]?.string?.lowercased() }
            let listed = principal.scopes.filter { ids.contains($0["id"]?.string?.lowercased() ?? "") }
            permissions[principal.appID] = .array(listed.compactMap { $0["value"] })
        }
        return .object(permissions)
    }

    /// Returns the domains of the tenants in which an application can be used.
    private func tenants(of audience: JSONValue?) throws(GraphError) -> [String] {
        let home = Tenant.domain(ofID: tenantID) ?? ""
        switch audience?.string ?? "AzureADMyOrg" {
        case "AzureADMyOrg": return [home]
        case "AzureADMultipleOrgs" where tenantID == Tenant.contoso:
            return Tenant.organizations.compactMap(Tenant.domain(ofID:)).sorted()
        case "AzureADandPersonalMicrosoftAccount" where tenantID == Tenant.contoso: return []
        case let other:
            throw .badDirectoryRequest(
                "Property signInAudience has the value '\(other)', which this tenant does not have.")
        }
    }

    private func groupClaims(_ json: JSONValue?) throws(GraphError) -> JSONValue {
        let words = [
            "None": "none", "SecurityGroup": "security", "DirectoryRole": "roles", "ApplicationGroup": "assigned",
            "All": "all",
        ]
        guard let name = json?.string else { return .null }
        guard let word = words[name] else {
            throw .badDirectoryRequest("Property groupMembershipClaims has the invalid value '\(name)'.")
        }
        return .string(word)
    }

    /// Returns a person as the tenant's file has them.
    private func declaration(ofPerson members: [String: JSONValue]) throws(GraphError) -> [String: JSONValue] {
        guard members["accountEnabled"] ?? true == true else {
            throw .badDirectoryRequest("Nobody is disabled at this demo tenant: accountEnabled can only be true.")
        }
        if let name = members["userPrincipalName"]?.string, let person = person(), person.username != name.lowercased()
        {
            throw .badDirectoryRequest("Nobody is renamed at this demo tenant: userPrincipalName cannot be changed.")
        }
        var declaration: [String: JSONValue] = [:]
        for (key, value) in [
            "display_name": members["displayName"], "mobile_phone": members["mobilePhone"],
            "password": members["passwordProfile"]?["password"],
        ] {
            declaration[key] = value
        }
        return declaration
    }
}

extension GraphAnswer {
    /// Nothing, because a change was made.
    fileprivate static let done = GraphAnswer.response(.noStore(.noContent))
}

extension JSONValue {
    /// An app role of Graph's as the tenant's file has it.
    fileprivate var declaredRole: JSONValue {
        [
            "value": self["value"] ?? .null, "id": self["id"] ?? .null, "display_name": self["displayName"] ?? .null,
            "enabled": self["isEnabled"] ?? true,
            "allowed": .array((self["allowedMemberTypes"]?.array ?? []).map { .string($0.string?.lowercased() ?? "") }),
        ]
    }
}

extension GraphError {
    fileprivate static func missing(_ name: String, of resource: String) -> Self {
        badDirectoryRequest("A value is required for property '\(name)' of resource '\(resource)'.")
    }

    fileprivate init(_ refusal: RunTimeRegistry.Refusal) {
        self =
            switch refusal {
            case .mistakes(let sentences): .badDirectoryRequest(sentences.joined(separator: " "))
            case .unknown(let name): .notFound(name)
            case .fixed(let name):
                Self(
                    status: .forbidden, code: "Authorization_RequestDenied",
                    message: "Insufficient privileges to complete the operation. '\(name)' was there from the start, "
                        + "and is changed in the tenant's file.")
            case .taken:
                .badDirectoryRequest(
                    "Another object with the same value for property userPrincipalName already exists.")
            case .full(let sentence):
                Self(
                    status: .forbidden, code: "Directory_QuotaExceeded",
                    message: "The directory object quota limit for the Principal has been exceeded: \(sentence).")
            }
    }
}
