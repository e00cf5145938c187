import Foundation
import StoreTesting
import TestSupport
import Testing

@testable import SessionStore

/// One refresh for all servers of a cluster: leases, fences and what a late answer may still do.
@Suite(.closesStores) struct LeaseTests {
    /// Two servers on one place, with adele signed in at the first.
    private struct Servers {
        let fixture: StoreFixture
        let stores: [SessionStore]
        let id: SessionID
        let account: AccountKey

        init(_ backend: TestedBackend) async throws {
            fixture = try StoreFixture(backend)
            stores = [try fixture.open(), try fixture.open()]
            id = try await stores[0].signIn("adele", at: fixture.clock)
            let session = try #require(try await stores[0].session(id))
            account = AccountKey(session: session.key, app: "ios", id: "adele.tenant")
        }

        func place(_ number: Int = 0) throws -> any ClusteredStoreBackend {
            try #require(stores[number].backend as? any ClusteredStoreBackend)
        }

        func seen() async throws -> Data { try #require(try await place().refreshToken(of: account)) }

        func take(_ number: Int, seen: Data? = nil, for duration: Duration = .seconds(20)) async throws
            -> RefreshLeaseAnswer
        {
            let stored = try await self.seen()
            return try await place(number).takeRefreshLease(
                of: account, seen: seen ?? stored, by: "server\(number)", for: duration)
        }

        func taken(_ number: Int, for duration: Duration = .seconds(20)) async throws -> RefreshLease {
            guard case .taken(let lease) = try await take(number, for: duration) else {
                throw UnexpectedOutcome(name: "not taken")
            }
            return lease
        }

        func store(_ label: String, under lease: RefreshLease?) async throws -> Bool {
            let tokens = try stores[0].sealer.seal(refreshed: .sample(label, at: fixture.clock), of: account)
            return try await place().replaceTokens(
                of: account, with: tokens, under: lease, now: fixture.clock.now.milliseconds)
        }

        func version() async throws -> Int64? { try await place().versions(of: [account.session])[account.session] }

        func close() async {
            for store in stores { await store.close() }
        }
    }

    @Test(arguments: TestedBackend.clustered)
    func `a lease that the database's clock has made too long ends like a new one`(_ backend: TestedBackend)
        async throws
    {
        let servers = try await Servers(backend)
        _ = try await servers.taken(0, for: .seconds(625))
        let longest = Duration.milliseconds(SignInRules.longestLease)
        func remaining() async throws -> Duration? {
            guard case .held(_, let remaining, _) = try await servers.take(1) else { return nil }
            return remaining
        }
        #expect(try await remaining() == longest)
        // From now on its time passes.
        #expect(await eventually { (try? await remaining()).flatMap(\.self).map { $0 < longest } ?? true })
        await servers.close()
    }

    @Test(arguments: TestedBackend.clustered)
    func `a report that the database's clock has made too long does not count`(_ backend: TestedBackend) async throws {
        let servers = try await Servers(backend)
        let place = try servers.place()
        let before = try await place.livingProcesses().count
        let server = ServerProcess(id: "dead", host: "h", version: "", keys: [], clockAhead: nil)
        try await place.report(server, for: .seconds(625))
        #expect(try await place.livingProcesses().count == before)
        try await place.report(server, for: .seconds(30))
        #expect(try await place.livingProcesses().count == before + 1)
        await servers.close()
    }

