import Foundation
import GRDB
import StoreTesting
import Testing

@testable import SQLiteStore
@testable import SessionStore

/// What people without an account may take up, on a real disk.
@Suite struct NewcomerSpaceTests {
    /// `textBytes` of claims, each of which JSON writes with two.
    private func attempt(_ state: String, textBytes: Int) -> NewSignInAttempt {
        var attempt = NewSignInAttempt.sample(state: state)
        attempt.payload = #"{"policy":"of-\#(state)","claims":"\#(String(repeating: "\"", count: textBytes))"}"#
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
        while begun < 5000, try await !store.refuses(attempt("s\(begun)", textBytes: textBytes)) { begun += 1 }
        #expect(begun < 5000)
        // The log is merged into the file each 1000 pages.
        let log = try #require(FileAccess.size(fixture.path + "-wal"))
        #expect(log < 5 << 20)
        await store.close()
        let size = try #require(FileAccess.size(fixture.path))
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
        #expect(try await !store.refuses("soon"), "the disk is looked at once a second")
        fixture.clock.advance(by: .seconds(1))
        #expect(try await store.refuses("late"))
        #expect(try await !store.refuses("member", cookie: member))
        let attempt = try await store.consume("waiting", cookie: waiting)
        _ = try await store.completeSignIn(attempt, account: .sample("megan"), tokens: .sample("m", at: fixture.clock))
        unlink(filler)
        // Also when the clock was set back.
        fixture.clock.advance(by: .seconds(-100))
        #expect(try await !store.refuses("room"))
        await store.close()

        #expect(FileManager.default.createFile(atPath: filler, contents: Data(count: 37 << 20)))
        for (bytes, refuses) in [(0, false), (1 << 20, false), (64 << 20, true)] {
            let limited = try fixture.open(newcomers: .init(freeBytes: bytes))
            #expect(try await limited.refuses("with \(bytes)") == refuses)
            await limited.close()
        }
    }

    @Test func `a refusal is no failure of the database, and proves nothing about its disk`() async throws {
        let fixture = try StoreFixture()
        let failures = Shared(0)
        let store = try fixture.open(newcomers: .init(signIns: 1)) { operation in
            if operation.failed { failures.change { $0 += 1 } }
        }
        #expect(try await !store.refuses("a"))
        #expect(try await store.refuses("b"))
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
}

extension FileAccess {
    static func size(_ path: String) -> Int? {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : nil
    }
}
