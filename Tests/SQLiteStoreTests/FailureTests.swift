import Foundation
import GRDB
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore
@testable import SessionStore

/// The disk is full, the file read-only, the write lock taken: nobody is signed out, and it ends by itself.
@Suite(.closesStores) struct FailureTests {
    /// The rules that hold while nothing can be written, and again afterwards.
    func survives(
        _ store: SessionStore, _ clock: StoreClock, smallWritesMayFit: Bool = false,
        break breakIt: () async throws -> Void,
        mend: () async throws -> Void
    ) async throws {
        let cached = try await store.signIn("adele", at: clock)
        let uncached = try await store.signIn("megan", at: clock)
        let waiting = try await store.begin("waiting")
        let attempt = try await store.consume(try await store.begin("consumed"))
        let key = try #require(try await store.session(cached)?.key)

        try await breakIt()
        var refusals: [String: Bool] = [:]
        func record(_ name: String, _ body: () async throws -> Void) async {
            do {
                try await body()
            } catch {
                refusals[name] = (error as? StoreError)?.isUnavailable
            }
        }
        // To leave writes nothing.
        _ = try await store.begin("new")
        await record("consume") { _ = try await store.consume(waiting, code: "c", cookie: nil) }
        await record("fail") { try await store.failSignIn(attempt) }
        await record("complete") {
            _ = try await store.completeSignIn(attempt, account: .sample("lee"), tokens: .sample("l", at: clock))
        }
        await record("refresh") {
            try await store.storeRefreshed(
                AccountKey(session: key, app: "ios", id: "adele.tenant"), tokens: .sample("r", at: clock))
        }
        await record("sign out") {
            _ = try await store.removeAccount(
                AccountKey(session: key, app: "ios", id: "adele.tenant"), keepAsPrevious: true)
        }
        #expect(
            refusals == [
                "consume": true, "fail": true, "complete": true, "refresh": true, "sign out": true,
            ])
        if !smallWritesMayFit {
            await #expect(throws: StoreError.self) { try await store.purgeExpired() }
            #expect(await !store.probeWritable())
        }
        #expect(store.cachedSession(cached).session != nil)
        #expect(try await store.session(uncached)?.currentAccount(for: "ios")?.id == "megan.tenant")

