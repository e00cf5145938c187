import Foundation
import StoreTesting
import Testing

@testable import SessionStore

@Suite struct KeyFileTests {
    static let key = Data(repeating: 7, count: 32).base64EncodedString()

    func reason(_ body: () throws -> Void) -> String {
        do {
            try body()
            return "nothing was thrown"
        } catch StoreError.keyFile(let reason) {
            return reason
        } catch {
            return "another error: \(error)"
        }
    }

    @Test func `the key file is made at the first start with mode 600, and loaded after that`() throws {
        let fixture = try StoreFixture()
        let made = try KeyRing.load(orCreateAt: fixture.keyPath)
        let attributes = try FileManager.default.attributesOfItem(atPath: fixture.keyPath)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try KeyRing.load(orCreateAt: fixture.keyPath).keyIDs == made.keyIDs)
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.folder) == ["companion.key"])
    }

    @Test func `concurrent first starts agree on one key`() async throws {
        let fixture = try StoreFixture()
        let ids = try await withThrowingTaskGroup(of: KeyRing.KeyID.self) { group in
            for _ in 0..<32 { group.addTask { try KeyRing.load(orCreateAt: fixture.keyPath).currentKeyID } }
            return try await group.reduce(into: Set<KeyRing.KeyID>()) { $0.insert($1) }
        }
        #expect(ids.count == 1)
    }

    @Test(arguments: [0o644, 0o640, 0o606, 0o660, 0o604])
    func `a key file that others can read is refused`(mode: Int) throws {
        let fixture = try StoreFixture()
        _ = try KeyRing.load(orCreateAt: fixture.keyPath)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: fixture.keyPath)
        let reason = reason { _ = try KeyRing.load(orCreateAt: fixture.keyPath) }
        #expect(reason == "The key file \(fixture.keyPath) is open to other users. Run: chmod 600 \(fixture.keyPath)")
    }

    @Test(arguments: [
        ("an empty file", "", "holds no key"), ("comments only", "# nothing\n", "holds no key"),
        ("31 bytes", Data(count: 31).base64EncodedString(), "line 1, is not a key"),
        ("not base64", "this is no key", "line 1, is not a key"),
        ("a truncated second key", key + "\n" + key.prefix(40), "line 2, is not a key"),
        ("larger than a key file can be", String(repeating: "#", count: 80_000), "too large"),
    ])
    func `a malformed key file is refused and not overwritten`(_ name: String, _ text: String, _ message: String) throws
    {
        let fixture = try StoreFixture()
        let created = FileManager.default.createFile(
            atPath: fixture.keyPath, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600])
        try #require(created)
        let reason = reason { _ = try KeyRing.load(orCreateAt: fixture.keyPath) }
        #expect(reason.contains(message), "\(name): \(reason)")
        #expect(!reason.contains(Self.key))
        // A text that a person may have typed by mistake is not overwritten.
        #expect(try String(contentsOfFile: fixture.keyPath, encoding: .utf8) == text)
    }

    @Test func `a key file that is a folder, or whose folder is missing, is refused`() throws {
        let fixture = try StoreFixture()
        #expect(reason { _ = try KeyRing.load(orCreateAt: fixture.folder) }.contains("is not an ordinary file"))
        let missing = fixture.folder + "/missing/companion.key"
        #expect(reason { _ = try KeyRing.load(orCreateAt: missing) }.contains("Its folder must exist"))
    }

    @Test func `the text may hold several keys, of which the first seals`() throws {
        let other = Data(repeating: 8, count: 32).base64EncodedString()
        let ring = try KeyRing(text: "# comment\n\(Self.key), \(other)\n\(Self.key)\n")
        #expect(ring.keyIDs.count == 2)
        #expect(try ring.currentKeyID == KeyRing(text: Self.key).currentKeyID)
    }

    @Test func `rotation puts a new key first, and dropping the older one leaves only that`() throws {
        let fixture = try StoreFixture()
        let first = try KeyRing.load(orCreateAt: fixture.keyPath)
        let rotated = try KeyRing.rotate(fileAt: fixture.keyPath)
        #expect(rotated.keyIDs.count == 2)
        #expect(rotated.keyIDs.last == first.currentKeyID)
        #expect(try KeyRing.load(orCreateAt: fixture.keyPath).keyIDs == rotated.keyIDs)
        let dropped = try KeyRing.drop([first.currentKeyID], fromFileAt: fixture.keyPath)
        #expect(dropped.keyIDs == [rotated.currentKeyID])
        #expect(try KeyRing.load(orCreateAt: fixture.keyPath).keyIDs == dropped.keyIDs)
        let attributes = try FileManager.default.attributesOfItem(atPath: fixture.keyPath)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.folder) == ["companion.key"])
    }

    @Test func `rotating a missing file makes none`() throws {
        let fixture = try StoreFixture()
        #expect(reason { _ = try KeyRing.rotate(fileAt: fixture.keyPath) }.contains("There is no key file"))
        #expect(!FileManager.default.fileExists(atPath: fixture.keyPath))
    }
}
