import Foundation
import StoreTesting
import Testing

@testable import SessionStore

@Suite struct SignInTests {
    @Test(arguments: TestedBackend.allCases) func aSignInIsThereAfterReopeningTheFile(_ backend: TestedBackend)
        async throws
    {
        let fixture = try StoreFixture(backend)
        var store = try fixture.open()
        let begun = try await store.beginSignIn(.sample(state: "s1"), cookie: nil).sessionID
        let attempt = try await store.consume("s1", cookie: begun)
        #expect(attempt.nonce == "nonce-of-s1")
        #expect(attempt.codeVerifier == "verifier-of-s1")
        #expect(attempt.returnTo == "/ios")
        #expect(attempt.prompt == "select_account")
        #expect(attempt.requestedScopes == ["openid", "User.Read"])
        #expect(attempt.payload == #"{"policy":"of-s1"}"#)
        #expect(attempt.begunAt == fixture.clock.now)
        let id = try await store.completeSignIn(
            attempt, account: .sample("adele", sid: "sid1"), tokens: .sample("a", at: fixture.clock))
        await store.close()

        store = try fixture.open()
        let session = try #require(try await store.session(id))
        let account = try #require(session.currentAccount(for: "ios"))
        #expect(account.id == "adele.tenant")
        #expect(account.username == "adele@contoso.example")
        #expect(account.name == "Adele")
        #expect(account.tenantID == "tenant")
        #expect(account.objectID == "adele")
        #expect(account.sid == "sid1")
        #expect(account.idTokenClaims == #"{"nonce":"claim-of-adele"}"#)
        #expect(account.needsInteraction == nil)
        #expect(session.currentAccount(for: "macos") == nil)
        let token = try #require(
            try await store.accessToken(of: session.key(of: account), scopes: ["user.read"]))
        #expect(token.secret == "access-a")
        #expect(token.expiresOn == fixture.clock.now + 3600)
        #expect(token.refreshOn == fixture.clock.now + 1800)
        #expect(try await store.refreshToken(of: session.key(of: account)) == "refresh-a")
        await store.close()
    }

    @Test(arguments: TestedBackend.allCases) func anAttemptIsLiveFromItsBeginToTheEndOfItsLifetime(
        _ backend: TestedBackend
    ) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        #expect(try await !store.hasLiveAttempt(state: "s1"))
        let begun = try await store.beginSignIn(.sample(state: "s1"), cookie: nil)
        #expect(try await store.hasLiveAttempt(state: "s1"))
        #expect(try await !store.hasLiveAttempt(state: "s2"))
        let attempt = try await store.consume("s1", cookie: begun.sessionID)
        _ = try await store.completeSignIn(
            attempt, account: .sample("adele"), tokens: .sample("a", at: fixture.clock))
        #expect(try await store.hasLiveAttempt(state: "s1"), "its callback may come again")
        fixture.clock.advance(by: .seconds(30 * 60))
        #expect(try await store.hasLiveAttempt(state: "s1"))
        fixture.clock.advance(by: .seconds(1))
        #expect(try await !store.hasLiveAttempt(state: "s1"))
        await store.close()
    }

    @Test(arguments: TestedBackend.allCases) func theSessionIDChangesAtSignInAndTheOldOneIsDead(
        _ backend: TestedBackend
    ) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        let begun = try await store.beginSignIn(.sample(state: "s1"), cookie: nil).sessionID
        #expect(try await store.session(begun) != nil)
        let attempt = try await store.consume("s1", cookie: begun)
        let id = try await store.completeSignIn(
            attempt, account: .sample("adele"), tokens: .sample("a", at: fixture.clock))
        #expect(id != begun)
        #expect(store.cachedSession(begun).session == nil)
        #expect(try await store.session(begun) == nil)
        let second = try await store.signIn("megan", cookie: id, at: fixture.clock)
        #expect(try await store.session(id) == nil)
        let session = try #require(try await store.session(second))
        #expect(session.accounts(for: "ios").map(\.username) == ["adele@contoso.example", "megan@contoso.example"])
        #expect(session.currentAccount(for: "ios")?.id == "megan.tenant")
        await store.close()
    }

    @Test(arguments: TestedBackend.allCases) func anAttemptIsConsumedOnceBy100ConcurrentConsumers(
        _ backend: TestedBackend
    ) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        let id = try await store.beginSignIn(.sample(state: "s1"), cookie: nil).sessionID
        let outcomes = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<100 {
                group.addTask { try await store.consumeAttempt(state: "s1", code: "c", cookie: id).name }
            }
            return try await group.reduce(into: [:]) { counts, name in counts[name, default: 0] += 1 }
        }
        #expect(outcomes == ["attempt": 1, "inProgress": 99])
        await store.close()
    }

    @Test(arguments: TestedBackend.allCases) func anAttemptCompletesOnce(_ backend: TestedBackend) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        let id = try await store.beginSignIn(.sample(state: "s1"), cookie: nil).sessionID
        let attempt = try await store.consume("s1", cookie: id)
        _ = try await store.completeSignIn(attempt, account: .sample("adele"), tokens: .sample("a", at: fixture.clock))
        await #expect(throws: StoreError.attemptNotPending) {
            try await store.completeSignIn(attempt, account: .sample("megan"), tokens: .sample("m", at: fixture.clock))
        }
        await store.close()
    }

    @Test(arguments: TestedBackend.allCases) func aFailedAttemptDoesNotComplete(_ backend: TestedBackend) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        let id = try await store.beginSignIn(.sample(state: "s1"), cookie: nil).sessionID
        let attempt = try await store.consume("s1", cookie: id)
        try await store.failSignIn(attempt)
        await #expect(throws: StoreError.attemptNotPending) {
            try await store.completeSignIn(attempt, account: .sample("adele"), tokens: .sample("a", at: fixture.clock))
        }
        #expect(try await store.session(id)?.accounts.isEmpty == true)
        await store.close()
    }

    @Test(arguments: TestedBackend.allCases) func `an attempt that was completed does not fail afterwards`(
        _ backend: TestedBackend
    ) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        let id = try await store.beginSignIn(.sample(state: "s1"), cookie: nil).sessionID
        let attempt = try await store.consume("s1", cookie: id)
        _ = try await store.completeSignIn(attempt, account: .sample("adele"), tokens: .sample("a", at: fixture.clock))
        try await store.failSignIn(attempt)
        #expect(try await store.consumeAttempt(state: "s1", code: "code-of-s1", cookie: id).name == "replayed")
        await store.close()
    }

    @Test(arguments: TestedBackend.allCases) func anAttemptOfARevokedSessionDoesNotComplete(_ backend: TestedBackend)
        async throws
    {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        let id = try await store.beginSignIn(.sample(state: "s1"), cookie: nil).sessionID
        let attempt = try await store.consume("s1", cookie: id)
        #expect(try await store.revoke(attempt.session))
        await #expect(throws: StoreError.attemptNotPending) {
            try await store.completeSignIn(attempt, account: .sample("adele"), tokens: .sample("a", at: fixture.clock))
        }
        await store.close()
    }

    @Test(arguments: TestedBackend.allCases) func parallelTabsCompleteOneAfterTheOther(_ backend: TestedBackend)
        async throws
    {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        let first = try await store.beginSignIn(.sample(state: "tab1"), cookie: nil).sessionID
        let second = try await store.beginSignIn(.sample(state: "tab2", app: "macos"), cookie: first).sessionID
        #expect(first == second)
        let attempt1 = try await store.consume("tab1", cookie: first)
        let afterFirst = try await store.completeSignIn(
            attempt1, account: .sample("adele"), tokens: .sample("a", at: fixture.clock))
        let attempt2 = try await store.consume("tab2", cookie: afterFirst)
        let afterSecond = try await store.completeSignIn(
            attempt2, account: .sample("adele"), tokens: .sample("b", at: fixture.clock))
        let session = try #require(try await store.session(afterSecond))
        #expect(session.currentAccount(for: "ios") != nil)
        #expect(session.currentAccount(for: "macos") != nil)
        await store.close()
    }

    /// Session fixation: anyone who planted or kept the id from before the sign-in completes an attempt of their own.
    @Test(arguments: TestedBackend.allCases) func aPendingAttemptWithTheIDFromBeforeTheSignInGoesIntoASessionOfItsOwn(
        _ backend: TestedBackend
    ) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        let shared = try await store.beginSignIn(.sample(state: "attacker"), cookie: nil).sessionID
        let victim = try await store.signIn("adele", cookie: shared, at: fixture.clock)
        let attempt = try await store.consume("attacker", cookie: shared)
        let attacker = try await store.completeSignIn(
            attempt, account: .sample("mallory"), tokens: .sample("m", at: fixture.clock))
        let own = try #require(try await store.session(attacker))
        let other = try #require(try await store.session(victim))
        #expect(own.key != other.key)
        #expect(own.accounts.map(\.id) == ["mallory.tenant"])
        #expect(other.accounts.map(\.id) == ["adele.tenant"])
        await store.close()
    }

    @Test(arguments: TestedBackend.allCases) func anExpiredCookieBeginsInANewSession(_ backend: TestedBackend)
        async throws
    {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open(idle: .seconds(120))
        let old = try await store.signIn("adele", at: fixture.clock)
        fixture.clock.advance(by: .seconds(121))
        let begun = try await store.beginSignIn(.sample(state: "s1"), cookie: old).sessionID
        #expect(begun != old)
        #expect(try await store.session(begun)?.accounts.isEmpty == true)
        await store.close()
    }

    /// A kiosk: two idle minutes are over while the next person types a password.
    @Test(arguments: TestedBackend.allCases) func aSlowSignInCompletesInAnEmptiedSession(_ backend: TestedBackend)
        async throws
    {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open(idle: .seconds(120))
        let id = try await store.signIn("adele", at: fixture.clock)
        _ = try await store.beginSignIn(.sample(state: "slow"), cookie: id)
        fixture.clock.advance(by: .seconds(600))
        #expect(try await store.purgeExpired() == 1)
        #expect(try await store.session(id)?.accounts.isEmpty == true)
        let attempt = try await store.consume("slow", cookie: id)
        let next = try await store.completeSignIn(
            attempt, account: .sample("megan"), tokens: .sample("m", at: fixture.clock))
        #expect(try await store.session(next)?.accounts.map(\.id) == ["megan.tenant"])
        await store.close()
    }

    @Test(arguments: TestedBackend.allCases) func theSlowSignInDoesNotBringBackWhoHadExpiredWithoutAPurgeEither(
        _ backend: TestedBackend
    ) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open(idle: .seconds(120))
        let id = try await store.signIn("adele", at: fixture.clock)
        _ = try await store.beginSignIn(.sample(state: "slow"), cookie: id)
        fixture.clock.advance(by: .seconds(600))
        let attempt = try await store.consume("slow", cookie: id)
        let next = try await store.completeSignIn(
            attempt, account: .sample("megan"), tokens: .sample("m", at: fixture.clock))
        #expect(try await store.session(next)?.accounts.map(\.id) == ["megan.tenant"])
        await store.close()
    }

    @Test(arguments: TestedBackend.allCases) func `an emptied session does not remember who had signed out either`(
        _ backend: TestedBackend
    ) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open(idle: .seconds(600))
        var id = try await store.signIn("adele", at: fixture.clock)
        id = try await store.signIn("megan", cookie: id, at: fixture.clock)
        let key = try #require(try await store.session(id)?.key)
        id = try await store.removeAccount(
            AccountKey(session: key, app: "ios", id: "adele.tenant"), keepAsPrevious: true)
        #expect(try await store.session(id)?.previousUsername(for: "ios") == "adele@contoso.example")
        _ = try await store.beginSignIn(.sample(state: "slow"), cookie: id)
        fixture.clock.advance(by: .seconds(900))
        let attempt = try await store.consume("slow", cookie: id)
        id = try await store.completeSignIn(
            attempt, account: .sample("lee"), tokens: .sample("lee", at: fixture.clock))
        let session = try #require(try await store.session(id))
        #expect(session.accounts.map(\.id) == ["lee.tenant"])
        #expect(session.previousUsername(for: "ios") == nil)
        await store.close()
    }

    @Test(arguments: TestedBackend.allCases) func aSessionKeepsItsFiftyNewestAttempts(_ backend: TestedBackend)
        async throws
    {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        var cookie: SessionID?
        for number in 0..<60 {
            cookie = try await store.beginSignIn(.sample(state: "s\(number)"), cookie: cookie).sessionID
        }
        #expect(try await fixture.count("sign_in_attempt") == 50)
        for (state, expected) in [("s0", "unknown"), ("s9", "unknown"), ("s10", "attempt"), ("s59", "attempt")] {
            let outcome = try await store.consumeAttempt(state: state, code: "c", cookie: cookie)
            #expect(outcome.name == expected, "\(state)")
        }
        await store.close()
    }

    @Test(arguments: TestedBackend.allCases) func anErrorCallbackConsumesToo(_ backend: TestedBackend) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        let id = try await store.beginSignIn(.sample(state: "s1"), cookie: nil).sessionID
        guard case .attempt(let attempt) = try await store.consumeAttempt(state: "s1", code: nil, cookie: id) else {
            Issue.record("not consumed")
            return
        }
        try await store.failSignIn(attempt)
        #expect(try await store.consumeAttempt(state: "s1", code: nil, cookie: id).name == "failed")
        #expect(try await store.consumeAttempt(state: "s1", code: "late", cookie: id).name == "unknown")
        await store.close()
    }
}
