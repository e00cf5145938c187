public import Foundation

/// The last round of checks of an application, for a restart and for other servers with the same database.
public struct StoredCheckRound: Sendable, Equatable {
    /// The configured application's name.
    public let app: String
    /// The end of the round, exact to a millisecond.
    public let endedAt: Date
    /// The findings, as JSON of the caller's. Nothing in it may be secret, because it is not sealed.
    public let findings: String

    /// Creates a round.
    public init(app: String, endedAt: Date, findings: String) {
        self.app = app
        self.endedAt = endedAt
        self.findings = findings
    }
}
