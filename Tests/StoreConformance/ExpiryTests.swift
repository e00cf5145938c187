import Foundation
import StoreTesting
import Testing

@testable import SessionStore

@Suite(.closesStores) struct ExpiryTests {
    @Test(arguments: TestedBackend.allCases, [true, false])
    func `an idle session is over, cached or not`(_ backend: TestedBackend, cached: Bool) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open(idle: .seconds(600), cacheBytes: cached ? 1 << 20 : 0)
        let id = try await store.signIn("adele", at: fixture.clock)
        for _ in 0..<5 {
            fixture.clock.advance(by: .seconds(600))
            #expect(try await store.session(id) != nil)
            #expect((store.cachedSession(id).session != nil) == cached)
        }
        fixture.clock.advance(by: .seconds(601))
        #expect(store.cachedSession(id).session == nil)
        #expect(try await store.session(id) == nil)
    }

    @Test(arguments: TestedBackend.allCases)
    func `a session is over at its maximum age, however much it is used`(_ backend: TestedBackend) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open(idle: .seconds(600), maxAge: .seconds(1500))
        let id = try await store.signIn("adele", at: fixture.clock)
        for _ in 0..<3 {
            fixture.clock.advance(by: .seconds(500))
            #expect(try await store.session(id) != nil)
        }
        fixture.clock.advance(by: .seconds(1))
        #expect(store.cachedSession(id).session == nil)
        #expect(try await store.session(id) == nil)
    }

    @Test(arguments: TestedBackend.allCases)
    func `signing the only account in again begins a new age`(_ backend: TestedBackend) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open(idle: .seconds(2000), maxAge: .seconds(1500))
        var id = try await store.signIn("adele", at: fixture.clock)
        fixture.clock.advance(by: .seconds(1000))
        id = try await store.signIn("adele", cookie: id, at: fixture.clock)
        fixture.clock.advance(by: .seconds(1000))
        #expect(try await store.session(id) != nil)
        // Another account does not make the first one's session younger.
        id = try await store.signIn("megan", cookie: id, at: fixture.clock)
        fixture.clock.advance(by: .seconds(501))
        #expect(try await store.session(id) == nil)
    }

    @Test(arguments: TestedBackend.allCases)
    func `a use is written once, and known before it is written`(_ backend: TestedBackend) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open(idle: .seconds(600), cacheBytes: 0)
        let id = try await store.signIn("adele", at: fixture.clock)
        let writes = fixture.writes
        for _ in 0..<50 {
            fixture.clock.advance(by: .seconds(590))
            #expect(try await store.session(id) != nil)
        }
        #expect(fixture.writes == writes)
        #expect(try await store.purgeExpired() == 0)
        #expect(try await store.list().first?.lastSeenAt == fixture.clock.now)
        #expect(try await store.session(id) != nil)
    }

    @Test(arguments: TestedBackend.allCases)
    func `the time of a session's last use survives a restart of the store`(_ backend: TestedBackend) async throws {
        let fixture = try StoreFixture(backend)
        var store = try fixture.open(idle: .seconds(600))
        let id = try await store.signIn("adele", at: fixture.clock)
        _ = try await store.session(id)
        fixture.clock.advance(by: .seconds(500))
        #expect(store.cachedSession(id).session != nil)
        await store.close()
        store = try fixture.open(idle: .seconds(600))
        fixture.clock.advance(by: .seconds(500))
        #expect(try await store.session(id) != nil)
    }

    @Test(arguments: TestedBackend.kinds)
    func `a purge deletes what is over and nothing else`(_ backend: TestedBackend) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open(idle: .seconds(600))
        // More than one batch, which has 500 in PostgreSQL.
        for number in 0..<520 { try await store.signIn("old\(number)", at: fixture.clock) }
        let kept = try await store.signIn("adele", at: fixture.clock)
        let anonymous = try await store.failNewcomer("leaves")
        fixture.clock.advance(by: .seconds(590))
        #expect(try await store.session(kept) != nil)
        fixture.clock.advance(by: .seconds(590))
        #expect(try await store.purgeExpired() == 520)
        #expect(try await store.session(kept) != nil)
        #expect(try await store.session(anonymous) != nil)
        // Their rows stay for as long as somebody who used them may be at the provider's page.
        #expect(try await fixture.count("account") == 1)
        #expect(try await store.purgeExpired() == 0)
        fixture.clock.advance(by: .seconds(4000))
        #expect(try await store.purgeExpired() == 522)
        await store.close()
        var rows: [Int?] = []
        for table in ["session", "account", "account_secret", "access_token", "sign_in_attempt"] {
            rows.append(try await fixture.count(table))
        }
        #expect(rows == [0, 0, 0, 0, 0])
    }

    /// It ends by its age, however late its last use was; what is younger and unused for as long is another walk's. Its row
    /// stays for as long as somebody who has used it may be at the provider's page.
    @Test(arguments: TestedBackend.allCases)
    func `a purge deletes a session at its maximum age, however much it is used`(_ backend: TestedBackend) async throws
    {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open(idle: .seconds(3600), maxAge: .seconds(7200))
        let used = try await store.signIn("adele", at: fixture.clock)
        for _ in 0..<3 {
            fixture.clock.advance(by: .seconds(2400))
            #expect(try await store.session(used) != nil)
        }
        let younger = try await store.signIn("megan", at: fixture.clock)
        fixture.clock.advance(by: .seconds(300))
        #expect(try await store.purgeExpired() == 1)
        #expect(try await store.list().flatMap(\.accounts).map(\.username) == ["megan@contoso.example"])
        #expect(try await store.session(used) == nil)
        #expect(try await store.session(younger) != nil)
        #expect(try await store.purgeExpired() == 0)
        fixture.clock.advance(by: .seconds(3420))
        #expect(try await store.session(younger) != nil)
        #expect(try await store.purgeExpired() == 0)
        fixture.clock.advance(by: .seconds(1))
        #expect(try await store.purgeExpired() == 1)
        #expect(try await store.list().map(\.accounts.first?.username) == ["megan@contoso.example"])
    }

    /// The command line purges beside the server, which has not written the last minute of use yet.
    @Test(arguments: TestedBackend.allCases)
    func `another process does not purge a session that was used a minute ago`(_ backend: TestedBackend) async throws {
        let fixture = try StoreFixture(backend)
        let server = try fixture.open(idle: .seconds(120))
        let id = try await server.signIn("adele", at: fixture.clock)
        fixture.clock.advance(by: .seconds(60))
        #expect(try await server.session(id) != nil)
        fixture.clock.advance(by: .seconds(61))
        let commandLine = try fixture.open(idle: .seconds(120))
        #expect(try await commandLine.purgeExpired() == 0)
        #expect(try await server.session(id) != nil)
    }
}
