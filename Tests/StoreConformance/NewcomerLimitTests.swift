import Foundation
import StoreTesting
import Testing

@testable import SessionStore

/// The number of sign-ins and sessions without an account that are kept.
@Suite(.closesStores) struct NewcomerLimitTests {
    private static let most = SignInRules.maxNewcomers

    /// Newcomers come back at once, and fail.
    private func fill(_ store: SessionStore, _ count: Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                if number >= 50 { try await group.next() }
                group.addTask { _ = try await store.failNewcomer("fill \(number)") }
            }
            try await group.waitForAll()
        }
    }

    @Test(arguments: TestedBackend.kinds)
    func `at a thousand newcomers the oldest that are over make room, with what ends with them`(
        _ backend: TestedBackend
    ) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        let member = try await store.signIn("adele", at: fixture.clock)
        let cutOff = try await store.consume(try await store.begin("cut off"))
        fixture.clock.advance(by: .seconds(121))
        var remembering = try await store.signIn("lee", at: fixture.clock)
        let known = try #require(try await store.session(remembering))
        remembering = try await store.removeAccount(known.key(of: known.accounts[0]), keepAsPrevious: true)
        // In the order in which they go: one that comes again, one that does not, one whose session stays for its name.
        let again = try await store.failNewcomer("again")
        fixture.clock.advance(by: .seconds(1))
        let oldest = try await store.failNewcomer("oldest")
        let noted = try #require(try await store.session(oldest)?.key)
        store.note(SessionNote(app: "ios", text: "a note"), of: noted)
        await store.settleNotes()
        fixture.clock.advance(by: .seconds(1))
        let inside = try await store.begin("inside", cookie: remembering)
        try await store.failSignIn(try await store.consume(inside, cookie: remembering))
        fixture.clock.advance(by: .seconds(1))
        let waiting = try await store.consume(try await store.begin("waiting"))
        try await fill(store, Self.most - 5)
        #expect(try await fixture.newcomers() == Self.most)
        let sessions = try await store.list(limit: 2000).count
        #expect(sessions == Self.most + 1)

        func sessionsAfter(_ state: String) async throws -> Int {
            _ = try await store.failNewcomer(state)
            #expect(try await fixture.newcomers() == Self.most, "\(state)")
            return try await store.list(limit: 2000).count
        }
        #expect(try await sessionsAfter("in place of what was cut off") == sessions)
        await #expect(throws: StoreError.attemptNotPending) {
            try await store.completeSignIn(cutOff, account: .sample("x"), tokens: .sample("x", at: fixture.clock))
        }
        // Its own older attempt is the one that goes, and not its session.
        let second = try await store.consume(try await store.begin("second", cookie: again), cookie: again)
        #expect(try await store.session(again)?.key == second.session)
        #expect(try await store.list(limit: 2000).count == sessions)
        #expect(try await sessionsAfter("in place of the oldest") == sessions)
        #expect(try await store.session(oldest) == nil)
        if backend != .sqlite { #expect(try await fixture.count("session_note") == 0) }
        #expect(try await sessionsAfter("in place of one in a session that remembers a name") == sessions + 1)
        #expect(try await store.session(remembering)?.previousUsername(for: "ios") == "lee@contoso.example")
        #expect(try await store.session(member)?.accounts.count == 1)
        for attempt in [waiting, second] {
            let id = try await store.completeSignIn(
                attempt, account: .sample("megan"), tokens: .sample("m", at: fixture.clock))
            #expect(try await store.session(id)?.key == attempt.session)
        }
        #expect(try await fixture.newcomers() == Self.most - 2)
    }

    @Test(arguments: TestedBackend.allCases)
    func `beginning a sign-in writes no row, and one begun by a signed-in person does not count as a newcomer's`(
        _ backend: TestedBackend
    ) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        let member = try await store.signIn("adele", at: fixture.clock)
        let writes = fixture.writes
        for number in 0..<20 {
            _ = try await store.begin("newcomer \(number)")
            _ = try await store.begin("member \(number)", cookie: member)
        }
        #expect(fixture.writes == writes)
        #expect(try await fixture.count("sign_in_attempt") == 1)
        try await store.failSignIn(try await store.consume(try await store.begin("m", cookie: member), cookie: member))
        #expect(try await fixture.newcomers() == 0)
    }

    @Test(arguments: TestedBackend.allCases) func `a sign-in leaves nothing in its session that counts as a newcomer's`(
        _ backend: TestedBackend
    ) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        let cookie = try await store.failNewcomer("first")
        let other = try await store.consume(try await store.begin("other", cookie: cookie), cookie: cookie)
        #expect(try await fixture.newcomers() == 2)
        try await store.signIn("adele", cookie: cookie, at: fixture.clock)
        #expect(try await fixture.newcomers() == 0)
        try await store.failSignIn(other)
        #expect(try await fixture.newcomers() == 0)
    }

    @Test(arguments: TestedBackend.allCases) func `the count is right after a restart, a revocation and a purge`(
        _ backend: TestedBackend
    ) async throws {
        let fixture = try StoreFixture(backend)
        var store = try fixture.open()
        let first = try await store.failNewcomer("first")
        for state in ["a", "b", "c"] { _ = try await store.failNewcomer(state) }
        await store.close()
        store = try fixture.open()
        #expect(try await fixture.newcomers() == 4)
        let key = try #require(try await store.session(first)?.key)
        #expect(try await store.revoke(key))
        #expect(try await fixture.newcomers() == 4, "its callback stays consumed")
        // The command line purges beside the server.
        fixture.clock.advance(by: .seconds(1921))
        let commandLine = try fixture.open()
        #expect(try await commandLine.purgeExpired() == 3)
        await commandLine.close()
        #expect(try await fixture.newcomers() == 0)
    }

    @Test(arguments: TestedBackend.allCases) func `a session whose account was signed out is a newcomer's again`(
        _ backend: TestedBackend
    ) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        let member = try await store.signIn("adele", at: fixture.clock)
        let key = try #require(try await store.session(member)?.key)
        let id = try await store.removeAccount(
            AccountKey(session: key, app: "ios", id: "adele.tenant"), keepAsPrevious: true)
        let attempt = try await store.consume(try await store.begin("again", cookie: id), cookie: id)
        #expect(attempt.session == key)
        #expect(try await fixture.newcomers() == 1)
    }

    @Test(arguments: TestedBackend.allCases, [true, false])
    func `an old session's cookie does not make a newcomer a member`(
        _ backend: TestedBackend, hasBegunInTime: Bool
    ) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open(idle: .seconds(120))
        let old = try await store.signIn("adele", at: fixture.clock)
        let early = try await store.begin("early", cookie: old)
        fixture.clock.advance(by: .seconds(121))
        let late = try await store.begin("late", cookie: old)
        _ = try await store.consume(hasBegunInTime ? early : late, cookie: old)
        #expect(try await fixture.newcomers() == 1)
    }
}
