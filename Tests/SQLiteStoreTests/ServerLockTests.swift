import Foundation
import StoreTesting
import Testing

@testable import SQLiteStore
@testable import SessionStore

/// A file has one server, and commands beside it.
@Suite(.closesStores) struct ServerLockTests {
    private func refusal(_ fixture: StoreFixture) -> StoreError {
        .unavailable(
            "another server works with the database \(fixture.path), and a file can have only one: stop that server "
                + "first, or give each a database of its own (--database FILE)")
    }

    @Test func `a second server is refused with the reason, and may start when the first has ended`() async throws {
        let fixture = try StoreFixture()
        let first = try fixture.open(isServer: true)
        let id = try await first.signIn("adele", at: fixture.clock)
        #expect(throws: refusal(fixture)) { try fixture.open(isServer: true) }
        // The refused one has changed nothing.
        try await first.signIn("megan", at: fixture.clock)
        await first.close()
        let second = try fixture.open(isServer: true)
        #expect(try await second.session(id) != nil)
    }

    @Test func `commands work beside a server, and a server starts beside commands`() async throws {
        let fixture = try StoreFixture()
        let command = try fixture.open()
        let server = try fixture.open(isServer: true)
        try await server.signIn("adele", at: fixture.clock)
        #expect(try await command.list().count == 1)
        let other = try fixture.open()
        #expect(try await other.revokeAll().count == 1)
        let target = fixture.folder + "/backup.sqlite"
        try SQLiteStore.backUp(databaseAt: fixture.path, to: target)
        #expect(SQLiteStore.health(databaseAt: fixture.path, keyRing: nil).failure == nil)
        #expect(try SQLiteStore.rehearseMigration(databaseAt: fixture.path) == [])
        for store in [command, other, server] { await store.close() }
    }

    @Test func `a database is not migrated under a server of an older version`() throws {
        let fixture = try StoreFixture()
        let outsider = try fixture.outsider()
        try SQLiteSchema.migrator.migrate(outsider, upTo: "1: sessions, accounts, tokens, attempts")
        try outsider.close()
        let waiting = try SQLiteStore.pendingMigrations(databaseAt: fixture.path)
        let lock = try ServerLock(ofDatabaseAt: fixture.path)
        #expect(throws: refusal(fixture)) { try SQLiteStore.migrate(databaseAt: fixture.path) }
        #expect(try SQLiteStore.rehearseMigration(databaseAt: fixture.path) == waiting)
        #expect(try SQLiteStore.pendingMigrations(databaseAt: fixture.path) == waiting)
        #expect(throws: refusal(fixture)) { try SQLiteStore.rewrite(databaseAt: fixture.path) }
        lock.release()
        #expect(try SQLiteStore.migrate(databaseAt: fixture.path) == waiting)
    }

    @Test func `a server that was killed leaves no lock`() async throws {
        let fixture = try StoreFixture()
        await #expect(processExitsWith: .signal(SIGKILL)) { [folder = fixture.folder as String] in
            let ring = try KeyRing.load(orCreateAt: folder + "/companion.key")
            let store = try SQLiteStore(path: folder + "/companion.sqlite", keyRing: ring, isServer: true)
            kill(getpid(), SIGKILL)
            await store.close()
        }
        await (try fixture.open(isServer: true)).close()
    }

    @Test func `a symbolic link to the database has the same lock`() async throws {
        let fixture = try StoreFixture()
        let server = try fixture.open(isServer: true)
        let link = fixture.folder + "/link.sqlite"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: fixture.path)
        let ring = try KeyRing.load(orCreateAt: fixture.keyPath)
        #expect(throws: StoreError.self) { try SQLiteStore(path: link, keyRing: ring, isServer: true) }
        await server.close()
        await (try SQLiteStore(path: link, keyRing: ring, isServer: true)).close()
    }

    @Test(arguments: [false, true])
    func `a lock file that was deleted or replaced is locked again, unless another server has done so`(
        _ isReplaced: Bool
    ) async throws {
        let fixture = try StoreFixture()
        let server = try fixture.open(isServer: true)
        let file = fixture.path + ".lock"
        #expect(unlink(file) == 0)
        if isReplaced { #expect(FileManager.default.createFile(atPath: file, contents: nil)) }
        try await server.signIn("adele", at: fixture.clock)
        #expect(throws: refusal(fixture)) { try fixture.open(isServer: true) }

        #expect(unlink(file) == 0)
        let other = try ServerLock(ofDatabaseAt: fixture.path)
        let problem =
            "\(file) was deleted or replaced: another server works with the database \(fixture.path), and a file can have "
            + "only one: stop that server first, or give each a database of its own (--database FILE)"
        #expect(server.databaseProblem == problem)
        await #expect(throws: StoreError.unavailable(problem)) { try await server.signIn("megan", at: fixture.clock) }
        other.release()
        #expect(other.problem == nil, "what was released is not taken again")
        try await server.signIn("megan", at: fixture.clock)
        #expect(throws: refusal(fixture)) { try fixture.open(isServer: true) }
        await server.close()
        await (try fixture.open(isServer: true)).close()
    }

    @Test func `a server that can make no lock does not start, and reports the reason`() throws {
        let fixture = try StoreFixture()
        try FileManager.default.createDirectory(atPath: fixture.path + ".lock", withIntermediateDirectories: false)
        let refusal = StoreError.unavailable("the lock file \(fixture.path).lock cannot be opened: Is a directory")
        #expect(throws: refusal) { try fixture.open(isServer: true) }
    }
}
