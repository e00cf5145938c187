package import Foundation
import TenantDirectory
package import WebFormats

/// The ways in which the tenant can differ from normal. A rule sets some of them; nil leaves one alone.
package struct Effects: Sendable {
    /// The seconds by which the tenant's clock is ahead.
    var clockSeconds: Int?
    /// The lifetime of access tokens; nil for the platform's own, which differ.
    package var accessTokenSeconds: Int?
    package var refreshTokenSeconds: Int?
    /// Whether a refresh token that is used twice revokes its family (RFC 9700 section 4.14.2).
    package var hasSingleUseRefreshTokens: Bool?
    /// The responses to send instead of the real ones.
    package var tokenError: Controls.InjectedAnswer?
    var graphError: Controls.InjectedAnswer?
    /// The delays, in milliseconds.
    var tokenDelay: Int?
    var graphDelay: Int?
    /// The endpoint whose requests wait until the rule ends.
    var hold: Controls.Endpoint?
    /// The endpoint whose requests get no response.
    package var closedConnection: Controls.Endpoint?
    /// Whether the responses to token requests are lost: the request is carried out, but the client gets a gateway's 504.
    var losesTokenAnswer: Bool?
    package var outage: Controls.Outage?
    /// The value of the claim `nbf` that Graph requires in the request for a token.
    package var claimsChallenge: Int?
    /// The number that access tokens have to carry, or a higher one, in order not to count as expired.
    var tokenExpiry: Int?
    /// The fault of the ID token for a code.
    var idTokenFault: DemoIDTokenFault?
    /// The numbers of errors.
    var tokenPlatformError: Int?
    var authorizePlatformError: Int?
    /// A scope that the APIs require in every token.
    package var missingScope: String?
    /// A scope that is never granted.
    package var declinedScope: String?
    /// B2C: whether the issuer names the user flow (the setting “tfp” of a user flow).
    package var hasIssuerWithPolicy: Bool?
    /// Claims of ID tokens that replace the real ones; null omits a claim.
    package var idTokenClaims: [String: JSONValue]?
    /// Whether ID tokens lack `auth_time`, like those of Entra ID without that optional claim.
    package var omitsAuthTime: Bool?
    /// Whether `prompt=login` and `max_age` are ignored, as by a provider that does not support them.
    package var ignoresFreshness: Bool?
    /// Whether the tenant behaves like another provider: a refresh cannot request more than was granted, and there is a
    /// revocation endpoint.
    package var isGeneric: Bool?
    /// Whether the published keys include one of a type that clients do not know.
    package var publishesUnknownKey: Bool?
    /// Whether Graph and refreshes require a second factor of the sign-in.
    package var requiresSecondFactor: Bool?
    /// Whether Graph asks for a pause.
    package var hasThrottledGraph: Bool?
    /// Whether the registration lists no API, so that tokens for one cannot be refreshed.
    package var listsNoAPI: Bool?
    /// The time since which sign-ins before it are revoked.
    package var revokedAt: Date?
    /// The error of an endpoint of native authentication.
    var nativeFailure: Controls.NativeFailure?
    /// The fault of the published keys.
    package var keySetFault: Controls.KeySetFault?
}

extension Controls {
    /// The endpoints that can fail.
    package enum Endpoint: String, Sendable, CaseIterable { case token, graph }

    /// The ways in which the published keys can fail those who look for the newest one.
    package enum KeySetFault: String, Sendable, CaseIterable {
        /// The newest key signs before it is published.
        case late
        /// The keys cannot be fetched.
        case unavailable
    }

    /// The platforms that can stop responding, as if they were down or unreachable.
    package enum Outage: String, Sendable, CaseIterable {
        case all, workforce, external, b2c
        /// The provider of accounts at which customers can sign in, which is the consumers' tenant.
        case social

        /// Whether the outage covers the tenant whose path begins like this.
        package func covers(_ tenant: String) -> Bool {
            let name = tenant.lowercased()
            let own: Outage =
                name.hasPrefix("tfp") || TenantSegment.isUserFlowTenant(String(name.prefix { $0 != "/" && $0 != "?" }))
                ? .b2c : [Tenant.fabrikam, Tenant.fabrikamDomain].contains(name) ? .external : .workforce
            if self == .social { return [TenantSegment.consumers.path, Tenant.consumers].contains(name) }
            return self == .all || self == own
        }
    }
}
