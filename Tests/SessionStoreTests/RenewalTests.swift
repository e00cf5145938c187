import Foundation
import GRDB
import Testing

@testable import SessionStore

/// What a response does not bring stays as it is.
@Suite struct RenewalTests {
    /// Not every provider gives a new refresh token with each answer (RFC 6749 section 6), also with an ID token.
    @Test func `an ID token without a refresh token leaves the stored one`() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        let id = try await store.signIn("adele", at: fixture.clock)
        let key = try #require(try await store.session(id)?.key)
        var tokens = NewTokens.sample("second", at: fixture.clock)
        tokens.refreshToken = nil
        tokens.idTokenClaims = #"{"renewed":true}"#
        tokens.idToken = "second.id.token"
        try await store.storeRefreshed(key, app: "ios", accountID: "adele.tenant", tokens: tokens)
        #expect(try await store.refreshToken(key, app: "ios", accountID: "adele.tenant") == "refresh-adele")
        #expect(try await store.idToken(key, app: "ios", accountID: "adele.tenant") == "second.id.token")

        // And a new sign-in that brings none.
        let again = try await store.beginSignIn(.sample(state: "again"), cookie: id)
        let attempt = try await store.consume("again", cookie: again.sessionID)
        tokens.idToken = nil
        _ = try await store.completeSignIn(attempt, account: .sample("adele"), tokens: tokens)
        #expect(try await store.refreshToken(key, app: "ios", accountID: "adele.tenant") == "refresh-adele")
        #expect(try await store.idToken(key, app: "ios", accountID: "adele.tenant") == "second.id.token")
        await store.close()
    }

    @Test func `renewed claims rename the person, and absent names leave the old ones`() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        let id = try await store.signIn("adele", at: fixture.clock)
        let key = try #require(try await store.session(id)?.key)
        var tokens = NewTokens.sample("second", at: fixture.clock)
        tokens.idTokenClaims = "{}"
        tokens.username = "adele.vance@contoso.example"
        try await store.storeRefreshed(key, app: "ios", accountID: "adele.tenant", tokens: tokens)
        var account = try #require(try await store.session(id)?.currentAccount(for: "ios"))
        #expect(account.username == "adele.vance@contoso.example")
        #expect(account.name == "Adele")
        tokens.username = nil
        tokens.name = "Adele Vance"
        try await store.storeRefreshed(key, app: "ios", accountID: "adele.tenant", tokens: tokens)
        account = try #require(try await store.session(id)?.currentAccount(for: "ios"))
        #expect(account.username == "adele.vance@contoso.example")
        #expect(account.name == "Adele Vance")
        await store.close()
    }

    /// With one nonce twice, AES-GCM gives away both texts and the key to forge (NIST SP 800-38D section 8).
    @Test func `no two sealed values share a nonce, not even of the same text in the same place`() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        let nonces = Shared<[Data]>([])
        func collect() async throws {
            let found = try await fixture.outsider().read { db in
                try SealedColumn.all.flatMap { column in
                    try Data.fetchAll(
                        db,
                        sql: """
                            SELECT substr(\(column.column), 10, 12) FROM \(column.table) WHERE \(column.column) IS NOT NULL
                            """)
                }
            }
            #expect(found.allSatisfy { $0.count == 12 })
            nonces.change { $0 += found }
        }
        let id = try await store.signIn("adele", at: fixture.clock)
        let key = try #require(try await store.session(id)?.key)
        _ = try await store.beginSignIn(.sample(state: "waiting"), cookie: id)
        try await collect()
        var tokens = NewTokens.sample("adele", at: fixture.clock)
        tokens.idTokenClaims = NewAccount.sample("adele").idTokenClaims
        try await store.storeRefreshed(key, app: "ios", accountID: "adele.tenant", tokens: tokens)
        try await collect()
        _ = try KeyRing.rotate(fileAt: fixture.keyPath)
        #expect(try await store.reseal() == 4)
        try await collect()
        // The attempt was not sealed anew by the refresh.
        #expect(nonces.value.count == 12)
        #expect(Set(nonces.value).count == 11)
        await store.close()
    }
}