    @Test(arguments: TestedBackend.clustered) func `only one of many that ask at once gets the lease`(
        _ backend: TestedBackend
    ) async throws {
        let servers = try await Servers(backend)
        let seen = try await servers.seen()
        let answers = try await withThrowingTaskGroup(of: RefreshLeaseAnswer.self) { group in
            for number in 0..<200 {
                group.addTask {
                    try await servers.place(number % 2).takeRefreshLease(
                        of: servers.account, seen: seen, by: "server\(number)", for: .seconds(20))
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let leases = answers.compactMap { if case .taken(let lease) = $0 { lease } else { nil } }
        #expect(leases.count == 1)
        #expect(leases.first?.spent == seen)
        let holders = Set(answers.compactMap { if case .held(let by, _, _) = $0 { by } else { nil } })
        #expect(holders.count == 1)
        #expect(answers.count { if case .held = $0 { true } else { false } } == 199)
        await servers.close()
    }

    @Test(arguments: TestedBackend.clustered)
    func `those who wait learn for how long, and see when the lease is given back`(
        _ backend: TestedBackend
    ) async throws {
        let servers = try await Servers(backend)
        let begun = ContinuousClock.now
        let lease = try await servers.taken(0)
        guard case .held(let holder, let remaining, let version) = try await servers.take(1) else {
            Issue.record("not held")
            return
        }
        #expect(holder == "server0")
        #expect(remaining <= .seconds(20))
        // No more of it is over than the time that passed, but for how far the clocks differ.
        let passed = begun.duration(to: .now)
        #expect(remaining + passed >= .milliseconds(19_900))
        #expect(try await servers.version() == version)
        try await servers.place().giveBack(lease, pause: .zero, status: nil)
        #expect(try await servers.version() != version)
        #expect(try await servers.taken(1).fence == lease.fence.map { $0 + 1 })
        // Given back once more, it is another's.
        try await servers.place().giveBack(lease, pause: .zero, status: nil)
        guard case .held("server1", _, _) = try await servers.take(0) else {
            Issue.record("an old lease ended a newer one")
            return
        }
        await servers.close()
    }

    @Test(arguments: TestedBackend.clustered)
    func `a lease that is given back with a pause is not taken before the pause ends`(
        _ backend: TestedBackend
    ) async throws {
        let servers = try await Servers(backend)
        try await servers.place().giveBack(try await servers.taken(0), pause: .seconds(90), status: nil)
        for number in [0, 1] {
            guard case .tooEarly(let wait, nil) = try await servers.take(number) else {
                Issue.record("taken too early")
                continue
            }
            #expect((.seconds(60)...(.seconds(90))).contains(wait))
        }
        // A new sign-in need not wait for it.
        try await servers.stores[1].signIn("adele", cookie: servers.id, at: servers.fixture.clock)
        _ = try await servers.taken(1)
        await servers.close()
    }

    @Test(arguments: TestedBackend.clustered)
    func `every server learns the status that began a pause, until a lease or a sign-in ends it`(
        _ backend: TestedBackend
    ) async throws {
        let servers = try await Servers(backend)
        guard case .mine(let turn) = try await servers.stores[0].takeRefreshTurn(of: servers.account) else {
            throw UnexpectedOutcome(name: "no turn")
        }
        await servers.stores[0].giveBack(turn, pause: .seconds(90), status: 503)
        for store in servers.stores {
            guard case .tooEarly(_, 503) = try await store.takeRefreshTurn(of: servers.account) else {
                Issue.record("the status is not known")
                continue
            }
        }
        func statusOfNextPause() async throws -> Int? {
            let lease = try await servers.taken(1)
            try await servers.place(1).giveBack(lease, pause: .seconds(90), status: nil)
            guard case .tooEarly(_, let status) = try await servers.take(0) else {
                throw UnexpectedOutcome(name: "no pause")
            }
            return status
        }
        try await servers.stores[1].signIn("adele", cookie: servers.id, at: servers.fixture.clock)
        #expect(try await statusOfNextPause() == nil, "it was another pause's")
        #expect(try await servers.store("late", under: nil))
        let brief = try await servers.taken(0)
        try await servers.place().giveBack(brief, pause: .zero, status: 503)
        #expect(try await statusOfNextPause() == nil, "that pause was over")
        await servers.close()
    }

    @Test(arguments: TestedBackend.clustered)
    func `a lease whose holder died is taken by another when its time is over`(
        _ backend: TestedBackend
    ) async throws {
        let servers = try await Servers(backend)
        let dead = try await servers.taken(0, for: .milliseconds(300))
        let next = Shared<RefreshLease?>(nil)
        let wasTaken = await eventually {
            guard case .taken(let lease) = try? await servers.take(1) else { return false }
            next.change { $0 = lease }
            return true
        }
        #expect(wasTaken)
        #expect(next.value?.fence == dead.fence.map { $0 + 1 })
        // It was not dead, only slow: nobody has replaced the refresh token that it cost, so its answer is good.
        #expect(try await servers.store("slow", under: dead))
        #expect(try await servers.stores[1].refreshToken(of: servers.account) == "refresh-slow")
        // The tokens that the next one brings belong to a refresh token that no longer exists.
        #expect(try await !servers.store("late", under: next.value))
        #expect(try await servers.stores[1].refreshToken(of: servers.account) == "refresh-slow")
        await servers.close()
    }

    @Test(arguments: TestedBackend.clustered)
    func `a process can take its own lease again, and one with an old token reads the new one`(
        _ backend: TestedBackend
    ) async throws {
        let servers = try await Servers(backend)
        let first = try await servers.taken(0)
        let second = try await servers.taken(0)
        #expect(second.fence == first.fence.map { $0 + 1 })
        let old = try await servers.seen()
        #expect(try await servers.store("new", under: second))
        #expect(try await servers.take(1, seen: old) == .changed)
        // Storing has ended the lease.
        _ = try await servers.taken(1)
        await servers.close()
    }

    @Test(arguments: TestedBackend.allCases)
    func `a refresh token is kept before its response is checked, and nothing else changes`(_ backend: TestedBackend)
        async throws
    {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        var id = try await store.signIn("adele", at: fixture.clock)
        let key = AccountKey(session: try #require(try await store.session(id)).key, app: "ios", id: "adele.tenant")
        try await store.markNeedsInteraction(key, reason: "interaction_required")
        guard case .mine(let turn) = try await store.takeRefreshTurn(of: key) else {
            throw UnexpectedOutcome(name: "no turn")
        }
        let kept = try #require(try await store.keep("refresh-next", in: turn))
        #expect(kept.refreshToken == "refresh-next")
        #expect(try await store.refreshToken(of: key) == "refresh-next")
        #expect(try await store.accessToken(of: key, scopes: ["user.read"])?.secret == "access-adele")
        #expect(try await store.session(id)?.accounts.first?.needsInteraction == "interaction_required")
        // The response passed its checks.
        let tokens = NewTokens.sample("checked", at: fixture.clock)
        #expect(try await store.storeRefreshed(key, tokens: tokens, turn: kept))
        #expect(try await store.refreshToken(of: key) == "refresh-checked")
        // It comes after a new sign-in, or the account has signed out.
        id = try await store.signIn("adele", cookie: id, at: fixture.clock)
        #expect(try await store.keep("refresh-late", in: kept) == nil)
        #expect(try await store.refreshToken(of: key) == "refresh-adele")
        _ = try await store.removeAccount(key, keepAsPrevious: false)
        await #expect(throws: StoreError.noSuchSession) { try await store.keep("refresh-late", in: kept) }
    }

    @Test(arguments: TestedBackend.clustered)
    func `the turn continues after its refresh token was kept`(_ backend: TestedBackend) async throws {
        let servers = try await Servers(backend)
        let store = servers.stores[0]
        guard case .mine(let turn) = try await store.takeRefreshTurn(of: servers.account) else {
            throw UnexpectedOutcome(name: "no turn")
        }
        let kept = try #require(try await store.keep("refresh-next", in: turn))
        guard case .held = try await servers.take(1) else { throw UnexpectedOutcome(name: "not held") }
        let prolonged = try #require(try await store.prolong(kept))
        // Kept once more under a lease that was prolonged meanwhile, because no other refresh token is stored.
        #expect(try await store.keep("refresh-back", in: kept) != nil)
        await store.giveBack(prolonged)
        guard case .mine(let next) = try await servers.stores[1].takeRefreshTurn(of: servers.account) else {
            throw UnexpectedOutcome(name: "not given back")
        }
        #expect(next.refreshToken == "refresh-back")
        await servers.close()
    }

    @Test(arguments: TestedBackend.clustered)
    func `a turn is prolonged while its holder has it, and its tokens are stored`(
        _ backend: TestedBackend
    ) async throws {
        let servers = try await Servers(backend)
        let store = servers.stores[0]
        let seen = try await servers.seen()
        func turn(for duration: Duration) async throws -> RefreshTurn {
            guard
                case .taken(let lease) = try await servers.place().takeRefreshLease(
                    of: servers.account, seen: seen, by: store.process, for: duration)
            else { throw UnexpectedOutcome(name: "not taken") }
            return RefreshTurn(refreshToken: "refresh-adele", lease: lease)
        }
        let short = try await turn(for: .seconds(10))
        let long = try #require(try await store.prolong(short))
        guard case .held(_, let remaining, _) = try await servers.take(1) else {
            Issue.record("not held")
            return
        }
        #expect(remaining > .seconds(10), "longer than it was taken for")
        // Given back as it was before, it goes on.
        await store.giveBack(short)
        guard case .held = try await servers.take(1) else {
            Issue.record("not held after its earlier lease was given back")
            return
        }
        await store.giveBack(long)
        // Another server's turn, which came when this one's time was over, is not ended.
        let late = try await turn(for: .milliseconds(1))
        #expect(await eventually { (try? await servers.taken(1)) != nil })
        let prolonged = try await store.prolong(late)
        #expect(prolonged == nil)
        // Nobody has replaced the token that was spent: a late answer is the only one that counts.
        let tokens = NewTokens.sample("late", at: servers.fixture.clock)
        #expect(try await store.storeRefreshed(servers.account, tokens: tokens, turn: late))
        #expect(try await servers.stores[1].refreshToken(of: servers.account) == "refresh-late")
        await servers.close()
    }

    @Test(arguments: TestedBackend.clustered) func `a refusal at one server is known at another, with the claims`(
        _ backend: TestedBackend
    ) async throws {
        let servers = try await Servers(backend)
        guard case .mine(let turn) = try await servers.stores[0].takeRefreshTurn(of: servers.account) else {
            Issue.record("no turn")
            return
        }
        try await servers.stores[0].markNeedsInteraction(
            servers.account, reason: "interaction_required", claims: #"{"id_token":{}}"#,
            refreshToken: turn.refreshToken)
        await servers.stores[0].giveBack(turn, pause: .seconds(120))
        for store in servers.stores {
            guard
                case .refused("interaction_required", #"{"id_token":{}}"#) = try await store.takeRefreshTurn(
                    of: servers.account)
            else {
                Issue.record("not refused")
                continue
            }
        }
        try await servers.stores[1].signIn("adele", cookie: servers.id, at: servers.fixture.clock)
        guard case .mine = try await servers.stores[0].takeRefreshTurn(of: servers.account) else {
            Issue.record("refused after a sign-in")
            return
        }
        await servers.close()
    }

    @Test(arguments: TestedBackend.allCases) func `a refresh does not store over a sign-in that ended meanwhile`(
        _ backend: TestedBackend
    ) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        var id = try await store.signIn("adele", at: fixture.clock)
        let key = AccountKey(
            session: try #require(try await store.session(id)).key, app: "ios", id: "adele.tenant")
        let spent = try #require(try await store.backend.refreshToken(of: key))
        id = try await store.signIn("adele", cookie: id, at: fixture.clock)
        for fence in [nil, 0] as [Int64?] {
            let lease = RefreshLease(account: key, fence: fence, spent: spent)
            let tokens = try store.sealer.seal(refreshed: .sample("late", at: fixture.clock), of: key)
            let isStored = try await store.backend.replaceTokens(
                of: key, with: tokens, under: lease, now: fixture.clock.now.milliseconds)
            #expect(!isStored)
        }
        #expect(try await store.refreshToken(of: key) == "refresh-adele")
        let scopes: ScopeSet = ["user.read"]
        #expect(try await store.accessToken(of: key, scopes: scopes)?.secret == "access-adele")
    }

    @Test(arguments: TestedBackend.clustered) func `no server gets a lease on an account that is not signed in`(
        _ backend: TestedBackend
    ) async throws {
        let servers = try await Servers(backend)
        let lease = try await servers.taken(0)
        _ = try await servers.stores[1].removeAccount(servers.account, keepAsPrevious: true)
        await #expect(throws: StoreError.noSuchSession) {
            try await servers.place().takeRefreshLease(
                of: servers.account, seen: lease.spent, by: "server0", for: .seconds(20))
        }
        await #expect(throws: StoreError.noSuchSession) { try await servers.store("late", under: lease) }
        try await servers.place().giveBack(lease, pause: .zero, status: nil)
        await servers.close()
    }

    // MARK: What else they agree on

    @Test(arguments: TestedBackend.clustered)
    func `every change that a page can see changes the version, and a use does not`(
        _ backend: TestedBackend
    ) async throws {
        let servers = try await Servers(backend)
        let (store, account, place) = (servers.stores[1], servers.account, try servers.place())
        var known = try #require(try await servers.version())
        func changes(_ step: String, _ work: () async throws -> Void) async throws {
            try await work()
            let version = try await servers.version()
            #expect(version != known, "\(step)")
            known = version ?? known
        }
        #expect(try await place.session(account.session)?.version == known)
        _ = try await place.noteUses([(key: account.session, at: servers.fixture.clock.now.milliseconds + 60_000)])
        _ = try await servers.taken(0)
        #expect(try await servers.version() == known)
        try await changes("a refresh") {
            try await store.storeRefreshed(account, tokens: .sample("second", at: servers.fixture.clock))
        }
        try await changes("a mark") { try await store.markNeedsInteraction(account, reason: "mfa") }
        try await changes("another account") {
            _ = try await store.signIn("megan", cookie: servers.id, at: servers.fixture.clock)
        }
        try await changes("who is current") { try await store.setCurrentAccount(account) }
        try await changes("a sign-out") { _ = try await store.removeAccount(account, keepAsPrevious: true) }
        _ = try await store.revoke(account.session)
        #expect(try await place.versions(of: [account.session]) == [:])
        await servers.close()
    }

    @Test(arguments: TestedBackend.clustered) func `the versions of many sessions are read at once`(
        _ backend: TestedBackend
    )
        async throws
    {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        var keys: [SessionKey] = []
        for number in 0..<20 {
            let id = try await store.signIn("user\(number)", at: fixture.clock)
            keys.append(try #require(try await store.session(id)).key)
        }
        let place = try #require(store.backend as? any ClusteredStoreBackend)
        #expect(try await Set(place.versions(of: keys + [SessionKey(.max)]).keys) == Set(keys))
        #expect(try await place.versions(of: []) == [:])
    }

    @Test(arguments: TestedBackend.clustered) func `a chore belongs to one process until its time is over`(
        _ backend: TestedBackend
    ) async throws {
        let servers = try await Servers(backend)
        let (first, second) = (try servers.place(0), try servers.place(1))
        #expect(try await first.take(.purge, by: "server0", for: .seconds(60)))
        #expect(try await !second.take(.purge, by: "server1", for: .seconds(60)))
        #expect(try await second.take(.resealing, by: "server1", for: .seconds(60)))
        #expect(try await first.take(.purge, by: "server0", for: .milliseconds(100)))
        #expect(await eventually { (try? await second.take(.purge, by: "server1", for: .seconds(60))) == true })
        #expect(try await !first.take(.purge, by: "server0", for: .seconds(60)))
        #expect(try await second.take(.purge, by: "server1", for: .zero))
        #expect(try await first.take(.purge, by: "server0", for: .seconds(60)))
        await servers.close()
    }

    @Test(arguments: TestedBackend.clustered) func `living processes are listed with their keys`(
        _ backend: TestedBackend
    ) async throws {
        let servers = try await Servers(backend)
        let place = try servers.place()
        let keys = [KeyRing.KeyID(bytes: Array(0..<8)), KeyRing.KeyID(bytes: Array(8..<16))]
        var first = ServerProcess(id: "a", host: "one", version: "1.0", keys: [keys[0]], clockAhead: nil)
        let second = ServerProcess(id: "b", host: "two", version: "1.1", keys: Set(keys), clockAhead: -7)
        try await place.report(second, for: .seconds(60))
        try await place.report(first, for: .seconds(60))
        #expect(try await servers.place(1).livingProcesses() == [first, second])
        first.keys = Set(keys)
        first.clockAhead = 7_200_000
        try await place.report(first, for: .seconds(60))
        try await place.report(second, for: .zero)
        #expect(try await place.livingProcesses() == [first])
        await servers.close()
    }
}
