import CompanionCore
import Foundation

/// The checks of applications while the server runs. Each round is compared with the last one of the same application.
actor CheckRounds {
    /// A finding that an application has now and had not at the last round, or the reverse.
    struct Change: Sendable, Equatable {
        enum Kind: String, Sendable { case appeared, gone }
        let kind: Kind
        let finding: CheckFinding
    }

    /// One round.
    struct Round: Sendable {
        /// The end of the round.
        let at: Date
        /// One report for each application and authority, in the order of the applications.
        let reports: [AuthorityCheck.Report]
        /// The changes since the last round of each application; nothing for an application's first round.
        let changes: [Change]
    }

    /// The problems of one application at the end of its last round.
    private struct Last {
        let at: Date
        let problems: [CheckFinding]
    }

    private let check: AuthorityCheck
    private let now: @Sendable () -> Date
    private var last: [String: Last] = [:]
    /// The changes of all rounds since they were last taken; nil if no one takes them.
    private var kept: [Change]?

    /// - Parameters:
    ///   - check: checks an application at its authorities.
    ///   - now: the wall clock.
    init(_ check: AuthorityCheck, now: @escaping @Sendable () -> Date) {
        self.check = check
        self.now = now
    }

    /// The time of an application's last round; nil if there was none since the server started.
    func lastRound(of application: String) -> Date? { last[application]?.at }

    /// Keeps the changes of all rounds from now on.
    func keepChanges() { kept = kept ?? [] }

    /// Returns the changes of all rounds since the last call.
    func takeChanges() -> [Change] {
        defer { if kept != nil { kept = [] } }
        return kept ?? []
    }

    /// Checks these applications now.
    func run(_ applications: [Application]) async -> Round {
        let reports = await check.run(applications)
        let at = now()
        var changes: [Change] = []
        for application in applications {
            let problems = reports.filter { $0.application.id == application.id }.flatMap(\.findings)
                .filter { $0.severity != .good }
            if let before = last[application.id]?.problems { changes += Self.changes(from: before, to: problems) }
            last[application.id] = Last(at: at, problems: problems)
        }
        kept?.append(contentsOf: changes)
        return Round(at: at, reports: reports, changes: changes)
    }

    /// Returns the findings that only one of two rounds has. The wording does not count: it may have a number of days.
    static func changes(from before: [CheckFinding], to after: [CheckFinding]) -> [Change] {
        let (old, new) = (Set(before.map(\.identity)), Set(after.map(\.identity)))
        return after.filter { !old.contains($0.identity) }.map { Change(kind: .appeared, finding: $0) }
            + before.filter { !new.contains($0.identity) }.map { Change(kind: .gone, finding: $0) }
    }
}
