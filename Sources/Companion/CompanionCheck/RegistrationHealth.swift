package import CompanionCore
package import CompanionSignIn
package import Foundation
package import WebFormats

/// The health of registrations as far as this server knows it already. Nobody is asked.
package struct RegistrationHealth: Sendable {
    /// The knowledge about all applications.
    package struct Known: Sendable {
        /// The time of the newest check; nil if there was none.
        package let checkedAt: Date?
        /// The members of each application's entry, by its name.
        package let entries: [String: [String: JSONValue]]
    }

    let rounds: CheckRounds
    let credentials: ClientCredentials
    let journal: SignInJournal
    let now: @Sendable () -> Date

    package init(
        rounds: CheckRounds, credentials: ClientCredentials, journal: SignInJournal, now: @escaping @Sendable () -> Date
    ) {
        self.rounds = rounds
        self.credentials = credentials
        self.journal = journal
        self.now = now
    }

    package func known(of applications: [Application]) async -> Known {
        let round = await rounds.lastRound(of: applications)
        // Each user flow of B2C has a report of its own.
        let reports = Dictionary(grouping: round?.reports ?? []) { $0.application.id }
        let entries = applications.map { application in
            let findings = reports[application.id]?.flatMap(\.findings)
            let members: [String: JSONValue] = [
                "state": .orNull(findings.map { CheckFinding.Severity.worst(of: $0).rawValue }),
                "last_failure": journal.newestFailure(of: application.id).map(Self.json) ?? .null,
            ]
            return (application.id, members.merging(credential(of: application, findings ?? [])) { $1 })
        }
        return Known(checkedAt: round?.at, entries: Dictionary(entries) { first, _ in first })
    }

    /// Returns the members about an application's credential: `credential` is its kind; `credential_expires` is the time
    /// when it expires, by these findings or else by the credential itself, and `days_left` are the whole days until
    /// then, negative once it has expired. Both are null if nobody knows.
    package func credential(of application: Application, _ findings: [CheckFinding]) -> [String: JSONValue] {
        let expires = findings.compactMap(\.expires).min() ?? credentials.condition(of: application).expires
        let days = expires.map { Int(($0.timeIntervalSince(now()) / 86_400).rounded(.down)) }
        return [
            "credential": .string(application.credential.kind.rawValue),
            "credential_expires": .orNull(expires?.formatted(.iso8601)),
            "days_left": days.map(JSONValue.integer) ?? .null,
        ]
    }

    private static func json(_ failure: SignInJournal.Failure) -> JSONValue {
        [
            "time": .string(Timeline.text(failure.time)), "code": .string(failure.code.rawValue),
            "number": .orNull(failure.number),
        ]
    }
}
