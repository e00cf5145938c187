package import Foundation
package import TenantDirectory

/// A failure for the sign-on session of one browser only. The missions of the application's page request it.
package enum SessionFailure: String, Sendable, CaseIterable {
    /// Graph challenges tokens without a second factor, and they cannot be refreshed.
    case secondFactor = "second_factor"
    /// The token endpoint fails.
    case providerDown = "provider_down"
    /// Graph asks for a pause once.
    case graphThrottles = "graph_throttles"
    /// The refresh tokens are revoked, and the sign-on has ended: the next sign-in asks for the password.
    case revoked
    /// The registration lists no API, so that tokens for one cannot be refreshed.
    case permission

    /// The time after which a failure ends by itself, for example because the page was closed.
    package static let lifetime: TimeInterval = 600
}

/// The failing sessions by the claim `sid`, oldest first.
package struct SessionFailures: Sendable {
    private static let most = 200
    private var entries: [(session: String, failure: SessionFailure, end: Date)] = []
    /// The sessions that were revoked, with the time. The end of the failure does not sign them on again.
    private var endedSignOns: [(session: String, at: Date)] = []

    /// Begins a failure, which replaces another one of this session; nil ends it.
    package mutating func set(_ failure: SessionFailure?, of session: String, now: Date) {
        entries.removeAll { $0.session == session || $0.end <= now }
        guard let failure else { return }
        if entries.count >= SessionFailures.most { entries.removeFirst() }
        entries.append((session, failure, now.addingTimeInterval(SessionFailure.lifetime)))
        guard failure == .revoked else { return }
        endedSignOns.removeAll { $0.session == session }
        if endedSignOns.count >= SessionFailures.most { endedSignOns.removeFirst() }
        endedSignOns.append((session, now))
    }

    /// The current failure of a session.
    package subscript(session: String, now: Date) -> SessionFailure? {
        entries.first { $0.session == session && $0.end > now }?.failure
    }

    /// Whether the authentication took place before its session was revoked.
    package func hasEnded(_ authentication: Authentication) -> Bool {
        endedSignOns.contains { $0.session == authentication.sessionID && authentication.time <= $0.at }
    }
}

extension Controls {
    /// Begins or ends a failure of one sign-on session.
    package func setSessionFailure(_ failure: SessionFailure?, of session: String, now: Date) {
        changeSessionFailures { $0.set(failure, of: session, now: now) }
    }

    /// Returns the current failure of one sign-on session.
    package func sessionFailure(of session: String, now: Date) -> SessionFailure? { sessionFailures[session, now] }
}
