import Foundation
import StoreTesting
import Testing

@testable import SessionStore

/// A session without an account ends with its last attempt.
@Suite(.closesStores) struct AnonymousSessionTests {
    @Test(arguments: TestedBackend.allCases, [true, false])
    func `an anonymous session ends half an hour after its last sign-in began, however much it is used`(
        _ backend: TestedBackend, cached: Bool
    ) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open(idle: .seconds(3600), cacheBytes: cached ? 1 << 20 : 0)
        let id = try await store.failNewcomer("first")
        let key = try #require(try await store.session(id)?.key)
        fixture.clock.advance(by: .seconds(1000))
        // A sign-in that comes back is what makes it live longer, from when it began; one that only leaves does not.
        let second = try await store.begin("second", cookie: id)
        fixture.clock.advance(by: .seconds(100))
        let again = try await store.consume(second, cookie: id)
        #expect(again.session == key)
        for seconds in [800, 900] {
            fixture.clock.advance(by: .seconds(seconds))
            _ = try await store.begin("left \(seconds)", cookie: id)
            #expect(try await store.session(id)?.key == key)
        }
        fixture.clock.advance(by: .seconds(1))
        #expect(store.cachedSession(id).session == nil)
        #expect(try await store.session(id) == nil)
        let third = try await store.consume(try await store.begin("third", cookie: id), cookie: id)
        #expect(third.session != key)
    }

    @Test(arguments: TestedBackend.kinds)
    func `an anonymous session is purged with its last attempt, long before one with an account`(
        _ backend: TestedBackend
    ) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open(idle: .seconds(3600))
        let member = try await store.signIn("adele", at: fixture.clock)
        // More than one batch, which has 500 in PostgreSQL, and one with an attempt that is younger.
        for number in 0..<520 { _ = try await store.failNewcomer("s\(number)") }
        let young = try await store.failNewcomer("old")
        fixture.clock.advance(by: .seconds(600))
        let attempt = try await store.consume(try await store.begin("young", cookie: young), cookie: young)
        // Two minutes more than their half hour: a code may be redeemed until then.
        fixture.clock.advance(by: .seconds(1320))
        #expect(try await store.purgeExpired() == 0)
        fixture.clock.advance(by: .seconds(1))
        #expect(try await store.purgeExpired() == 520)
        #expect(try await store.list().count == 2)
        #expect(try await store.session(member) != nil)
        #expect(try await fixture.count("sign_in_attempt") == 1)
        let id = try await store.completeSignIn(
            attempt, account: .sample("megan"), tokens: .sample("m", at: fixture.clock))
        #expect(try await store.session(id)?.accounts.map(\.id) == ["megan.tenant"])
    }

    @Test(arguments: TestedBackend.allCases)
    func `an anonymous session stays for a sign-in under way, and for a previous username`(
        _ backend: TestedBackend
    ) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open(idle: .seconds(7200))
        let signedIn = try await store.signIn("adele", at: fixture.clock)
        let key = try #require(try await store.session(signedIn)?.key)
        let left = try await store.removeAccount(
            AccountKey(session: key, app: "ios", id: "adele.tenant"), keepAsPrevious: true)
        let forgotten = try await store.signIn("megan", at: fixture.clock)
        let other = try #require(try await store.session(forgotten)?.key)
        let nobody = try await store.removeAccount(
            AccountKey(session: other, app: "ios", id: "megan.tenant"), keepAsPrevious: false)
        fixture.clock.advance(by: .seconds(1800))
        #expect(try await store.session(nobody) != nil)
        fixture.clock.advance(by: .seconds(121))
        #expect(try await store.session(nobody) == nil)
        #expect(try await store.purgeExpired() == 1)
        #expect(try await store.session(left)?.previousUsername(for: "ios") == "adele@contoso.example")
        fixture.clock.advance(by: .seconds(7201))
        #expect(try await store.session(left) == nil)
    }
}
