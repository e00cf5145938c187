import CompanionCore
import CompanionSignIn
import Crypto
import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire

/// Decides which requests come from a program with a token of `api_tokens` (RFC 6750).
///
/// Browsers never get in this way: they send `Sec-Fetch-Site` or `Origin` with every request that a script or a form
/// makes. The address is counted before a token is compared, so that nobody can try many.
struct ProgramAccess: Sendable {
    private let tokens: [APIToken]
    private let isSecure: Bool
    private let limits: RequestLimits
    private let now: @Sendable () -> Date

    init(configuration: CompanionConfiguration, limits: RequestLimits, now: @escaping @Sendable () -> Date) {
        tokens = configuration.apiTokens
        isSecure = configuration.publicURL.isSecure
        self.limits = limits
        self.now = now
    }

    /// Returns the token of a request.
    ///
    /// - Throws: ``Problem`` `cross_site_request` for a browser's request, or one over plain http from elsewhere;
    ///   `throttled`; `invalid_token` without a token, or with a wrong or expired one; `insufficient_scope` if the token is
    ///   for something else.
    func token(for scope: APIToken.Scope, _ head: RequestHead, from peer: PeerAddress) throws(Problem) -> APIToken {
        guard head[.secFetchSite] == nil, head[.origin] == nil else {
            throw Problem(.crossSiteRequest, "A browser cannot use this address with a token.")
        }
        guard isSecure || peer.isLoopback else {
            throw Problem(.crossSiteRequest, "A token may be sent over https or from this machine only.")
        }
        try limits.takeOfProgram(head, from: peer)
        let parts = head[.authorization]?.split(separator: " ", maxSplits: 1) ?? []
        guard parts.count == 2, parts[0].lowercased() == "bearer" else {
            throw Problem(
                .invalidToken, "This address needs a token: Authorization: Bearer. companion tokens new makes one.")
        }
        // Every token is compared, so that the time tells nothing about which one came close.
        let digest = SHA256.hash(data: Data(parts[1].utf8))
        var found: APIToken?
        for token in tokens where digest == Data(token.sha256) { found = token }
        guard let found, found.expires.map({ now() < $0 }) ?? true else {
            throw Problem(
                .invalidToken, "The token is not one of this server's, or has expired.",
                reason: found.map { "the token \($0.name) has expired" })
        }
        guard found.scopes.contains(scope) else {
            throw Problem(
                .insufficientScope,
                "The token is not for this address. The operator lists what it is for in api_tokens.",
                reason: "the token \(found.name) lacks the scope \(scope.rawValue)")
        }
        return found
    }
}

/// The caller of an address for a portal's operators.
enum PortalOperator: Sendable {
    /// A person who is signed in to the portal.
    case person(SignedIn)
    /// A program, by its token.
    case program(APIToken)
}