        try await mend()
        #expect(await store.probeWritable())
        #expect(try await store.consume(waiting, code: "c", cookie: nil).name == "attempt")
        let completed = try await store.completeSignIn(
            attempt, account: .sample("lee"), tokens: .sample("l", at: clock))
        #expect(try await store.session(completed) != nil)
        try await store.storeRefreshed(
            AccountKey(session: key, app: "ios", id: "adele.tenant"), tokens: .sample("r", at: clock))
        // Uses from the time when nothing could be written are written now.
        _ = try await store.purgeExpired()
        #expect(try await store.list().first { $0.key == key }?.lastSeenAt == clock.now)
        #expect(try await store.session(cached) != nil)
    }

    @Test func `a use that could not be written is written the next time`() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        let id = try await store.signIn("adele", at: fixture.clock)
        #expect(try await store.session(id) != nil)
        fixture.clock.advance(by: .seconds(300))
        let used = fixture.clock.now
        #expect(store.cachedSession(id).session != nil)
        fixture.clock.advance(by: .seconds(60))
        try await fixture.outsider().write { db in
            try db.execute(
                sql: """
                    CREATE TRIGGER refusal BEFORE UPDATE OF last_seen_at ON session
                    BEGIN SELECT RAISE(ABORT, 'no'); END
                    """)
        }
        await #expect(throws: StoreError.self) { try await store.writeLastUses() }
        try await fixture.outsider().write { db in try db.execute(sql: "DROP TRIGGER refusal") }
        try await store.writeLastUses()
        #expect(try await store.list().first?.lastSeenAt == used)
    }

    @Test func `a database that may not grow refuses sign-ins until it may`() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        let id = try await store.signIn("adele", at: fixture.clock)
        try await store.sqlite.database.onWriter { db in
            let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
            try db.execute(sql: "PRAGMA max_page_count = \(pages)")
        }
        var error: StoreError?
        var states: [String] = []
        while error == nil && states.count < 1000 {
            let state = "s\(states.count)"
            let begun = try await store.begin(state)
            do throws(StoreError) {
                _ = try await store.consume(begun, code: "code", cookie: nil)
                states.append(state)
            } catch let refusal {
                error = refusal
            }
        }
        #expect(error == .unavailable("\(fixture.path): database or disk is full (SQLite 13)"))
        #expect(try await store.session(id) != nil)
        try await store.sqlite.database.onWriter { db in try db.execute(sql: "PRAGMA max_page_count = 1000000") }
        _ = try await store.consume(try await store.begin("afterwards"))
        #expect(try await store.list().count == 1 + states.count + 1)
    }

    @Test func `while the database is read-only, writes are refused and people stay signed in`() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        try await survives(store, fixture.clock) {
            fixture.clock.advance(by: .seconds(5))
            try await store.sqlite.database.onWriter { db in try db.execute(sql: "PRAGMA query_only = 1") }
        } mend: {
            try await store.sqlite.database.onWriter { db in try db.execute(sql: "PRAGMA query_only = 0") }
        }
    }

    @Test func `while another process has locked the database, writes are refused and people stay signed in`()
        async throws
    {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        let outsider = try fixture.outsider()
        try await survives(store, fixture.clock) {
            fixture.clock.advance(by: .seconds(5))
            try await outsider.writeWithoutTransaction { db in try db.beginTransaction(.immediate) }
        } mend: {
            try await outsider.writeWithoutTransaction { db in try db.rollback() }
        }
    }

    /// A real full disk: a small file system in memory. Only root may mount it.
    @Test(.enabled(if: geteuid() == 0 && Mount.works))
    func `while the disk is full, writes are refused and people stay signed in`() async throws {
        let fixture = try StoreFixture()
        try Mount.tmpfs(at: fixture.folder, options: "size=4m")
        defer { Mount.unmount(fixture.folder) }
        let store = try fixture.open()
        let filler = fixture.folder + "/filler"
        // The log has grown by what the refused writes got in: a write of one page finds room there.
        try await survives(store, fixture.clock, smallWritesMayFit: true) {
            fixture.clock.advance(by: .seconds(5))
            let descriptor = open(filler, O_WRONLY | O_CREAT, 0o600)
            let zeros = [UInt8](repeating: 0, count: 4096)
            while write(descriptor, zeros, zeros.count) > 0 {}
            close(descriptor)
        } mend: {
            unlink(filler)
        }
    }

    @Test(.enabled(if: geteuid() == 0 && Mount.works))
    func `a store on a read-only disk does not open, and reports the reason`() async throws {
        let fixture = try StoreFixture()
        try Mount.tmpfs(at: fixture.folder, options: "size=4m")
        defer { Mount.unmount(fixture.folder) }
        let store = try fixture.open()
        let id = try await store.signIn("adele", at: fixture.clock)
        await store.close()
        try Mount.remount(fixture.folder, readOnly: true)
        let refusal = StoreError.unavailable("the database \(fixture.path) cannot be written: Read-only file system")
        #expect(throws: refusal) { try fixture.open() }
        try Mount.remount(fixture.folder, readOnly: false)
        let again = try fixture.open()
        #expect(try await again.session(id) != nil)
    }

    @Test func `many waiting writers all get their answer when the database is locked`() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        let outsider = try fixture.outsider()
        try await outsider.writeWithoutTransaction { db in try db.beginTransaction(.immediate) }
        let refused = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<500 {
                group.addTask {
                    do {
                        _ = try await store.consume(try await store.begin("s\(number)"))
                        return false
                    } catch {
                        return (error as? StoreError)?.isUnavailable == true
                    }
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(refused == 500)
        try await outsider.writeWithoutTransaction { db in try db.rollback() }
        _ = try await store.consume(try await store.begin("afterwards"))
    }

    @Test func `one refused write does not undo the others in its transaction`() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        let done = try await store.consume(try await store.begin("done"))
        _ = try await store.completeAttempt(done)
        let outcomes = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<100 {
                group.addTask {
                    // Every second one is refused: it ends what has ended.
                    guard number.isMultiple(of: 2) else { return (try? await store.completeAttempt(done)) != nil }
                    return (try? await store.consume(try await store.begin("s\(number)"))) != nil
                }
            }
            return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
        #expect(outcomes == [true: 50, false: 50])
        #expect(try await store.list().count == 51)
    }

    @Test func `a closed store refuses reads and writes`() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        let id = try await store.signIn("adele", at: fixture.clock)
        let begun = try await store.begin("s")
        await store.close()
        await #expect(throws: StoreError.unavailable("\(fixture.path) is closed")) { try await store.session(id) }
        await #expect(throws: StoreError.unavailable("\(fixture.path) is closed")) {
            try await store.consume(begun)
        }
        #expect(await !store.probeWritable())
    }

    @Test func `a cancelled caller does not lose its write`() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await store.signIn("adele", at: fixture.clock)
        }
        let id = try await task.value
        #expect(try await store.session(id) != nil)
    }
}

