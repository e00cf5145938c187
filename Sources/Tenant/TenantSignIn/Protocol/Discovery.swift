package import HTTPServer
import HTTPTypes
package import HTTPWire
import TenantControl
package import TenantDirectory
import WebFormats

/// Documents that clients fetch first.
extension IdentityPlatform {
    /// `GET /{tenant}/v2.0/.well-known/openid-configuration`
    package func discovery(_ segment: TenantSegment) -> Response {
        controls.count(.discovery)
        func address(_ endpoint: String) -> String { "\(addresses.baseURL)/\(segment.path(of: endpoint))" }
        var document: [String: JSONValue] = [
            "issuer": .string(issuer(of: segment)),
            "authorization_endpoint": .string(address("oauth2/v2.0/authorize")),
            "token_endpoint": .string(address("oauth2/v2.0/token")),
            "end_session_endpoint": .string(address("oauth2/v2.0/logout")),
            "jwks_uri": .string(address("discovery/v2.0/keys")),
        ]
        document.merge(Self.commonMembers) { $1 }
        if segment.userFlow == nil {
            document.merge(membersOfOrganizations(segment)) { $1 }
            document.merge([
                "response_types_supported": ["code", "id_token", "code id_token", "id_token token"],
                "scopes_supported": ["openid", "profile", "email", "offline_access"],
                "claims_supported": [
                    "sub", "iss", "cloud_instance_name", "cloud_instance_host_name", "cloud_graph_host_name",
                    "msgraph_host", "aud", "exp", "iat", "auth_time", "acr", "nonce", "preferred_username", "name",
                    "tid",
                    "ver", "at_hash", "c_hash", "email",
                ],
                "userinfo_endpoint": .string("\(addresses.baseURL)/oidc/userinfo"),
                "request_uri_parameter_supported": false, "kerberos_endpoint": .string(address("kerberos")),
            ]) { $1 }
            if offersDeviceSignIn {
                document["device_authorization_endpoint"] = .string(address("oauth2/v2.0/devicecode"))
            }
        } else {
            document.merge([
                "token_endpoint_auth_methods_supported": ["client_secret_post", "client_secret_basic"],
                "response_types_supported": [
                    "code", "code id_token", "code token", "code id_token token", "id_token", "id_token token", "token",
                    "token id_token",
                ],
                "scopes_supported": ["openid"],
                "claims_supported": [
                    "name", "given_name", "family_name", "emails", "idp", "sub", "tfp", "iss", "iat", "exp", "aud",
                    "acr",
                    "nonce", "auth_time",
                ],
            ]) { $1 }
        }
        if controls.settings.isGeneric {
            document["revocation_endpoint"] = .string(address("oauth2/v2.0/revoke"))
            // Others publish it (RFC 8414 section 2); the platform never does (v2disc-26).
            document["code_challenge_methods_supported"] = ["S256", "plain"]
        }
        return .document(.object(document))
    }

    /// The metadata that all documents have.
    static let commonMembers: [String: JSONValue] = [
        "response_modes_supported": ["query", "fragment", "form_post"], "subject_types_supported": ["pairwise"],
        "id_token_signing_alg_values_supported": ["RS256"],
    ]

    /// The metadata of both versions that user flows do not have.
    func membersOfOrganizations(_ segment: TenantSegment) -> [String: JSONValue] {
        let host = addresses.baseURL.authorityOfOrigin
        return [
            "token_endpoint_auth_methods_supported": ["client_secret_post", "private_key_jwt", "client_secret_basic"],
            "http_logout_supported": true, "frontchannel_logout_supported": true,
            "tenant_region_scope": segment.isTenant ? "EU" : .null,
            "cloud_instance_name": .string(String(host.withoutPort)), "cloud_graph_host_name": .string(String(host)),
            "msgraph_host": .string(String(host)), "rbac_url": .string(addresses.baseURL),
        ]
    }

