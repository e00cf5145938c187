import Foundation
import WebFormats

/// A failure that one browser's sign-on session gets and nobody else: what a mission of the application's page asks for.
enum SessionFailure: String, Sendable, CaseIterable {
    /// Tokens without a second factor are refused, and not renewed.
    case secondFactor = "second_factor"
    /// Graph finds the next token that it sees too old.
    case tokenEnds = "token_ends"
    /// Graph finds tokens too old, and the token endpoint fails.
    case providerDown = "provider_down"
    /// Graph asks for a pause, once.
    case graphThrottles = "graph_throttles"

    /// How long one lasts that nobody ends: somebody has closed the page.
    static let lifetime: TimeInterval = 600
}

/// The sessions that fail, by the claim `sid`, the oldest first.
struct SessionFailures: Sendable {
    private static let most = 200
    private var entries: [(session: String, failure: SessionFailure, end: Date)] = []

    /// Begins a failure, in the place of another one of this session, or with nil ends it.
    mutating func set(_ failure: SessionFailure?, of session: String, now: Date) {
        entries.removeAll { $0.session == session || $0.end <= now }
        guard let failure else { return }
        if entries.count >= SessionFailures.most { entries.removeFirst() }
        entries.append((session, failure, now.addingTimeInterval(SessionFailure.lifetime)))
    }

    /// What a session is to get now.
    subscript(session: String, now: Date) -> SessionFailure? {
        entries.first { $0.session == session && $0.end > now }?.failure
    }
}

extension Controls {
    /// Begins or ends a failure of one sign-on session.
    func setSessionFailure(_ failure: SessionFailure?, of session: String, now: Date) {
        changeSessionFailures { $0.set(failure, of: session, now: now) }
    }

    /// What one sign-on session is to get.
    func sessionFailure(of session: String, now: Date) -> SessionFailure? { sessionFailures[session, now] }
}

extension Platform {
    /// Refuses a token of a session that is to fail.
    ///
    /// - Parameters:
    ///   - claims: the access token's.
    ///   - expired: the refusal of a token that is too old.
    func checkSessionFailure(_ claims: JSONValue, expired: GraphError) throws(GraphError) {
        guard let session = claims["sid"]?.string, let failure = controls.sessionFailure(of: session, now: now()) else {
            return
        }
        switch failure {
        case .secondFactor where claims["amr"]?.array?.contains("mfa") == true: return
        case .secondFactor, .providerDown: throw expired
        case .tokenEnds:
            controls.setSessionFailure(nil, of: session, now: now())
            throw expired
        case .graphThrottles:
            controls.setSessionFailure(nil, of: session, now: now())
            throw GraphError(
                status: .tooManyRequests, code: "TooManyRequests",
                message: "Too many requests. Wait for as long as Retry-After says.", retryAfter: 10)
        }
    }

    /// Refuses to renew a token of a session that is to fail.
    func checkSessionFailure(_ token: RefreshToken) throws(PlatformError) {
        switch controls.sessionFailure(of: token.authentication.sessionID, now: now()) {
        case .secondFactor where token.authentication.secondFactor == 0: throw .secondFactorNeeded
        case .providerDown: throw .serverError
        case .secondFactor, .tokenEnds, .graphThrottles, nil: return
        }
    }
}
