import Foundation
import StoreTesting
import Testing

@testable import SessionStore

@Suite struct RotationTests {
    private func uses(_ store: SessionStore) async throws -> [Int] { try await store.keyUses().map(\.values) }

    @Test(arguments: TestedBackend.allCases)
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
        await reopened.close()
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
        await server.close()
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
        await store.close()
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
        await store.close()
    }
}
