import Foundation
import GRDB
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore
@testable import SessionStore

/// The effect of a locked, slow, damaged or replaced file on a read on the asking thread, and of that read on others.
@Suite(.closesStores) struct WorkerReadTests {
    @Test func `a write lock of another process holds no read up`() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open(cacheBytes: 0, hasStoppedClock: true)
        let id = try await store.signIn("adele", at: fixture.clock)
        let outsider = try fixture.outsider()
        try await outsider.writeWithoutTransaction { db in
            try db.execute(sql: "BEGIN EXCLUSIVE; UPDATE account SET username = 'changed'")
        }
        #expect(store.sessionNow(id).found?.accounts.map(\.identity.username) == ["adele@contoso.example"])
        try await outsider.writeWithoutTransaction { db in try db.commit() }
        #expect(store.sessionNow(id).found?.accounts.map(\.identity.username) == ["changed"])
    }

    @Test func `a checkpoint waits for no read`() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open(cacheBytes: 0, hasStoppedClock: true)
        let id = try await store.signIn("adele", at: fixture.clock)
        let session = try #require(store.sessionNow(id).found)
        #expect(store.accessTokenNow(of: session.key(of: session.accounts[0]), scopes: ["user.read"]).found != nil)
        // This read ends early, because the row does not exist.
        #expect(store.sessionNow(SessionID(randomBytes: SessionStore.secureRandomBytes)).isAbsent)
        let isBusy = try await fixture.outsider().writeWithoutTransaction { db in
            try Int.fetchOne(db, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
        }
        #expect(isBusy == 0)
        let log = try FileManager.default.attributesOfItem(atPath: fixture.path + "-wal")
        #expect(log[.size] as? Int == 0)
    }

    @Test func `an immediate read leaves damaged data to one that waits, which reports it`() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open(cacheBytes: 0, hasStoppedClock: true)
        let id = try await store.signIn("adele", at: fixture.clock)
        try await fixture.outsider().writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
        }
        // Everything but the page that says what tables there are.
        let size = try FileManager.default.attributesOfItem(atPath: fixture.path)[.size] as? Int ?? 0
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: fixture.path))
        try file.seek(toOffset: 4096)
        try file.write(contentsOf: Data(repeating: 0xFF, count: size - 4096))
        try file.close()
        #expect(store.sessionNow(id).mustWait)
        await #expect {
            try await store.session(id)
        } throws: { error in
            guard case .corrupt = error as? StoreError else { return false }
            return true
        }
    }

    @Test func `an immediate read leaves claims that do not open to one that waits, which reports it`() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open(cacheBytes: 0, hasStoppedClock: true)
        let id = try await store.signIn("adele", at: fixture.clock)
        try await fixture.outsider().write { db in try db.execute(sql: "UPDATE account_secret SET claims = x'01'") }
        #expect(store.sessionNow(id).mustWait)
        await #expect(throws: StoreError.corrupt("a sealed value in \(fixture.path) has an unknown form")) {
            try await store.session(id)
        }
    }

    @Test func `an access token is opened when it is used, not when its session is read`() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open(hasStoppedClock: true)
        let id = try await store.signIn("adele", at: fixture.clock)
        try await fixture.outsider().write { db in try db.execute(sql: "UPDATE access_token SET token = x'01'") }
        let session = try #require(store.sessionNow(id).found)
        let key = session.key(of: session.accounts[0])
        for _ in 1...2 {
            #expect(store.accessTokenNow(of: key, scopes: ["mail.read"]).isAbsent)
            #expect(store.accessTokenNow(of: key, scopes: ["user.read"]).mustWait)
            await #expect(throws: StoreError.corrupt("a sealed value in \(fixture.path) has an unknown form")) {
                try await store.accessToken(of: key, scopes: ["user.read"])
            }
        }
    }

    @Test func `after a slow read there are no immediate reads for a second`() async throws {
        let fixture = try StoreFixture()
        try await fixture.open(hasStoppedClock: true).close()
        let time = Shared(ContinuousClock.now)
        let readers = ImmediateReaders(path: fixture.path, limit: 2) { time.value }
        func read(taking duration: Duration) -> Bool {
            readers.read { _ in
                time.change { $0 += duration }
                return 1
            }.found == 1
        }
        #expect(read(taking: ImmediateReaders.patience))
        #expect(read(taking: ImmediateReaders.patience + .nanoseconds(1)))
        #expect(!read(taking: .zero))
        time.change { $0 += ImmediateReaders.pause - .nanoseconds(1) }
        #expect(!read(taking: .zero))
        time.change { $0 += .nanoseconds(1) }
        #expect(read(taking: .zero))
        #expect(read(taking: .zero))
        readers.close()
    }

    @Test func `a read that finds all connections in use does not wait for one`() async throws {
        let fixture = try StoreFixture()
        try await fixture.open(hasStoppedClock: true).close()
        let readers = Self.readers(fixture)
        let nested = readers.read { _ in
            readers.read { _ in
                readers.read { _ in 3 }.mustWait
            }.found
        }
        #expect(nested.found == true)
        #expect(readers.read { _ in 1 }.found == 1, "they were given back")
        readers.close()
        #expect(readers.read { _ in 1 }.mustWait)
    }

    @Test func `another file of the same name is not read`() async throws {
        let (fixture, other) = (try StoreFixture(), try StoreFixture())
        let (store, stranger) = (try fixture.open(cacheBytes: 0, hasStoppedClock: true), try other.open(cacheBytes: 0))
        let id = try await store.signIn("adele", at: fixture.clock)
        let theirs = try await stranger.signIn("megan", at: other.clock)
        await stranger.close()
        let (early, late) = (Self.readers(fixture), Self.readers(fixture))
        #expect(early.read { try $0.session(id.hash) }.found?.accounts.count == 1)
        try FileManager.default.moveItem(atPath: fixture.path, toPath: fixture.path + "-moved")
        try FileManager.default.copyItem(atPath: other.path, toPath: fixture.path)
        #expect(early.read { try $0.session(id.hash) }.found?.accounts.count == 1, "the file that it has open")
        #expect(early.read { try $0.session(theirs.hash) }.isAbsent)
        #expect(late.read { try $0.session(theirs.hash) }.mustWait)
        early.close()
    }

    /// To which no disk is slow.
    private static func readers(_ fixture: StoreFixture) -> ImmediateReaders {
        let start = ContinuousClock.now
        return ImmediateReaders(path: fixture.path, limit: 2) { start }
    }
}
