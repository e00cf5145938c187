import CompanionCore
import CompanionSignIn
import Cryptography
import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire

/// Decides which requests come from a program with a token of `api_tokens` (RFC 6750).
///
/// Browsers never get in this way: they send `Sec-Fetch-Site` or `Origin` with every request that a script or a form
/// makes. A token is compared before anything is counted, which costs one hash: a token has too much randomness to be
/// guessed, and those who try do not use up the share of a program at the same address.
struct ProgramAccess: Sendable {
    private let tokens: [APIToken]
    private let configuration: CompanionConfiguration
    private let limits: RequestLimits
    private let now: @Sendable () -> Date

    init(configuration: CompanionConfiguration, limits: RequestLimits, now: @escaping @Sendable () -> Date) {
        tokens = configuration.apiTokens
        self.configuration = configuration
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
        guard Self.isPrivate(head, from: peer, at: configuration) else {
            throw Problem(
                .crossSiteRequest,
                "A token may be sent over https or from this machine only. The operator lists the proxy that speaks https in trusted_proxies."
            )
        }
        let parts = head[.authorization]?.split(separator: " ", maxSplits: 1) ?? []
        guard parts.count == 2, parts[0].lowercased() == "bearer" else {
            try limits.takeOfProgram(nil, head, from: peer)
            throw Problem(
                .invalidToken, "This address needs a token: Authorization: Bearer. companion tokens new makes one.")
        }
        // Every token is compared, so that the time tells nothing about which one came close.
        let digest = SHA256.hash(data: parts[1].utf8)
        var found: APIToken?
        for token in tokens where isEqualInConstantTime(digest, token.sha256) { found = token }
        guard let found, found.expires.map({ now() < $0 }) ?? true else {
            try limits.takeOfProgram(nil, head, from: peer)
            throw Problem(
                .invalidToken, "The token is not one of this server's, or has expired.",
                reason: found.map { "the token \($0.name) has expired" })
        }
        try limits.takeOfProgram(found.name, head, from: peer)
        guard found.isFor(scope) else {
            throw Problem(
                .insufficientScope,
                "The token is not for this address. The operator lists what it is for in api_tokens.",
                reason: "the token \(found.name) lacks the scope \(scope.rawValue)")
        }
        return found
    }

    /// Whether no one on the way has read the request: it came over https, as far as the connection or a listed proxy
    /// says so, or from this machine. The public URL alone proves nothing, because the listener has addresses of its own.
    static func isPrivate(
        _ head: RequestHead, from peer: PeerAddress, at configuration: CompanionConfiguration
    ) -> Bool {
        if configuration.tls != nil { return true }
        let scheme = head[.xForwardedProto]?.split(separator: ",").last?.trimmingCharacters(in: .whitespaces)
            .lowercased()
        if peer.isLoopback { return scheme == nil || scheme == "https" }
        return scheme == "https" && configuration.trustedProxies.contains { $0.contains(peer) }
    }
}

/// The caller of an address for a portal's operators.
enum PortalOperator: Sendable {
    /// A person who is signed in to the portal.
    case person(SignedIn)
    /// A program, by its token.
    case program(APIToken)
}
