import HTTPServer
import HTTPTypes
import HTTPWire
import WebFormats

/// Documents that clients fetch first.
extension Platform {
    /// `GET /{tenant}/v2.0/.well-known/openid-configuration`
    func discovery(_ segment: TenantSegment) -> Response {
        controls.count(.discovery)
        let authority = "\(baseURL)/\(segment.path)"
        var document: [String: JSONValue] = [
            "issuer": .string(issuer(of: segment)),
            "authorization_endpoint": .string("\(authority)/oauth2/v2.0/authorize"),
            "token_endpoint": .string("\(authority)/oauth2/v2.0/token"),
            "end_session_endpoint": .string("\(authority)/oauth2/v2.0/logout"),
            "userinfo_endpoint": .string("\(baseURL)/oidc/userinfo"),
            "jwks_uri": .string("\(authority)/discovery/v2.0/keys"),
            "token_endpoint_auth_methods_supported": ["client_secret_post", "private_key_jwt", "client_secret_basic"],
            "response_types_supported": ["code"],
            "response_modes_supported": ["query", "fragment", "form_post"],
            "code_challenge_methods_supported": ["S256", "plain"],
            "subject_types_supported": ["pairwise"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "scopes_supported": ["openid", "profile", "email", "offline_access"],
            "claims_supported": [
                "sub", "iss", "aud", "exp", "iat", "nbf", "nonce", "preferred_username", "name", "email", "oid", "tid",
                "ver", "sid", "login_hint", "auth_time",
            ],
            "request_uri_parameter_supported": false,
            "http_logout_supported": true,
            "frontchannel_logout_supported": true,
            "tenant_region_scope": segment.isTenant ? "EU" : .null,
            "cloud_instance_name": .string(String(baseURL.authorityOfOrigin.withoutPort)),
            "cloud_graph_host_name": .string(String(baseURL.authorityOfOrigin)),
            "msgraph_host": .string(String(baseURL.authorityOfOrigin)),
            "rbac_url": .string(baseURL),
        ]
        if segment.userFlow == nil, offersDeviceSignIn {
            document["device_authorization_endpoint"] = .string("\(authority)/oauth2/v2.0/devicecode")
        }
        if controls.settings.isGeneric {
            document["revocation_endpoint"] = .string("\(authority)/oauth2/v2.0/revoke")
        }
        return .json(.ok, .object(document))
    }

    /// `GET /common/discovery/instance`: returns the names of this instance of the platform. MSAL asks for them before it
    /// trusts a work or school authority.
    ///
    /// The names come with and without the port. MSAL for iOS and macOS knows the environment of an account with its port,
    /// and compares it without one before it uses a refresh token (MSIDSilentTokenRequest.m).
    func instanceDiscovery(_ request: Request) -> Response {
        let fields = request.head.query.flatMap { try? FormFields(query: $0) }
        guard let endpoint = fields?.text("authorization_endpoint") else {
            return json(.missingParameter("authorization_endpoint"), request)
        }
        let parts = endpoint.authorityOfOrigin.split(separator: "/", omittingEmptySubsequences: false)
        guard let asked = parts.first, origins.origin(ofHost: String(asked)) != nil, parts.count > 1,
            let segment = TenantSegment(String(parts[1]))
        else { return json(.unknownInstance, request) }
        let authority = baseURL.authorityOfOrigin
        let aliases = authority == authority.withoutPort ? [authority] : [authority, authority.withoutPort]
        return .json(
            .ok,
            [
                "tenant_discovery_endpoint": .string(
                    "\(baseURL)/\(segment.path)/v2.0/.well-known/openid-configuration"),
                "api-version": .string(fields?.text("api-version") ?? "1.1"),
                "metadata": [
                    [
                        "preferred_network": .string(String(authority)), "preferred_cache": .string(String(authority)),
                        "aliases": .array(aliases.map { .string(String($0)) }),
                    ]
                ],
            ]
        ).readable(by: "*")
    }

    /// `GET /{tenant}/discovery/v2.0/keys`
    func keys(_ segment: TenantSegment) -> Response {
        controls.count(.keys)
        let template = issuer(of: segment)
        let consumers = issuer(ofTenant: Tenant.consumers)
        var keys = state.keys.filter { $0.forConsumers ? segment.admitsPersonal : segment.admitsWork }
            .map { $0.jwk(issuer: $0.forConsumers ? consumers : template) }
        if controls.settings.publishesUnknownKey { keys.append(Self.keyOfTheFuture) }
        return .json(.ok, ["keys": .array(keys)])
    }

    /// A key of a type that clients do not know yet. They have to ignore it, but some refuse the whole set.
    private static let keyOfTheFuture: JSONValue = [
        "kty": "AKP", "use": "sig", "alg": "ML-DSA-65", "kid": "demo-key-of-a-type-to-come",
        "pub": "ZGVtbw",
    ]
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
