import Foundation
import StoreTesting
import Testing

@testable import SessionStore

/// A key that seals what is in the database must be on the disk before: a power failure that takes it takes every token.
@Suite struct KeyFileSyncTests {
    private static let changes: [@Sendable (StoreFixture, KeyRing.Sync) throws -> KeyRing] = [
        { try KeyRing.load(orCreateAt: $0.keyPath, sync: $1) },
        { try KeyRing.rotate(fileAt: $0.keyPath, sync: $1) },
        { fixture, sync in
            let ids = try KeyRing.load(orCreateAt: fixture.keyPath).keyIDs
            return try KeyRing.drop(Set(ids.dropFirst()), fromFileAt: fixture.keyPath, sync: sync)
        },
    ]

    /// The file on which a descriptor is open.
    private func path(_ descriptor: Int32) -> String {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")) ?? ""
    }

    @Test func `each change is synced in a new file before that takes the old one's place, and its folder after`()
        throws
    {
        let fixture = try StoreFixture()
        let folder = URL(fileURLWithPath: fixture.folder).resolvingSymlinksInPath().path
        for change in Self.changes {
            var synced: [String] = []
            var contents: [String] = []
            let ring = try change(fixture) { descriptor in
                let path = path(descriptor)
                synced.append(path)
                let file = path == folder ? fixture.keyPath : path
                contents.append((try? String(contentsOfFile: file, encoding: .utf8)) ?? "")
                return fsync(descriptor)
            }
            #expect(synced.count == 2)
            #expect(synced.first?.hasPrefix(folder + "/companion.key.") == true)
            #expect(synced.last == folder)
            // Whole when it is synced, and what the folder then names.
            let expected = try String(contentsOfFile: fixture.keyPath, encoding: .utf8)
            #expect(contents == [expected, expected])
            #expect(try KeyRing.load(existingAt: fixture.keyPath)?.keyIDs == ring.keyIDs)
        }
    }

    /// - Parameter refused: which of the two syncs fails, counted from 0.
    private func failing(_ refused: Int) -> KeyRing.Sync {
        var calls = 0
        return { _ in
            defer { calls += 1 }
            errno = EIO
            return calls == refused ? -1 : 0
        }
    }

    @Test func `a file that cannot be synced replaces no other, and is removed`() throws {
        for (number, change) in Self.changes.enumerated() {
            let fixture = try StoreFixture()
            if number > 0 { _ = try KeyRing.load(orCreateAt: fixture.keyPath) }
            if number > 1 { _ = try KeyRing.rotate(fileAt: fixture.keyPath) }
            let before = try? Data(contentsOf: URL(fileURLWithPath: fixture.keyPath))
            let error = #expect(throws: StoreError.self) { try change(fixture, failing(0)) }
            #expect(
                error == .keyFile("The key file \(fixture.keyPath) cannot be written: Input/output error."), "\(number)"
            )
            #expect((try? Data(contentsOf: URL(fileURLWithPath: fixture.keyPath))) == before)
            #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.folder).count == (number == 0 ? 0 : 1))
        }
    }

    @Test func `a folder that cannot be synced is an error`() throws {
        for (number, change) in Self.changes.enumerated() {
            let fixture = try StoreFixture()
            if number > 0 { _ = try KeyRing.load(orCreateAt: fixture.keyPath) }
            let error = #expect(throws: StoreError.self) { try change(fixture, failing(1)) }
            #expect(
                error
                    == .keyFile("The folder of the key file \(fixture.keyPath) cannot be synced: Input/output error."),
                "\(number)")
        }
    }
}
