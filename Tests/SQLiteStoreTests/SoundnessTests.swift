import Foundation
import GRDB
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore
@testable import SessionStore

/// A database that is damaged, or whose files are no longer those of its name, is not ready, and acknowledges nothing.
@Suite(.closesStores) struct SoundnessTests {
    enum Change: CaseIterable {
        case deleted, replaced
    }

    /// Nothing is acknowledged, and people in memory stay signed in.
    private func isUnsound(_ store: SessionStore, _ known: SessionID, at clock: StoreClock) async throws {
        await #expect(throws: StoreError.unavailable(store.databaseProblem ?? "")) {
            try await store.signIn("newcomer", at: clock)
        }
        await #expect(throws: StoreError.unavailable(store.databaseProblem ?? "")) { try await store.requireWritable() }
        #expect(await !store.probeWritable())
        #expect(store.cachedSession(known).session != nil)
    }

    @Test(arguments: ["", "-wal", "-shm"], Change.allCases)
    func `after a file was deleted or replaced nothing is acknowledged, until it is back`(
        _ suffix: String, _ change: Change
    ) async throws {
        let fixture = try StoreFixture()
        let reports = Shared<[String]>([])
        let store = try fixture.open(
            isServer: true,
            onConcern: { concern, isOver in
                reports.change { $0.append("\(concern.kind) \(isOver ? "over" : "begun") \(concern.keepsFromServing)") }
            })
        let id = try await store.signIn("adele", at: fixture.clock)
        #expect(try await store.session(id) != nil)
        var progress = await store.upkeepRound(UpkeepProgress(ring: store.sealer.ring))
        #expect(store.databaseProblem == nil)
        let file = fixture.path + suffix
        try FileManager.default.moveItem(atPath: file, toPath: file + ".aside")
        if change == .replaced { try FileManager.default.copyItem(atPath: file + ".aside", toPath: file) }
        #expect(store.databaseProblem?.hasPrefix("\(file) was deleted or replaced") == true)
        try await isUnsound(store, id, at: fixture.clock)
        for _ in 0..<3 { progress = await store.upkeepRound(progress) }
        #expect(reports.value == ["database begun true"])

        #expect(rename(file + ".aside", file) == 0)
        #expect(store.databaseProblem == nil)
        _ = await store.upkeepRound(progress)
        #expect(reports.value == ["database begun true", "database over true"])
        #expect(await store.probeWritable())
        let newcomer = try await store.signIn("megan", at: fixture.clock)
        await store.close()
        let again = try fixture.open()
        for each in [id, newcomer] { #expect(try await again.session(each)?.accounts.count == 1) }
    }

    @Test func `a write that was under way when the file was deleted is not acknowledged`() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        let database = store.sqlite.database
        let path = fixture.path
        await #expect(throws: StoreError.unavailable(Soundness.replaced(path))) {
            try await database.write { db in
                try db.run("UPDATE session SET last_seen_at = last_seen_at", [])
                unlink(path)
            }
        }
    }

    @Test func `a reader that opens after the file was replaced does not read the other file`() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open(cacheBytes: 0)
        let id = try await store.signIn("adele", at: fixture.clock)
        let other = try StoreFixture()
        await (try other.open()).close()
        #expect(rename(other.path, fixture.path) == 0)
        let database = store.sqlite.database
        // More at once than there are readers yet.
        let refusals = await withTaskGroup(of: StoreError?.self) { group in
            for _ in 0..<5 {
                group.addTask {
                    do throws(StoreError) {
                        let count = try await database.read { db in
                            usleep(200_000)
                            return try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM session")
                        }
                        #expect(count == 1, "readers that are open read the file that they have opened")
                        return nil
                    } catch {
                        return error
                    }
                }
            }
            return await group.reduce(into: [StoreError]()) { if let refusal = $1 { $0.append(refusal) } }
        }
        let expected = StoreError.unavailable(Soundness.replaced(fixture.path))
        #expect(refusals.first == expected)
        #expect(refusals.filter { $0 != expected } == [])
        // A reader is back in the pool a moment after its value has come.
        #expect(await eventually { (try? await store.session(id)) != nil })
    }

    /// Fills the first page of the table with garbage, as a failing disk does.
    private func damage(_ fixture: StoreFixture, _ table: String) async throws {
        let page = try await fixture.outsider().write { db in
            try Int.fetchOne(db, sql: "SELECT rootpage FROM sqlite_master WHERE name = ?", arguments: [table])
        }
        let size = try await fixture.outsider().read { db in try Int.fetchOne(db, sql: "PRAGMA page_size") }
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: fixture.path))
        try file.seek(toOffset: UInt64((try #require(page) - 1) * (try #require(size))))
        try file.write(contentsOf: Data(repeating: 0xA5, count: try #require(size)))
        try file.close()
    }

    @Test func `damage that a read meets ends the acknowledgement of writes`() async throws {
        let fixture = try StoreFixture()
        let first = try fixture.open()
        let id = try await first.signIn("adele", at: fixture.clock)
        await first.close()
        try await damage(fixture, "account")
        let store = try fixture.open()
        #expect(store.databaseProblem == nil)
        await #expect(throws: StoreError.corrupt("\(fixture.path): database disk image is malformed (SQLite 11)")) {
            try await store.session(id)
        }
        #expect(
            store.databaseProblem?.hasPrefix("\(fixture.path) is damaged (database disk image is malformed)") == true)
        // This table is sound.
        await #expect(throws: StoreError.unavailable(store.databaseProblem ?? "")) {
            try await store.sqlite.confirmWritable(now: 0)
        }
        #expect(await !store.probeWritable())
    }

    @Test func `damage that a write meets ends the acknowledgement of all writes`() async throws {
        let fixture = try StoreFixture()
        await (try fixture.open()).close()
        try await damage(fixture, "logout_token")
        let store = try fixture.open()
        await #expect(throws: StoreError.self) { try await store.sqlite.put(logoutTokens: [SHA256Hash(of: "t"): 1]) }
        #expect(store.databaseProblem != nil)
        await #expect(throws: StoreError.unavailable(store.databaseProblem ?? "")) { try await store.requireWritable() }
    }

    @Test func `a server finds damage that nobody has met in the background`() async throws {
        let fixture = try StoreFixture()
        await (try fixture.open()).close()
        try await damage(fixture, "logout_token")
        let store = try fixture.open(isServer: true)
        #expect(await eventually { store.databaseProblem?.contains("is damaged") == true })
    }
}
