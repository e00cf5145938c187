import Foundation
import StoreTesting
import Testing

@testable import PostgresStore
@testable import SessionStore

/// Somebody else's lock on one session holds nothing of the others.
@Suite(.closesStores, .enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct HeldSessionTests {
    private let fixture: StoreFixture
    private let store: SessionStore
    private let stranger: BlockingConnection

    init() throws {
        fixture = try StoreFixture(.postgres)
        store = try fixture.open(idle: .seconds(3600))
        stranger = try BlockingConnection(#require(fixture.postgres))
    }

    /// Three people, of whom the second one's session is held.
    private func signedIn() async throws -> [(id: SessionID, key: SessionKey)] {
        var sessions: [(id: SessionID, key: SessionKey)] = []
        for user in ["adele", "lee", "megan"] {
            let id = try await store.signIn(user, at: fixture.clock)
            sessions.append((id, try #require(try await store.session(id)).key))
            let again = try await store.begin("\(user) once more", cookie: id)
            try await store.failSignIn(try await store.consume(again, cookie: id))
        }
        try await store.writeLastUses()
        try stranger.query("BEGIN")
        try stranger.query("SELECT key FROM session WHERE key = $1 FOR UPDATE", [.key(sessions[1].key)])
        return sessions
    }

    @Test func `uses of other sessions are written at once, and of the held one when it is free`() async throws {
        let (begun, sessions) = (fixture.clock.now, try await signedIn())
        fixture.clock.advance(by: .seconds(600))
        let now = fixture.clock.now
        for session in sessions { #expect(store.cachedSession(session.id).session != nil) }
        // Nobody gives the lock back meanwhile: a statement that waits for it fails when its time is over.
        try await store.writeLastUses()
        #expect(try await store.list().map(\.lastSeenAt) == [now, begun, now])
        try stranger.query("ROLLBACK")
        try await store.writeLastUses()
        #expect(try await store.list().map(\.lastSeenAt) == [now, now, now])
    }

    @Test func `other expired sessions are purged at once, and the held one when it is free`() async throws {
        let sessions = try await signedIn()
        fixture.clock.advance(by: .seconds(2 * 3600))
        #expect(try await store.purgeExpired() == 2)
        #expect(try await store.list().map(\.key) == [sessions[1].key])
        try stranger.query("ROLLBACK")
        #expect(try await store.purgeExpired() == 1)
        #expect(try await store.list().isEmpty)
    }

    @Test func `unfinished sign-ins are purged at once, and those of the held session when it is free`() async throws {
        let sessions = try await signedIn()
        fixture.clock.advance(by: .seconds(3500))
        for session in sessions { #expect(store.cachedSession(session.id).session != nil) }
        fixture.clock.advance(by: .seconds(3500))
        #expect(try await store.purgeExpired() == 0)
        #expect(try await fixture.count("sign_in_attempt") == 2)
        try stranger.query("ROLLBACK")
        #expect(try await store.purgeExpired() == 0)
        #expect(try await fixture.count("sign_in_attempt") == 0)
    }
}
