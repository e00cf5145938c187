import Foundation
import GRDB
import StoreTesting
import Testing

@testable import SQLiteStore
@testable import SessionStore

/// Expired sessions are found by indexes and deleted in small steps, so that no sign-in waits for them.
@Suite(.closesStores) struct PurgeTests {
    @Test(arguments: [(PurgePlace.Walk.unused, "session_by_last_use"), (.old, "session_by_age")])
    func `a walk goes along its index, and sorts nothing`(
        _ walk: PurgePlace.Walk, _ index: String
    ) async throws {
        let fixture = try StoreFixture()
        await (try fixture.open()).close()
        let plan = try await fixture.outsider().read { db in
            try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + SQLiteStore.query(walk), arguments: [0, 0, 0, 0])
                .map { try $0.decode(String.self, forColumn: "detail") }
        }
        #expect(plan.first?.hasPrefix("SEARCH session USING INDEX \(index) ") == true, "\(plan)")
        #expect(!plan.contains { $0.contains("SCAN session") || $0.contains("TEMP B-TREE") }, "\(plan)")
    }

    @Test func `no transaction of a purge ends more than twenty sessions`() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        for number in 0..<110 { _ = try await store.signIn("person\(number)", at: fixture.clock) }
        for number in 0..<110 { _ = try await store.failNewcomer("s\(number)") }
        let deletions = Changes(.delete, in: store)
        fixture.clock.advance(by: .seconds(13 * 3600))
        #expect(try await store.purgeExpired() == 220)
        #expect(deletions.ofEachTransaction.reduce(0, +) == 220)
        #expect(deletions.ofEachTransaction.allSatisfy { $0 <= 20 }, "\(deletions.ofEachTransaction)")
    }

    @Test func `no transaction writes more than a hundred uses`() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        var ids: [SessionID] = []
        for number in 0..<250 { ids.append(try await store.signIn("person\(number)", at: fixture.clock)) }
        fixture.clock.advance(by: .seconds(60))
        for id in ids { #expect(try await store.session(id) != nil) }
        let updates = Changes(.update, in: store)
        try await store.writeLastUses()
        #expect(updates.ofEachTransaction == [100, 100, 50])
    }

    @Test func `a file of the version before is given the indexes, by which its sessions are found`() async throws {
        let fixture = try StoreFixture()
        let outsider = try fixture.outsider()
        try SQLiteSchema.migrator.migrate(outsider, upTo: "3: limits for newcomers, used logout tokens")
        let now = fixture.clock.now.milliseconds
        let hour: Int64 = 3_600_000
        try await outsider.write { db in
            // By age: used now, unused for ten days, old and used an hour ago; the last two are over.
            let times = [(now, now), (now - 240 * hour, now - 240 * hour), (now - 240 * hour, now - hour)]
            for (key, (begun, used)) in times.enumerated() {
                try db.execute(
                    sql: "INSERT INTO session (key, id_hash, created_at, last_seen_at) VALUES (?, ?, ?, ?)",
                    arguments: [key + 1, Data([UInt8(key)]) + Data(count: 31), begun, used])
                try db.execute(
                    sql: """
                        INSERT INTO account
                            (session, app, id, username, environment, issuer, subject, is_current, signed_in_at)
                        VALUES (?, 'ios', 'a', 'a@contoso.example', 'localhost', 'i', 's', 1, ?)
                        """, arguments: [key + 1, begun])
            }
        }
        try outsider.close()
        #expect(
            try SQLiteStore.pendingMigrations(databaseAt: fixture.path)
                == [
                    "4: indexes by last use and by beginning", "5: attempts that have come back",
                    "6: the last checks of applications",
                ])
        let store = try fixture.open()
        #expect(try await store.purgeExpired() == 2)
        #expect(try await store.list().map(\.key) == [SessionKey(1)])
        await store.close()
        let found = try await fixture.outsider().read { db in try SQLiteSchema.damage(db) }
        #expect(found == [])
    }
}

/// The number of sessions that each transaction has changed in one way. Safe to share unchecked: the writer's queue alone
/// calls it, and the test reads when all is done.
private final class Changes: TransactionObserver, @unchecked Sendable {
    private(set) var ofEachTransaction: [Int] = []
    private let kind: DatabaseEvent.Kind
    private var count = 0

    init(_ kind: DatabaseEvent.Kind, in store: SessionStore) {
        self.kind = kind
        store.sqlite.database.pool.add(transactionObserver: self, extent: .observerLifetime)
    }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { eventKind.tableName == "session" }
    func databaseDidChange(with event: DatabaseEvent) { if event.kind == kind { count += 1 } }
    func databaseDidCommit(_ db: Database) {
        if count > 0 { ofEachTransaction.append(count) }
        count = 0
    }
    func databaseDidRollback(_ db: Database) { count = 0 }
}
