import Foundation
import TenantDirectory
import WebFormats

extension TenantClock {
    /// Returns a new value of the claim `rh`, by which nobody but the platform recognises a grant. In a token for Graph the
    /// ID of Graph is inside (t2-at-13).
    func newReference(for audience: String) -> String {
        let resource = audience == AccessToken.graphAudience ? "AwAAAAAAAAAwAAAAAAAAA" : ""
        return "1.A\(opaqueText(24))\(resource)\(opaqueText(3))."
    }
}

/// The claims of a person's tokens.
extension TokenIssuer {
    /// All tokens are backdated by five minutes.
    static let backdating = AccessToken.backdating
    /// The lifetime of ID tokens: an hour.
    private static let idTokenSeconds = 3600
    /// The lifetime of those of personal accounts: a day (id-msa-02).
    private static let personalIDTokenSeconds = 86400

    /// Returns the claims of an access token, in the version that the API's registration asks for.
    func accessTokenClaims(scopes: [String], expiry: Int) -> [String: JSONValue] {
        let audience = platform.scopes.audience(scopes)
        let api = platform.registrations.owner(of: audience)
        let isVersion2 = api?.accessTokenVersion == .v2
        if let flow = segment.userFlow {
            return userFlowAccessTokenClaims(of: flow, audience: audience, scopes: scopes, expiry: expiry)
        }
        // Within the token, a scope of an API has its own name, without the audience. Graph's have OpenID Connect's too.
        let isForGraph = audience == AccessToken.graphAudience
        let permissions = scopes.filter { $0 != audience && $0 != "offline_access" }
            .filter { isForGraph || !Scopes.openID.contains($0) }
            .map { $0.hasPrefix(audience + "/") ? String($0.dropFirst(audience.count + 1)) : $0 }
        var claims = commonClaims(expiry, subjectFor: audience).merging([
            "aud": .string(isVersion2 ? api?.id ?? audience : audience),
            "name": .string(platform.people.displayName(of: account)), "oid": .string(objectID),
            "scp": .string(Scopes.sorted(permissions).joined(separator: " ")),
        ]) { $1 }
        claims.merge(isVersion2 ? version2Claims : version1Claims) { $1 }
        let optional = api?.optionalClaims?.accessToken ?? []
        if !isVersion2 || optional.contains("sid") { claims["sid"] = .string(authentication.sessionID) }
        // For people it would take a further setting (include_user_token), which Graph has.
        if isForGraph { claims["idtyp"] = "user" }
        if let api {
            claims.merge(directoryClaims(of: api)) { $1 }
            if optional.contains("login_hint") { claims["login_hint"] = .string(account.loginHint) }
            claims.merge(personalClaims(optional, scopes)) { $1 }
        }
        claims["acrs"] = contexts(requested.accessTokenContexts, isOptionalClaim: optional.contains("acrs"))
        let hasCapabilities = optional.contains("xms_cc") || OwnAPI(audience: audience)?.requiredContext != nil
        if hasCapabilities, let capabilities = requested.capabilities, !capabilities.isEmpty {
            claims["xms_cc"] = .array(capabilities.map(JSONValue.string))
        }
        if isForGraph, requested.takesChallenges { claims[AccessToken.capabilityClaim] = true }
        if let challenge { claims[AccessToken.challengeClaim] = .integer(challenge) }
        claims[AccessToken.expiryClaim] = platform.controls.expiryOfNewTokens.map(JSONValue.integer)
        return claims
    }

    /// The claims of a version 1 access token alone (access-token-claims-reference.md).
    private var version1Claims: [String: JSONValue] {
        var claims: [String: JSONValue] = [
            "ver": "1.0", "iss": .string(platform.addresses.stsIssuer(ofTenant: tenantID)), "acr": "1",
            "app_displayname": .string(client.name), "appid": .string(client.id), "appidacr": .string(clientProof),
            "amr": methods,
        ]
        for (name, value) in [("given_name", account.givenName), ("family_name", account.surname)] where !value.isEmpty
        {
            claims[name] = .string(value)
        }
        return claims.merging(version1Names) { $1 }
    }

    /// The names of a person in version 1. A guest has the name of the home alone, which says so of a personal account
    /// (at-v1-13).
    var version1Names: [String: JSONValue] {
        let provider = isGuest && account.kind == .personal ? "live.com#" : ""
        let names: [String: JSONValue] = ["unique_name": .string(provider + account.username)]
        return isGuest ? names : names.merging(["upn": .string(account.username)]) { $1 }
    }

