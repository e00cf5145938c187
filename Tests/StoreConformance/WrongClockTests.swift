import Foundation
import StoreTesting
import Testing

@testable import SessionStore

/// The clock of a server's machine is wrong, and is right again. A cluster's database has the right time meanwhile.
@Suite(.closesStores) struct WrongClockTests {
    /// A store whose sessions may stay unused for ten minutes, and what a server does in the background.
    private final class Server {
        let fixture: StoreFixture
        private let clocks: Clocks
        var store: SessionStore
        private var progress: UpkeepProgress
        var goesByOwnClock: Bool { fixture.backend == .sqlite }

        /// - Parameter isPlaceWrong: whether the clock of a place that servers share is as wrong as the machine's.
        init(_ backend: TestedBackend, isPlaceWrong: Bool = false) throws {
            fixture = try StoreFixture(backend)
            var clocks = fixture.clock.clocks
            if isPlaceWrong { clocks.place = clocks.wall }
            self.clocks = clocks
            store = try fixture.open(idle: .seconds(600), clocks: clocks)
            progress = UpkeepProgress(ring: store.sealer.ring)
        }

        func restart() async throws {
            await store.close()
            store = try fixture.open(idle: .seconds(600), clocks: clocks)
            progress = UpkeepProgress(ring: store.sealer.ring)
        }

        /// The work of each second, and of each minute.
        func work() async {
            progress.written -= .seconds(61)
            progress = await store.upkeepRound(progress)
        }
    }

    @Test(arguments: TestedBackend.allCases)
    func `sessions that seem over while the clock is ahead are there when it is right`(_ backend: TestedBackend)
        async throws
    {
        let server = try Server(backend)
        let id = try await server.store.signIn("adele", at: server.fixture.clock)
        server.fixture.clock.setWrong(by: .seconds(7200))
        await server.work()
        #expect(try await (server.store.session(id) == nil) == server.goesByOwnClock)
        #expect(try await server.store.list().count == 1)
        server.fixture.clock.setWrong(by: .zero)
        await server.work()
        #expect(try await server.store.session(id)?.accounts.count == 1)
    }

    @Test(arguments: TestedBackend.allCases)
    func `a server that starts with a clock that is ahead deletes no session`(_ backend: TestedBackend) async throws {
        let server = try Server(backend)
        let id = try await server.store.signIn("adele", at: server.fixture.clock)
        server.fixture.clock.setWrong(by: .seconds(7200))
        try await server.restart()
        await server.work()
        server.fixture.clock.setWrong(by: .zero)
        #expect(try await server.store.session(id)?.accounts.count == 1)
    }

    @Test(arguments: TestedBackend.allCases)
    func `a clock that stays ahead for the idle time counts as right, and deletes`(_ backend: TestedBackend)
        async throws
    {
        let server = try Server(backend)
        try await server.store.signIn("adele", at: server.fixture.clock)
        server.fixture.clock.setWrong(by: .seconds(7200))
        await server.work()
        server.fixture.clock.advance(by: .seconds(599))
        await server.work()
        #expect(try await server.store.list().count == 1)
        server.fixture.clock.advance(by: .seconds(1))
        await server.work()
        #expect(try await server.store.list().isEmpty == server.goesByOwnClock)
    }

    @Test(arguments: TestedBackend.allCases)
    func `the command line purges by the current clock`(_ backend: TestedBackend) async throws {
        let server = try Server(backend)
        try await server.store.signIn("adele", at: server.fixture.clock)
        server.fixture.clock.setWrong(by: .seconds(7200))
        let command = try server.fixture.open(idle: .seconds(600))
        #expect(try await command.purgeExpired() == (server.goesByOwnClock ? 1 : 0))
    }

