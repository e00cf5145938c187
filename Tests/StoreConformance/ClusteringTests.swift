import Foundation
import StoreTesting
import Testing

@testable import SessionStore

/// Each server on a place sees the changes of the others.
@Suite(.closesStores) struct ClusteringTests {
    @Test(arguments: TestedBackend.clustered)
    func `one server reads what the other changes, and does not read unchanged sessions again`(
        _ backend: TestedBackend
    ) async throws {
        let fixture = try StoreFixture(backend)
        let first = try fixture.open(trust: .zero)
        let second = try fixture.open(trust: .zero)
        let id = try await first.signIn("adele", at: fixture.clock)
        let session = try #require(try await second.session(id))
        #expect(session.currentAccount(for: "ios")?.needsInteraction == nil)
        #expect(second.cachedSession(id).session == nil)
        // The very value that was read before: its version says that it holds.
        #expect(try await second.revalidated(id)?.derived === session.derived)
        try await first.markNeedsInteraction(session.key(of: session.accounts[0]), reason: "mfa")
        #expect(try await second.revalidated(id) == nil)
        #expect(try await second.session(id)?.currentAccount(for: "ios")?.needsInteraction == "mfa")
        let next = try await second.removeAccount(session.key(of: session.accounts[0]), keepAsPrevious: true)
        #expect(try await first.session(id) == nil)
        #expect(try await first.session(next)?.accounts.isEmpty == true)
    }

    /// A session's version shows a change at every place; where a place has a mark (``TestedBackend/marked``), that shows it
    /// at once.
    @Test(arguments: TestedBackend.clustered)
    func `a session that another process revokes is not served, and others stay as they were`(_ backend: TestedBackend)
        async throws
    {
        let fixture = try StoreFixture(backend)
        let server = try fixture.open(trust: .zero)
        let id = try await server.signIn("adele", at: fixture.clock)
        let other = try await server.signIn("megan", at: fixture.clock)
        #expect(try await server.session(id) != nil)
        let known = try #require(try await server.session(other))
        let commandLine = try fixture.open(trust: .zero)
        #expect(try await commandLine.revoke(username: "adele@contoso.example").count == 1)
        await commandLine.close()
        #expect(try await server.session(id) == nil)
        #expect(try await server.revalidated(other)?.derived === known.derived)
    }

