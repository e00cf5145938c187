import Foundation
import StoreTesting
import Testing

@testable import SQLiteStore
@testable import SessionStore

@Suite(.closesStores) struct BackupTests {
    @Test func `a backup under load is restored with its key file, and its tokens open`() async throws {
        let fixture = try StoreFixture()
        let server = try fixture.open()
        var before: [SessionID] = []
        for number in 0..<20 { before.append(try await server.signIn("before\(number)", at: fixture.clock)) }
        let target = fixture.folder + "/backup.sqlite"
        let clock = fixture.clock
        let during = Task {
            for number in 0..<50 { try await server.signIn("during\(number)", at: clock) }
        }
        try SQLiteStore.backUp(databaseAt: fixture.path, to: target)
        try await during.value
        #expect(FileAccess(target)?.mode == 0o600)

        let elsewhere = try StoreFixture()
        try FileManager.default.copyItem(atPath: target, toPath: elsewhere.path)
        try FileManager.default.copyItem(atPath: fixture.keyPath, toPath: elsewhere.keyPath)
        let restored = try elsewhere.open()
        for (number, id) in before.enumerated() {
            let session = try #require(try await restored.session(id))
            let account = try #require(session.currentAccount(for: "ios"))
            #expect(account.idTokenClaims == #"{"nonce":"claim-of-before\#(number)"}"#)
            let token = try await restored.refreshToken(of: session.key(of: account))
            #expect(token == "refresh-before\(number)")
        }
        // Row numbers go on where they were: a sealed value's identity is never given again.
        let last = try #require(try await restored.list().last?.key)
        let new = try await restored.signIn("after", at: elsewhere.clock)
        #expect(try #require(try await restored.session(new)?.key).value > last.value)
        await restored.close()
        await server.close()
        #expect(try fixture.files() == ["backup.sqlite", "companion.key", "companion.sqlite"])
    }

    @Test func `a backup does not replace another file`() async throws {
        let fixture = try StoreFixture()
        await (try fixture.open()).close()
        let target = fixture.folder + "/precious"
        try Data("precious".utf8).write(to: URL(fileURLWithPath: target))
        #expect(throws: StoreError.unavailable("\(target) exists already and was not changed: name another file")) {
            try SQLiteStore.backUp(databaseAt: fixture.path, to: target)
        }
        #expect(try String(contentsOfFile: target, encoding: .utf8) == "precious")
        #expect(try fixture.files() == ["companion.key", "companion.sqlite", "precious"])
    }

    @Test(arguments: ["/missing/backup.sqlite", "/companion.key/backup.sqlite"])
    func `a backup that cannot be written says so and leaves nothing`(_ target: String) async throws {
        let fixture = try StoreFixture()
        await (try fixture.open()).close()
        #expect(throws: StoreError.self) {
            try SQLiteStore.backUp(databaseAt: fixture.path, to: fixture.folder + target)
        }
        #expect(try fixture.files() == ["companion.key", "companion.sqlite"])
    }

    @Test func `a file that is not our database is not backed up`() throws {
        let fixture = try StoreFixture()
        #expect(throws: StoreError.self) {
            try SQLiteStore.backUp(databaseAt: fixture.path, to: fixture.folder + "/backup")
        }
        try Data(repeating: 7, count: 10_000).write(to: URL(fileURLWithPath: fixture.path))
        #expect(throws: StoreError.self) {
            try SQLiteStore.backUp(databaseAt: fixture.path, to: fixture.folder + "/backup")
        }
        #expect(try fixture.files() == ["companion.sqlite"])
    }
}
