import Foundation
import HTTPTypes
import TenantControl
import TenantDirectory
import WebFormats

/// The holder of an access token: a person in an application, or an application itself.
struct GraphCaller: Sendable {
    let claims: JSONValue
    /// Nil for an application's own token.
    let account: DemoAccount?
    /// The scopes of a person's token, or the roles of an application's.
    let permissions: [String]

    /// The tenant that issued the token.
    var tenantID: String { claims["tid"]?.string ?? "" }
}

extension Graph {
    /// Returns the holder of a token that an API with one of these audiences may accept.
    func caller(
        _ token: String?, _ settings: Controls.Settings, audiences: [String]
    ) throws(GraphError) -> GraphCaller {
        guard let token else { throw unauthenticated("Access token is empty.") }
        guard let claims = state.verifiedClaims(token) else {
            guard token.contains(".") else {
                throw unauthenticated("IDX14100: JWT is not well formed, there are no dots (.).")
            }
            throw unauthenticated("Access token validation failure. It is not a token of this demo tenant.")
        }
        ClientNote.change { $0.clientID = claims.clientIDOfToken }
        guard claims["aud"]?.string.map(audiences.contains) ?? false else {
            throw unauthenticated("Access token validation failure. Invalid audience.")
        }
        guard let expiry = claims["exp"]?.integer, clock.now().timeIntervalSince1970 < Double(expiry),
            !settings.letsExpire(claims)
        else {
            throw unauthenticated("Lifetime validation failed, the token is expired.")
        }
        try checkDemands(claims)
        guard let account = people.account(of: claims) else {
            guard claims["scp"] == nil else { throw unauthenticated("Access token validation failure. Unknown user.") }
            let roles = claims["roles"]?.array?.compactMap(\.string) ?? []
            return GraphCaller(claims: claims, account: nil, permissions: roles)
        }
        if let challenge = settings.unmetChallenge(of: claims) { throw insufficientClaims(challenge) }
        if claims[AccessToken.capabilityClaim]?.bool == true,
            let time = state.revocation(ofTokenWith: claims, of: account)
        {
            throw insufficientClaims(Int(time.timeIntervalSince1970))
        }
        let scopes = (claims["scp"]?.string ?? "").split(separator: " ", omittingEmptySubsequences: false)
            .map(String.init)
        return GraphCaller(claims: claims, account: account, permissions: scopes)
    }

    /// Returns the account of a token, if an API with one of these audiences may accept it.
    ///
    /// - Parameter scope: whether a scope of the token is sufficient.
    func authorizedAccount(
        _ token: String?, _ settings: Controls.Settings, audiences: [String], scope: (String) -> Bool
    ) throws(GraphError) -> DemoAccount {
        let caller = try caller(token, settings, audiences: audiences)
        guard let account = caller.account else {
            throw unauthenticated("Access token validation failure. Unknown user.")
        }
        guard caller.permissions.contains(where: scope) else { throw .denied([]) }
        try checkMissingScope(caller, settings)
        return account
    }

    /// Refuses a token without the scope that `/control` makes the APIs require.
    func checkMissingScope(_ caller: GraphCaller, _ settings: Controls.Settings) throws(GraphError) {
        guard let missing = settings.missingScope(of: caller.permissions) else { return }
        throw GraphError(
            status: .forbidden, code: "Authorization_RequestDenied",
            message: "Insufficient privileges to complete the operation. The scope \(missing) is missing.",
            challenge: bearer("error=\"insufficient_scope\", scope=\"\(missing)\""))
    }

    private func unauthenticated(_ message: String) -> GraphError {
        GraphError(
            status: .unauthorized, code: "InvalidAuthenticationToken", message: message,
            challenge: bearer("client_id=\"\(AccessToken.graphAudience)\""))
    }

    /// Returns the error of continuous access evaluation.
    private func insufficientClaims(_ challenge: Int) -> GraphError {
        // Graph writes a blank before the value (t2-cae-02).
        insufficientClaims(
            #"{"access_token":{"nbf":{"essential":true, "value":"\#(challenge)"}}}"#,
            message: "Continuous access evaluation resulted in claims challenge with result: InteractionRequired and "
                + "code: TokenIssuedBeforeRevocationTimestamp")
    }

    /// Returns a challenge, with the claims in base64 with padding.
    func insufficientClaims(_ claims: String, message: String) -> GraphError {
        GraphError(
            status: .unauthorized, code: "InvalidAuthenticationToken", message: message,
            challenge: bearer(
                "client_id=\"\(AccessToken.graphAudience)\", error=\"insufficient_claims\", "
                    + "claims=\"\(Data(claims.utf8).base64EncodedString())\""))
    }

    func bearer(_ parameters: String) -> String {
        "Bearer realm=\"\", authorization_uri=\"\(addresses.baseURL)/common/oauth2/authorize\", \(parameters)"
    }

    /// Refuses a token that lacks a second factor, or a request that comes too early.
    ///
    /// - Parameter claims: the access token's claims.
    private func checkDemands(_ claims: JSONValue) throws(GraphError) {
        if claims["amr"]?.array?.contains("mfa") != true, controls.settings.requiresSecondFactor {
            throw insufficientClaims(
                SecondFactor.claimsChallenge, message: "The token does not meet the organization's policy.")
        }
        if controls.settings.hasThrottledGraph {
            throw GraphError(
                status: .tooManyRequests, code: "TooManyRequests",
                message: "Too many requests. Wait for as long as Retry-After says.", retryAfter: 10)
        }
    }
}
