import Foundation
import GRDB
import Glibc
import Testing

@testable import SessionStore

/// What people without an account may take up, on a real file.
@Suite struct NewcomerLimitTests {
    private func isRefused(_ store: SessionStore, _ state: String, cookie: SessionID? = nil) async throws -> Bool {
        try await isRefused(store, .sample(state: state), cookie: cookie)
    }

    private func isRefused(_ store: SessionStore, _ attempt: NewSignInAttempt, cookie: SessionID? = nil) async throws
        -> Bool
    {
        do {
            _ = try await store.beginSignIn(attempt, cookie: cookie)
            return false
        } catch let error {
            guard case .noRoom = error else { throw error }
            return true
        }
    }

    private func counted(_ fixture: StoreFixture) async throws -> [Int] {
        try await fixture.outsider().read { db in
            func numbers(_ sql: String) throws -> [Int] {
                guard let row = try Row.fetchOne(db, sql: sql) else { return [] }
                return [try row.decode(atIndex: 0), try row.decode(atIndex: 1)]
            }
            let counted = try numbers("SELECT count, bytes FROM newcomers")
            // What the triggers counted is what there is.
            let there = try numbers("SELECT COUNT(*), COALESCE(SUM(weight), 0) FROM sign_in_attempt WHERE weight > 0")
            #expect(counted == there)
            return counted
        }
    }

    @Test func `at the limit newcomers are refused, and everybody else goes on`() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open(newcomers: .init(signIns: 3))
        let member = try await store.signIn("adele", at: fixture.clock)
        let waiting = try await store.beginSignIn(.sample(state: "waiting"), cookie: nil)
        for state in ["a", "b"] { #expect(try await !isRefused(store, state)) }
        #expect(try await isRefused(store, "c"))
        #expect(try await store.list().count == 4, "a refusal leaves nothing behind")
        // The same session begins again, or with another application, when somebody is signed in there.
        for state in ["m1", "m2"] { #expect(try await !isRefused(store, state, cookie: member)) }
        let attempt = try await store.consume("waiting", cookie: waiting.sessionID)
        let id = try await store.completeSignIn(
            attempt, account: .sample("megan"), tokens: .sample("m", at: fixture.clock))
        #expect(try await store.session(id)?.key == waiting.session)
        // With the account its place is free, and no more than that.
        #expect(try await !isRefused(store, "d"))
        #expect(try await isRefused(store, "e"))
        for state in ["a", "b", "d"] { _ = try await store.consumeAttempt(state: state, code: "c", cookie: nil) }
        #expect(try await counted(fixture)[0] == 3)
        await store.close()
    }

    @Test func `who cancelled may try again at the limit, but no more often at once`() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open(newcomers: .init(signIns: 3))
        let id = try await store.beginSignIn(.sample(state: "first"), cookie: nil).sessionID
        for state in ["a", "b"] { #expect(try await !isRefused(store, state)) }
        #expect(try await isRefused(store, "second", cookie: id), "the first is at the provider")
        let attempt = try await store.consume("first", cookie: id)
        #expect(try await isRefused(store, "second", cookie: id), "its code is being redeemed")
        try await store.failSignIn(attempt)
        #expect(try await !isRefused(store, "second", cookie: id))
        #expect(try await isRefused(store, "third", cookie: id))
        #expect(try await store.consume("second", cookie: id).session == attempt.session)
        #expect(try await counted(fixture)[0] == 3)
        await store.close()
    }

    @Test func `who ended in one application does not take the place of another person`() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open(newcomers: .init(signIns: 2))
        let other = try await store.beginSignIn(.sample(state: "other"), cookie: nil).sessionID
        try await store.failSignIn(try await store.consume("other", cookie: other))
        let id = try await store.beginSignIn(.sample(state: "mine"), cookie: nil).sessionID
        #expect(try await isRefused(store, "again", cookie: id))
        #expect(try await store.consumeAttempt(state: "other", code: "code-of-other", cookie: other).name == "failed")
        await store.close()
    }

    @Test func `the count is right after a restart, a purge and a revocation`() async throws {
        let fixture = try StoreFixture()
        let limits = SessionStore.NewcomerLimits(signIns: 4)
        var store = try fixture.open(newcomers: limits)
        let first = try await store.beginSignIn(.sample(state: "first"), cookie: nil)
        for state in ["a", "b", "c"] { #expect(try await !isRefused(store, state)) }
        await store.close()
        store = try fixture.open(newcomers: limits)
        #expect(try await isRefused(store, "d"))
        #expect(try await store.revoke(first.session))
        #expect(try await counted(fixture)[0] == 3)
        #expect(try await !isRefused(store, "d"))
        #expect(try await isRefused(store, "e"))
        // The command line purges beside the server.
        fixture.clock.advance(by: .seconds(1921))
        let commandLine = try fixture.open()
        #expect(try await commandLine.purgeExpired() == 4)
        await commandLine.close()
        #expect(try await counted(fixture) == [0, 0])
        for state in ["1", "2", "3", "4"] { #expect(try await !isRefused(store, state)) }
        #expect(try await isRefused(store, "5"))
        await store.close()
    }

    @Test func `a session whose account was signed out is a newcomer's again`() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open(newcomers: .init(signIns: 1))
        let member = try await store.signIn("adele", at: fixture.clock)
        #expect(try await !isRefused(store, "newcomer"))
        let key = try #require(try await store.session(member)?.key)
        let id = try await store.removeAccount(key, app: "ios", accountID: "adele.tenant", keepAsPrevious: true)
        #expect(try await isRefused(store, "again", cookie: id))
        await store.close()
    }

    @Test func `an old session's cookie does not make a newcomer a member`() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open(idle: .seconds(120), newcomers: .init(signIns: 1))
        let old = try await store.signIn("adele", at: fixture.clock)
        fixture.clock.advance(by: .seconds(121))
        #expect(try await !isRefused(store, "newcomer"))
        #expect(try await isRefused(store, "again", cookie: old))
        await store.close()
    }

