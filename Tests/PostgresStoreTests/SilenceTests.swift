import EventLoop
import StoreTesting
import TestSupport
import Testing

@testable import PostgresStore
@testable import SessionStore

/// A database that says nothing keeps nobody waiting who can be served without it.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
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

    @Test func `one call waits a second, later ones are served from memory, and unknown sessions wait`() async throws {
        let (id, account) = try await signedIn()
        let other = try fixture.open()
        let unknown = try await other.signIn("megan", at: fixture.clock)
        way.freeze(true)
        var served: Session?
        let waited = try await time { served = try await store.session(id) }
        #expect(served != nil)
        #expect(waited >= .seconds(1))
        #expect(waited < .seconds(4))
        #expect(await store.connections()?.isReachable == false)
        // A session that is not in memory has to be waited for, however long that takes.
        async let later = store.session(unknown)
        let more = try await time {
            for _ in 0..<50 {
                served = try await store.session(id)
                _ = try await store.accessToken(of: account, scopes: Self.scopes)
            }
        }
        #expect(served != nil)
        #expect(more < .milliseconds(900))
        try await other.markNeedsInteraction(account, reason: "mfa")
        #expect(try await store.session(id)?.accounts.first?.needsInteraction == nil)
        way.freeze(false)
        #expect(try await later?.accounts.count == 1)
        #expect(await eventually { await store.connections()?.isReachable == true })
        #expect(try await store.session(id)?.accounts.first?.needsInteraction == "mfa")
        await other.close()
        await close()
    }

    @Test func `a look-up of a token waits a second too`() async throws {
        let (_, account) = try await signedIn()
        way.freeze(true)
        var token: StoredAccessToken?
        let waited = try await time { token = try await store.accessToken(of: account, scopes: Self.scopes) }
        #expect(token?.secret == "access-adele")
        #expect(waited >= .seconds(1))
        #expect(waited < .seconds(4))
        way.freeze(false)
        await close()
    }

    @Test func `an answer from more than half a minute ago is not served, but waited for`() async throws {
        let (id, _) = try await signedIn()
        way.freeze(true)
        _ = try await store.session(id)
        fixture.clock.advance(by: .seconds(29))
        async let later = store.session(id)
        try await Task.sleep(for: .milliseconds(1200))
        way.freeze(false)
        #expect(try await later?.accounts.count == 1)
        await close()
    }

    @Test func `the end of the silence is noticed without a request`() async throws {
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
