import Foundation
import TenantDirectory
import WebFormats

extension GraphCall {
    /// `GET /applications`: the registrations whose home is the token's tenant.
    func applications() -> GraphAnswer {
        let clients = graph.registrations.all.filter { $0.homeTenantID == tenantID }
        return .list("applications", of: [.application], clients.map { graph.application($0, showsKeys: false) })
    }

    /// `GET /applications/{id}` and `/applications(appId='{client ID}')`
    func application() throws(GraphError) -> GraphAnswer {
        let client = try registeredClient()
        // The bytes of keys are only shown when they are asked for.
        let showsKeys = query.select.contains { $0.lowercased() == "keycredentials" }
        return .object(graph.application(client, showsKeys: showsKeys), of: "applications")
    }

    /// Returns the application that the path names.
    func registeredClient() throws(GraphError) -> DemoClient {
        let registrations = graph.registrations
        let found = registrations.all.first { client in
            client.homeTenantID == tenantID
                && isKey(ofID: registrations.applicationObjectID(of: client), orAppID: client.id)
        }
        guard let found else { throw .notFound(key) }
        return found
    }

    /// Whether the key of the path is this object ID, or this client ID as `appId='…'`.
    func isKey(ofID id: String, orAppID appID: String) -> Bool {
        let key = key.lowercased()
        guard key.hasPrefix("appid=") else { return key == id.lowercased() }
        return GraphPath.unquoted(key.dropFirst("appid=".count)) == appID.lowercased()
    }
}

extension DemoClient {
    /// The tenant in which the application is registered.
    var homeTenantID: String {
        guard let domains = tenants?.sorted(), !domains.contains(Tenant.contosoDomain) else { return Tenant.contoso }
        return domains.lazy.compactMap(Tenant.id(ofDomain:)).first ?? Tenant.contoso
    }

    /// Whether a tenant has a service principal of the application.
    func isKnown(in tenantID: String) -> Bool {
        tenants.map { $0.contains { Tenant.id(ofDomain: $0) == tenantID } } ?? true
    }

    var signInAudience: String {
        guard let tenants else { return "AzureADandPersonalMicrosoftAccount" }
        return tenants.count == 1 ? "AzureADMyOrg" : "AzureADMultipleOrgs"
    }

    /// The identifiers of its API.
    var identifierURIs: [String] { exposes.keys.filter { $0.lowercased() != id.lowercased() }.sorted() }

    /// The scopes of its API in Graph's form.
    var graphScopes: [JSONValue] {
        exposes.sorted { $0.key < $1.key }.flatMap { audience, names in
            names.map { name in
                .permissionScope(name, id: nameBasedID("scope", "\(audience)/\(name)"), title: name, adminOnly: false)
            }
        }
    }
}

extension JSONValue {
    /// Returns a delegated permission in Graph's form.
    static func permissionScope(_ name: String, id: String, title: String, adminOnly: Bool) -> JSONValue {
        [
            "id": .string(id), "value": .string(name), "type": adminOnly ? "Admin" : "User", "isEnabled": true,
            "adminConsentDisplayName": .string(title), "adminConsentDescription": .string(title),
            "userConsentDisplayName": .string(title), "userConsentDescription": .string(title),
        ]
    }

    /// Returns app roles in Graph's form.
    static func appRoles(_ roles: [DemoClient.AppRole]) -> JSONValue {
        .array(
            roles.map { role in
                [
                    "id": .string(role.id), "value": .string(role.value), "displayName": .string(role.displayName),
                    "description": .string(role.displayName), "isEnabled": .bool(role.isEnabled),
                    "allowedMemberTypes": .texts(role.allowedMemberTypes.map(\.rawValue).sorted()),
                    "origin": "Application",
                ]
            })
    }

    static func texts(_ texts: [String]) -> JSONValue { .array(texts.map(JSONValue.string)) }
}

extension Graph {
    /// - Parameter showsKeys: Whether the bytes of certificates are shown.
    func application(_ client: DemoClient, showsKeys: Bool) -> GraphEntity {
        let claims = client.optionalClaims
        let implicit: JSONValue = [
            "enableAccessTokenIssuance": false, "enableIdTokenIssuance": .bool(client.issuesIDTokens),
        ]
        return GraphEntity(
            type: .application,
            members: [
                "id": .string(registrations.applicationObjectID(of: client)), "appId": .string(client.id),
                "createdDateTime": .string(GraphDates.created(client.registered)),
                "displayName": .string(client.name),
                "groupMembershipClaims": client.groupMembershipClaims == .none
                    ? .null : .string(client.groupMembershipClaims.rawValue),
                "identifierUris": .texts(client.identifierURIs),
                "isFallbackPublicClient": client.allowsPublicFlows ? true : .null,
                "publisherDomain": JSONValue(Tenant.domain(ofID: client.homeTenantID)),
                "signInAudience": .string(client.signInAudience),
                "optionalClaims": claims.map {
                    [
                        "idToken": .optionalClaims($0.idToken), "accessToken": .optionalClaims($0.accessToken),
                        "saml2Token": [],
                    ]
                } ?? .null,
                "api": [
                    "requestedAccessTokenVersion": client.accessTokenVersion == .v2 ? 2 : .null,
                    "acceptMappedClaims": .null, "knownClientApplications": [],
                    "oauth2PermissionScopes": .array(client.graphScopes), "preAuthorizedApplications": [],
                ],
                "appRoles": .appRoles(client.appRoles),
                "keyCredentials": .array(client.keyCredentials(showsKeys: showsKeys)),
                "passwordCredentials": .array(client.passwordCredentials(from: clock.start)),
                "publicClient": ["redirectUris": .texts(client.nativeRedirectURIs)],
                "spa": ["redirectUris": .texts(client.spaRedirectURIs)],
                "web": [
                    "redirectUris": .texts(client.webRedirectURIs), "homePageUrl": JSONValue(client.homeURL),
                    "logoutUrl": JSONValue(client.frontChannelLogoutURI), "implicitGrantSettings": implicit,
                ],
                "requiredResourceAccess": requiredAccess(of: client),
            ])
    }

    /// Returns the permissions that an application asks for: those that it lists, or else that of new registrations, and
    /// the roles that it was granted.
    private func requiredAccess(of client: DemoClient) -> JSONValue {
        var access: [String: [JSONValue]] = [:]
        let listed = client.permissions ?? [Scopes.graphIdentifier: ["User.Read"]]
        for (resource, names) in listed.sorted(by: { $0.key < $1.key }) {
            guard let principal = principal(ofResource: resource) else { continue }
            let ids = names.compactMap { name in
                principal.scopes.first { $0["value"]?.string?.lowercased() == name.lowercased() }?["id"]?.string
            }
            access[principal.appID, default: []] += ids.map { JSONValue.access($0, "Scope") }
        }
        for (principal, role) in grantedRoles(of: client) {
            access[principal.appID, default: []].append(.access(role.id, "Role"))
        }
        return .array(
            access.sorted { $0.key < $1.key }.map { appID, entries in
                ["resourceAppId": .string(appID), "resourceAccess": .array(entries)]
            })
    }
}

extension GraphPrincipal {
    /// Its delegated permissions.
    var scopes: [JSONValue] { client?.graphScopes ?? graphScopes }
}

extension JSONValue {
    fileprivate static func access(_ id: String, _ type: String) -> JSONValue {
        ["id": .string(id), "type": .string(type)]
    }

    fileprivate static func optionalClaims(_ names: [String]) -> JSONValue {
        .array(
            names.map { ["name": .string($0), "source": .null, "essential": false, "additionalProperties": []] })
    }
}
