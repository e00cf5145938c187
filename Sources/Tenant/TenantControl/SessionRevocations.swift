import Foundation
package import TenantDirectory

/// The sign-on sessions that rules have revoked, with the time. The end of the rule does not sign them on again.
package struct SessionRevocations: Sendable {
    private static let most = 200
    private var entries: [(session: String, at: Date)] = []

    /// - Parameter session: the claim `sid`; nil for a rule that is not for one session, which ends none.
    mutating func end(_ session: String?, at now: Date) {
        guard let session else { return }
        entries.removeAll { $0.session == session }
        if entries.count >= Self.most { entries.removeFirst() }
        entries.append((session, now))
    }

    /// Whether the authentication took place before its session was revoked.
    package func hasEnded(_ authentication: Authentication) -> Bool {
        entries.contains { $0.session == authentication.sessionID && authentication.time <= $0.at }
    }
}
