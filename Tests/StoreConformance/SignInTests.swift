import Foundation
import StoreTesting
import Testing

@testable import SessionStore

@Suite(.closesStores) struct SignInTests {
    @Test(arguments: TestedBackend.allCases)
    func `a sign-in is there after the store is reopened`(_ backend: TestedBackend) async throws {
        let fixture = try StoreFixture(backend)
        var store = try fixture.open()
        let attempt = try await store.consume(try await store.begin("s1"))
        #expect(attempt.nonce == "nonce-of-s1")
        #expect(attempt.codeVerifier == "verifier-of-s1")
        #expect(attempt.returnTo == "/ios")
        #expect(attempt.prompt == "select_account")
        #expect(attempt.requestedScopes == ["openid", "User.Read"])
        #expect(attempt.payload == Array("policy of s1".utf8))
        #expect(attempt.begunAt == fixture.clock.now)
        let id = try await store.completeSignIn(
            attempt, account: .sample("adele", sid: "sid1"), tokens: .sample("a", at: fixture.clock))
        await store.close()

        store = try fixture.open()
        let session = try #require(try await store.session(id))
        let account = try #require(session.currentAccount(for: "ios"))
        #expect(account.id == "adele.tenant")
        #expect(account.identity.username == "adele@contoso.example")
        #expect(account.identity.name == "Adele")
        #expect(account.identity.tenantID == "tenant")
        #expect(account.identity.objectID == "adele")
        #expect(account.identity.sid == "sid1")
        #expect(account.idTokenClaims == #"{"nonce":"claim-of-adele"}"#)
        #expect(account.needsInteraction == nil)
        #expect(session.currentAccount(for: "macos") == nil)
        let token = try #require(
            try await store.accessToken(of: session.key(of: account), scopes: ["user.read"]))
        #expect(token.secret == "access-a")
        #expect(token.expiresOn == fixture.clock.now + 3600)
        #expect(token.refreshOn == fixture.clock.now + 1800)
        #expect(try await store.refreshToken(of: session.key(of: account)) == "refresh-a")
    }

    @Test(arguments: TestedBackend.allCases)
    func `the session id changes at sign-in, and the old one is dead`(_ backend: TestedBackend) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        let outcome = try await store.consume(try await store.begin("s1"), code: "code", cookie: nil)
        guard case .attempt(let attempt, let begun?) = outcome else { throw UnexpectedOutcome(name: outcome.name) }
        #expect(try await store.session(begun)?.key == attempt.session)
        let id = try await store.completeSignIn(
            attempt, account: .sample("adele"), tokens: .sample("a", at: fixture.clock))
        #expect(id != begun)
        #expect(store.cachedSession(begun).session == nil)
        #expect(try await store.session(begun) == nil)
        let second = try await store.signIn("megan", cookie: id, at: fixture.clock)
        #expect(try await store.session(id) == nil)
        let session = try #require(try await store.session(second))
        #expect(
            session.accounts(for: "ios").map(\.identity.username)
                == ["adele@contoso.example", "megan@contoso.example"])
        #expect(session.currentAccount(for: "ios")?.id == "megan.tenant")
    }

    @Test(arguments: TestedBackend.allCases, [true, false])
    func `an attempt is consumed once by 100 concurrent consumers`(_ backend: TestedBackend, isNewcomer: Bool)
        async throws
    {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        let cookie = isNewcomer ? nil : try await store.failNewcomer("before")
        let begun = try await store.begin("s1", cookie: cookie)
        let outcomes = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<100 {
                group.addTask { try await store.consume(begun, code: "c", cookie: cookie).name }
            }
            return try await group.reduce(into: [:]) { counts, name in counts[name, default: 0] += 1 }
        }
        #expect(outcomes == ["attempt": 1, "inProgress": 99])
        #expect(try await store.list().count == 1)
    }

    /// The browser may have got a session in another tab meanwhile: that stays as it is, whichever is quicker.
    @Test(arguments: TestedBackend.clustered, [true, false])
    func `a newcomer's callback at two servers at once is consumed once, and leaves one session`(
        _ backend: TestedBackend, hasSessionByNow: Bool
    ) async throws {
        let fixture = try StoreFixture(backend)
        let stores = [try fixture.open(), try fixture.open()]
        let other = try await stores[0].signIn("adele", at: fixture.clock)
        let sessions = try await stores[0].list().count
        for round in 0..<10 {
            let begun = try await stores[0].begin("s\(round)")
            let outcomes = try await withThrowingTaskGroup(of: String.self) { group in
                for number in 0..<20 {
                    let cookie = hasSessionByNow && number % 4 > 1 ? other : nil
                    group.addTask { try await stores[number % 2].consume(begun, code: "c", cookie: cookie).name }
                }
                return try await group.reduce(into: [:]) { counts, name in counts[name, default: 0] += 1 }
            }
            #expect(outcomes == ["attempt": 1, "inProgress": 19])
            let now = try await stores[1].list()
            #expect(now.count <= sessions + round + 1)
            #expect(hasSessionByNow || now.count == sessions + round + 1)
            #expect(now.contains { $0.accounts.map(\.username) == ["adele@contoso.example"] })
        }
        #expect(try await fixture.count("sign_in_attempt") == 11)
        for store in stores { await store.close() }
    }

    @Test(arguments: TestedBackend.allCases) func `an attempt completes once`(_ backend: TestedBackend) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        let attempt = try await store.consume(try await store.begin("s1"))
        _ = try await store.completeSignIn(attempt, account: .sample("adele"), tokens: .sample("a", at: fixture.clock))
        await #expect(throws: StoreError.attemptNotPending) {
            try await store.completeSignIn(attempt, account: .sample("megan"), tokens: .sample("m", at: fixture.clock))
        }
    }

    @Test(arguments: TestedBackend.allCases)
    func `a failed attempt does not complete`(_ backend: TestedBackend) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        let outcome = try await store.consume(try await store.begin("s1"), code: "code", cookie: nil)
        guard case .attempt(let attempt, let id?) = outcome else { throw UnexpectedOutcome(name: outcome.name) }
        try await store.failSignIn(attempt)
        await #expect(throws: StoreError.attemptNotPending) {
            try await store.completeSignIn(attempt, account: .sample("adele"), tokens: .sample("a", at: fixture.clock))
        }
        #expect(try await store.session(id)?.accounts.isEmpty == true)
    }

    @Test(arguments: TestedBackend.allCases) func `an attempt that was completed does not fail afterwards`(
        _ backend: TestedBackend
    ) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        let begun = try await store.begin("s1")
        let attempt = try await store.consume(begun)
        _ = try await store.completeSignIn(attempt, account: .sample("adele"), tokens: .sample("a", at: fixture.clock))
        try await store.failSignIn(attempt)
        #expect(try await store.consume(begun, code: "code", cookie: nil).name == "replayed")
    }

    @Test(arguments: TestedBackend.allCases)
    func `an attempt of a revoked session does not complete`(_ backend: TestedBackend) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        let attempt = try await store.consume(try await store.begin("s1"))
        #expect(try await store.revoke(attempt.session))
        await #expect(throws: StoreError.attemptNotPending) {
            try await store.completeSignIn(attempt, account: .sample("adele"), tokens: .sample("a", at: fixture.clock))
        }
    }

    @Test(arguments: TestedBackend.allCases, [true, false])
    func `parallel tabs complete one after the other`(_ backend: TestedBackend, isNewcomer: Bool) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        let first = isNewcomer ? nil : try await store.failNewcomer("before")
        let tab1 = try await store.begin("tab1", cookie: first)
        let tab2 = try await store.begin("tab2", app: "macos", cookie: first)
        let attempt1 = try await store.consume(tab1, cookie: first)
        let afterFirst = try await store.completeSignIn(
            attempt1, account: .sample("adele"), tokens: .sample("a", at: fixture.clock))
        let attempt2 = try await store.consume(tab2, cookie: afterFirst)
        #expect(attempt2.session == attempt1.session)
        let afterSecond = try await store.completeSignIn(
            attempt2, account: .sample("adele"), tokens: .sample("b", at: fixture.clock))
        let session = try #require(try await store.session(afterSecond))
        #expect(session.currentAccount(for: "ios") != nil)
        #expect(session.currentAccount(for: "macos") != nil)
    }

    /// Session fixation: anyone who planted or kept the id from before the sign-in completes an attempt of their own, begun
    /// with that id or without.
    @Test(arguments: TestedBackend.allCases, [true, false])
    func `a pending attempt with the id from before the sign-in goes into a session of its own`(
        _ backend: TestedBackend, hasBegunWithIt: Bool
    ) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        let shared = try await store.failNewcomer("planted")
        let begun = try await store.begin("attacker", cookie: hasBegunWithIt ? shared : nil)
        let victim = try await store.signIn("adele", cookie: shared, at: fixture.clock)
        let attempt = try await store.consume(begun, cookie: shared)
        let attacker = try await store.completeSignIn(
            attempt, account: .sample("mallory"), tokens: .sample("m", at: fixture.clock))
        let own = try #require(try await store.session(attacker))
        let other = try #require(try await store.session(victim))
        #expect(own.key != other.key)
        #expect(own.accounts.map(\.id) == ["mallory.tenant"])
        #expect(other.accounts.map(\.id) == ["adele.tenant"])
    }

    @Test(arguments: TestedBackend.allCases)
    func `an expired cookie begins in a new session`(_ backend: TestedBackend) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open(idle: .seconds(120))
        let old = try await store.signIn("adele", at: fixture.clock)
        fixture.clock.advance(by: .seconds(121))
        let outcome = try await store.consume(try await store.begin("s1", cookie: old), code: "code", cookie: old)
        guard case .attempt(let attempt, let new?) = outcome else { throw UnexpectedOutcome(name: outcome.name) }
        #expect(new != old)
        let session = try #require(try await store.session(new))
        #expect(session.key == attempt.session && session.accounts.isEmpty)
        #expect(try await store.list().map(\.accounts.count) == [1, 0])
    }

    /// A kiosk: two idle minutes are over while the next person types a password.
    @Test(arguments: TestedBackend.allCases)
    func `a slow sign-in completes in an emptied session`(_ backend: TestedBackend) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open(idle: .seconds(120))
        let id = try await store.signIn("adele", at: fixture.clock)
        let begun = try await store.begin("slow", cookie: id)
        fixture.clock.advance(by: .seconds(600))
        #expect(try await store.purgeExpired() == 1)
        #expect(try await store.list().map(\.accounts) == [[]])
        #expect(try await store.session(id) == nil)
        let attempt = try await store.consume(begun, cookie: id)
        #expect(try await store.list().map(\.key) == [attempt.session])
        let next = try await store.completeSignIn(
            attempt, account: .sample("megan"), tokens: .sample("m", at: fixture.clock))
        #expect(try await store.session(next)?.accounts.map(\.id) == ["megan.tenant"])
    }

    @Test(arguments: TestedBackend.allCases)
    func `a slow sign-in does not bring back an expired account, even without a purge`(_ backend: TestedBackend)
        async throws
    {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open(idle: .seconds(120))
        let id = try await store.signIn("adele", at: fixture.clock)
        let begun = try await store.begin("slow", cookie: id)
        fixture.clock.advance(by: .seconds(600))
        let attempt = try await store.consume(begun, cookie: id)
        let next = try await store.completeSignIn(
            attempt, account: .sample("megan"), tokens: .sample("m", at: fixture.clock))
        #expect(try await store.session(next)?.accounts.map(\.id) == ["megan.tenant"])
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
        let begun = try await store.begin("slow", cookie: id)
        fixture.clock.advance(by: .seconds(900))
        let attempt = try await store.consume(begun, cookie: id)
        id = try await store.completeSignIn(
            attempt, account: .sample("lee"), tokens: .sample("lee", at: fixture.clock))
        let session = try #require(try await store.session(id))
        #expect(session.accounts.map(\.id) == ["lee.tenant"])
        #expect(session.previousUsername(for: "ios") == nil)
    }

    @Test(arguments: TestedBackend.allCases)
    func `a session keeps its fifty newest attempts`(_ backend: TestedBackend) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        let cookie = try await store.failNewcomer("before")
        var begun: [BegunSignIn] = []
        for number in 0..<60 { begun.append(try await store.begin("s\(number)", cookie: cookie)) }
        for attempt in begun {
            fixture.clock.advance(by: .seconds(1))
            _ = try await store.consume(attempt, cookie: cookie)
        }
        #expect(try await fixture.count("sign_in_attempt") == 50)
        for number in 10..<60 {
            let outcome = try await store.consume(begun[number], code: "code", cookie: cookie)
            #expect(outcome.name == "inProgress", "\(number)")
        }
    }

    @Test(arguments: TestedBackend.allCases)
    func `an error callback consumes the attempt too`(_ backend: TestedBackend) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        let begun = try await store.begin("s1")
        let outcome = try await store.consume(begun, code: nil, cookie: nil)
        guard case .attempt(let attempt, let id?) = outcome else { throw UnexpectedOutcome(name: outcome.name) }
        try await store.failSignIn(attempt)
        for cookie in [id, nil] {
            #expect(try await store.consume(begun, code: nil, cookie: cookie).name == "failed")
            #expect(try await store.consume(begun, code: "late", cookie: cookie).name == "unknown")
        }
    }

    @Test(arguments: TestedBackend.allCases, [true, false])
    func `a callback stays consumed when its session is gone`(_ backend: TestedBackend, isRevoked: Bool) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open(idle: .seconds(60))
        let begun = try await store.begin("s1")
        let attempt = try await store.consume(begun)
        let id = try await store.completeSignIn(
            attempt, account: .sample("adele"), tokens: .sample("a", at: fixture.clock))
        if isRevoked {
            #expect(try await store.revoke(attempt.session))
        } else {
            // Purged: first emptied, for who may be at the provider, and its row stays.
            fixture.clock.advance(by: .seconds(200))
            #expect(try await store.purgeExpired() == 1)
        }
        for cookie in [nil, id] {
            #expect(try await store.consume(begun, code: "code", cookie: cookie).name == "otherBrowser")
        }
        #expect(try await fixture.count("sign_in_attempt") == 1)
        fixture.clock.advance(by: .seconds(1921))
        _ = try await store.purgeExpired()
        #expect(try await fixture.count("sign_in_attempt") == 0)
    }
}
