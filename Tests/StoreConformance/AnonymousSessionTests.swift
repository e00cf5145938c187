import Foundation
import StoreTesting
import Testing

@testable import SessionStore

/// A session without an account ends with its last attempt.
@Suite struct AnonymousSessionTests {
    @Test(arguments: TestedBackend.allCases, [true, false])
    func `it ends half an hour after its last sign-in began, however much it is used`(
        _ backend: TestedBackend, cached: Bool
    ) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open(idle: .seconds(3600), cacheBytes: cached ? 1 << 20 : 0)
        let id = try await store.beginSignIn(.sample(state: "first"), cookie: nil).sessionID
        fixture.clock.advance(by: .seconds(1000))
        #expect(try await store.session(id) != nil)
        // Beginning again is what makes it live longer, also where the session is in memory.
        let again = try await store.beginSignIn(.sample(state: "second"), cookie: id)
        #expect(again.sessionID == id)
        for seconds in [900, 900] {
            fixture.clock.advance(by: .seconds(seconds))
            #expect(try await store.session(id)?.key == again.session)
        }
        fixture.clock.advance(by: .seconds(1))
        #expect(store.cachedSession(id).session == nil)
        #expect(try await store.session(id) == nil)
        let anew = try await store.beginSignIn(.sample(state: "third"), cookie: id)
        #expect(anew.sessionID != id && anew.session != again.session)
        await store.close()
    }

    @Test(arguments: TestedBackend.allCases)
    func `it is purged with its last attempt, long before a session in which somebody is signed in`(
        _ backend: TestedBackend
    )
        async throws
    {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open(idle: .seconds(3600))
        let member = try await store.signIn("adele", at: fixture.clock)
        // More than one batch, and one with an attempt that is younger.
        for number in 0..<1100 { _ = try await store.beginSignIn(.sample(state: "s\(number)"), cookie: nil) }
        let young = try await store.beginSignIn(.sample(state: "old"), cookie: nil).sessionID
        fixture.clock.advance(by: .seconds(600))
        _ = try await store.beginSignIn(.sample(state: "young"), cookie: young)
        // Two minutes more than their half hour: a code may be redeemed until then.
        fixture.clock.advance(by: .seconds(1320))
        #expect(try await store.purgeExpired() == 0)
        fixture.clock.advance(by: .seconds(1))
        #expect(try await store.purgeExpired() == 1100)
        #expect(try await store.list().count == 2)
        #expect(try await store.session(member) != nil)
        #expect(try await store.consume("young", cookie: young).nonce == "nonce-of-young")
        await store.close()
    }

    @Test(arguments: TestedBackend.allCases)
    func `it stays for the sign-in that is under way, and for who was signed in before`(_ backend: TestedBackend)
        async throws
    {
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
        await store.close()
    }
}
