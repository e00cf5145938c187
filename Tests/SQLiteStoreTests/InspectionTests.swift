import Foundation
import StoreTesting
import Testing

@testable import SQLiteStore
@testable import SessionStore

@Suite(.closesStores) struct InspectionTests {
    private func inspect(_ fixture: StoreFixture) throws -> StoreHealth {
        SQLiteStore.health(databaseAt: fixture.path, keyRing: try KeyRing.load(existingAt: fixture.keyPath))
    }

    @Test func `before the first start there is nothing, and inspecting makes nothing`() throws {
        let fixture = try StoreFixture()
        let found = try inspect(fixture)
        #expect(
            SQLiteStore.files(databaseAt: fixture.path).isEmpty && !found.exists && found.keys.isEmpty
                && found.failure == nil)
        #expect(try #require(found.freeBytes) > 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.folder) == [])
    }

    @Test func `a running server's database is sound, its key fits, and its latest claims are read`() async throws {
        let fixture = try StoreFixture()
        let server = try fixture.open()
        try await server.signIn("adele", at: fixture.clock)
        fixture.clock.advance(by: .seconds(10))
        try await server.signIn("megan", at: fixture.clock)
        let found = try inspect(fixture)
        #expect(found.failure == nil)
        #expect(found.damage == [] && found.pendingMigrations == [])
        #expect(SQLiteStore.files(databaseAt: fixture.path).map(\.mode) == [0o600, 0o600, 0o600])
        #expect(found.bytes > 0)
        #expect(found.keys == [KeyUse(id: server.sealer.ring.currentKeyID, isCurrent: true, isAtHand: true, values: 6)])
        #expect(found.latestClaims == ["ios": #"{"nonce":"claim-of-megan"}"#])
        #expect("\(found)" == "StoreHealth(redacted)")
        // The server goes on.
        try await server.signIn("lee", at: fixture.clock)
    }

    @Test func `a key that was lost is named with what it sealed`() async throws {
        let fixture = try StoreFixture()
        let server = try fixture.open()
        try await server.signIn("adele", at: fixture.clock)
        let lost = server.sealer.ring.currentKeyID
        await server.close()
        try FileManager.default.removeItem(atPath: fixture.keyPath)
        let found = try inspect(fixture)
        #expect(found.keys == [KeyUse(id: lost, isCurrent: false, isAtHand: false, values: 3)])
        #expect(found.latestClaims == [:])
    }

    @Test func `a damaged page is found`() async throws {
        let fixture = try StoreFixture()
        let server = try fixture.open()
        for number in 0..<50 { try await server.signIn("user\(number)", at: fixture.clock) }
        await server.close()
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: fixture.path))
        // Past the first pages, which hold the names of the tables.
        try file.seek(toOffset: 4096 * 3)
        try file.write(contentsOf: Data(repeating: 0xA5, count: 4096 * 4))
        try file.close()
        let found = try inspect(fixture)
        #expect(!found.damage.isEmpty || found.failure != nil)
    }

    @Test func `a file that is no database is recognised`() throws {
        let fixture = try StoreFixture()
        try Data(repeating: 7, count: 10_000).write(to: URL(fileURLWithPath: fixture.path))
        guard case .corrupt = try inspect(fixture).failure else {
            Issue.record("not found")
            return
        }
    }
}
