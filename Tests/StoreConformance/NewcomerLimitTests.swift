import Foundation
import StoreTesting
import Testing

@testable import SessionStore

/// What people without an account may take up, on a real file.
@Suite struct NewcomerLimitTests {
    @Test(arguments: TestedBackend.allCases) func `at the limit newcomers are refused, and everybody else goes on`(
        _ backend: TestedBackend
    ) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open(newcomers: .init(signIns: 3))
        let member = try await store.signIn("adele", at: fixture.clock)
        let waiting = try await store.beginSignIn(.sample(state: "waiting"), cookie: nil)
        for state in ["a", "b"] { #expect(try await !store.refuses(state)) }
        #expect(try await store.refuses("c"))
        #expect(try await store.list().count == 4, "a refusal leaves nothing behind")
        // The same session begins again, or with another application, when somebody is signed in there.
        for state in ["m1", "m2"] { #expect(try await !store.refuses(state, cookie: member)) }
        let attempt = try await store.consume("waiting", cookie: waiting.sessionID)
        let id = try await store.completeSignIn(
            attempt, account: .sample("megan"), tokens: .sample("m", at: fixture.clock))
        #expect(try await store.session(id)?.key == waiting.session)
        // With the account its place is free, and no more than that.
        #expect(try await !store.refuses("d"))
        #expect(try await store.refuses("e"))
        for state in ["a", "b", "d"] { _ = try await store.consumeAttempt(state: state, code: "c", cookie: nil) }
        #expect(try await fixture.newcomers()[0] == 3)
        await store.close()
    }

    @Test(arguments: TestedBackend.allCases) func `who cancelled may try again at the limit, but no more often at once`(
        _ backend: TestedBackend
    ) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open(newcomers: .init(signIns: 3))
        let id = try await store.beginSignIn(.sample(state: "first"), cookie: nil).sessionID
        for state in ["a", "b"] { #expect(try await !store.refuses(state)) }
        #expect(try await store.refuses("second", cookie: id), "the first is at the provider")
        let attempt = try await store.consume("first", cookie: id)
        #expect(try await store.refuses("second", cookie: id), "its code is being redeemed")
        try await store.failSignIn(attempt)
        #expect(try await !store.refuses("second", cookie: id))
        #expect(try await store.refuses("third", cookie: id))
        #expect(try await store.consume("second", cookie: id).session == attempt.session)
        #expect(try await fixture.newcomers()[0] == 3)
        await store.close()
    }

    @Test(arguments: TestedBackend.allCases)
    func `who ended in one application does not take the place of another person`(_ backend: TestedBackend) async throws
    {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open(newcomers: .init(signIns: 2))
        let other = try await store.beginSignIn(.sample(state: "other"), cookie: nil).sessionID
        try await store.failSignIn(try await store.consume("other", cookie: other))
        let id = try await store.beginSignIn(.sample(state: "mine"), cookie: nil).sessionID
        #expect(try await store.refuses("again", cookie: id))
        #expect(try await store.consumeAttempt(state: "other", code: "code-of-other", cookie: other).name == "failed")
        await store.close()
    }

    @Test(arguments: TestedBackend.allCases) func `the count is right after a restart, a purge and a revocation`(
        _ backend: TestedBackend
    ) async throws {
        let fixture = try StoreFixture(backend)
        let limits = SessionStore.NewcomerLimits(signIns: 4)
        var store = try fixture.open(newcomers: limits)
        let first = try await store.beginSignIn(.sample(state: "first"), cookie: nil)
        for state in ["a", "b", "c"] { #expect(try await !store.refuses(state)) }
        await store.close()
        store = try fixture.open(newcomers: limits)
        #expect(try await store.refuses("d"))
        #expect(try await store.revoke(first.session))
        #expect(try await fixture.newcomers()[0] == 3)
        #expect(try await !store.refuses("d"))
        #expect(try await store.refuses("e"))
        // The command line purges beside the server.
        fixture.clock.advance(by: .seconds(1921))
        let commandLine = try fixture.open()
        #expect(try await commandLine.purgeExpired() == 4)
        await commandLine.close()
        #expect(try await fixture.newcomers() == [0, 0])
        for state in ["1", "2", "3", "4"] { #expect(try await !store.refuses(state)) }
        #expect(try await store.refuses("5"))
        await store.close()
    }

    @Test(arguments: TestedBackend.allCases) func `a session whose account was signed out is a newcomer's again`(
        _ backend: TestedBackend
    ) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open(newcomers: .init(signIns: 1))
        let member = try await store.signIn("adele", at: fixture.clock)
        #expect(try await !store.refuses("newcomer"))
        let key = try #require(try await store.session(member)?.key)
        let id = try await store.removeAccount(
            AccountKey(session: key, app: "ios", id: "adele.tenant"), keepAsPrevious: true)
        #expect(try await store.refuses("again", cookie: id))
        await store.close()
    }

    @Test(arguments: TestedBackend.allCases) func `an old session's cookie does not make a newcomer a member`(
        _ backend: TestedBackend
    ) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open(idle: .seconds(120), newcomers: .init(signIns: 1))
        let old = try await store.signIn("adele", at: fixture.clock)
        fixture.clock.advance(by: .seconds(121))
        #expect(try await !store.refuses("newcomer"))
        #expect(try await store.refuses("again", cookie: old))
        await store.close()
    }

    @Test(arguments: TestedBackend.allCases) func `0 sets no limit`(_ backend: TestedBackend) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open(newcomers: .init(signIns: 0, bytes: 0, freeBytes: 0))
        for number in 0..<20 { #expect(try await !store.refuses("s\(number)")) }
        await store.close()
    }

    @Test(arguments: TestedBackend.allCases) func `a refused newcomer does not undo what shares the transaction`(
        _ backend: TestedBackend
    ) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open(newcomers: .init(signIns: 10))
        let outcomes = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<100 { group.addTask { try await store.refuses("s\(number)") } }
            return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
        #expect(outcomes == [false: 10, true: 90])
        #expect(try await fixture.newcomers()[0] == 10)
        await store.close()
    }
}
