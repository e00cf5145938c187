import Foundation
import StoreTesting
import Testing

@testable import SessionStore

/// A logout token is good once, over restarts, and not used up by a failure.
@Suite(.closesStores) struct LogoutTokenTests {
    private static let issuer = "https://issuer.example/v2.0"

    private func use(
        _ store: SessionStore, _ fixture: StoreFixture, issuer: String = issuer, _ tokenID: String,
        sid: String? = "sid1",
        subject: String? = nil
    ) async throws -> Int? {
        try await store.removeSessions(
            issuer: issuer, sid: sid, subject: subject, tokenID: tokenID, until: fixture.clock.now + 300)?
            .count
    }

    @Test(arguments: TestedBackend.allCases) func `a used logout token is known after a restart, until it ends`(
        _ backend: TestedBackend
    ) async throws {
        let fixture = try StoreFixture(backend)
        var store = try fixture.open()
        let id = try await store.signIn("adele", at: fixture.clock, sid: "sid1")
        #expect(try await use(store, fixture, "jti") == 1)
        #expect(try await store.session(id) == nil)
        #expect(try await use(store, fixture, "jti") == nil)
        await store.close()
        store = try fixture.open()
        let again = try await store.signIn("adele", at: fixture.clock, sid: "sid1")
        fixture.clock.advance(by: .milliseconds(299_000))
        _ = try await store.purgeExpired()
        #expect(try await use(store, fixture, "jti") == nil)
        #expect(try await store.session(again) != nil)
        fixture.clock.advance(by: .seconds(1))
        _ = try await store.purgeExpired()
        await store.close()
        #expect(try await fixture.count("logout_token") == 0)
    }

    @Test(arguments: TestedBackend.allCases) func `a token of another number or issuer is another one`(
        _ backend: TestedBackend
    ) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        #expect(try await use(store, fixture, "jti") == 0)
        #expect(try await use(store, fixture, "jti2") == 0)
        #expect(try await use(store, fixture, issuer: "https://other.example", "jti") == 0)
        // Wherever the one ends and the other begins.
        #expect(try await use(store, fixture, issuer: "https://other.exampl", "ejti") == 0)
        #expect(try await use(store, fixture, "jti2") == nil)
    }

    @Test(arguments: TestedBackend.allCases)
    func `a logout token ends just the accounts that match both session and person`(_ backend: TestedBackend)
        async throws
    {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        let adele = try await store.signIn("adele", at: fixture.clock, sid: "sid1")
        let megan = try await store.signIn("megan", at: fixture.clock, sid: "sid1")
        #expect(try await use(store, fixture, "1", sid: nil) == 0)
        #expect(try await use(store, fixture, "2", subject: "sub-adele") == 1)
        #expect(try await store.session(adele) == nil)
        #expect(try await store.session(megan) != nil)
        #expect(try await use(store, fixture, "3", sid: nil, subject: "sub-megan") == 1)
        #expect(try await store.session(megan) == nil)
    }

    @Test(arguments: TestedBackend.allCases) func `the same token many times at once is accepted once`(
        _ backend: TestedBackend
    ) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        try await store.signIn("adele", at: fixture.clock, sid: "sid1")
        let outcomes = try await withThrowingTaskGroup(of: Int?.self) { group in
            for _ in 0..<50 { group.addTask { try await use(store, fixture, "jti") } }
            return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
        #expect(outcomes == [1: 1, nil: 49])
    }
}
