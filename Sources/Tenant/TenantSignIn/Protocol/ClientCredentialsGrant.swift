import Foundation
import TenantControl
import TenantDirectory
import WebFormats

/// Tokens for an application itself, without a person (RFC 6749 section 4.4).
extension GrantRequest {
    private static let defaultScope = "/.default"

    /// Issues the token of a request. It lists the roles that the application was granted at the resource, and is issued
    /// even if there are none.
    func ownToken() throws -> JSONValue {
        // An application's own token needs an explicit tenant, because no person's account implies one.
        switch segment {
        case .common, .consumers, .tenant(id: Tenant.consumers): throw PlatformError.grantNeedsTenant
        case .organizations, .userFlow: throw PlatformError.noTenant
        case .tenant: break
        }
        let client = try confidentialClient()
        let resource = try resource()
        guard let audience = audience(of: resource),
            let roles = platform.registrations.roles(of: client, at: audience)
        else { throw PlatformError.unknownResource(resource, at: segment) }
        if let other = fields.text("resource"), self.audience(of: other) != audience {
            throw PlatformError.resourceMismatch
        }
        let owner = platform.registrations.owner(of: audience)
        if let owner, !platform.registrations.isAssigned(client, to: owner) {
            throw PlatformError.applicationNotAssigned(client, to: owner)
        }
        guard let key = state.signingKey(for: .work) else { throw PlatformError.serverError }
        let principal = platform.registrations.servicePrincipalID(of: client)
        let seconds = Int(now.timeIntervalSince1970)
        let usual =
            try RequestedClaims(fields["claims"]).takesChallenges ? AccessTokenLifetime.long : AccessTokenLifetime.own
        let lifetime = settings.accessTokenSeconds ?? usual
        let begin = seconds - TokenIssuer.backdating
        let tenantID = segment.path
        let random = platform.clock.opaqueText
        var claims: [String: JSONValue] = [
            "aud": .string(audience), "iat": .integer(begin), "nbf": .integer(begin),
            "exp": .integer(seconds + lifetime), "oid": .string(principal),
            "sub": .string(principal), "tid": .string(tenantID), "aio": .string(random(40)),
            "uti": .string(random(16)), "rh": .string(platform.clock.newReference(for: audience)),
        ]
        if let owner, owner.accessTokenVersion == .v2 {
            claims.merge([
                "aud": .string(owner.id), "iss": .string(platform.issuer(of: segment)), "ver": "2.0",
                "azp": .string(client.id), "azpacr": .string(clientProof), "xms_ftd": .string(random(40)),
            ]) { $1 }
        } else {
            let issuer = platform.addresses.stsIssuer(ofTenant: tenantID)
            claims.merge([
                "iss": .string(issuer), "idp": .string(issuer), "ver": "1.0", "appid": .string(client.id),
                "appidacr": .string(clientProof), "app_displayname": .string(client.name),
            ]) { $1 }
        }
        if !roles.isEmpty { claims["roles"] = .array(roles.map(JSONValue.string)) }
        let isForGraph = audience == AccessToken.graphAudience
        // The one value that Graph's have (t2-at-09).
        if isForGraph { claims["wids"] = ["0997a1d0-0d1d-4acb-b408-d5ca73121e90"] }
        if isForGraph || owner?.optionalClaims?.accessToken.contains("idtyp") == true { claims["idtyp"] = "app" }
        claims[AccessToken.expiryClaim] = controls.expiryOfNewTokens.map(JSONValue.integer)
        let token = try key.sign(claims, nonce: isForGraph ? random(24) : nil)
        controls.count(.tokenClientCredentials)
        return [
            "token_type": "Bearer", "expires_in": .integer(lifetime),
            "ext_expires_in": .integer(lifetime), "access_token": .string(token),
        ]
    }

    /// Returns the identifier of the one resource that the request names: the scope without `/.default`, so that an
    /// identifier that ends in a slash has two.
    private func resource() throws(PlatformError) -> String {
        let words = (fields.text("scope") ?? "").split(separator: " ").map(String.init)
        guard !words.isEmpty else { throw .scopeMissing }
        // Graph is meant where no resource is named.
        let scopes = words.map { $0.lowercased() == ".default" ? Scopes.graphIdentifier + Self.defaultScope : $0 }
        if let other = scopes.first(where: { !$0.lowercased().hasSuffix(Self.defaultScope) }) {
            throw .scopeNotDefault(other)
        }
        let resources = Set(scopes.map { String($0.dropLast(Self.defaultScope.count)) })
        guard let resource = resources.first, resources.count == 1 else {
            throw .invalidScope(words.joined(separator: " "))
        }
        return resource
    }

    /// Returns the audience of a resource that the tenant has: an API, or an application by its client ID.
    private func audience(of resource: String) -> String? {
        guard let owner = platform.registrations.owner(of: resource) else {
            return platform.scopes.audience(ofResource: resource)
        }
        guard (try? platform.registrations.client(id: owner.id, at: segment)) != nil else { return nil }
        return platform.scopes.audience(ofResource: resource) ?? owner.id
    }
}

// Errors of a request for an application's own token
extension PlatformError {
    static let grantNeedsTenant = Self(
        error: "invalid_request", number: 9_001_023,
        message: "The grant type is not supported over the /common or /consumers endpoints. Use a tenant-specific "
            + "endpoint.")
    fileprivate static let scopeMissing = Self(
        error: "invalid_request", number: 90014,
        message: "The required field 'scope' is missing from the credential. Ensure that you have all the necessary "
            + "parameters for the login request.")
    fileprivate static func scopeNotDefault(_ scope: String) -> Self {
        Self(
            error: "invalid_scope", number: 1_002_012,
            message: "The provided value for scope \(scope) is not valid. Client credential flows must have a scope "
                + "value with /.default suffixed to the resource identifier (application ID URI).")
    }
    fileprivate static func applicationNotAssigned(_ client: DemoClient, to resource: DemoClient) -> Self {
        Self(
            error: "invalid_client", number: 501_051,
            message: "Application '\(client.id)' (\(client.name)) is not assigned to a role for the application "
                + "'\(resource.id)' (\(resource.name)).")
    }
}
