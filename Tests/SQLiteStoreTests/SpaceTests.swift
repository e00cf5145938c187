import Foundation
import GRDB
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore
@testable import SessionStore

/// The file gives space back to the disk.
@Suite(.closesStores) struct SpaceTests {
    private func pragma(_ fixture: StoreFixture, _ name: String) async throws -> Int? {
        try await fixture.outsider().read { db in try Int.fetchOne(db, sql: "PRAGMA \(name)") }
    }

    /// People sign in, and have stayed away too long half an hour later.
    private func fill(_ fixture: StoreFixture, _ store: SessionStore, _ count: Int) async throws {
        var tokens = NewTokens.sample("large", at: fixture.clock)
        tokens.accessToken = String(repeating: "t", count: 2048)
        for first in stride(from: 0, to: count, by: 100) {
            try await withThrowingTaskGroup(of: Void.self) { [tokens] group in
                for number in first..<first + 100 {
                    group.addTask {
                        let attempt = try await store.consume(try await store.begin("s\(number)"))
                        _ = try await store.completeSignIn(attempt, account: .sample("u\(number)"), tokens: tokens)
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test(.needsTime("it writes for half a minute"))
    func `after a purge the file shrinks in small steps, and keeps a megabyte for what comes next`() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open(idle: .seconds(1500))
        try await fill(fixture, store, 1500)
        let before = try #require(try await pragma(fixture, "page_count"))
        fixture.clock.advance(by: .seconds(1921))
        var progress = UpkeepProgress(ring: store.sealer.ring)
        progress.written -= .seconds(61)
        progress = await store.upkeepRound(progress)
        #expect(try await store.list().isEmpty)
        let after = try #require(try await pragma(fixture, "page_count"))
        // And perhaps the page with which SQLite has found those.
        #expect((256...257).contains(before - after), "one step for each round")
        var rounds = 1
        while progress.isTidying, rounds < 100 {
            progress = await store.upkeepRound(progress)
            rounds += 1
        }
        let free = try #require(try await pragma(fixture, "freelist_count"))
        #expect(free == 256)
        #expect(try await pragma(fixture, "page_count") ?? 0 < before / 3)
        #expect(rounds > 3)
        let open = try #require(FileAccess.size(fixture.path))
        #expect(open < before / 3 * 4096, "while the server runs")
        // Nothing is left to do: no further write.
        let commits = Commits(in: store)
        #expect(try await !store.backend.tidyUp())
        #expect(commits.count == 0)
        await store.close()
        let found = try await fixture.outsider().read { db in try SQLiteSchema.damage(db) }
        #expect(found == [])
    }

    @Test func `free pages go back to the disk in small steps, and a megabyte stays for what comes next`() async throws
    {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        let outsider = try fixture.outsider()
        try await outsider.write { db in
            try db.execute(sql: "CREATE TABLE filler AS SELECT zeroblob(4194304) AS bytes")
        }
        try await outsider.write { db in try db.execute(sql: "DROP TABLE filler") }
        let before = try #require(try await pragma(fixture, "freelist_count"))
        #expect(try await store.backend.tidyUp())
        let after = try #require(try await pragma(fixture, "freelist_count"))
        #expect((256...257).contains(before - after), "one step for each round")
        var rounds = 1
        while rounds < 20, try await store.backend.tidyUp() { rounds += 1 }
        let free = try #require(try await pragma(fixture, "freelist_count"))
        #expect((250...256).contains(free))
        try outsider.close()
    }

    @Test func `an older file is rewritten once, keeps its sessions, and gives space back from then on`() async throws {
        let fixture = try StoreFixture()
        let outsider = try fixture.outsider()
        try SQLiteSchema.migrator.migrate(outsider, upTo: "2: ID tokens, user flows, tokens by tenant")
        try outsider.close()
        var store = try fixture.open(idle: .seconds(1500))
        let id = try await store.signIn("adele", at: fixture.clock)
        try await fill(fixture, store, 600)
        fixture.clock.advance(by: .seconds(1000))
        #expect(try await store.session(id) != nil)
        fixture.clock.advance(by: .seconds(921))
        #expect(try await store.purgeExpired() == 600)
        #expect(try await pragma(fixture, "auto_vacuum") == 0)
        let commits = Commits(in: store)
        #expect(try await !store.backend.tidyUp())
        #expect(commits.count == 0, "nothing is tried in vain")
        await store.close()

        let size = try #require(FileAccess.size(fixture.path))
        #expect(try SQLiteStore.rewrite(databaseAt: fixture.path))
        #expect(try #require(FileAccess.size(fixture.path)) < size / 3)
        #expect(try await pragma(fixture, "auto_vacuum") == 2)
        #expect(try !SQLiteStore.rewrite(databaseAt: fixture.path))
        store = try fixture.open()
        #expect(try await store.session(id)?.currentAccount(for: "ios")?.id == "adele.tenant")
    }

    @Test func `a new database has auto_vacuum and needs no rewrite`() async throws {
        let fixture = try StoreFixture()
        await (try fixture.open()).close()
        #expect(try await pragma(fixture, "auto_vacuum") == 2)
        #expect(try !SQLiteStore.rewrite(databaseAt: fixture.path))
    }
}
