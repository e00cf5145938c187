import Foundation
import GRDB
import Testing

@testable import SessionStore

/// What user flows, guests and the provider's sign-out need of the store.
@Suite struct KindsTests {
    @Test func aFileOfTheFirstVersionIsBroughtUpAndLosesNothing() async throws {
        let fixture = try StoreFixture()
        let ring = try KeyRing.load(orCreateAt: fixture.keyPath)
        let sealer = Sealer(ring, databasePath: fixture.path)
        let id = SessionID(randomBytes: SessionStore.secureRandomBytes)
        let now = fixture.clock.now.milliseconds
        let pool = try DatabasePool(path: fixture.path)
        try Schema.migrator.migrate(pool, upTo: "1: sessions, accounts, tokens, attempts")
        try await pool.write { db in
            try db.execute(
                sql: "INSERT INTO session (id_hash, created_at, last_seen_at) VALUES (?, ?, ?)",
                arguments: [id.hash.blob, now, now])
            try db.execute(
                sql: """
                    INSERT INTO account (session, app, id, username, environment, issuer, subject, is_current, signed_in_at)
                    VALUES (1, 'ios', 'adele.tenant', 'adele@contoso.example', 'localhost', 'i', 's', 1, ?)
                    """, arguments: [now])
            try db.execute(
                sql: "INSERT INTO account_secret VALUES (1, ?, ?)",
                arguments: [
                    sealer.seal("{}", for: .claims(1, app: "ios", account: "adele.tenant")),
                    sealer.seal("refresh-1", for: .refreshToken(1, app: "ios", account: "adele.tenant")),
                ])
            let place = Sealer.Place.accessToken(
                1, app: "ios", account: "adele.tenant", tenant: "", scopes: "user.read")
            try db.execute(
                sql: """
                    INSERT INTO access_token (account, requested_scopes, granted_scopes, expires_at, token)
                    VALUES (1, 'user.read', 'user.read', ?, ?)
                    """, arguments: [now + 3_600_000, sealer.seal("access-1", for: place)])
        }
        try pool.close()

        let store = try fixture.open()
        let session = try #require(try await store.session(id))
        let account = try #require(session.currentAccount(for: "ios"))
        #expect(account.policy == nil)
        #expect(try await store.refreshToken(session.key, app: "ios", accountID: account.id) == "refresh-1")
        #expect(try await store.idToken(session.key, app: "ios", accountID: account.id) == nil)
        let token = try await store.accessToken(
            session.key, app: "ios", accountID: account.id, scopes: ["user.read"])
        #expect(token?.secret == "access-1")
        #expect(token?.declinedScopes == [])
        await store.close()
    }

    @Test func tokensAreKeptByTenantAndAGuestDoesNotBecomeTheAccount() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        let id = try await store.signIn("adele", at: fixture.clock)
        let key = try #require(try await store.session(id)?.key)
        var guest = NewTokens.sample("guest", at: fixture.clock)
        guest.tenant = "tailspin"
        guest.declinedScopes = ["Mail.Read"]
        guest.idTokenClaims = #"{"oid":"another"}"#
        guest.idToken = "guest.id.token"
        try await store.storeRefreshed(key, app: "ios", accountID: "adele.tenant", tokens: guest)
        for (tenant, expected) in [(nil, "access-adele"), ("tailspin", "access-guest"), ("woodgrove", nil)] {
            let found = try await store.accessToken(
                key, app: "ios", accountID: "adele.tenant", tenant: tenant, scopes: ["user.read"])
            #expect(found?.secret == expected)
            #expect(found?.declinedScopes ?? [] == (tenant == "tailspin" ? ["Mail.Read"] : []))
        }
        let account = try #require(try await store.session(id)?.currentAccount(for: "ios"))
        #expect(account.idTokenClaims.contains("claim-of-adele"))
        #expect(try await store.idToken(key, app: "ios", accountID: "adele.tenant") == nil)
        // The refresh token is the person's, in every tenant.
        #expect(try await store.refreshToken(key, app: "ios", accountID: "adele.tenant") == "refresh-guest")
        await store.close()
    }

    @Test func aTokenForMoreTakesThePlaceOfOneThatWasAskedForWithLess() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        let id = try await store.signIn("adele", at: fixture.clock)
        let key = try #require(try await store.session(id)?.key)
        let more = NewTokens.sample("more", at: fixture.clock, scopes: ["User.Read", "Mail.Read"])
        try await store.storeRefreshed(key, app: "ios", accountID: "adele.tenant", tokens: more)
        let found = try await store.accessToken(key, app: "ios", accountID: "adele.tenant", scopes: ["user.read"])
        #expect(found?.secret == "access-more")
        let other = NewTokens.sample("other", at: fixture.clock, scopes: ["Files.Read"])
        try await store.storeRefreshed(key, app: "ios", accountID: "adele.tenant", tokens: other)
        let still = try await store.accessToken(key, app: "ios", accountID: "adele.tenant", scopes: ["user.read"])
        #expect(still?.secret == "access-more")
        await store.close()
    }

    @Test func theIDTokenIsSealedRenewedAndResealed() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        let begun = try await store.beginSignIn(.sample(state: "s"), cookie: nil).sessionID
        let attempt = try await store.consume("s", cookie: begun)
        var account = NewAccount.sample("b2cuser")
        account.policy = "b2c_1_susi"
        var tokens = NewTokens.sample("first", at: fixture.clock)
        tokens.idToken = "first.id.token"
        let id = try await store.completeSignIn(attempt, account: account, tokens: tokens)
        let session = try #require(try await store.session(id))
        #expect(session.currentAccount(for: "ios")?.policy == "b2c_1_susi")
        tokens.idToken = nil
        tokens.idTokenClaims = #"{"renewed":true}"#
        try await store.storeRefreshed(session.key, app: "ios", accountID: account.id, tokens: tokens)
        #expect(try await store.idToken(session.key, app: "ios", accountID: account.id) == "first.id.token")
        _ = try KeyRing.rotate(fileAt: fixture.keyPath)
        #expect(try await store.reseal() == 4)
        #expect(try await store.idToken(session.key, app: "ios", accountID: account.id) == "first.id.token")
        await store.close()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: fixture.path))
        #expect(bytes.range(of: Data("first.id.token".utf8)) == nil)
    }

    @Test func anAttemptWithoutAccountEndsOnceAndItsCallbackMayComeAgain() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        let id = try await store.signIn("adele", at: fixture.clock)
        _ = try await store.beginSignIn(.sample(state: "edit"), cookie: id)
        let attempt = try await store.consume("edit", cookie: id)
        let next = try await store.completeAttempt(attempt)
        #expect(next != id)
        let session = try #require(try await store.session(next))
        #expect(session.accounts.map(\.id) == ["adele.tenant"])
        #expect(session.currentAccount(for: "ios")?.id == "adele.tenant")
        await #expect(throws: StoreError.self) { try await store.completeAttempt(attempt) }
        let again = try await store.consumeAttempt(state: "edit", code: "code-of-edit", cookie: next)
        #expect(again.name == "replayed")
        await store.close()
    }
}
