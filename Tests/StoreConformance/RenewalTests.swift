import Foundation
import StoreTesting
import Testing

@testable import SessionStore

/// Values that a response does not bring stay as they are.
@Suite(.closesStores) struct RenewalTests {
    /// Not every provider gives a new refresh token with each answer (RFC 6749 section 6), also with an ID token.
    @Test(arguments: TestedBackend.allCases) func `an ID token without a refresh token leaves the stored one`(
        _ backend: TestedBackend
    ) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        let id = try await store.signIn("adele", at: fixture.clock)
        let key = try #require(try await store.session(id)?.key)
        var tokens = NewTokens.sample("second", at: fixture.clock)
        tokens.refreshToken = nil
        tokens.idTokenClaims = #"{"renewed":true}"#
        tokens.idToken = "second.id.token"
        try await store.storeRefreshed(AccountKey(session: key, app: "ios", id: "adele.tenant"), tokens: tokens)
        #expect(
            try await store.refreshToken(of: AccountKey(session: key, app: "ios", id: "adele.tenant"))
                == "refresh-adele")
        #expect(
            try await store.idToken(of: AccountKey(session: key, app: "ios", id: "adele.tenant")) == "second.id.token")

        // And a new sign-in that brings none.
        let attempt = try await store.consume(try await store.begin("again", cookie: id), cookie: id)
        tokens.idToken = nil
        _ = try await store.completeSignIn(attempt, account: .sample("adele"), tokens: tokens)
        #expect(
            try await store.refreshToken(of: AccountKey(session: key, app: "ios", id: "adele.tenant"))
                == "refresh-adele")
        #expect(
            try await store.idToken(of: AccountKey(session: key, app: "ios", id: "adele.tenant")) == "second.id.token")
    }

    @Test(arguments: TestedBackend.allCases)
    func `renewed claims rename the person, and absent names leave the old ones`(_ backend: TestedBackend) async throws
    {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        let id = try await store.signIn("adele", at: fixture.clock)
        let key = try #require(try await store.session(id)?.key)
        var tokens = NewTokens.sample("second", at: fixture.clock)
        tokens.idTokenClaims = "{}"
        tokens.username = "adele.vance@contoso.example"
        try await store.storeRefreshed(AccountKey(session: key, app: "ios", id: "adele.tenant"), tokens: tokens)
        var account = try #require(try await store.session(id)?.currentAccount(for: "ios"))
        #expect(account.identity.username == "adele.vance@contoso.example")
        #expect(account.identity.name == "Adele")
        tokens.username = nil
        tokens.name = "Adele Vance"
        try await store.storeRefreshed(AccountKey(session: key, app: "ios", id: "adele.tenant"), tokens: tokens)
        account = try #require(try await store.session(id)?.currentAccount(for: "ios"))
        #expect(account.identity.username == "adele.vance@contoso.example")
        #expect(account.identity.name == "Adele Vance")
    }
}
