import Foundation
import StoreTesting
import Testing

@testable import SessionStore

/// Reads on the thread that asks.
@Suite(.closesStores) struct ImmediateReadTests {
    @Test(arguments: TestedBackend.immediate, [16_000_000, 0])
    func `a session and its tokens are found at once, also when memory does not have them`(
        _ backend: TestedBackend, cacheBytes: Int
    ) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open(cacheBytes: cacheBytes, hasStoppedClock: true)
        let first = try await store.signIn("zoe", at: fixture.clock)
        let id = try await store.signIn("adele", cookie: first, at: fixture.clock)
        #expect(store.cachedSession(id).session == nil)
        guard case .found(let session) = store.sessionNow(id) else { throw UnexpectedOutcome(name: "no session") }
        #expect(session.accounts.map(\.id) == ["zoe.tenant", "adele.tenant"], "in the order of their first sign-in")
        #expect(session.currentAccount(for: "ios")?.idTokenClaims == #"{"nonce":"claim-of-adele"}"#)
        for (user, account) in zip(["zoe", "adele"], session.accounts) {
            let key = session.key(of: account)
            for _ in 1...2 {
                #expect(store.accessTokenNow(of: key, scopes: ["user.read"]).found?.secret == "access-\(user)")
            }
            #expect(store.accessTokenNow(of: key, tenant: "other", scopes: ["user.read"]).isAbsent)
        }
        #expect(store.sessionNow(first).isAbsent, "its id was rotated away")
        let next = try await store.removeAccount(session.key(of: session.accounts[0]), keepAsPrevious: true)
        #expect(store.sessionNow(id).isAbsent)
        #expect(store.sessionNow(next).found?.accounts.map(\.id) == ["adele.tenant"])
        #expect(store.accessTokenNow(of: session.key(of: session.accounts[0]), scopes: ["user.read"]).isAbsent)
        fixture.clock.advance(by: .seconds(3601))
        #expect(store.sessionNow(next).isAbsent, "its time is over")
    }

    @Test(arguments: TestedBackend.immediate)
    func `the previous username is read at once too`(_ backend: TestedBackend) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open(cacheBytes: 0, hasStoppedClock: true)
        let id = try await store.signIn("adele", at: fixture.clock)
        let session = try #require(store.sessionNow(id).found)
        let next = try await store.removeAccount(session.key(of: session.accounts[0]), keepAsPrevious: true)
        #expect(store.sessionNow(next).found?.previousUsername(for: "ios") == "adele@contoso.example")
        let begun = try await store.failNewcomer("new")
        #expect(store.sessionNow(begun).found?.accounts.isEmpty == true, "it lives while its sign-in does")
    }

    @Test(arguments: TestedBackend.immediate)
    func `a closed store finds nothing at once, and says why to those who wait`(_ backend: TestedBackend) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open(cacheBytes: 0, hasStoppedClock: true)
        let id = try await store.signIn("adele", at: fixture.clock)
        let session = try #require(store.sessionNow(id).found)
        await store.close()
        #expect(store.sessionNow(id).mustWait)
        #expect(store.accessTokenNow(of: session.key(of: session.accounts[0]), scopes: ["user.read"]).mustWait)
        await #expect(throws: StoreError.unavailable("\(fixture.name) is closed")) { try await store.session(id) }
    }
}

/// Data on another machine cannot be read on the thread that asks, unless memory has it.
@Suite(.closesStores) struct RemoteReadTests {
    @Test(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"), arguments: TestedBackend.remote)
    func `a session that is not in memory must be waited for, and is found at once after that`(_ backend: TestedBackend)
        async throws
    {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open(hasStoppedClock: true)
        let id = try await store.signIn("adele", at: fixture.clock)
        #expect(store.sessionNow(id).mustWait)
        let session = try #require(try await store.session(id))
        #expect(store.sessionNow(id).found?.key == session.key)
        let account = session.key(of: session.accounts[0])
        #expect(store.accessTokenNow(of: account, scopes: ["user.read"]).mustWait)
        #expect(try await store.accessToken(of: account, scopes: ["user.read"])?.secret == "access-adele")
        #expect(store.accessTokenNow(of: account, scopes: ["user.read"]).found?.secret == "access-adele")
        await store.close()
        await #expect(throws: StoreError.unavailable("\(fixture.name) is closed")) {
            try await store.refreshToken(of: account)
        }
    }
}
