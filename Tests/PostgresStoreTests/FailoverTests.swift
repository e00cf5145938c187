import EventLoop
import Foundation
import StoreTesting
import TestSupport
import Testing

@testable import PostgresStore
@testable import SessionStore

/// A server that is gone without a word, and another one that takes over.
@Suite(.closesStores, .enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct FailoverTests {
    /// Two ways, of which the second stands for the server that takes over.
    private struct Ways {
        let fixture: StoreFixture
        let first, second: LossyWay
        let workers: WorkerGroup
        let store: SessionStore
        let place: PostgresStore

        init(hosts: Int, followsOutage: Bool = false) throws {
            fixture = try StoreFixture(.postgres)
            let port = try PostgresServer.shared.get().port
            first = try LossyWay(to: port)
            second = try LossyWay(to: port)
            let role = try #require(fixture.postgres?.user)
            let places = [first, second].prefix(hosts).map { "127.0.0.1:\($0.port)" }.joined(separator: ",")
            let settings = try PostgresSettings("postgresql://\(role)@\(places)/postgres?sslmode=disable")
            let ring = try KeyRing.load(orCreateAt: fixture.keyPath)
            workers = try WorkerGroup(count: 2)
            // A server leaves this to the default.
            place =
                try followsOutage
                ? PostgresStore(settings, keyRing: ring, workers: workers)
                : PostgresStore(settings, keyRing: ring, workers: workers, followsOutage: false)
            store = SessionStore(
                backend: place, configuration: .init(idle: .seconds(3600), maxAge: .seconds(12 * 3600)), keyRing: ring,
                clocks: fixture.clock.clocks, backgroundWork: false)
        }

        /// Signs so many people in at once, and returns the number of those who got in.
        func signIns(_ count: Int, _ name: String) async -> Int {
            await withTaskGroup(of: Bool.self) { group in
                for number in 0..<count {
                    group.addTask {
                        (try? await store.signIn("\(name)\(number)", at: fixture.clock)) != nil
                    }
                }
                return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
        }

        func close() async {
            for way in [first, second] { way.freeze(false) }
            await store.close()
            await workers.shutdown()
            for way in [first, second] { way.close() }
        }
    }

    @Test(.needsTime("forty sign-ins at once have the five seconds of a statement"))
    func `when a server falls silent, all go on at the one that takes over, and nobody fails`() async throws {
        let ways = try Ways(hosts: 2)
        #expect(await ways.signIns(40, "before") == 40, "all connections are open, most of them idle")
        ways.first.freeze(true)
        // Those of them that are given a connection of the silent server wait for a second, not for their time-out.
        #expect(await ways.signIns(40, "during") == 40)
        #expect(await ways.signIns(40, "after") == 40)
        #expect(try await ways.store.counts().signedIn == 120)
        await ways.close()
    }

    @Test(.needsTime("a statement's five seconds pass"))
    func `idle connections that a silent server had are asked, and closed without an answer`() async throws {
        let ways = try Ways(hosts: 1)
        #expect(await ways.signIns(40, "before") == 40)
        let store = ways.store
        let open = await store.connections()?.open ?? 0
        #expect(open > 4)
        ways.first.freeze(true)
        async let waiting = ways.signIns(1, "during")
        // One caller's doubt is enough for all idle connections of its worker.
        #expect(await eventually { await store.connections()?.open ?? open < open - 2 })
        ways.first.freeze(false)
        _ = await waiting
        #expect(await eventually { await store.connections()?.isReachable == true })
        #expect(await ways.signIns(10, "after") == 10)
        await ways.close()
    }

    @Test func `a transaction that waits for a row says nothing about the server`() async throws {
        let ways = try Ways(hosts: 2)
        let id = try await ways.store.signIn("adele", at: ways.fixture.clock)
        let session = try #require(try await ways.store.session(id))
        let holder = try BlockingConnection(try #require(ways.fixture.postgres))
        try holder.query("BEGIN")
        try holder.query("SELECT 1 FROM session FOR UPDATE")
        async let change: Void = ways.store.markNeedsInteraction(session.key(of: session.accounts[0]), reason: "mfa")
        try await Task.sleep(for: .milliseconds(2500))
        #expect(await ways.store.connections()?.isReachable == true)
        try holder.query("ROLLBACK")
        try await change
        #expect(try await ways.store.session(id)?.accounts.first?.needsInteraction == "mfa")
        await ways.close()
    }

    @Test(arguments: [false, true])
    func `a server that has lost the database, or that starts, takes over nobody's lease at once`(_ starts: Bool)
        async throws
    {
        let ways = try Ways(hosts: 1, followsOutage: starts)
        let id = try await ways.store.signIn("adele", at: ways.fixture.clock)
        let session = try #require(try await ways.store.session(id))
        let account = session.key(of: session.accounts[0])
        let seen = try #require(try await ways.place.refreshToken(of: account))
        let other = try ways.fixture.open()
        let place = try #require(other.backend as? PostgresStore)
        #expect((ways.place.database.sinceReturn != nil) == starts)
        guard case .taken = try await place.takeRefreshLease(of: account, seen: seen, by: "a", for: .zero)
        else { throw UnexpectedOutcome(name: "not taken") }

        if !starts {
            ways.first.freeze(true)
            _ = try? await ways.place.versions(of: [session.key], within: .milliseconds(100))
            ways.first.freeze(false)
            #expect(await eventually { ways.place.database.sinceReturn != nil })
        }
        let answer = try await ways.place.takeRefreshLease(of: account, seen: seen, by: "b", for: .seconds(20))
        if case .held(let by, let remaining, _) = answer {
            #expect(by == "a" && remaining <= SignInRules.returnGrace)
        } else {
            // A machine so slow that the time is over.
            #expect(try #require(ways.place.database.sinceReturn) >= SignInRules.returnGrace)
        }
        // The other server has not lost it.
        guard case .taken = try await place.takeRefreshLease(of: account, seen: seen, by: "c", for: .seconds(20))
        else { throw UnexpectedOutcome(name: "not taken") }
        await other.close()
        await ways.close()
    }
}
