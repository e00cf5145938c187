import Foundation
import GRDB
import SessionStore
import StoreTesting
import Testing

/// A write that fails when part of it is done.
@Suite(.closesStores) struct LogoutFaultTests {
    /// The write fails after the token was noted.
    @Test func `a token whose work could not be stored is still good`() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        func use(_ tokenID: String) async throws -> Int? {
            try await store.removeSessions(
                issuer: "https://issuer.example/v2.0", sid: "sid1", subject: nil, tokenID: tokenID,
                until: fixture.clock.now + 300)?.count
        }
        let id = try await store.signIn("adele", at: fixture.clock, sid: "sid1")
        try await fixture.outsider().write { db in
            try db.execute(
                sql: "CREATE TRIGGER fault BEFORE DELETE ON account BEGIN SELECT RAISE(ABORT, 'a fault'); END")
        }
        await #expect(throws: StoreError.self) { try await use("jti") }
        #expect(try await store.session(id) != nil)
        try await fixture.outsider().write { db in try db.execute(sql: "DROP TRIGGER fault") }
        #expect(try await use("jti") == 1)
        #expect(try await store.session(id) == nil)
    }
}