    @Test(arguments: TestedBackend.allCases)
    func `a sign-in that ends while the clock is ahead removes no other account`(_ backend: TestedBackend) async throws
    {
        let server = try Server(backend)
        let store = server.store
        let id = try await store.signIn("adele", at: server.fixture.clock)
        let begun = try await store.begin("next", cookie: id)
        server.fixture.clock.setWrong(by: .seconds(1200))
        await server.work()
        let attempt = try await store.consume(begun, cookie: id)
        let next = try await store.completeSignIn(
            attempt, account: .sample("megan"), tokens: .sample("megan", at: server.fixture.clock))
        #expect(
            try await store.session(next)?.accounts.map(\.identity.objectID)
                == (server.goesByOwnClock ? ["megan"] : ["adele", "megan"]))
        server.fixture.clock.setWrong(by: .zero)
        await server.work()
        let found = try await store.list().flatMap(\.accounts).map(\.username).sorted()
        #expect(found == ["adele@contoso.example", "megan@contoso.example"])
        #expect(try await (store.session(id) != nil) == server.goesByOwnClock)
    }

    @Test(arguments: TestedBackend.allCases, [-7200, -600])
    func `a clock that is set back neither prolongs nor deletes a session`(_ backend: TestedBackend, by seconds: Int)
        async throws
    {
        let server = try Server(backend)
        let id = try await server.store.signIn("adele", at: server.fixture.clock)
        server.fixture.clock.setWrong(by: .seconds(seconds))
        await server.work()
        server.fixture.clock.advance(by: .seconds(600))
        await server.work()
        #expect(try await server.store.session(id) != nil)
        server.fixture.clock.advance(by: .seconds(601))
        await server.work()
        #expect(try await server.store.session(id) == nil)
    }

    @Test(arguments: TestedBackend.allCases)
    func `a session that is used while the clock is ahead does not last longer for it`(_ backend: TestedBackend)
        async throws
    {
        let server = try Server(backend)
        server.fixture.clock.setWrong(by: .seconds(7200))
        await server.work()
        let written = try await server.store.signIn("adele", at: server.fixture.clock)
        let cached = try await server.store.signIn("megan", at: server.fixture.clock)
        server.fixture.clock.advance(by: .seconds(60))
        for id in [written, cached] { #expect(try await server.store.session(id) != nil) }
        server.fixture.clock.setWrong(by: .zero)
        await server.work()
        for id in [written, cached] { #expect(try await server.store.session(id) != nil) }
        server.fixture.clock.advance(by: .seconds(601))
        for id in [written, cached] { #expect(try await server.store.session(id) == nil) }
        #expect(try await server.store.list().allSatisfy { $0.lastSeenAt <= server.fixture.clock.now })
    }

    @Test(arguments: TestedBackend.allCases, [0, -7200])
    func `a clock that is set back for a moment, soon after a start, signs nobody out`(
        _ backend: TestedBackend, wrongAtStart: Int
    ) async throws {
        let server = try Server(backend, isPlaceWrong: true)
        let clock = server.fixture.clock
        try await server.store.signIn("alan", at: clock)
        clock.advance(by: .seconds(7 * 86_400))
        clock.setWrong(by: .seconds(wrongAtStart))
        try await server.restart()
        await server.work()
        clock.setWrong(by: .zero)
        await server.work()
        let idle = try await server.store.signIn("adele", at: clock)
        var active = try await server.store.signIn("megan", at: clock)
        active = try await server.store.signIn("megan", app: "macos", cookie: active, at: clock)
        await server.work()
        clock.setWrong(by: .seconds(-3600))
        clock.advance(by: .seconds(1))
        await server.work()
        let session = try #require(try await server.store.session(active))
        let account = try #require(session.currentAccount(for: "ios"))
        active = try await server.store.removeAccount(session.key(of: account), keepAsPrevious: false)
        clock.setWrong(by: .zero)
        clock.advance(by: .seconds(1))
        await server.work()
        for id in [idle, active] { #expect(try await server.store.session(id)?.accounts.count == 1) }
    }

    @Test(arguments: TestedBackend.allCases, [false, true])
    func `sessions used while the clock was ahead at the start end in time, and are not signed out before`(
        _ backend: TestedBackend, isRestarted: Bool
    ) async throws {
        let server = try Server(backend)
        let clock = server.fixture.clock
        let before = try await server.store.signIn("adele", at: clock)
        clock.setWrong(by: .seconds(7200))
        try await server.restart()
        let meanwhile = try await server.store.signIn("megan", at: clock)
        await server.work()
        clock.setWrong(by: .zero)
        if isRestarted { try await server.restart() }
        clock.advance(by: .seconds(1))
        await server.work()
        for id in [before, meanwhile] { #expect(try await server.store.session(id)?.accounts.count == 1) }
        clock.advance(by: .seconds(600))
        await server.work()
        for id in [before, meanwhile] { #expect(try await server.store.session(id)?.accounts.count == 1) }
        #expect(try await server.store.list().allSatisfy { $0.lastSeenAt <= clock.now && $0.createdAt <= clock.now })
        clock.advance(by: .seconds(601))
        for id in [before, meanwhile] { #expect(try await server.store.session(id) == nil) }
    }
}

/// The problems that servers on one place find in themselves.
@Suite(.closesStores) struct StandingTests {
    @Test(arguments: TestedBackend.clustered, [10, 60])
    func `a server whose clock is wrong says so, and leaves the work to one whose clock is right`(
        _ backend: TestedBackend, seconds: Int
    ) async throws {
        let fixture = try StoreFixture(backend)
        let good = try fixture.open()
        var clocks = fixture.clock.clocks
        let clock = fixture.clock
        clocks.wall = { clock.now + Double(seconds) }
        let wrong = try fixture.open(clocks: clocks)
        func kinds(_ store: SessionStore) async -> [Bool] {
            _ = await store.upkeepRound(UpkeepProgress(ring: store.sealer.ring))
            #expect(store.concerns.allSatisfy { $0.kind == .clock })
            return store.concerns.map(\.keepsFromServing)
        }
        #expect(await kinds(wrong) == [false], "it is alone")
        #expect(wrong.clockAhead == .seconds(seconds))
        #expect(await kinds(good) == [])
        #expect(await kinds(wrong) == [seconds > 30])
        await good.close()
        #expect(await kinds(wrong) == [false])
    }

    @Test(arguments: TestedBackend.clustered)
    func `a server that was frozen while the key was changed is not ready until it has the new one`(
        _ backend: TestedBackend
    ) async throws {
        let fixture = try StoreFixture(backend)
        func keys(_ numbers: UInt8...) -> String {
            numbers.map { Data(repeating: $0, count: 32).base64EncodedString() + "\n" }.joined()
        }
        let (own, others) = (fixture.folder + "/own.key", fixture.folder + "/others.key")
        for (path, text) in [(own, keys(1)), (others, keys(2, 1))] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            chmod(path, 0o600)
        }
        let frozen = try fixture.open(keyRing: .load(orCreateAt: own))
        var progress = await frozen.upkeepRound(UpkeepProgress(ring: frozen.sealer.ring))
        let other = try fixture.open(keyRing: .load(orCreateAt: others))
        _ = await other.upkeepRound(UpkeepProgress(ring: other.sealer.ring))
        try await other.signIn("adele", at: fixture.clock)
        progress.reported = nil
        progress = await frozen.upkeepRound(progress)
        #expect(frozen.concerns == [], "a key that waits for this server seals nothing")
        // It does not report any more, and the others count it no longer.
        await frozen.reportEnd()
        _ = await other.upkeepRound(UpkeepProgress(ring: other.sealer.ring))
        try await other.signIn("megan", at: fixture.clock)
        progress.reported = nil
        progress = await frozen.upkeepRound(progress)
        #expect(frozen.concerns.map(\.kind) == [.key])
        #expect(frozen.concerns.map(\.keepsFromServing) == [true])
        #expect(other.concerns == [])
        try Data(keys(2, 1).utf8).write(to: URL(fileURLWithPath: own))
        _ = await frozen.upkeepRound(progress)
        #expect(frozen.concerns == [])
    }

    @Test(arguments: TestedBackend.clustered)
    func `a server that runs notices that the place no longer serves its version`(_ backend: TestedBackend)
        async throws
    {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        func kinds() async -> [StoreConcern.Kind] {
            _ = await store.upkeepRound(UpkeepProgress(ring: store.sealer.ring))
            return store.concerns.filter(\.keepsFromServing).map(\.kind)
        }
        #expect(await kinds() == [])
        try fixture.refuseVersion(true)
        #expect(await kinds() == [.schema])
        try fixture.refuseVersion(false)
        #expect(await kinds() == [])
    }
}
