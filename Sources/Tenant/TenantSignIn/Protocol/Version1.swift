package import HTTPWire
package import TenantDirectory
import WebFormats

// The addresses without `v2.0`, which older clients use (ADAL and those that were written for it). They take `resource`
// for `scope`, and answer in other forms (v1disc, MicrosoftDocs v1-protocols-oauth-code.md); the grants are the same.

extension FormFields {
    /// The parameters of version 2 that mean the same: all scopes of the resource, and OpenID Connect's.
    var ofVersion2: FormFields {
        let resource = text("resource").map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
        let isOwn = text("grant_type") == "client_credentials"
        let openID = isOwn ? [] : Scopes.openID
        let wanted = resource.map { ["\(Self.current(resource: $0))/.default"] } ?? []
        let kept = fields.filter { !["resource", "scope"].contains($0.name) }.map { ($0.name, $0.value) }
        // A refresh without a resource is for the one of the sign-in.
        guard resource != nil || text("grant_type") == nil else { return FormFields(kept) }
        return FormFields(kept + [("scope", (openID + wanted).joined(separator: " "))])
    }

    /// Azure AD Graph is switched off; its callers get Graph.
    private static func current(resource: String) -> String {
        ["https://graph.windows.net", "00000002-0000-0000-c000-000000000000"].contains(resource.lowercased())
            ? Scopes.graphIdentifier : resource
    }
}

extension TenantSegment {
    /// Whether the tenant has addresses of version 1: organizations and consumers do.
    package var hasVersion1: Bool {
        switch self {
        case .common, .organizations, .consumers: true
        case .tenant(let id): id != Tenant.fabrikam
        case .userFlow: false
        }
    }
}

extension IdentityPlatform {
    /// `GET /{tenant}/.well-known/openid-configuration`
    package func discovery1(_ segment: TenantSegment) -> Response {
        controls.count(.discovery)
        let authority = "\(addresses.baseURL)/\(segment.path)"
        var document: [String: JSONValue] = [
            "issuer": .string(
                addresses.stsIssuer(
                    ofTenant: segment == .consumers ? Tenant.consumers : segment.tenantID ?? "{tenantid}")),
            "authorization_endpoint": .string("\(authority)/oauth2/authorize"),
            "token_endpoint": .string("\(authority)/oauth2/token"),
            "end_session_endpoint": .string("\(authority)/oauth2/logout"),
            "userinfo_endpoint": .string("\(authority)/openid/userinfo"),
            "jwks_uri": .string("\(addresses.baseURL)/common/discovery/keys"),
            "check_session_iframe": .string("\(authority)/oauth2/checksession"),
            "response_types_supported": ["code", "id_token", "code id_token", "token id_token", "token"],
            "scopes_supported": ["openid"], "microsoft_multi_refresh_token": true,
            "claims_supported": [
                "sub", "iss", "cloud_instance_name", "cloud_instance_host_name", "cloud_graph_host_name",
                "msgraph_host",
                "aud", "exp", "iat", "auth_time", "acr", "amr", "nonce", "email", "given_name", "family_name",
                "nickname",
            ],
        ]
        document.merge(Self.commonMembers.merging(membersOfOrganizations(segment)) { $1 }) { $1 }
        if offersDeviceSignIn {
            document["device_authorization_endpoint"] = .string("\(authority)/oauth2/devicecode")
        }
        return .document(.object(document))
    }

    /// `GET /common/userrealm/{user}`: ADAL asks whether a password has to be sent elsewhere. It never has.
    package func userRealm(_ user: String) -> Response {
        let domain = user.split(separator: "@").last.map(String.init) ?? ""
        let isKnown = Tenant.id(ofDomain: domain) != nil
        return .json(
            .ok,
            [
                "ver": "1.0", "account_type": isKnown ? "Managed" : "Unknown", "domain_name": .string(domain),
                "cloud_instance_name": .string(String(addresses.baseURL.authorityOfOrigin.withoutPort)),
                "cloud_audience_urn": "urn:federation:MicrosoftOnline",
            ])
    }
}

extension TokenIssuer {
    /// The claims that an ID token of version 1 has in place of others.
    var version1IDTokenClaims: [String: JSONValue] {
        version1Names.merging([
            "ver": "1.0", "iss": .string(platform.addresses.stsIssuer(ofTenant: tenantID)),
            "amr": methods, "given_name": .string(account.givenName), "family_name": .string(account.surname),
        ]) { $1 }
    }
}

extension JSONValue {
    /// Returns an answer of the token endpoint in the form of version 1, whose numbers are texts.
    func inVersion1(resource: String, now: Int, life: Int) -> JSONValue {
        guard case .object(var members) = self else { return self }
        for name in ["expires_in", "ext_expires_in"] { members[name] = .string(String(life)) }
        members["not_before"] = .string(String(now - TokenIssuer.backdating))
        members["expires_on"] = .string(String(now + life))
        members["resource"] = .string(resource)
        return .object(members)
    }
}

extension PlatformError {
    /// Personal accounts get nothing from addresses of version 1 (t2-msa-05), except where they are guests.
    static let noVersion1ForPersonalAccounts = Self(
        error: "invalid_request", number: 90027,
        message: "We are unable to issue tokens from this API version on the MSA tenant. Please contact the "
            + "application vendor as they need to use version 2.0 of the protocol to support this.")
}
