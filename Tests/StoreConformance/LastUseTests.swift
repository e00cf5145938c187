import Foundation
import StoreTesting
import TestSupport
import Testing

@testable import SessionStore

/// When a session was last used is known before it is written, and no use is lost on the way.
@Suite(.closesStores) struct LastUseTests {
    private func seen(_ store: SessionStore) async throws -> Set<Date> {
        Set(try await store.list().map(\.lastSeenAt))
    }

    @Test(arguments: TestedBackend.allCases)
    func `sessions that left the memory before the minute was over are written as used`(_ backend: TestedBackend)
        async throws
    {
        let fixture = try StoreFixture(backend)
        // Room for about four of them.
        var store = try fixture.open(cacheBytes: 6000)
        var ids: [SessionID] = []
        for number in 0..<12 { ids.append(try await store.signIn("user\(number)", at: fixture.clock)) }
        for id in ids { #expect(try await store.session(id) != nil) }
        fixture.clock.advance(by: .seconds(600))
        for id in ids { #expect(try await store.session(id) != nil) }
        #expect((2..<8).contains(store.cacheSize.sessions))
        await store.close()
        store = try fixture.open()
        #expect(try await seen(store) == [fixture.clock.now])
    }

    @Test(arguments: TestedBackend.marked) func `a use that only memory knew of outlives a change by another process`(
        _ backend: TestedBackend
    ) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open(idle: .seconds(600))
        let id = try await store.signIn("adele", at: fixture.clock)
        var version = await store.noticeOutsideChanges(since: nil)
        #expect(try await store.session(id) != nil)
        fixture.clock.advance(by: .seconds(500))
        #expect(store.cachedSession(id).session != nil)
        let other = try fixture.open()
        try await other.signIn("megan", at: fixture.clock)
        await other.close()
        version = await store.noticeOutsideChanges(since: version)
        #expect(store.cachedSession(id).session == nil)
        fixture.clock.advance(by: .seconds(500))
        #expect(try await store.session(id) != nil)
    }

    @Test(arguments: TestedBackend.allCases) func `a use while the uses are being written is written the next time`(
        _ backend: TestedBackend
    ) async throws {
        let fixture = try StoreFixture(backend)
        let late = Shared<(@Sendable () -> Void)?>(nil)
        let store = try fixture.open { operation in
            guard operation.kind == .write, let body = late.value else { return }
            late.change { $0 = nil }
            body()
        }
        let id = try await store.signIn("adele", at: fixture.clock)
        _ = try await store.session(id)
        let clock = fixture.clock
        // The session is in memory, and once more after it has left it.
        for isGone in [false, true] {
            clock.advance(by: .seconds(100))
            _ = store.cachedSession(id)
            late.change {
                $0 = {
                    clock.advance(by: .seconds(50))
                    _ = store.cachedSession(id)
                    if isGone { store.cache.endAll() }
                }
            }
            try await store.writeLastUses()
            #expect(try await seen(store) == [clock.now - 50])
            try await store.writeLastUses()
            #expect(try await seen(store) == [clock.now])
            _ = try await store.session(id)
        }
    }

    @Test(arguments: TestedBackend.allCases)
    func `an earlier last use never overwrites a later one from another process`(
        _ backend: TestedBackend
    ) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        let id = try await store.signIn("adele", at: fixture.clock)
        fixture.clock.advance(by: .seconds(60))
        _ = try await store.session(id)
        let later = fixture.clock.now + 60
        fixture.clock.advance(by: .seconds(60))
        let other = try fixture.open()
        _ = try await other.session(id)
        await other.close()
        try await store.writeLastUses()
        #expect(try await seen(store) == [later])
    }

    @Test(arguments: [(60, 15), (40, 10), (240, 60), (3600, 60)])
    func `uses are written four times within the idle time, and at least once a minute`(idle: Int, seconds: Int)
        async throws
    {
        let fixture = try StoreFixture()
        let store = try fixture.open(idle: .seconds(idle))
        let id = try await store.signIn("adele", at: fixture.clock)
        var progress = UpkeepProgress(ring: store.sealer.ring)
        var isEarly = false
        // On a machine that stalls, a round ends when the time is over, and says nothing.
        while !isEarly {
            let before = try await seen(store)
            fixture.clock.advance(by: .seconds(5))
            _ = try await store.session(id)
            let written = ContinuousClock.now - .seconds(seconds - 1)
            progress.written = written
            progress = await store.upkeepRound(progress)
            isEarly = written.duration(to: .now) < .seconds(seconds)
            if isEarly { #expect(try await seen(store) == before) }
        }
        progress.written -= .seconds(1)
        progress = await store.upkeepRound(progress)
        #expect(try await seen(store) == [fixture.clock.now])
    }

    @Test(arguments: TestedBackend.kinds)
    func `more uses than one transaction takes are all written by the background work`(_ backend: TestedBackend)
        async throws
    {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        var ids: [SessionID] = []
        for number in 0..<210 { ids.append(try await store.signIn("user\(number)", at: fixture.clock)) }
        fixture.clock.advance(by: .seconds(60))
        for id in ids { _ = try await store.session(id) }
        var progress = UpkeepProgress(ring: store.sealer.ring)
        progress = await store.upkeepRound(progress)
        #expect(try await seen(store) == [fixture.clock.now - 60], "once a minute")
        progress.written -= .seconds(61)
        progress = await store.upkeepRound(progress)
        #expect(try await seen(store) == [fixture.clock.now])
        let writes = fixture.writes
        progress = await store.upkeepRound(progress)
        #expect(fixture.writes == writes)
    }
}
