import EventLoop
import StoreTesting
import TestSupport
import Testing

@testable import PostgresStore
@testable import SessionStore

/// A database that says nothing keeps nobody waiting who can be served without it.
@Suite(.closesStores, .enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct SilenceTests {
    private static let scopes: ScopeSet = ["user.read"]

    private let fixture: StoreFixture
    private let way: LossyWay
    private let workers: WorkerGroup
    private let store: SessionStore

    init() throws {
        fixture = try StoreFixture(.postgres)
        way = try LossyWay(to: PostgresServer.shared.get().port)
        let role = try #require(fixture.postgres?.user)
        let settings = try PostgresSettings("postgresql://\(role)@127.0.0.1:\(way.port)/postgres?sslmode=disable")
        let ring = try KeyRing.load(orCreateAt: fixture.keyPath)
        let clock = fixture.clock
        workers = try WorkerGroup(count: 2)
        store = SessionStore(
            backend: try PostgresStore(settings, keyRing: ring, workers: workers),
            configuration: .init(idle: .seconds(3600), maxAge: .seconds(12 * 3600)), keyRing: ring,
            clocks: clock.clocks, backgroundWork: false)
    }

    private func close() async {
        await store.close()
        await workers.shutdown()
        way.close()
    }

    private func time(_ body: () async throws -> Void) async throws -> Duration {
        let start = ContinuousClock.now
        try await body()
        return start.duration(to: .now)
    }

    /// Somebody whose session and token are in memory, and were right two seconds ago.
    private func signedIn() async throws -> (id: SessionID, account: AccountKey) {
        let id = try await store.signIn("adele", at: fixture.clock)
        let session = try #require(try await store.session(id))
        let account = session.key(of: session.accounts[0])
        #expect(try await store.accessToken(of: account, scopes: Self.scopes) != nil)
        // Both workers have a connection.
        for _ in 0..<4 { _ = try await store.servers() }
        fixture.clock.advance(by: .seconds(2))
        return (id, account)
    }

    /// Returns how long a call takes at the beginning of a silence. A machine that stalls makes it longer, never shorter:
    /// then the call has another silence, and the shortest time counts.
    private func wait(of call: () async throws -> Void) async throws -> Duration {
        var shortest = Duration.seconds(patience)
        for _ in 0..<3 where shortest >= .seconds(4) {
            way.freeze(true)
            shortest = min(shortest, try await time(call))
            way.freeze(false)
            #expect(await eventually { await store.connections()?.isReachable == true })
            fixture.clock.advance(by: .seconds(2))
        }
        return shortest
    }

    @Test func `a look-up of a session waits a second, and no statement's whole time`() async throws {
        let (id, _) = try await signedIn()
        var served: Session?
        let waited = try await wait { served = try await store.session(id) }
        #expect(served != nil)
        #expect(waited >= .seconds(1) && waited < .seconds(4))
        await close()
    }

    @Test func `a look-up of a token waits a second too`() async throws {
        let (_, account) = try await signedIn()
        var token: StoredAccessToken?
        let waited = try await wait { token = try await store.accessToken(of: account, scopes: Self.scopes) }
        #expect(token?.secret == "access-adele")
        #expect(waited >= .seconds(1) && waited < .seconds(4))
        await close()
    }

    @Test func `when one call has waited, later ones are served from memory until the silence ends`() async throws {
        let (id, account) = try await signedIn()
        let other = try fixture.open()
        way.freeze(true)
        #expect(try await store.session(id) != nil)
        #expect(await store.connections()?.isReachable == false)
        try await other.markNeedsInteraction(account, reason: "mfa")
        // Each that is not served from memory waits a second. So does one now and then on a machine that stalls.
        var waited = 0
        for _ in 0..<50 {
            var session: Session?
            var token: StoredAccessToken?
            let times = [
                try await time { session = try await store.session(id) },
                try await time { token = try await store.accessToken(of: account, scopes: Self.scopes) },
            ]
            #expect(session?.accounts.count == 1 && token != nil)
            #expect(session?.accounts.first?.needsInteraction == nil)
            waited += times.count { $0 >= .seconds(1) }
        }
        #expect(waited < 10)
        way.freeze(false)
        #expect(await eventually { await store.connections()?.isReachable == true })
        #expect(
            await eventually { (try? await store.session(id))?.accounts.first?.needsInteraction == "mfa" })
        await other.close()
        await close()
    }

    @Test func `when one call has waited, a session that is not in memory is waited for`() async throws {
        let (id, _) = try await signedIn()
        let other = try fixture.open()
        let unknown = try await other.signIn("megan", at: fixture.clock)
        var found: Session?
        // Where a machine stalls, the silence may last until attempts to connect fail, and says nothing.
        for _ in 0..<3 where found == nil {
            way.freeze(true)
            #expect(try await store.session(id) != nil)
            let later = Task { [store] in try? await store.session(unknown) }
            for _ in 0..<50 { #expect(try await store.session(id) != nil) }
            way.freeze(false)
            found = await later.value
            #expect(await eventually { await store.connections()?.isReachable == true })
            fixture.clock.advance(by: .seconds(2))
        }
        #expect(found?.accounts.count == 1)
        await other.close()
        await close()
    }

    @Test func `an answer from more than half a minute ago is not served, but waited for`() async throws {
        let (id, account) = try await signedIn()
        let other = try fixture.open()
        var found: Session?
        // Where a machine stalls, the silence may last until attempts to connect fail, and says nothing.
        for _ in 0..<3 where found == nil {
            #expect(try await store.session(id) != nil)
            fixture.clock.advance(by: .seconds(2))
            way.freeze(true)
            _ = try await store.session(id)
            fixture.clock.advance(by: .seconds(29))
            try await other.markNeedsInteraction(account, reason: "mfa")
            let later = Task { [store] in try? await store.session(id) }
            // Longer than those wait who are then served from memory.
            try await Task.sleep(for: .milliseconds(1200))
            way.freeze(false)
            found = await later.value
            #expect(await eventually { await store.connections()?.isReachable == true })
        }
        #expect(found?.accounts.first?.needsInteraction == "mfa", "as the database has it")
        await other.close()
        await close()
    }

    @Test(.needsTime("a statement's five seconds pass"))
    func `the end of the silence is noticed without a request`() async throws {
        let (id, _) = try await signedIn()
        way.freeze(true)
        _ = try await store.session(id)
        // The statement's time is over, and the connection with it.
        let (store, open) = (store, await store.connections()?.open ?? 0)
        #expect(await eventually { await store.connections()?.open ?? open < open })
        way.freeze(false)
        #expect(await eventually { await store.connections()?.isReachable == true })
        await close()
    }

    @Test func `a session that others have changed is not served again, also when it cannot be read`() async throws {
        let (id, account) = try await signedIn()
        let other = try fixture.open()
        try await other.markNeedsInteraction(account, reason: "mfa")
        #expect(try await store.revalidated(id) == nil)
        await store.backend.close()
        await #expect(throws: StoreError.self) { try await store.session(id) }
        await other.close()
        await close()
    }
}
