import Foundation
import GRDB
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore
@testable import SessionStore

/// The space that people without an account may take, on a real disk.
@Suite(.closesStores) struct NewcomerSpaceTests {
    @Test(.needsTime("it writes for half a minute"))
    func `the database stays small, however many strangers come back`() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        var largest = NewSignInAttempt.sample(state: "largest")
        largest.payload = Array(repeating: 1, count: 2400)
        for round in 0..<50 {
            try await withThrowingTaskGroup(of: Void.self) { [largest] group in
                for number in 0..<50 {
                    group.addTask {
                        var new = largest
                        new.state = "s\(round) \(number)"
                        let kept = try store.seal(new, in: nil, for: BegunSignIn.browser)
                        guard let begun = kept.flatMap({ store.open($0, state: new.state, for: BegunSignIn.browser) })
                        else { throw UnexpectedOutcome(name: "it does not open") }
                        try await store.failSignIn(try await store.consume(begun))
                    }
                }
                try await group.waitForAll()
            }
        }
        #expect(try await fixture.newcomers() == SignInRules.maxNewcomers)
        #expect(try await store.list(limit: 5000).count == SignInRules.maxNewcomers)
        // The log is merged into the file each 1000 pages.
        #expect(try #require(FileAccess.size(fixture.path + "-wal")) < 5 << 20)
        await store.close()
        #expect(try #require(FileAccess.size(fixture.path)) < 1 << 20)
    }

    /// A busy server reads only the attempts of newcomers, the oldest first.
    @Test func `newcomers are counted and found by their index`() async throws {
        let fixture = try StoreFixture()
        await (try fixture.open()).close()
        let plans = try await fixture.outsider().read { db in
            try [
                "SELECT COUNT(*) FROM sign_in_attempt WHERE is_newcomers = 1",
                """
                SELECT state_hash, session FROM sign_in_attempt
                WHERE is_newcomers = 1 AND (failed_at IS NOT NULL OR completed_at IS NOT NULL OR consumed_at < 1)
                ORDER BY consumed_at LIMIT 1
                """,
            ].map { sql in
                try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + sql).map { $0["detail"] as String }.joined()
            }
        }
        #expect(plans.allSatisfy { $0.contains("INDEX sign_in_attempt_of_newcomers") }, "\(plans)")
        #expect(plans.allSatisfy { !$0.contains("TEMP B-TREE") }, "\(plans)")
    }

    private func refuses(_ store: SessionStore, _ begun: BegunSignIn, cookie: SessionID? = nil) async throws -> Bool {
        do throws(StoreError) {
            _ = try await store.consume(begun, code: "code", cookie: cookie)
            return false
        } catch {
            guard case .noRoom = error else { throw error }
            #expect(error.isUnavailable)
            return true
        }
    }

    /// Only root may mount a small disk.
    @Test(.enabled(if: geteuid() == 0 && Mount.works))
    func `a nearly full disk refuses only newcomers, until there is room`() async throws {
        let fixture = try StoreFixture()
        try Mount.tmpfs(at: fixture.folder, options: "size=40m")
        defer { Mount.unmount(fixture.folder) }
        let failures = Shared(0)
        // A tenth of this disk, which is less than 64 MB.
        let store = try fixture.open(freeBytes: SessionStore.Configuration.standardFreeBytes) { operation in
            if operation.failed { failures.change { $0 += 1 } }
        }
        let member = try await store.signIn("adele", at: fixture.clock)
        let attempt = try await store.consume(try await store.begin("redeemed"))
        let late = try await store.begin("late")
        let filler = fixture.folder + "/filler"
        #expect(FileManager.default.createFile(atPath: filler, contents: Data(count: 37 << 20)))
        try store.requireRoom()
        #expect(try await !refuses(store, store.begin("soon")), "the disk is looked at once a second")
        fixture.clock.advance(by: .seconds(1))
        #expect(throws: StoreError.self) { try store.requireRoom() }
        let sessions = try await store.list()
        #expect(try await refuses(store, late))
        #expect(try await store.list() == sessions, "a refusal leaves nothing behind")
        #expect(failures.value == 0, "and is no failure of the database")
        #expect(try await !refuses(store, store.begin("member", cookie: member), cookie: member))
        _ = try await store.completeSignIn(attempt, account: .sample("megan"), tokens: .sample("m", at: fixture.clock))
        unlink(filler)
        // Also when the clock was set back.
        fixture.clock.advance(by: .seconds(-100))
        #expect(try await !refuses(store, late), "what was refused was not consumed")
        await store.close()

        #expect(FileManager.default.createFile(atPath: filler, contents: Data(count: 37 << 20)))
        for (bytes, refusal) in [(0, false), (1 << 20, false), (64 << 20, true)] {
            let limited = try fixture.open(freeBytes: bytes)
            #expect(try await refuses(limited, limited.begin("with \(bytes)")) == refusal)
            await limited.close()
        }
    }

    @Test func `a transaction that wrote nothing proves nothing about the disk`() async throws {
        let fixture = try StoreFixture()
        var store = try fixture.open()
        let member = try await store.signIn("adele", at: fixture.clock)
        await store.close()
        store = try fixture.open()
        let begun = try await store.begin("s", cookie: member)
        try await fixture.outsider().write { db in
            try db.execute(
                sql: "CREATE TRIGGER fault BEFORE INSERT ON write_probe BEGIN SELECT RAISE(ABORT, 'a fault'); END")
        }
        #expect(try await store.consume(begun, code: nil, cookie: nil).name == "otherBrowser")
        #expect(await !store.probeWritable())
    }
}

extension FileAccess {
    static func size(_ path: String) -> Int? {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : nil
    }
}
