import Foundation
import Synchronization
import WebFormats

/// The failures requested at `/control`, and the counts. They are kept in memory, so that a new process behaves normally.
final class Controls: Sendable {
    /// A response to send instead of the real one.
    struct InjectedAnswer: Sendable, Hashable {
        var status: Int
        /// The body. A string is sent unchanged, anything else as JSON.
        var body: JSONValue
        var headers: [String: String]
        /// The number of times left.
        var times: Int
    }

    /// The endpoints that can fail.
    enum Endpoint: String, Sendable, CaseIterable { case token, graph }

    /// The platforms that can stop responding, as if they were down or unreachable.
    enum Outage: String, Sendable, CaseIterable {
        case all, workforce, external, b2c

        /// Whether the outage covers the tenant whose path begins like this.
        func covers(_ tenant: String) -> Bool {
            let name = tenant.lowercased()
            let own: Outage =
                name.hasPrefix("tfp") || TenantSegment.isUserFlowTenant(String(name.prefix { $0 != "/" }))
                ? .b2c : [Tenant.fabrikam, Tenant.fabrikamDomain].contains(name) ? .external : .workforce
            return self == .all || self == own
        }
    }

    /// The endpoint that returns an error by number.
    enum PlatformErrorEndpoint: String, Sendable, CaseIterable { case authorize, token }

    struct Settings: Sendable {
        var accessTokenSeconds = 3600
        var refreshTokenSeconds = 90 * 24 * 3600
        /// Whether a refresh token that is used twice revokes its family (RFC 9700 section 4.14.2).
        var hasSingleUseRefreshTokens = false
        var injected: [Endpoint: InjectedAnswer] = [:]
        var delayMilliseconds: [Endpoint: Int] = [:]
        /// The endpoint whose next request gets no response.
        var closeConnection: Endpoint?
        /// Whether the response to the next token request is lost: the request is carried out, but the client gets a
        /// gateway's 504.
        var losesTokenAnswer = false
        /// The outage, which lasts until it is ended.
        var outage: Outage?
        /// The value of the claim `nbf` that Graph requires in the request for a token; nil if it requires none.
        var claimsChallenge: Int?
        /// The accounts that have requested a token with the claims of the challenge.
        var challengeMet: Set<String> = []
        /// The fault of the ID token for the next code.
        var idTokenFault: DemoIDTokenFault?
        /// The numbers of the errors that the next requests get, by endpoint.
        var platformErrors: [PlatformErrorEndpoint: Int] = [:]
        /// A scope that the APIs require in every token.
        var missingScope: String?
        /// A scope that is never granted.
        var declinedScope: String?
        /// Whether ID tokens lack `auth_time`, like those of Entra ID without that optional claim.
        var omitsAuthTime = false
        /// Whether `prompt=login` and `max_age` are ignored, as by a provider that does not support them.
        var ignoresFreshness = false
        /// B2C: whether the older form of issuer and user-flow claim is used.
        var hasIssuerWithoutPolicy = false
        /// Claims of ID tokens that replace the real ones; null omits a claim.
        var idTokenClaims: [String: JSONValue] = [:]
        /// Whether the published keys include one of a type that clients do not know.
        var publishesUnknownKey = false
        /// Whether the tenant behaves like another provider: a refresh cannot request more than was granted, and there
        /// is a revocation endpoint.
        var isGeneric = false
    }

    enum Counter: String, Sendable, CaseIterable {
        case authorize
        case tokenCode = "token_code"
        case tokenRefresh = "token_refresh"
        case tokenClientCredentials = "token_client_credentials"
        case tokenDevice = "token_device"
        /// Codes for devices.
        case deviceCode = "device_code"
        case tokenFailed = "token_failed"
        /// All requests, whatever their outcome.
        case tokenRequests = "token_requests"
        /// Codes that were redeemed before.
        case codeReplayed = "code_replayed"
        /// Uses of refresh tokens that revoked their family.
        case refreshReplayed = "refresh_replayed"
        case tokenRevoked = "token_revoked"
        case graphMe = "graph_me"
        case logout, keys, discovery
    }

    private struct Memory {
        var settings = Settings()
        var counts: [Counter: Int] = [:]
        var lastChallenge = 0
        var sessionFailures = SessionFailures()
    }

    private let memory = Mutex(Memory())

    var settings: Settings { memory.withLock { $0.settings } }
    var counts: [Counter: Int] { memory.withLock { $0.counts } }

    var sessionFailures: SessionFailures { memory.withLock { $0.sessionFailures } }

    func changeSessionFailures(_ body: (inout SessionFailures) -> Void) {
        memory.withLock { body(&$0.sessionFailures) }
    }

    func change(_ body: (inout Settings) -> Void) { memory.withLock { body(&$0.settings) } }

    func count(_ counter: Counter) { memory.withLock { $0.counts[counter, default: 0] += 1 } }

    /// Restores the settings and counts of the start.
    func reset() { memory.withLock { $0 = Memory(lastChallenge: $0.lastChallenge) } }

    /// Takes one injected response.
    func takeInjected(_ endpoint: Endpoint) -> InjectedAnswer? {
        memory.withLock { memory in
            guard let answer = memory.settings.injected[endpoint] else { return nil }
            memory.settings.injected[endpoint]?.times -= 1
            if answer.times <= 1 { memory.settings.injected[endpoint] = nil }
            return answer
        }
    }

    /// Returns whether this request is to get no response.
    func takeClose(_ endpoint: Endpoint) -> Bool {
        memory.withLock { memory in
            guard memory.settings.closeConnection == endpoint else { return false }
            memory.settings.closeConnection = nil
            return true
        }
    }

    /// Returns whether the response to this request is to be lost.
    func takeLostTokenAnswer() -> Bool {
        memory.withLock { memory in
            defer { memory.settings.losesTokenAnswer = false }
            return memory.settings.losesTokenAnswer
        }
    }

    func takePlatformError(_ endpoint: PlatformErrorEndpoint) -> Int? {
        memory.withLock { $0.settings.platformErrors.removeValue(forKey: endpoint) }
    }

    func takeIDTokenFault() -> DemoIDTokenFault? {
        memory.withLock { memory in
            defer { memory.settings.idTokenFault = nil }
            return memory.settings.idTokenFault
        }
    }

    /// Begins a new challenge with a value that no token has met yet, or ends the challenge.
    func setClaimsChallenge(_ isOn: Bool, now: Date) {
        memory.withLock { memory in
            memory.settings.challengeMet = []
            guard isOn else {
                memory.settings.claimsChallenge = nil
                return
            }
            memory.lastChallenge = max(memory.lastChallenge + 1, Int(now.timeIntervalSince1970))
            memory.settings.claimsChallenge = memory.lastChallenge
        }
    }

    /// Records the claims of a token request, and returns the value that this account's tokens may carry from now on.
    func challengeMet(by objectID: String, asking claims: RequestedClaims) -> Int? {
        memory.withLock { memory in
            guard let challenge = memory.settings.claimsChallenge else { return nil }
            if let value = claims.notBefore, value >= challenge { memory.settings.challengeMet.insert(objectID) }
            return memory.settings.challengeMet.contains(objectID) ? challenge : nil
        }
    }
}