    /// The claims of a version 2 access token alone.
    private var version2Claims: [String: JSONValue] {
        [
            "ver": "2.0", "iss": .string(issuer), "azp": .string(client.id), "azpacr": .string(clientProof),
            "preferred_username": .string(account.knownName),
        ]
    }

    /// The methods of the authentication (RFC 8176).
    var methods: JSONValue { authentication.secondFactor > 0 ? ["pwd", "mfa"] : ["pwd"] }

    /// The claims of all tokens of a person.
    private func commonClaims(_ expiry: Int, subjectFor audience: String) -> [String: JSONValue] {
        var claims: [String: JSONValue] = [
            "iat": .integer(seconds - Self.backdating), "nbf": .integer(seconds - Self.backdating),
            "exp": .integer(expiry), "tid": .string(tenantID), "aio": .string(platform.clock.opaqueText(40)),
            "sub": .string(account.subject(in: tenantID, audience: audience)),
        ]
        // Personal accounts' have neither (id-msa-05).
        if account.kind != .personal {
            (claims["uti"], claims["rh"]) = (
                .string(platform.clock.opaqueText(16)), .string(platform.clock.newReference(for: audience))
            )
        }
        // A guest has an address by default, and is known by the provider of the home (id-guest-03).
        if isGuest {
            claims["idp"] = .string(platform.identityProvider(of: account))
            claims["email"] = .string(account.username)
        } else if let provider = account.identityProvider {
            (claims["idp"], claims["email"]) = (.string(provider), .string(account.knownName))
        }
        return claims
    }

    /// Whether the tokens are of an organization that is not the account's home.
    private var isGuest: Bool { tenantID != account.tenantID }

    /// Returns the claims of an ID token.
    func idTokenClaims(scopes: [String], nonce: String?) -> [String: JSONValue] {
        if let flow = segment.userFlow { return userFlowIDTokenClaims(of: flow, nonce: nonce) }
        let optional = client.optionalClaims?.idToken ?? []
        let lifetime = account.kind == .personal ? Self.personalIDTokenSeconds : Self.idTokenSeconds
        var claims = commonClaims(seconds + lifetime, subjectFor: client.id).merging([
            "ver": "2.0", "iss": .string(issuer), "aud": .string(client.id),
        ]) { $1 }
        // One on behalf of somebody has none (t2-obo-03).
        if isOnBehalf { claims["aio"] = nil }
        if scopes.contains("profile") {
            claims["oid"] = .string(objectID)
            claims["name"] = .string(platform.people.displayName(of: account))
            claims["preferred_username"] = .string(account.knownName)
        }
        if isVersion1 {
            claims.merge(version1IDTokenClaims) { $1 }
            claims["preferred_username"] = nil
        }
        if scopes.contains("email") { claims["email"] = .string(account.knownName) }
        claims.merge(directoryClaims(of: client)) { $1 }
        claims.merge(personalClaims(optional, scopes)) { $1 }
        claims["acrs"] = contexts(requested.idTokenContexts, isOptionalClaim: optional.contains("acrs"))
        if let nonce { claims["nonce"] = .string(nonce) }
        if optional.contains("sid") { claims["sid"] = .string(authentication.sessionID) }
        if optional.contains("login_hint") { claims["login_hint"] = .string(account.loginHint) }
        if optional.contains("auth_time") || requested.hasMaxAge == true, !settings.omitsAuthTime {
            claims["auth_time"] = .integer(Int(authentication.time.timeIntervalSince1970))
        }
        return claims
    }

    private func directoryClaims(of registration: DemoClient) -> [String: JSONValue] {
        DirectoryClaims(
            directory: platform.directory, account: account, tenantID: tenantID, registration: registration
        ).members
    }

    private func contexts(_ asked: [String]?, isOptionalClaim: Bool) -> JSONValue? {
        let granted = platform.grants.grantedContexts(
            asked: asked ?? [], isOptionalClaim: isOptionalClaim, of: account, by: authentication)
        return granted.isEmpty ? nil : .array(granted.map(JSONValue.string))
    }

    /// Returns the optional claims about a person. Names take the scope `profile`, too. A guest's `upn` would take a further
    /// setting (include_externally_authenticated_upn of optional-claims-reference.md).
    private func personalClaims(_ optional: [String], _ scopes: [String]) -> [String: JSONValue] {
        let names = [
            "given_name": account.givenName, "family_name": account.surname, "upn": account.username,
        ].filter { optional.contains($0.key) && scopes.contains("profile") && !($0.key == "upn" && isGuest) }
        let email = optional.contains("email") ? ["email": account.knownName] : [:]
        return names.merging(email) { $1 }.mapValues(JSONValue.string)
    }
}
