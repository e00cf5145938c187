import Foundation
import StoreTesting
import TestSupport
import Testing

@testable import SessionStore

@Suite(.closesStores) struct RotationTests {
    private func uses(_ store: SessionStore) async throws -> [Int] { try await store.keyUses().map(\.values) }

    @Test(arguments: TestedBackend.kinds)
    func `a rotation is followed in the background, and the old key can be retired`(_ backend: TestedBackend)
        async throws
    {
        let fixture = try StoreFixture(backend)
        let server = try fixture.open()
        var ids: [SessionID] = []
        for number in 0..<300 { ids.append(try await server.signIn("user\(number)", at: fixture.clock)) }
        var progress = UpkeepProgress(ring: server.sealer.ring)
        progress = await server.upkeepRound(progress)
        #expect(progress.resealing == nil)
        let before = try KeyRing.load(orCreateAt: fixture.keyPath)

        let rotated = try KeyRing.rotate(fileAt: fixture.keyPath)
        #expect(try await uses(server) == [900])
        progress = await server.upkeepRound(progress)
        var rounds = 1
        while progress.resealing != nil, rounds < 100 {
            progress = await server.upkeepRound(progress)
            rounds += 1
        }
        #expect(try await server.keyUses().map(\.id) == [rotated.currentKeyID, before.currentKeyID])
        #expect(try await uses(server) == [900, 0])

        let commandLine = try fixture.open()
        try fixture.setKeyFileBack()
        let (retired, kept) = try await commandLine.retireOlderKeys()
        #expect(retired == [before.currentKeyID])
        #expect(kept == [])
        #expect(try await uses(commandLine) == [900])
        await commandLine.close()
        await server.close()
        let reopened = try fixture.open(cacheBytes: 0)
        for id in [ids[0], ids[299]] { #expect(try await reopened.session(id)?.accounts.count == 1) }
    }

    @Test(arguments: TestedBackend.allCases) func `the first thing sealed after a rotation is sealed with the new key`(
        _ backend: TestedBackend
    ) async throws {
        let fixture = try StoreFixture(backend)
        let server = try fixture.open()
        let rotated = try KeyRing.rotate(fileAt: fixture.keyPath)
        try await server.signIn("adele", at: fixture.clock)
        #expect(server.sealer.ring.currentKeyID == rotated.currentKeyID)
        #expect(try await uses(server) == [3, 0])
        // The background work notices although the sealing was quicker.
        let progress = await server.upkeepRound(
            UpkeepProgress(ring: try KeyRing(text: Data(repeating: 1, count: 32).base64EncodedString())))
        #expect(progress.notedKey == rotated.currentKeyID)
    }

    @Test(arguments: TestedBackend.allCases) func `simultaneous rotations do not lose each other's keys`(
        _ backend: TestedBackend
    ) async throws {
        let fixture = try StoreFixture(backend)
        let first = try KeyRing.load(orCreateAt: fixture.keyPath).currentKeyID
        let keyPath = fixture.keyPath
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<16 { group.addTask { _ = try KeyRing.rotate(fileAt: keyPath) } }
            try await group.waitForAll()
        }
        let ring = try KeyRing.load(orCreateAt: fixture.keyPath)
        #expect(ring.keyIDs.count == 17)
        #expect(ring.keyIDs.last == first)
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.folder) == ["companion.key"])
    }

    @Test(arguments: TestedBackend.allCases) func `leftovers of a killed rotation do no harm`(
        _ backend: TestedBackend
    ) async throws {
        let fixture = try StoreFixture(backend)
        let before = try KeyRing.load(orCreateAt: fixture.keyPath)
        try Data("half a key".utf8).write(to: URL(fileURLWithPath: fixture.keyPath + ".0123456789abcdef.new"))
        #expect(try KeyRing.load(orCreateAt: fixture.keyPath).keyIDs == before.keyIDs)
        #expect(try KeyRing.rotate(fileAt: fixture.keyPath).keyIDs.count == 2)
    }

    @Test(arguments: TestedBackend.allCases)
    func `an older key can be retired half an hour after the rotation, when no browser needs it`(
        _ backend: TestedBackend
    ) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        let old = store.sealer.ring.currentKeyID
        try fixture.setKeyFileBack(by: .zero)
        let (retired, kept) = try await store.retireOlderKeys()
        #expect(retired.isEmpty && kept.isEmpty, "the only key")
        let rotated = try KeyRing.rotate(fileAt: fixture.keyPath)
        // And the seconds in which a server may not have noticed.
        try fixture.setKeyFileBack(by: .seconds(1809))
        await #expect(
            throws: StoreError.keyFile(
                "Until 2027-01-15T08:00:02Z, browsers may bring back sign-ins that an older key has sealed. "
                    + "Run `companion keys retire` again then.")
        ) { try await store.retireOlderKeys() }
        #expect(try KeyRing.load(orCreateAt: fixture.keyPath).keyIDs == [rotated.currentKeyID, old])
        fixture.clock.advance(by: .seconds(1))
        #expect(try await store.retireOlderKeys().retired == [old])
    }

    /// Replaces the key file as a person would: by another one of the same name.
    private func replaceKeyFile(_ fixture: StoreFixture, by text: String) throws {
        let new = URL(fileURLWithPath: fixture.keyPath + ".other")
        try Data(text.utf8).write(to: new)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: new.path)
        #expect(rename(new.path, fixture.keyPath) == 0)
    }

    private static func key(_ byte: UInt8) -> String { Data(repeating: byte, count: 32).base64EncodedString() }

    @Test(arguments: TestedBackend.allCases)
    func `a key file that lacks a key in use is not adopted, and reported once, until a good one is back`(
        _ backend: TestedBackend
    ) async throws {
        let fixture = try StoreFixture(backend)
        let reports = Shared<[String]>([])
        let server = try fixture.open(
            cacheBytes: 0,
            onConcern: { concern, isOver in
                reports.change { $0.append("\(concern.kind) \(isOver ? "over" : "begun")") }
            })
        let id = try await server.signIn("adele", at: fixture.clock)
        let good = try String(contentsOfFile: fixture.keyPath, encoding: .utf8)
        let key = server.sealer.ring.currentKeyID
        var progress = await server.upkeepRound(UpkeepProgress(ring: server.sealer.ring))
        #expect(server.keyProblem == nil)

        try replaceKeyFile(fixture, by: Self.key(1))
        for _ in 0..<3 {
            progress = await server.upkeepRound(progress)
            #expect(server.keyProblem?.contains("lacks the key \(key)") == true)
            #expect(server.sealer.ring.keyIDs == [key])
            #expect(try await server.session(id)?.accounts.count == 1)
            let newcomer = try await server.signIn("megan", at: fixture.clock)
            #expect(try await server.session(newcomer)?.accounts.count == 1)
        }
        #expect(try await server.keyUses().map(\.id) == [key], "nothing was sealed with the other key")
        #expect(reports.value == ["keyFile begun"])

        // Both keys together serve what is stored.
        try replaceKeyFile(fixture, by: Self.key(1) + "\n" + good)
        progress = await server.upkeepRound(progress)
        #expect(server.keyProblem == nil)
        #expect(server.sealer.ring.keyIDs.count == 2)
        #expect(reports.value == ["keyFile begun", "keyFile over"])
        #expect(try await server.session(id)?.accounts.count == 1)
    }

    @Test(arguments: TestedBackend.allCases)
    func `a key file without an older key is adopted when that key seals nothing any more`(_ backend: TestedBackend)
        async throws
    {
        let fixture = try StoreFixture(backend)
        let server = try fixture.open()
        try await server.signIn("adele", at: fixture.clock)
        let old = server.sealer.ring.currentKeyID
        let rotated = try KeyRing.rotate(fileAt: fixture.keyPath)
        _ = server.sealer.reloadIfChanged()
        let newest = try String(contentsOfFile: fixture.keyPath, encoding: .utf8).split(separator: "\n")
            .first { !$0.hasPrefix("#") }
        try replaceKeyFile(fixture, by: String(try #require(newest)))
        await server.followKeyFile()
        #expect(server.sealer.ring.keyIDs == [rotated.currentKeyID, old], "the older key seals something")
        #expect(server.keyProblem?.contains("lacks the key \(old)") == true)

        #expect(try await server.reseal() == 3)
        try replaceKeyFile(fixture, by: String(try #require(newest)))
        await server.followKeyFile()
        #expect(server.sealer.ring.keyIDs == [rotated.currentKeyID])
        #expect(server.keyProblem == nil)
    }

    @Test(arguments: TestedBackend.allCases) func `keys of the environment have to be retired there`(
        _ backend: TestedBackend
    ) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open(keyRing: KeyRing(text: Data(repeating: 1, count: 32).base64EncodedString()))
        await #expect(
            throws: StoreError.keyFile(
                "The keys come from the environment: leave only the first in COMPANION_ENCRYPTION_KEY and restart.")
        ) { try await store.retireOlderKeys() }
    }
}
