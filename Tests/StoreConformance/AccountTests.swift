import Foundation
import StoreTesting
import Testing

@testable import SessionStore

@Suite(.closesStores) struct AccountTests {
    func signedIn(_ fixture: StoreFixture) async throws -> (SessionStore, SessionID, SessionKey) {
        let store = try fixture.open()
        let id = try await store.signIn("adele", at: fixture.clock)
        let session = try #require(try await store.session(id))
        return (store, id, session.key)
    }

    /// The token that memory has in the clear.
    private func inMemory(_ store: SessionStore, _ account: AccountKey, _ scopes: ScopeSet) -> String? {
        guard case .token(.open(let token)) = store.cache.token(account, nil, scopes) else { return nil }
        return token.secret
    }

    @Test(arguments: TestedBackend.allCases)
    func `an access token is found by what was asked for, else by what was granted`(
        _ backend: TestedBackend
    ) async throws {
        let fixture = try StoreFixture(backend)
        let (store, _, key) = try await signedIn(fixture)
        let wide = NewTokens.sample(
            "wide", at: fixture.clock, scopes: ["Mail.Read"], granted: ["User.Read", "Mail.Read", "Files.Read"])
        try await store.storeRefreshed(AccountKey(session: key, app: "ios", id: "adele.tenant"), tokens: wide)
        let cases: [(ScopeSet, String?)] = [
            (["user.read"], "access-adele"), (["MAIL.READ", "openid"], "access-wide"),
            (["Files.Read"], "access-wide"), (["User.Read", "Files.Read"], "access-wide"), (["Calendars.Read"], nil),
            ([], nil),
        ]
        for (scopes, expected) in cases {
            let token = try await store.accessToken(
                of: AccountKey(session: key, app: "ios", id: "adele.tenant"), scopes: scopes)
            #expect(token?.secret == expected, "\(scopes)")
            #expect(inMemory(store, AccountKey(session: key, app: "ios", id: "adele.tenant"), scopes) == expected)
        }
        #expect(
            try await store.accessToken(
                of: AccountKey(session: key, app: "macos", id: "adele.tenant"), scopes: ["user.read"]) == nil)
        #expect(
            try await store.accessToken(
                of: AccountKey(session: key, app: "ios", id: "megan.tenant"), scopes: ["user.read"]) == nil)
    }

    @Test(arguments: TestedBackend.allCases)
    func `a refresh renews the tokens and keeps what it does not bring`(_ backend: TestedBackend) async throws {
        let fixture = try StoreFixture(backend)
        let (store, id, key) = try await signedIn(fixture)
        try await store.markNeedsInteraction(
            AccountKey(session: key, app: "ios", id: "adele.tenant"), reason: "mfa", claims: "{}")
        var tokens = NewTokens.sample("second", at: fixture.clock)
        tokens.refreshToken = nil
        try await store.storeRefreshed(AccountKey(session: key, app: "ios", id: "adele.tenant"), tokens: tokens)
        let token = try await store.accessToken(
            of: AccountKey(session: key, app: "ios", id: "adele.tenant"), scopes: ["user.read"])
        #expect(token?.secret == "access-second")
        #expect(
            try await store.refreshToken(of: AccountKey(session: key, app: "ios", id: "adele.tenant"))
                == "refresh-adele")
        var account = try #require(try await store.session(id)?.currentAccount(for: "ios"))
        #expect(account.needsInteraction == nil)
        #expect(account.interactionClaims == nil)
        #expect(account.idTokenClaims.contains("claim-of-adele"))
        tokens = NewTokens.sample("third", at: fixture.clock)
        tokens.idTokenClaims = #"{"renewed":true}"#
        try await store.storeRefreshed(AccountKey(session: key, app: "ios", id: "adele.tenant"), tokens: tokens)
        account = try #require(try await store.session(id)?.currentAccount(for: "ios"))
        #expect(account.idTokenClaims == #"{"renewed":true}"#)
        #expect(
            try await store.refreshToken(of: AccountKey(session: key, app: "ios", id: "adele.tenant"))
                == "refresh-third")
    }

    @Test(arguments: TestedBackend.allCases)
    func `a refresh that ends after the sign-out stores nothing`(_ backend: TestedBackend) async throws {
        let fixture = try StoreFixture(backend)
        let (store, _, key) = try await signedIn(fixture)
        let id = try await store.removeAccount(
            AccountKey(session: key, app: "ios", id: "adele.tenant"), keepAsPrevious: false)
        await #expect(throws: StoreError.noSuchSession) {
            try await store.storeRefreshed(
                AccountKey(session: key, app: "ios", id: "adele.tenant"), tokens: .sample("late", at: fixture.clock))
        }
        #expect(try await store.session(id)?.accounts.isEmpty == true)
        #expect(try await store.refreshToken(of: AccountKey(session: key, app: "ios", id: "adele.tenant")) == nil)
    }

    @Test(arguments: TestedBackend.allCases)
    func `an account keeps only its newest tokens`(_ backend: TestedBackend) async throws {
        let fixture = try StoreFixture(backend)
        let (store, _, key) = try await signedIn(fixture)
        for number in 0..<30 {
            try await store.storeRefreshed(
                AccountKey(session: key, app: "ios", id: "adele.tenant"),
                tokens: .sample("\(number)", at: fixture.clock, scopes: ["scope\(number)"]))
        }
        for (number, expected) in [(0, nil), (9, nil), (10, "access-10"), (29, "access-29")] as [(Int, String?)] {
            let token = try await store.accessToken(
                of: AccountKey(session: key, app: "ios", id: "adele.tenant"), scopes: ["scope\(number)"])
            #expect(token?.secret == expected)
        }
    }

    @Test(arguments: TestedBackend.allCases)
    func `a new token replaces each that was asked for with some of its scopes`(_ backend: TestedBackend) async throws {
        let fixture = try StoreFixture(backend)
        let (store, _, key) = try await signedIn(fixture)
        for (label, scopes) in [("first", ["mail.read", "files.read"]), ("second", ["files.read", "tasks.read"])] {
            try await store.storeRefreshed(
                AccountKey(session: key, app: "ios", id: "adele.tenant"),
                tokens: .sample(label, at: fixture.clock, scopes: ScopeSet(scopes)))
        }
        let cases: [(ScopeSet, String?)] = [
            (["mail.read"], nil), (["mail.read", "files.read"], nil), (["files.read"], "access-second"),
            (["user.read"], "access-adele"),
        ]
        for (scopes, expected) in cases {
            let token = try await store.accessToken(
                of: AccountKey(session: key, app: "ios", id: "adele.tenant"), scopes: scopes)
            #expect(token?.secret == expected, "\(scopes)")
        }
    }

    @Test(arguments: TestedBackend.allCases)
    func `only the refusal of the current refresh token marks the account for interaction`(_ backend: TestedBackend)
        async throws
    {
        let fixture = try StoreFixture(backend)
        let (store, id, key) = try await signedIn(fixture)
        try await store.markNeedsInteraction(
            AccountKey(session: key, app: "ios", id: "adele.tenant"), reason: "invalid_grant",
            refreshToken: "an older one")
        #expect(try await store.session(id)?.currentAccount(for: "ios")?.needsInteraction == nil)
        try await store.markNeedsInteraction(
            AccountKey(session: key, app: "ios", id: "adele.tenant"), reason: "invalid_grant", claims: #"{"c":1}"#,
            refreshToken: "refresh-adele")
        let account = try #require(try await store.session(id)?.currentAccount(for: "ios"))
        #expect(account.needsInteraction == "invalid_grant")
        #expect(account.interactionClaims == #"{"c":1}"#)
        let next = try await store.signIn("adele", cookie: id, at: fixture.clock)
        #expect(try await store.session(next)?.currentAccount(for: "ios")?.needsInteraction == nil)
    }

    @Test(
        arguments: TestedBackend.allCases, [(true, "adele@contoso.example"), (false, nil)] as [(Bool, String?)])
    func `sign-out removes tokens, and keeps the previous username if that is wanted`(
        _ backend: TestedBackend, _ kept: (keep: Bool, previous: String?)
    ) async throws {
        let fixture = try StoreFixture(backend)
        let (store, old, key) = try await signedIn(fixture)
        let id = try await store.removeAccount(
            AccountKey(session: key, app: "ios", id: "adele.tenant"), keepAsPrevious: kept.keep)
        #expect(id != old)
        #expect(store.cachedSession(old).session == nil)
        #expect(try await store.session(old) == nil)
        let session = try #require(try await store.session(id))
        #expect(session.currentAccount(for: "ios") == nil)
        #expect(session.previousUsername(for: "ios") == kept.previous)
        #expect(session.previousUsername(for: "macos") == nil)
        #expect(inMemory(store, AccountKey(session: key, app: "ios", id: "adele.tenant"), ["user.read"]) == nil)
        #expect(
            try await store.accessToken(
                of: AccountKey(session: key, app: "ios", id: "adele.tenant"), scopes: ["user.read"]) == nil)
        await store.close()
        var rows: [Int?] = []
        for table in ["account", "account_secret", "access_token"] { rows.append(try await fixture.count(table)) }
        #expect(rows == [0, 0, 0])
    }

    @Test(arguments: TestedBackend.allCases)
    func `a sign-out without a trace also forgets who had signed out before`(_ backend: TestedBackend) async throws {
        let fixture = try StoreFixture(backend)
        let (store, _, key) = try await signedIn(fixture)
        var id = try await store.removeAccount(
            AccountKey(session: key, app: "ios", id: "adele.tenant"), keepAsPrevious: true)
        id = try await store.signIn("megan", cookie: id, at: fixture.clock)
        #expect(try await store.session(id)?.previousUsername(for: "ios") == "adele@contoso.example")
        id = try await store.removeAccount(
            AccountKey(session: key, app: "ios", id: "megan.tenant"), keepAsPrevious: false)
        #expect(try await store.session(id)?.previousUsername(for: "ios") == nil)
    }

    @Test(arguments: TestedBackend.allCases)
    func `signing out of one account leaves the others`(_ backend: TestedBackend) async throws {
        let fixture = try StoreFixture(backend)
        let (store, id, key) = try await signedIn(fixture)
        var next = try await store.signIn("megan", cookie: id, at: fixture.clock)
        next = try await store.signIn("adele", app: "macos", cookie: next, at: fixture.clock)
        try await store.setCurrentAccount(AccountKey(session: key, app: "ios", id: "adele.tenant"))
        #expect(try await store.session(next)?.currentAccount(for: "ios")?.id == "adele.tenant")
        next = try await store.removeAccount(
            AccountKey(session: key, app: "ios", id: "adele.tenant"), keepAsPrevious: true)
        let session = try #require(try await store.session(next))
        #expect(session.accounts(for: "ios").map(\.id) == ["megan.tenant"])
        #expect(session.currentAccount(for: "ios") == nil)
        #expect(session.currentAccount(for: "macos")?.id == "adele.tenant")
        await #expect(throws: StoreError.noSuchSession) {
            try await store.setCurrentAccount(AccountKey(session: key, app: "ios", id: "adele.tenant"))
        }
    }

    @Test(arguments: TestedBackend.allCases)
    func `signing out of a session that is gone is an error`(_ backend: TestedBackend) async throws {
        let fixture = try StoreFixture(backend)
        let (store, _, key) = try await signedIn(fixture)
        #expect(try await store.revoke(key))
        await #expect(throws: StoreError.noSuchSession) {
            try await store.removeAccount(
                AccountKey(session: key, app: "ios", id: "adele.tenant"), keepAsPrevious: true)
        }
    }

    @Test(arguments: TestedBackend.allCases)
    func `the provider's sign-out finds accounts by issuer and sid or subject`(_ backend: TestedBackend) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        let issuer = "https://issuer.example/v2.0"
        let first = try await store.signIn("adele", at: fixture.clock, sid: "sid1")
        let second = try await store.signIn("adele", at: fixture.clock, sid: "sid2")
        let both = try await store.signIn(
            "megan", cookie: try await store.signIn("adele", at: fixture.clock, sid: "sid1"), at: fixture.clock,
            sid: "sid3")
        #expect(try await store.removeSessions(issuer: "https://other.example", sid: "sid1").count == 0)
        #expect(try await store.removeSessions(issuer: issuer, sid: nil).count == 0)
        #expect(try await store.removeSessions(issuer: issuer, sid: "sid1", subject: "sub-megan").count == 0)
        #expect(try await store.removeSessions(issuer: issuer, sid: "sid1").count == 2)
        #expect(try await store.session(first) == nil)
        #expect(try await store.session(second)?.accounts.count == 1)
        #expect(try await store.session(both)?.accounts.map(\.id) == ["megan.tenant"])
        #expect(try await store.removeSessions(issuer: issuer, sid: nil, subject: "sub-adele").count == 1)
        #expect(try await store.session(second) == nil)
    }
}