    @Test func `0 sets no limit`() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open(newcomers: .init(signIns: 0, bytes: 0, freeBytes: 0))
        for number in 0..<20 { #expect(try await !isRefused(store, "s\(number)")) }
        await store.close()
    }

    /// `textBytes` of claims, each of which JSON writes with two.
    private func attempt(_ state: String, textBytes: Int) -> NewSignInAttempt {
        var attempt = NewSignInAttempt.sample(state: state)
        attempt.attributes["claims"] = String(repeating: "/", count: textBytes)
        if textBytes > 0 {
            attempt.requestedScopes = [String(repeating: "s", count: 512)]
            attempt.returnTo = "/" + String(repeating: "r", count: 511)
        }
        return attempt
    }

    /// The sizes are those that fit worst into pages of 4096 bytes, and the largest that an address can ask for.
    @Test(arguments: [0, 100, 400, 1000, 1450, 2048])
    func `the database stays below its limit, whatever strangers write into their sign-ins`(textBytes: Int)
        async throws
    {
        let fixture = try StoreFixture()
        let megabytes = 3
        let store = try fixture.open(newcomers: .init(signIns: 0, bytes: megabytes << 20))
        var begun = 0
        while begun < 5000, try await !isRefused(store, attempt("s\(begun)", textBytes: textBytes)) { begun += 1 }
        #expect(begun < 5000)
        // The log is merged into the file each 1000 pages.
        let log = try #require(StoreInspection.File.size(fixture.path + "-wal"))
        #expect(log < 5 << 20)
        await store.close()
        let size = try #require(StoreInspection.File.size(fixture.path))
        #expect(size < megabytes << 20, "\(begun) sign-ins")
        // And it is no smaller than it says: ordinary sign-ins fill a fifth of it, large ones nearly all.
        #expect(size > (megabytes << 20) / (textBytes < 1000 ? 5 : 2), "\(begun) sign-ins")
    }

    /// Only root may mount a small disk.
    @Test(.enabled(if: geteuid() == 0 && Mount.works))
    func `a nearly full disk refuses newcomers alone, until there is room`() async throws {
        let fixture = try StoreFixture()
        try Mount.tmpfs(at: fixture.folder, options: "size=40m")
        defer { Mount.unmount(fixture.folder) }
        // A tenth of this disk, which is less than 64 MB.
        let store = try fixture.open()
        let member = try await store.signIn("adele", at: fixture.clock)
        let waiting = try await store.beginSignIn(.sample(state: "waiting"), cookie: nil).sessionID
        let filler = fixture.folder + "/filler"
        #expect(FileManager.default.createFile(atPath: filler, contents: Data(count: 37 << 20)))
        #expect(try await !isRefused(store, "soon"), "the disk is looked at once a second")
        fixture.clock.advance(by: .seconds(1))
        #expect(try await isRefused(store, "late"))
        #expect(try await !isRefused(store, "member", cookie: member))
        let attempt = try await store.consume("waiting", cookie: waiting)
        _ = try await store.completeSignIn(attempt, account: .sample("megan"), tokens: .sample("m", at: fixture.clock))
        unlink(filler)
        // Also when the clock was set back.
        fixture.clock.advance(by: .seconds(-100))
        #expect(try await !isRefused(store, "room"))
        await store.close()

        #expect(FileManager.default.createFile(atPath: filler, contents: Data(count: 37 << 20)))
        for (bytes, refuses) in [(0, false), (1 << 20, false), (64 << 20, true)] {
            let limited = try fixture.open(newcomers: .init(freeBytes: bytes))
            #expect(try await isRefused(limited, "with \(bytes)") == refuses)
            await limited.close()
        }
    }

    @Test func `a refusal is no failure of the database, and proves nothing about its disk`() async throws {
        let fixture = try StoreFixture()
        let failures = Shared(0)
        let store = try fixture.open(newcomers: .init(signIns: 1)) { operation in
            if operation.failed { failures.change { $0 += 1 } }
        }
        #expect(try await !isRefused(store, "a"))
        #expect(try await isRefused(store, "b"))
        #expect(failures.value == 0)
        #expect(StoreError.noRoom("x").isUnavailable)
        await store.close()

        let quiet = try fixture.open(newcomers: .init(signIns: 1))
        try await fixture.outsider().write { db in
            try db.execute(
                sql: "CREATE TRIGGER fault BEFORE INSERT ON write_probe BEGIN SELECT RAISE(ABORT, 'a fault'); END")
        }
        #expect(try await quiet.consumeAttempt(state: "nobody's", code: nil, cookie: nil).name == "unknown")
        #expect(await !quiet.probeWritable(), "a transaction that wrote nothing is no proof")
        await quiet.close()
    }

    @Test func `a refused newcomer does not undo what shares the transaction`() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open(newcomers: .init(signIns: 10))
        let outcomes = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<100 { group.addTask { try await isRefused(store, "s\(number)") } }
            return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
        #expect(outcomes == [false: 10, true: 90])
        #expect(try await counted(fixture)[0] == 10)
        await store.close()
    }
}

extension StoreInspection.File {
    static func size(_ path: String) -> Int? {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : nil
    }
}