/// Files that are not a database of ours, or not of this version.
@Suite(.closesStores) struct OpeningTests {
    func error(_ fixture: StoreFixture) throws -> StoreError? {
        do {
            _ = try fixture.open()
            return nil
        } catch let error as StoreError {
            return error
        }
    }

    @Test func `a database of a newer version is refused and left alone`() async throws {
        let fixture = try StoreFixture()
        await (try fixture.open()).close()
        try await fixture.outsider().write { db in
            try db.execute(sql: "INSERT INTO grdb_migrations (identifier) VALUES ('99: from the future')")
        }
        let error = try error(fixture)
        guard case .newerSchema(let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains("newer version of companion"))
    }

    /// The files that a kill during the first start leaves behind.
    @Test(arguments: ["", "CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)"])
    func `a first start that was cut off is taken up`(_ sql: String) async throws {
        let fixture = try StoreFixture()
        try await fixture.outsider().write { db in try db.execute(sql: sql) }
        let store = try fixture.open()
        let id = try await store.signIn("adele", at: fixture.clock)
        #expect(try await store.session(id) != nil)
    }

    @Test func `another application's database is refused`() async throws {
        let fixture = try StoreFixture()
        try await fixture.outsider().write { db in try db.execute(sql: "CREATE TABLE session (theirs)") }
        #expect(
            try error(fixture)
                == .corrupt("\(fixture.path) is another application's database. Choose another file."))
    }

    @Test func `a file that is no database is refused`() throws {
        let fixture = try StoreFixture()
        try Data(repeating: 65, count: 8192).write(to: URL(fileURLWithPath: fixture.path))
        guard case .corrupt = try error(fixture) else {
            Issue.record("not refused as damaged")
            return
        }
    }

    @Test func `sessions can be listed while another connection holds the write lock`() async throws {
        let fixture = try StoreFixture()
        let server = try fixture.open()
        try await server.signIn("adele", at: fixture.clock)
        let outsider = try fixture.outsider()
        try await outsider.writeWithoutTransaction { db in try db.beginTransaction(.immediate) }
        let commandLine = try fixture.open()
        #expect(try await commandLine.list().count == 1)
        try await outsider.writeWithoutTransaction { db in try db.rollback() }
    }

    @Test func `the error names a missing folder`() throws {
        let fixture = try StoreFixture()
        let ring = try KeyRing.load(orCreateAt: fixture.keyPath)
        let path = fixture.folder + "/missing/companion.sqlite"
        #expect(throws: StoreError.unavailable("the database \(path) cannot be made: No such file or directory")) {
            try SQLiteStore(path: path, keyRing: ring)
        }
    }

    @Test func `the file syncs every commit and enforces foreign keys`() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        let pragmas = try await store.sqlite.database.onWriter { db in
            try ["journal_mode", "synchronous", "foreign_keys", "busy_timeout"].map { name in
                try String.fetchOne(db, sql: "PRAGMA \(name)")
            }
        }
        #expect(pragmas == ["wal", "2", "1", "300"])
    }
}

/// Mounting for the tests of a real full and a real read-only disk.
enum Mount {
    static let works: Bool = {
        let folder = TemporaryFolder.ofProcess.path + "/companion-mount-\(getpid())"
        try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        guard (try? tmpfs(at: folder, options: "size=1m")) != nil else { return false }
        unmount(folder)
        return true
    }()

    static func tmpfs(at folder: String, options: String) throws {
        guard mount("tmpfs", folder, "tmpfs", 0, options) == 0 else { throw POSIXError(.EPERM) }
    }

    static func remount(_ folder: String, readOnly: Bool) throws {
        let flags = UInt(MS_REMOUNT) | (readOnly ? UInt(MS_RDONLY) : 0)
        guard mount("tmpfs", folder, "tmpfs", flags, nil) == 0 else { throw POSIXError(.EPERM) }
    }

    static func unmount(_ folder: String) {
        umount2(folder, Int32(MNT_DETACH))
    }
}

extension SessionStore {
    /// Its backend.
    var sqlite: SQLiteStore {
        guard let store = backend as? SQLiteStore else { preconditionFailure("opened with another backend") }
        return store
    }
}

extension StoreDatabase {
    /// The writer's connection, to put it into a state that a disk or another process would.
    func onWriter<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            pool.asyncWriteWithoutTransaction { db in continuation.resume(with: Result { try body(db) }) }
        }
    }
}
