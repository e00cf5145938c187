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
            "token_endpoint_auth_methods_supported": ["client_secret_post", "client_secret_basic"],
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
            "tenant_region_scope": .null,
            "cloud_instance_name": .string(host),
            "msgraph_host": .string(String(baseURL.dropFirst("http://".count))),
        ]
        if controls.settings.isGeneric {
            document["revocation_endpoint"] = .string("\(authority)/oauth2/v2.0/revoke")
        }
        return .json(.ok, .object(document))
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
