import Foundation
import StoreTesting
import Testing

@testable import SessionStore

/// The store's support for user flows, guests and the provider's sign-out.
@Suite(.closesStores) struct KindsTests {
    @Test(arguments: TestedBackend.allCases)
    func `tokens are kept by tenant, and a guest does not become the account`(_ backend: TestedBackend) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        let id = try await store.signIn("adele", at: fixture.clock)
        let key = try #require(try await store.session(id)?.key)
        var guest = NewTokens.sample("guest", at: fixture.clock)
        guest.tenant = "tailspin"
        guest.declinedScopes = ["Mail.Read"]
        guest.idTokenClaims = #"{"oid":"another"}"#
        guest.idToken = "guest.id.token"
        try await store.storeRefreshed(AccountKey(session: key, app: "ios", id: "adele.tenant"), tokens: guest)
        for (tenant, expected) in [(nil, "access-adele"), ("tailspin", "access-guest"), ("woodgrove", nil)] {
            let found = try await store.accessToken(
                of: AccountKey(session: key, app: "ios", id: "adele.tenant"), tenant: tenant, scopes: ["user.read"])
            #expect(found?.secret == expected)
            #expect(found?.declinedScopes ?? [] == (tenant == "tailspin" ? ["Mail.Read"] : []))
        }
        let account = try #require(try await store.session(id)?.currentAccount(for: "ios"))
        #expect(account.idTokenClaims.contains("claim-of-adele"))
        #expect(try await store.idToken(of: AccountKey(session: key, app: "ios", id: "adele.tenant")) == nil)
        // The refresh token is the person's, in every tenant.
        #expect(
            try await store.refreshToken(of: AccountKey(session: key, app: "ios", id: "adele.tenant"))
                == "refresh-guest")
    }

    @Test(arguments: TestedBackend.allCases)
    func `a token for more scopes replaces one that was asked for with fewer`(_ backend: TestedBackend) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        let id = try await store.signIn("adele", at: fixture.clock)
        let key = try #require(try await store.session(id)?.key)
        let more = NewTokens.sample("more", at: fixture.clock, scopes: ["User.Read", "Mail.Read"])
        try await store.storeRefreshed(AccountKey(session: key, app: "ios", id: "adele.tenant"), tokens: more)
        let found = try await store.accessToken(
            of: AccountKey(session: key, app: "ios", id: "adele.tenant"), scopes: ["user.read"])
        #expect(found?.secret == "access-more")
        let other = NewTokens.sample("other", at: fixture.clock, scopes: ["Files.Read"])
        try await store.storeRefreshed(AccountKey(session: key, app: "ios", id: "adele.tenant"), tokens: other)
        let still = try await store.accessToken(
            of: AccountKey(session: key, app: "ios", id: "adele.tenant"), scopes: ["user.read"])
        #expect(still?.secret == "access-more")
    }

    @Test(arguments: TestedBackend.allCases)
    func `the ID token is sealed, renewed and resealed`(_ backend: TestedBackend) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        let attempt = try await store.consume(try await store.begin("s"))
        var account = NewAccount.sample("b2cuser")
        account.identity.policy = "b2c_1_susi"
        var tokens = NewTokens.sample("first", at: fixture.clock)
        tokens.idToken = "first.id.token"
        let id = try await store.completeSignIn(attempt, account: account, tokens: tokens)
        let session = try #require(try await store.session(id))
        #expect(session.currentAccount(for: "ios")?.identity.policy == "b2c_1_susi")
        tokens.idToken = nil
        tokens.idTokenClaims = #"{"renewed":true}"#
        try await store.storeRefreshed(AccountKey(session: session.key, app: "ios", id: account.id), tokens: tokens)
        #expect(
            try await store.idToken(of: AccountKey(session: session.key, app: "ios", id: account.id))
                == "first.id.token")
        _ = try KeyRing.rotate(fileAt: fixture.keyPath)
        #expect(try await store.reseal() == 4)
        #expect(
            try await store.idToken(of: AccountKey(session: session.key, app: "ios", id: account.id))
                == "first.id.token")
        await store.close()
        guard backend == .sqlite else { return }
        let bytes = try Data(contentsOf: URL(fileURLWithPath: fixture.path))
        #expect(bytes.range(of: Data("first.id.token".utf8)) == nil)
    }

    @Test(arguments: TestedBackend.allCases)
    func `an attempt without an account ends once, and its callback may come again`(_ backend: TestedBackend)
        async throws
    {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        let id = try await store.signIn("adele", at: fixture.clock)
        let begun = try await store.begin("edit", cookie: id)
        let attempt = try await store.consume(begun, cookie: id)
        let next = try await store.completeAttempt(attempt)
        #expect(next != id)
        let session = try #require(try await store.session(next))
        #expect(session.accounts.map(\.id) == ["adele.tenant"])
        #expect(session.currentAccount(for: "ios")?.id == "adele.tenant")
        await #expect(throws: StoreError.self) { try await store.completeAttempt(attempt) }
        let again = try await store.consume(begun, code: "code", cookie: next)
        #expect(again.name == "replayed")
    }
}
