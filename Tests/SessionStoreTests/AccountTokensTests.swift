import Foundation
import StoreTesting
import Testing

@testable import SessionStore

/// Access tokens in memory.
@Suite(.closesStores) struct AccountTokensTests {
    static let account = AccountKey(session: 7, app: "ios", id: "id")

    func row(_ name: String, tenant: String = "", granted: String? = nil, expiresAt: Int64 = 100) -> AccessTokenRow {
        AccessTokenRow(
            account: Self.account, tenant: tenant, requestedScopes: name, grantedScopes: granted ?? name,
            declinedScopes: "", expiresAt: expiresAt, refreshAt: nil, token: Data("sealed \(name)".utf8))
    }

    func opened(_ row: AccessTokenRow) -> StoredAccessToken {
        StoredAccessToken(
            secret: "open \(row.requestedScopes)", requestedScopes: ScopeSet(text: row.requestedScopes),
            grantedScopes: ScopeSet(text: row.grantedScopes), declinedScopes: [],
            tenant: row.tenant.isEmpty ? nil : row.tenant, expiresOn: Date(milliseconds: row.expiresAt), refreshOn: nil)
    }

    func name(_ token: HeldToken?) -> String? {
        switch token {
        case nil: nil
        case .sealed(let row): "sealed " + row.requestedScopes
        case .open(let token): token.secret
        }
    }

    func cache(holding tokens: [AccountTokens] = []) -> SessionCache {
        let cache = SessionCache(
            maxBytes: 1 << 20, lifetimes: Lifetimes(idle: 1_000_000, maxAge: 1_000_000, attempt: 1_000_000))
        let account = Account(
            id: "id", app: "ios",
            identity: AccountIdentity(username: "u", environment: "e", issuer: "i", subject: "s"),
            idTokenClaims: "{}", annotation: nil, needsInteraction: nil, interactionClaims: nil, current: true,
            signedInAt: Date(milliseconds: 0))
        let snapshot = Snapshot(
            session: Session(
                key: 7, createdAt: Date(milliseconds: 0), lastSeenAt: Date(milliseconds: 0), accounts: [account],
                previousUsernames: [:]),
            idHash: SHA256Hash(of: "id7"), tokens: tokens)
        _ = cache.admit(snapshot, cache.ticket(), now: 1, isUse: true)
        return cache
    }

    func known(_ cache: SessionCache, _ scopes: ScopeSet) -> String? {
        switch cache.token(Self.account, nil, scopes) {
        case .token(let token): name(token)
        case .none: "none"
        case .unknown: nil
        }
    }

    @Test(
        arguments: [
            (nil, ["a"], "a"), (nil, ["b"], "b c"), (nil, ["c"], "c d"), (nil, ["e"], nil), (nil, [], nil),
            ("t", ["a"], "a b"), ("u", ["a"], nil),
        ] as [(String?, [String], String?)])
    func `the token for exactly these scopes comes first, then the one that lives longest`(
        _ tenant: String?, _ scopes: [String], _ expected: String?
    ) {
        let rows = [
            row("b c", expiresAt: 300), row("a", granted: "a b", expiresAt: 200), row("c d", expiresAt: 400),
            row("a b", tenant: "t", expiresAt: 900),
        ]
        var tokens = AccountTokens(of: Self.account, rows)
        #expect(name(tokens.token(tenant, ScopeSet(scopes))) == expected.map { "sealed " + $0 })
        for row in rows { tokens.opened(row, opened(row)) }
        #expect(name(tokens.token(tenant, ScopeSet(scopes))) == expected.map { "open " + $0 })
    }

    @Test func `tokens that were read before a write are not kept`() {
        let cache = cache()
        let before = cache.ticket()
        #expect(known(cache, ["a"]) == nil)
        cache.end([7])
        #expect(name(cache.admit([row("a")], of: Self.account, before).token(nil, ["a"])) == "sealed a")
        #expect(known(cache, ["a"]) == nil)

        let other = self.cache()
        let early = other.ticket()
        other.endAll()
        _ = other.admit([row("a")], of: Self.account, early)
        #expect(known(other, ["a"]) == nil)
    }

    @Test func `a token that was opened takes the place of the sealed one, and of no newer one`() {
        let cache = cache()
        let (old, new) = (row("a", expiresAt: 100), row("a", expiresAt: 200))
        _ = cache.admit([new, row("b")], of: Self.account, cache.ticket())
        #expect([known(cache, ["a"]), known(cache, ["b"]), known(cache, ["c"])] == ["sealed a", "sealed b", "none"])
        cache.opened(old, opened(old))
        #expect(known(cache, ["a"]) == "sealed a")
        cache.opened(new, opened(new))
        #expect([known(cache, ["a"]), known(cache, ["b"])] == ["open a", "sealed b"])
    }

    @Test func `a token counts when it is held, and is uncounted with its session`() {
        let cache = cache()
        let before = cache.size.bytes
        let tokens = cache.admit([row("a"), row("b")], of: Self.account, cache.ticket())
        #expect(cache.size.bytes == before + tokens.cost)
        _ = cache.admit([row("a")], of: Self.account, cache.ticket())
        #expect(cache.size.bytes < before + tokens.cost, "they take the place of those from before")
        cache.end([7])
        #expect(cache.size == (0, 0))
    }

    @Test func `a session whose token is not in use takes half the memory`() async throws {
        let fixture = try StoreFixture(.memory)
        let store = try fixture.open()
        var account = NewAccount.sample("adele")
        account.idTokenClaims = String(repeating: "c", count: 850)
        var tokens = NewTokens.sample("adele", at: fixture.clock)
        tokens.accessToken = String(repeating: "t", count: 2000)
        let id = try await store.completeSignIn(
            try await store.consume(try await store.begin("s")), account: account, tokens: tokens)
        let session = try #require(try await store.session(id))
        let alone = store.cacheSize.bytes
        let token = try await store.accessToken(of: session.key(of: session.accounts[0]), scopes: ["user.read"])
        #expect(token?.secret == tokens.accessToken)
        #expect(alone * 2 <= store.cacheSize.bytes)
        #expect(store.cacheSize.sessions == 1)
    }
}