    /// `GET /common/discovery/instance`: returns the names of this instance of the platform. MSAL asks for them before it
    /// trusts a work or school authority.
    ///
    /// The names come with and without the port. MSAL for iOS and macOS knows the environment of an account with its port,
    /// and compares it without one before it uses a refresh token (MSIDSilentTokenRequest.m).
    package func instanceDiscovery(_ request: Request) -> Response {
        let fields = request.head.query.flatMap { try? FormFields(query: $0) }
        guard let endpoint = fields?.text("authorization_endpoint") else {
            return json(.missingParameter("authorization_endpoint"), request)
        }
        let parts = endpoint.authorityOfOrigin.split(separator: "/", omittingEmptySubsequences: false)
        // A tenant that there is not is only refused by its metadata (inst-06).
        guard let asked = parts.first, addresses.origins.origin(ofHost: String(asked)) != nil, parts.count > 1 else {
            return json(.unknownInstance, request)
        }
        let tenant = TenantSegment(String(parts[1]))?.path ?? String(parts[1])
        let authority = addresses.baseURL.authorityOfOrigin
        let aliases = authority == authority.withoutPort ? [authority] : [authority, authority.withoutPort]
        return .document(
            [
                "tenant_discovery_endpoint": .string(
                    "\(addresses.baseURL)/\(tenant)/v2.0/.well-known/openid-configuration"),
                "api-version": .string(fields?.text("api-version") ?? "1.1"),
                "metadata": [
                    [
                        "preferred_network": .string(String(authority)), "preferred_cache": .string(String(authority)),
                        "aliases": .array(aliases.map { .string(String($0)) }),
                    ]
                ],
            ])
    }

    /// `GET /{tenant}/discovery/v2.0/keys`, or `discovery/keys` of version 1.
    package func keys(_ segment: TenantSegment, isVersion1: Bool = false) -> Response {
        controls.count(.keys)
        let fault = controls.settings.keySetFault
        if fault == .unavailable { return .json(.internalServerError, ["error": "server_error"]) }
        let template = issuer(of: segment)
        let consumers = addresses.issuer(ofTenant: Tenant.consumers)
        let published = state.keys.filter { $0.forConsumers ? segment.admitsPersonal : segment.admitsWork }
        let newest = fault == .late ? Set([false, true].compactMap { state.newestKey(forConsumers: $0)?.id }) : []
        var keys = published.filter { !newest.contains($0.id) }
            .map { key in
                key.jwk(
                    issuer: isVersion1 ? nil : key.forConsumers ? consumers : template,
                    cloud: String(addresses.baseURL.authorityOfOrigin.withoutPort))
            }
        if controls.settings.publishesUnknownKey { keys.append(Self.keyOfTheFuture) }
        return .json(.ok, ["keys": .array(keys)])
    }

    /// A key of a type that clients do not know yet. They have to ignore it, but some refuse the whole set.
    private static let keyOfTheFuture: JSONValue = [
        "kty": "AKP", "use": "sig", "alg": "ML-DSA-65", "kid": "demo-key-of-a-type-to-come",
        "pub": "ZGVtbw",
    ]
}

extension Response {
    /// Returns metadata, which clients keep for a day and pages of any site may read (v2disc-39 to 41).
    static func document(_ value: JSONValue) -> Response {
        json(.ok, value).readable(by: "*").with(.cacheControl, "max-age=86400, private")
            .with(.accessControlAllowMethods, "GET, OPTIONS")
    }
}

extension IdentityPlatform {
    /// Returns the issuer in the discovery document. For `common` and `organizations` it contains a literal template.
    func issuer(of segment: TenantSegment) -> String {
        switch segment {
        case .common, .organizations: "\(addresses.baseURL)/{tenantid}/v2.0"
        case .consumers: addresses.issuer(ofTenant: Tenant.consumers)
        case .tenant(let id): addresses.issuer(ofTenant: id)
        case .userFlow(let flow, _):
            controls.settings.hasIssuerWithPolicy
                ? "\(addresses.baseURL)/tfp/\(Tenant.fabrikamB2C)/\(flow.rawValue)/v2.0/"
                : "\(addresses.baseURL)/\(Tenant.fabrikamB2C)/v2.0/"
        }
    }
}

extension TenantSegment {
    fileprivate var admitsPersonal: Bool {
        switch self {
        case .common, .consumers: true
        case .organizations, .userFlow: false
        case .tenant(let id): id == Tenant.consumers
        }
    }

    fileprivate var admitsWork: Bool { self != .consumers && self != .tenant(id: Tenant.consumers) }
}
