package import CompanionCore
package import Foundation
package import SessionStore
import Synchronization
import WebFormats

/// The checks of applications while the server runs. Each round is compared with the last one of the same application. An
/// application has one round at a time, which everyone who asks meanwhile joins. The last rounds are stored, so that they
/// outlive a restart, and servers with the same database show the same.
package actor CheckRounds {
    /// A finding that an application has now and had not at the last round, or the reverse.
    package struct Change: Sendable, Equatable {
        package enum Kind: String, Sendable { case appeared, gone }
        package let kind: Kind
        package let finding: CheckFinding
    }

    /// One round.
    package struct Round: Sendable {
        /// The end of the round.
        package let at: Date
        /// One report for each application and authority, in the order of the applications.
        package let reports: [AuthorityCheck.Report]
        /// The changes since the last round of each application; nothing for an application's first round.
        package let changes: [Change]
        fileprivate var findings: [CheckFinding] { reports.flatMap(\.findings) }
        fileprivate var problems: [CheckFinding] { findings.filter { $0.severity != .good } }
    }

    /// The hour at which a night's round begins, by this machine's time zone.
    private static let nightHour = 3

    private let applications: [String: Application]
    private let store: SessionStore
    private let check: @Sendable ([Application]) async -> [AuthorityCheck.Report]
    private let now: @Sendable () -> Date
    private let start: Date
    /// The last round of each application.
    private var last: [String: Round] = [:]
    private var running: [String: Task<Round, Never>] = [:]
    private let watching = Mutex<Task<Void, Never>?>(nil)
    private let isStopped = Atomic(false)

    /// - Parameters:
    ///   - applications: all configured applications.
    ///   - store: the store of the last rounds.
    ///   - now: the wall clock.
    ///   - check: checks applications at their authorities.
    package init(
        of applications: [Application], in store: SessionStore, now: @escaping @Sendable () -> Date,
        check: @escaping @Sendable ([Application]) async -> [AuthorityCheck.Report]
    ) {
        self.applications = Dictionary(applications.map { ($0.id, $0) }) { first, _ in first }
        self.store = store
        self.check = check
        self.now = now
        start = now()
    }

    /// The last rounds of these applications, which have nothing new; nil if none was checked yet.
    package func lastRound(of applications: [Application]) async -> Round? {
        await readStored()
        return Round(applications.compactMap { last[$0.id] })
    }

    /// The time of each application's last round, and the number of its findings of each severity.
    package var counts: [String: (at: Date, counts: [String: Int])] {
        last.mapValues { ($0.at, CheckReport.counts(of: $0.findings)) }
    }

    // MARK: Nights

    /// Starts to check each night. Checks that a stop has cut off are not stored.
    package nonisolated func watch() {
        let task = Task { [weak self] in
            repeat { await self?.lookAtTheHour() } while (try? await Task.sleep(for: .seconds(60))) != nil
        }
        watching.withLock { $0 = task }
    }

    /// Ends what ``watch()`` has started, and stores no round any more.
    package nonisolated func stop() {
        isStopped.store(true, ordering: .relaxed)
        watching.withLock { $0?.cancel() }
    }

    /// Checks the applications that nobody has checked since the night began, unless another server does it. A night that
    /// began before this server is not made up for: somebody may restart it again and again.
    func lookAtTheHour() async {
        await readStored()
        let night = Calendar.current.nextDate(
            after: now(), matching: DateComponents(hour: Self.nightHour), matchingPolicy: .nextTime,
            direction: .backward)
        guard let night, night > start else { return }
        let waiting = applications.values.filter { last[$0.id].map { $0.at < night } ?? true }
        guard !waiting.isEmpty, await store.hasChore(.checks) else { return }
        _ = await run(waiting)
    }

    // MARK: Rounds

    /// Takes over newer rounds, which other servers or this one before its restart have stored. While the store is
    /// unavailable, those that are known stay.
    private func readStored() async {
        for stored in (try? await store.checkRounds()) ?? [] {
            guard let application = applications[stored.app], last[stored.app].map({ $0.at < stored.endedAt }) ?? true
            else { continue }
            last[stored.app] = Round(stored, of: application)
        }
    }

    /// Checks these applications now, or joins the rounds that are under way. All who join get the same changes.
    package func run(_ applications: [Application]) async -> Round {
        let reading = Task { await readStored() }
        let tasks = applications.map { running[$0.id] ?? begin($0, after: reading) }
        var rounds: [Round] = []
        for task in tasks { rounds.append(await task.value) }
        return Round(rounds) ?? Round(at: now(), reports: [], changes: [])
    }

    private func begin(_ application: Application, after reading: Task<Void, Never>) -> Task<Round, Never> {
        // A caller that disconnects ends no round that others have joined.
        let task = Task {
            await reading.value
            return await finished(application, await check([application]))
        }
        running[application.id] = task
        return task
    }

    private func finished(_ application: Application, _ reports: [AuthorityCheck.Report]) async -> Round {
        // As exact as it is stored, so that the same round has one time.
        let found = Round(at: Date(milliseconds: now().milliseconds), reports: reports, changes: [])
        let changes = last[application.id].map { Self.changes(from: $0.problems, to: found.problems) } ?? []
        last[application.id] = found
        running[application.id] = nil
        // A round that cannot be stored is this server's alone, until the next one.
        if !isStopped.load(ordering: .relaxed) { try? await store.keep(found.stored(of: application)) }
        return Round(at: found.at, reports: reports, changes: changes)
    }

    /// Returns the findings that only one of two rounds has. The wording does not count: it may have a number of days.
    static func changes(from before: [CheckFinding], to after: [CheckFinding]) -> [Change] {
        let (old, new) = (Set(before.map(\.identity)), Set(after.map(\.identity)))
        return after.filter { !old.contains($0.identity) }.map { Change(kind: .appeared, finding: $0) }
            + before.filter { !new.contains($0.identity) }.map { Change(kind: .gone, finding: $0) }
    }
}

extension CheckRounds.Round {
    /// The rounds of several applications as one, at the time of the last.
    fileprivate init?(_ rounds: [CheckRounds.Round]) {
        guard let at = rounds.map(\.at).max() else { return nil }
        self.init(at: at, reports: rounds.flatMap(\.reports), changes: rounds.flatMap(\.changes))
    }
}

// MARK: - Stored form

extension CheckRounds.Round {
    fileprivate init?(_ stored: StoredCheckRound, of application: Application) {
        guard let reports = JSONValue(parsing: Array(stored.findings.utf8))?.array else { return nil }
        self.init(
            at: stored.endedAt, reports: reports.compactMap { AuthorityCheck.Report(stored: $0, of: application) },
            changes: [])
    }

    fileprivate func stored(of application: Application) -> StoredCheckRound {
        StoredCheckRound(app: application.id, endedAt: at, findings: JSONValue.array(reports.map(\.stored)).text)
    }
}