    @Test(arguments: TestedBackend.clustered)
    func `a use that only memory knew of outlives another server's change`(_ backend: TestedBackend) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open(idle: .seconds(600), trust: .zero)
        let id = try await store.signIn("adele", at: fixture.clock)
        fixture.clock.advance(by: .seconds(500))
        let session = try #require(try await store.session(id))
        let other = try fixture.open(idle: .seconds(600), trust: .zero)
        try await other.markNeedsInteraction(session.key(of: session.accounts[0]), reason: "mfa")
        await other.close()
        fixture.clock.advance(by: .seconds(500))
        #expect(try await store.session(id)?.accounts.first?.needsInteraction == "mfa")
    }

    @Test(arguments: TestedBackend.clustered)
    func `of two servers one refreshes an account, and the other waits and reads`(_ backend: TestedBackend)
        async throws
    {
        let fixture = try StoreFixture(backend)
        let (first, second) = (try fixture.open(), try fixture.open())
        let id = try await first.signIn("adele", at: fixture.clock)
        let session = try #require(try await second.session(id))
        let account = session.key(of: session.accounts[0])
        guard case .mine(let turn) = try await first.takeRefreshTurn(of: account),
            case .others(let theirs) = try await second.takeRefreshTurn(of: account)
        else {
            Issue.record("a turn is one server's")
            return
        }
        #expect(turn.refreshToken == "refresh-adele")
        #expect(try await !second.wait(for: theirs, until: .now + .milliseconds(200)))
        async let waited = second.wait(for: theirs, until: .now + .seconds(10))
        #expect(try await first.storeRefreshed(account, tokens: .sample("next", at: fixture.clock), turn: turn))
        #expect(try await waited)
        let scopes: ScopeSet = ["user.read"]
        #expect(try await second.accessToken(of: account, scopes: scopes)?.secret == "access-next")
        // A turn that brought nothing is the next one's at once.
        guard case .mine(let failed) = try await first.takeRefreshTurn(of: account) else {
            Issue.record("the turn did not end with what it stored")
            return
        }
        await first.giveBack(failed)
        guard case .mine(let next) = try await second.takeRefreshTurn(of: account) else {
            Issue.record("the turn was not given back")
            return
        }
        #expect(next.refreshToken == "refresh-next")
    }

    @Test(arguments: TestedBackend.clustered)
    func `who waits for a turn goes on when its time is over, although its server never says so`(
        _ backend: TestedBackend
    ) async throws {
        let fixture = try StoreFixture(backend)
        let (first, second) = (try fixture.open(), try fixture.open())
        let id = try await first.signIn("adele", at: fixture.clock)
        let session = try #require(try await second.session(id))
        let account = session.key(of: session.accounts[0])
        guard case .mine = try await first.takeRefreshTurn(of: account),
            case .others(let theirs) = try await second.takeRefreshTurn(of: account)
        else {
            Issue.record("a turn is one server's")
            return
        }
        // As after the death of the first one, twenty seconds later.
        let left = OthersTurn(session: theirs.session, version: theirs.version, end: .now)
        #expect(try await second.wait(for: left, until: .now + .seconds(60)))
    }

    @Test(arguments: TestedBackend.clustered)
    func `a new key seals when the other server has it, and what it sealed before stays readable`(
        _ backend: TestedBackend
    ) async throws {
        let fixture = try StoreFixture(backend)
        func text(_ numbers: UInt8...) -> String {
            numbers.map { Data(repeating: $0, count: 32).base64EncodedString() }.joined(separator: "\n")
        }
        let old = try KeyRing(text: text(1))
        let both = try KeyRing(text: text(2, 1))
        let first = try fixture.open(keyRing: old)
        _ = await first.upkeepRound(UpkeepProgress(ring: old))
        let second = try fixture.open(keyRing: both)
        var progress = await second.upkeepRound(UpkeepProgress(ring: both))
        #expect(second.sealer.ring.currentKeyID == old.currentKeyID)
        #expect(second.sealer.waiting == both.currentKeyID)
        #expect(try await first.servers().count == 2)
        let id = try await second.signIn("adele", at: fixture.clock)
        #expect(try await first.session(id)?.accounts.count == 1)
        await #expect(throws: StoreError.self) { try await second.retireOlderKeys() }

        // It ends, and comes back with the new key.
        await first.close()
        progress = await second.upkeepRound(progress)
        #expect(second.sealer.ring.currentKeyID == both.currentKeyID)
        let again = try fixture.open(keyRing: try KeyRing(text: text(1, 2)))
        #expect(try await again.session(try await second.signIn("megan", at: fixture.clock))?.accounts.count == 1)
    }

    @Test(arguments: TestedBackend.clustered, [true, false])
    func `recent data is served while the place is away, unless nothing may be stale`(
        _ backend: TestedBackend, mayBeStale: Bool
    ) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open(trust: mayBeStale ? .seconds(1) : .zero)
        let id = try await store.signIn("adele", at: fixture.clock)
        let session = try #require(try await store.session(id))
        let (account, scopes) = (session.key(of: session.accounts[0]), ["user.read"] as ScopeSet)
        _ = try await store.accessToken(of: account, scopes: scopes)
        await store.backend.close()
        func served() async -> [Bool] {
            let session = try? await store.session(id)
            let token = try? await store.accessToken(of: account, scopes: scopes)
            return [session != nil, token != nil]
        }
        fixture.clock.advance(by: .seconds(29))
        #expect(await served() == [mayBeStale, mayBeStale])
        fixture.clock.advance(by: .seconds(1))
        #expect(await served() == [false, false])
        await #expect(throws: StoreError.self) { try await store.session(id) }
    }

    @Test(arguments: TestedBackend.clustered) func `one server purges for all`(_ backend: TestedBackend) async throws {
        let fixture = try StoreFixture(backend)
        let (first, second) = (try fixture.open(), try fixture.open())
        #expect(await first.hasChore(.purge))
        #expect(await !second.hasChore(.purge))
        #expect(await first.hasChore(.purge))
        await first.close()
        #expect(await second.hasChore(.purge), "it was given back")
    }
}
