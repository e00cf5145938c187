import Foundation
import WebFormats

/// A failure for the sign-on session of one browser only. The missions of the application's page request it.
enum SessionFailure: String, Sendable, CaseIterable {
    /// Tokens without a second factor are refused and cannot be refreshed.
    case secondFactor = "second_factor"
    /// Graph treats the next token that it sees as expired.
    case tokenEnds = "token_ends"
    /// Graph treats tokens as expired, and the token endpoint fails.
    case providerDown = "provider_down"
    /// Graph asks for a pause once.
    case graphThrottles = "graph_throttles"

    /// The time after which a failure ends by itself, for example because the page was closed.
    static let lifetime: TimeInterval = 600
}

/// The failing sessions by the claim `sid`, oldest first.
struct SessionFailures: Sendable {
    private static let most = 200
    private var entries: [(session: String, failure: SessionFailure, end: Date)] = []

    /// Begins a failure, which replaces another one of this session; nil ends it.
    mutating func set(_ failure: SessionFailure?, of session: String, now: Date) {
        entries.removeAll { $0.session == session || $0.end <= now }
        guard let failure else { return }
        if entries.count >= SessionFailures.most { entries.removeFirst() }
        entries.append((session, failure, now.addingTimeInterval(SessionFailure.lifetime)))
    }

    /// The current failure of a session.
    subscript(session: String, now: Date) -> SessionFailure? {
        entries.first { $0.session == session && $0.end > now }?.failure
    }
}

extension Controls {
    /// Begins or ends a failure of one sign-on session.
    func setSessionFailure(_ failure: SessionFailure?, of session: String, now: Date) {
        changeSessionFailures { $0.set(failure, of: session, now: now) }
    }

    /// Returns the current failure of one sign-on session.
    func sessionFailure(of session: String, now: Date) -> SessionFailure? { sessionFailures[session, now] }
}

extension Platform {
    /// Refuses a token of a failing session.
    ///
    /// - Parameters:
    ///   - claims: the access token's claims.
    ///   - expired: the error for an expired token.
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

    /// Refuses to refresh a token of a failing session.
    func checkSessionFailure(_ token: RefreshToken) throws(PlatformError) {
        switch controls.sessionFailure(of: token.authentication.sessionID, now: now()) {
        case .secondFactor where token.authentication.secondFactor == 0: throw .secondFactorNeeded
        case .providerDown: throw .serverError
        case .secondFactor, .tokenEnds, .graphThrottles, nil: return
        }
    }
}
