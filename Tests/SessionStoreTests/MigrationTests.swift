import Foundation
import GRDB
import Testing

@testable import SessionStore

@Suite struct MigrationTests {
    /// A database of the first version, with one session in it.
    private func firstVersion(_ fixture: StoreFixture) throws {
        let outsider = try fixture.outsider()
        try Schema.migrator.migrate(outsider, upTo: "1: sessions, accounts, tokens, attempts")
        try outsider.write { db in
            try db.execute(sql: "INSERT INTO session (id_hash, created_at, last_seen_at) VALUES (x'00', 1, 1)")
        }
        try outsider.close()
    }

    private static let waiting = Array(Schema.migrator.migrations.dropFirst())

    @Test func `a rehearsal tells what would run, and leaves the database as it is`() throws {
        let fixture = try StoreFixture()
        try firstVersion(fixture)
        #expect(try SessionStore.pendingMigrations(databaseAt: fixture.path) == Self.waiting)
        #expect(try SessionStore.rehearseMigration(databaseAt: fixture.path) == Self.waiting)
        #expect(try SessionStore.pendingMigrations(databaseAt: fixture.path) == Self.waiting)
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.folder) == ["companion.sqlite"])
    }

    @Test func `a migration runs once and keeps the sessions`() async throws {
        let fixture = try StoreFixture()
        try firstVersion(fixture)
        #expect(try SessionStore.migrate(databaseAt: fixture.path) == Self.waiting)
        #expect(try SessionStore.migrate(databaseAt: fixture.path) == [])
        let store = try fixture.open()
        #expect(try await store.list().count == 1)
        await store.close()
    }

    @Test func `a database of a newer version is left alone`() async throws {
        let fixture = try StoreFixture()
        await (try fixture.open()).close()
        try await fixture.outsider().write { db in
            try db.execute(sql: "INSERT INTO grdb_migrations VALUES ('99: from the future')")
        }
        let path = fixture.path
        let works: [@Sendable () throws -> [String]] = [
            { try SessionStore.pendingMigrations(databaseAt: path) }, { try SessionStore.migrate(databaseAt: path) },
            { try SessionStore.rehearseMigration(databaseAt: path) },
        ]
        for work in works {
            let error = #expect(throws: StoreError.self) { try work() }
            guard case .newerSchema = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
    }

    @Test func `without a database there is nothing to migrate, and none is made`() throws {
        let fixture = try StoreFixture()
        #expect(!SessionStore.exists(databaseAt: fixture.path))
        #expect(throws: StoreError.self) { try SessionStore.migrate(databaseAt: fixture.path) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.folder) == [])
    }
}
