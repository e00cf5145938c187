import Foundation
import OpenIDConnect
import SessionStore
import StoreTesting
import Synchronization
import Testing

@testable import Companion
@testable import CompanionCheck
@testable import CompanionCore

@Suite(.closesStores) struct CheckRoundsTests {
    private func expiring(_ name: String, days: Int, _ severity: CheckFinding.Severity = .advice) -> CheckFinding {
        var finding: CheckFinding =
            severity == .advice
            ? .advice("secret", "It ends in \(days) days.", why: "", remedy: "")
            : .mistake("secret", "It ended.", why: "", remedy: "")
        finding.item = name
        return finding
    }

    private func says(_ changes: [CheckRounds.Change]) -> [String] {
        changes.map { "\($0.kind.rawValue) \($0.finding.item ?? "") \($0.finding.severity.rawValue)" }
    }

    @Test func `a finding whose number of days differs is the same finding`() {
        #expect(CheckRounds.changes(from: [expiring("one", days: 12)], to: [expiring("one", days: 11)]).isEmpty)
    }

    @Test func `another secret, another severity and a finding that is gone are changes`() {
        let changes = CheckRounds.changes(
            from: [expiring("one", days: 1), expiring("two", days: 3)],
            to: [expiring("one", days: 0, .mistake), expiring("three", days: 9)])
        #expect(
            says(changes) == ["appeared one mistake", "appeared three advice", "gone one advice", "gone two advice"])
    }

    private func applications() throws -> [Application] {
        try ["one", "two"].map { id in
            Application(
                id: id, page: .ios, title: id, authority: try Authority("https://login.microsoftonline.com/common"),
                registration: ClientRegistration(clientID: "a", redirectURI: "b", scopes: []),
                credential: .fixed(.publicClient), api: nil)
        }
    }

    @Test func `those who ask while an application is checked join that round`() async throws {
        let calls = Mutex<[String]>([])
        let gate = AsyncStream.makeStream(of: Void.self)
        let fixture = try StoreFixture(.sqlite)
        let store = try fixture.open()
        let applications = try applications()
        let rounds = CheckRounds(of: applications, in: store, now: { Date() }) { applications in
            calls.withLock { $0 += applications.map(\.id) }
            for await _ in gate.stream {}
            return []
        }
        let all = (0..<80).map { index in
            Task.immediate { await rounds.run(index.isMultiple(of: 2) ? applications : [applications[0]]) }
        }
        // The actor takes its callers in turn, so all of them have joined a round by now.
        #expect(await rounds.lastRound(of: applications) == nil)
        gate.continuation.finish()
        for each in all { _ = await each.value }
        #expect(calls.withLock { $0 }.sorted() == ["one", "two"])
    }

    @Test func `a round has one time, whether it is fresh or was stored`() async throws {
        let fixture = try StoreFixture(.sqlite)
        let store = try fixture.open()
        let applications = try applications()
        // Stored as 848 milliseconds.
        let rounds = CheckRounds(
            of: applications, in: store, now: { Date(timeIntervalSince1970: 1_800_000_000.8476) }, check: { _ in [] })
        let fresh = await rounds.run(applications).at
        #expect(await rounds.lastRound(of: applications)?.at == fresh)
    }

    // MARK: Nights

    /// Hours from three o'clock in the morning, at which a server starts, applications were checked, and somebody looks.
    struct Night: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let start: Double
        var checks: [String: Double] = [:]
        let now: Double
        let checked: [String]

        static let all = [
            Night("nobody was checked since three", -5, ["one": -2, "two": -20], at: 0.01, ["one", "two"]),
            Night("one was checked since three", -5, ["one": 0.2, "two": -20], at: 0.5, ["two"]),
            Night("nobody was ever checked", -5, [:], at: 1, ["one", "two"]),
            Night("it is not three yet", -5, [:], at: -0.01, []),
            Night("both were checked since three", -30, ["one": 0.1, "two": 0.1], at: 23.5, []),
            Night("the server started after three", 1, [:], at: 2, []),
            Night("the next three o'clock", 1, ["one": 5, "two": 5], at: 24.1, ["one", "two"]),
        ]

        init(_ name: String, _ start: Double, _ checks: [String: Double], at now: Double, _ checked: [String]) {
            (testDescription, self.start, self.checks, self.now, self.checked) = (name, start, checks, now, checked)
        }
    }

    @Test(arguments: Night.all) func `each night those are checked that nobody has checked since three`(_ night: Night)
        async throws
    {
        let three = try #require(
            Calendar.current.date(from: DateComponents(year: 2027, month: 1, day: 12, hour: 3)))
        let clock = Mutex(three.addingTimeInterval(night.start * 3600))
        let calls = Mutex<[String]>([])
        let fixture = try StoreFixture(.sqlite)
        let store = try fixture.open()
        let rounds = CheckRounds(of: try applications(), in: store, now: { clock.withLock { $0 } }) { applications in
            calls.withLock { $0 += applications.map(\.id) }
            return []
        }
        for (app, hour) in night.checks {
            try await store.keep(
                StoredCheckRound(app: app, endedAt: three.addingTimeInterval(hour * 3600), findings: "[]"))
        }
        clock.withLock { $0 = three.addingTimeInterval(night.now * 3600) }
        for _ in 0..<2 { await rounds.lookAtTheHour() }
        #expect(calls.withLock { $0 }.sorted() == night.checked, "once")
    }

    @Test(arguments: TestedBackend.clustered) func `of several servers one checks at night, and all show it`(
        _ backend: TestedBackend
    ) async throws {
        let fixture = try StoreFixture(backend)
        let three = try #require(
            Calendar.current.date(from: DateComponents(year: 2027, month: 1, day: 12, hour: 3)))
        let clock = Mutex(three.addingTimeInterval(-60))
        let calls = Mutex(0)
        let applications = try applications()
        let stores = try (0..<3).map { _ in try fixture.open() }
        let servers = stores.map { store in
            CheckRounds(of: applications, in: store, now: { clock.withLock { $0 } }) { applications in
                calls.withLock { $0 += applications.count }
                return []
            }
        }
        clock.withLock { $0 = three.addingTimeInterval(60) }
        await withTaskGroup { group in
            for server in servers { group.addTask { await server.lookAtTheHour() } }
        }
        #expect(calls.withLock { $0 } == 2)
        for server in servers {
            #expect(await server.lastRound(of: applications)?.at == three.addingTimeInterval(60))
        }
        for store in stores { await store.close() }
    }
}
