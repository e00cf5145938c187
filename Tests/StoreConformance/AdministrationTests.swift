import Foundation
import StoreTesting
import TestSupport
import Testing

@testable import SessionStore

@Suite(.closesStores) struct AdministrationTests {
    @Test(arguments: TestedBackend.allCases)
    func `sessions are listed page by page with their accounts`(_ backend: TestedBackend) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        for user in ["adele", "megan", "lee"] { try await store.signIn(user, at: fixture.clock) }
        let all = try await store.list()
        #expect(
            all.map { $0.accounts.map(\.username) } == [
                ["adele@contoso.example"], ["megan@contoso.example"], ["lee@contoso.example"],
            ])
        #expect(all.first?.accounts.first?.app == "ios")
        #expect(all.first?.createdAt == fixture.clock.now)
        #expect(try await store.list(limit: 2) == Array(all.prefix(2)))
        #expect(try await store.list(after: all[1].key) == [all[2]])
        #expect(try await store.list(limit: -1) == [])
    }

    @Test(arguments: TestedBackend.allCases)
    func `revoke ends one session, those of a user, or all`(_ backend: TestedBackend) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        let one = try await store.signIn("adele", at: fixture.clock)
        let two = try await store.signIn("adele", at: fixture.clock)
        let three = try await store.signIn("megan", at: fixture.clock)
        for id in [one, two, three] { _ = try await store.session(id) }
        let key = try #require(try await store.session(one)?.key)
        #expect(try await store.revoke(key))
        #expect(try await !store.revoke(key))
        #expect(store.cachedSession(one).session == nil)
        #expect(try await store.session(one) == nil)
        #expect(try await store.revoke(username: "ADELE@contoso.example").count == 1)
        #expect(try await store.session(two) == nil)
        #expect(try await store.session(three) != nil)
        #expect(try await store.revokeAll().count == 1)
        #expect(try await store.session(three) == nil)
    }

    @Test(arguments: TestedBackend.allCases)
    func `an application's last checks outlive a restart, and each round takes the place of the one before`(
        _ backend: TestedBackend
    ) async throws {
        let fixture = try StoreFixture(backend)
        var store = try fixture.open()
        #expect(try await store.checkRounds() == [])
        let first = StoredCheckRound(app: "ios", endedAt: fixture.clock.now, findings: #"[{"a":"é \u0000"}]"#)
        let other = StoredCheckRound(app: "macos", endedAt: fixture.clock.now, findings: "[]")
        for round in [first, other] { try await store.keep(round) }
        await store.close()
        store = try fixture.open()
        #expect(Set(try await store.checkRounds().map(\.app)) == ["ios", "macos"])
        #expect(try await store.checkRounds().contains(first))
        let next = StoredCheckRound(app: "ios", endedAt: fixture.clock.now.addingTimeInterval(-5), findings: "[1]")
        try await store.keep(next)
        #expect(try await store.checkRounds().filter { $0.app == "ios" } == [next])
    }

    @Test(arguments: TestedBackend.marked)
    func `a server notices what another process revokes`(_ backend: TestedBackend) async throws {
        let fixture = try StoreFixture(backend)
        let server = try fixture.open()
        let id = try await server.signIn("adele", at: fixture.clock)
        _ = try await server.session(id)
        let version = await server.noticeOutsideChanges(since: nil)
        // Its own writes are no outside change: the cache stays.
        let other = try await server.signIn("megan", at: fixture.clock)
        _ = try await server.session(other)
        #expect(await server.noticeOutsideChanges(since: version) == version)
        #expect(server.cachedSession(id).session != nil)

        let commandLine = try fixture.open()
        #expect(try await commandLine.revoke(username: "adele@contoso.example").count == 1)
        await commandLine.close()
        #expect(await server.noticeOutsideChanges(since: version) != version)
        #expect(server.cachedSession(id).session == nil)
        #expect(try await server.session(id) == nil)
        #expect(try await server.session(other) != nil)
    }

    /// With the background work that a server runs: polls for what must happen within about a second.
    @Test(arguments: TestedBackend.marked)
    func `the running server notices a revocation by itself`(_ backend: TestedBackend) async throws {
        let fixture = try StoreFixture(backend)
        let server = try fixture.open(maxAge: .seconds(3600), backgroundWork: true)
        let id = try await server.signIn("adele", at: fixture.clock)
        _ = try await server.session(id)
        let commandLine = try fixture.open()
        #expect(try await commandLine.revokeAll().count == 1)
        await commandLine.close()
        #expect(await eventually { server.cachedSession(id).session == nil })
        #expect(try await server.session(id) == nil)
    }

    @Test(arguments: TestedBackend.allCases)
    func `a probe relies on a recent commit, and writes otherwise`(_ backend: TestedBackend) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        #expect(await store.probeWritable())
        #expect(fixture.writes == 1)
        // A commit counts for a second by the kernel's clock, however slow the machine is: within one, some probe of these
        // is not the first after a commit.
        #expect(try await fixture.writesAtSomeProbe(of: store, false))
        #expect(try await fixture.writesAtSomeProbe(of: store, true), "later it is tried again")
    }
}

extension StoreFixture {
    /// Whether, within twenty seconds, one probe commits something, or nothing.
    fileprivate func writesAtSomeProbe(of store: SessionStore, _ writes: Bool) async throws -> Bool {
        let end = ContinuousClock.now + .seconds(20)
        while ContinuousClock.now < end {
            let before = self.writes
            guard await store.probeWritable() else { return false }
            if (self.writes > before) == writes { return true }
            try await Task.sleep(for: .milliseconds(20))
        }
        return false
    }
}
