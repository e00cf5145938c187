import Foundation
import StoreTesting
import TestSupport
import Testing

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn
@testable import SessionStore

/// A provider's answer is stored, however late it comes. With refresh tokens that are good for one use, one that is spent
/// and not replaced signs the person out.
@Suite(.closesStores) struct LateAnswerTests {
    private static let force = #"{"force_refresh":true}"#

    /// Somebody who is signed in at a tenant whose refresh tokens are good for one use.
    ///
    /// - Parameter age: of the access token, which is valid for 1200 s, in seconds.
    private static func signedIn(
        age: TimeInterval, keeping contents: MemoryContents? = nil, _ set: @escaping (inout RefreshTimes) -> Void,
        _ test: (Site, Visitor) async throws -> Void
    ) async throws {
        try await Site.run(keeping: contents, configured: { set(&$0.refreshTimes) }) { site in
            try await site.control(#"{"refresh_token_single_use":true,"access_token_seconds":1200}"#)
            let visitor = Visitor(site)
            try await visitor.signIn()
            site.clock.advance(age)
            try await test(site, visitor)
            #expect(try await site.count("refresh_replayed") == 0)
        }
    }

    /// Forces a refresh. On a machine that stalls, its caller may have left before the answer, and asks once more.
    private static func expectRefreshed(_ visitor: Visitor) async throws {
        var last = try await visitor.api(.post, "/api/ios/token", body: force)
        for _ in 0..<20 where last.code == "provider_unavailable" {
            last = try await visitor.api(.post, "/api/ios/token", body: force)
        }
        #expect(last.json["source"] as? String == "refreshed", "\(last.text)")
    }

    @Test(arguments: [false, true])
    func `a late answer is stored`(isClustered: Bool) async throws {
        let contents = isClustered ? MemoryContents() : nil
        try await Self.signedIn(age: 1300, keeping: contents, { $0.caller = .milliseconds(300) }) { site, visitor in
            let asked = try await site.count("token_requests")
            try await site.hold()
            let answer = try await visitor.api(.get, "/api/ios/me")
            #expect(answer.status == 503 && answer.code == "provider_unavailable", "\(answer.text)")
            try await site.untilHeld()
            try await site.letGo()
            try await site.untilSettled()
            #expect(try await visitor.api(.post, "/api/ios/token").json["source"] as? String == "cache")
            #expect(try await site.count("token_requests") == asked + 1)
            try await Self.expectRefreshed(visitor)
        }
    }

    @Test func `a queued call waits no longer than others, and makes no request after that`() async throws {
        try await Self.signedIn(age: 1300, { $0.caller = .milliseconds(500) }) { site, visitor in
            let asked = try await site.count("token_requests")
            try await site.hold()
            let other = visitor.copy()
            async let first = visitor.api(.post, "/api/ios/token")
            try await site.untilHeld()
            // It comes back although the first one's answer is still held.
            let queued = try await other.api(.post, "/api/ios/token", body: #"{"scopes":["mail.read"]}"#)
            #expect(queued.code == "provider_unavailable")
            #expect(try await first.code == "provider_unavailable")
            try await site.untilHeld()
            try await site.letGo()
            try await site.untilSettled()
            #expect(try await site.count("token_requests") == asked + 1)
            // It comes after the one that waited in vain.
            try await Self.expectRefreshed(visitor)
        }
    }

    @Test func `a caller with a valid token waits for its refresh for one second at most`() async throws {
        #expect(RefreshTimes().whileValid == .seconds(1) && RefreshTimes().caller == .seconds(12))
        try await Self.signedIn(age: 1000, { $0.whileValid = .milliseconds(200) }) { site, visitor in
            let refreshed = try await site.count("token_refresh")
            try await site.hold()
            // They come back although the answer is still held.
            for _ in 0..<3 {
                #expect(try await visitor.api(.post, "/api/ios/token").json["source"] as? String == "cache")
            }
            try await site.untilHeld()
            // One that must be new waits.
            async let forced = visitor.copy().api(.post, "/api/ios/token", body: Self.force)
            #expect(try await visitor.api(.post, "/api/ios/token").json["source"] as? String == "cache")
            #expect(try await site.count("token_refresh") == refreshed)
            try await site.letGo()
            #expect(try await forced.json["source"] as? String == "refreshed")
            #expect(try await site.count("token_refresh") == refreshed + 2)
        }
    }

    @Test func `a token that the API has refused is not served while its successor is late`() async throws {
        try await Self.signedIn(age: 0, { $0.whileValid = .milliseconds(50) }) { site, visitor in
            try await site.control(
                #"{"token_delay_ms":700,"graph_error":{"status":401,"body":{"error":{"code":"InvalidAuthenticationToken"}},"times":1}}"#
            )
            let start = ContinuousClock.now
            #expect(try await visitor.api(.get, "/api/ios/me").status == 200)
            #expect(start.duration(to: .now) >= .milliseconds(700))
        }
    }

    @Test func `a call near the end of a token does not wait for another server's refresh either`() async throws {
        let contents = MemoryContents(trust: .zero)
        try await Self.signedIn(age: 1000, keeping: contents, { $0.whileValid = .milliseconds(200) }) { site, visitor in
            try await site.beside { other in
                let asked = try await site.count("token_requests")
                try await site.hold()
                let second = visitor.copy(at: other)
                #expect(try await visitor.api(.post, "/api/ios/token").json["source"] as? String == "cache")
                #expect(try await second.api(.post, "/api/ios/token").json["source"] as? String == "cache")
                try await site.untilHeld()
                try await site.letGo()
                try await site.untilSettled()
                #expect(try await site.count("token_requests") == asked + 1)
            }
        }
    }

    // MARK: A database that is away

    @Test func `tokens that could not be stored are stored when that is possible, without another request`()
        async throws
    {
        let contents = MemoryContents(trust: .zero)
        try await Self.signedIn(age: 1300, keeping: contents, { _ in }) { site, visitor in
            try await site.beside { other in
                try await site.hold()
                async let first = visitor.api(.post, "/api/ios/token")
                try await site.untilHeld()
                contents.refuseWrites(true)
                try await site.letGo()
                #expect(try await first.code == "storage_unavailable")
                contents.refuseWrites(false)
                try await site.untilSettled()
                let second = visitor.copy(at: other)
                #expect(try await second.api(.post, "/api/ios/token").json["source"] as? String == "cache")
                let next = try await second.api(.post, "/api/ios/token", body: Self.force)
                #expect(next.json["source"] as? String == "refreshed")
            }
        }
    }

    // MARK: The end of a server

    @Test func `a refresh that is under way when the server stops is awaited and stored`() async throws {
        try await Self.signedIn(age: 1300, { $0.caller = .milliseconds(100) }) { site, visitor in
            try await site.hold()
            #expect(try await visitor.api(.post, "/api/ios/token").code == "provider_unavailable")
            try await site.untilHeld()
            async let restarted: Void = site.restart(grace: .seconds(patience))
            // It stops: nobody gets in any more.
            #expect(await eventually { (try? await visitor.copy().api(.get, "/api/ios/account")) == nil })
            try await site.letGo()
            try await restarted
            #expect(try await visitor.api(.post, "/api/ios/token").json["source"] as? String == "cache")
        }
    }

    @Test func `tokens that are lost when a server stops are logged under the account's pseudonym`() async throws {
        try await Self.signedIn(age: 1300, { $0.caller = .milliseconds(100) }) { site, visitor in
            try await site.hold()
            #expect(try await visitor.api(.post, "/api/ios/token").code == "provider_unavailable")
            try await site.untilHeld()
            try await site.restart()
            let lines = site.log.all.filter { $0.contains("before a refreshed token is stored") }
            #expect(lines.count == 1)
            let line = try #require(lines.first)
            #expect(line.contains("warning") && line.contains("account") && !line.contains("adele"), "\(line)")
        }
    }

    // MARK: What keeps an exchange from beginning

    private struct Place {
        let fixture: StoreFixture
        let store: SessionStore
        let account: AccountKey
        let unsaved: UnsavedRefreshes

        init() async throws {
            fixture = try StoreFixture(.memory)
            store = try fixture.open()
            let id = try await store.signIn("adele", at: fixture.clock)
            account = AccountKey(
                session: try #require(try await store.session(id)).key, app: "ios", id: "adele.tenant")
            unsaved = UnsavedRefreshes(store: store)
        }

        func turn() async throws -> RefreshTurn {
            guard case .mine(let turn) = try await store.takeRefreshTurn(of: account) else {
                throw TestFailure("no turn")
            }
            return turn
        }

        func owner(_ number: Int) -> UnsavedRefreshes.Owner {
            UnsavedRefreshes.Owner(
                account: AccountKey(session: account.session, app: "ios", id: "\(number)"),
                pseudonym: store.pseudonym(ofAccount: "\(number)", environment: "localhost"))
        }
    }

    @Test func `at most a thousand exchanges are under way, and none begins after the stop`() async throws {
        let place = try await Place()
        let turn = try await place.turn()
        let isOver = Shared(false)
        let begun = Shared(0)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<UnsavedRefreshes.maxExchanges {
                group.addTask {
                    try? await place.unsaved.run(place.owner(number), { turn }) {
                        begun.change { $0 += 1 }
                        while !isOver.value { try await Task.sleep(for: .milliseconds(20)) }
                        throw CancellationError()
                    }
                }
            }
            #expect(await eventually { begun.value == UnsavedRefreshes.maxExchanges })
            await #expect(throws: ProviderClient.unreachable) {
                try await place.unsaved.run(place.owner(5000), { turn }) { throw CancellationError() }
            }
            isOver.change { $0 = true }
        }
        #expect(place.unsaved.open.isEmpty)
        await #expect(throws: CancellationError.self) {
            try await place.unsaved.run(place.owner(5000), { turn }) { throw CancellationError() }
        }
        place.unsaved.stop()
        await #expect(throws: ProviderClient.unreachable) {
            try await place.unsaved.run(place.owner(5000), { turn }) { throw CancellationError() }
        }
    }

    @Test func `no exchange begins without room for its tokens, and the room becomes free again`() async throws {
        let place = try await Place()
        let turn = try await place.turn()
        try place.fixture.refuseWrites(true)
        var tokens = NewTokens.sample("large", at: place.fixture.clock)
        tokens.accessToken = String(repeating: "a", count: 1 << 20)
        var kept = 0
        var refusal: (any Error)?
        while kept < 100 {
            let begun = Shared(false)
            do {
                let answer = tokens
                try await place.unsaved.run(place.owner(kept), { turn }) {
                    begun.change { $0 = true }
                    return UnsavedRefreshes.Exchanged(tokens: answer)
                }
            } catch {
                refusal = error
            }
            guard begun.value else { break }
            kept += 1
        }
        #expect((20...24).contains(kept), "each of them takes a megabyte")
        #expect((refusal as? StoreError)?.isUnavailable == true)
        try place.fixture.refuseWrites(false)
        // Their accounts do not exist: nothing is worth keeping.
        let isEmpty = await eventually { place.unsaved.open.isEmpty }
        #expect(isEmpty)
        let answer = tokens
        let owner = UnsavedRefreshes.Owner(
            account: place.account, pseudonym: place.store.pseudonym(ofAccount: "a", environment: "b"))
        try await place.unsaved.run(owner, { turn }) { UnsavedRefreshes.Exchanged(tokens: answer) }
        #expect(try await place.store.refreshToken(of: place.account) == "refresh-large")
    }

    @Test func `a turn is prolonged for as long as it is held`() async throws {
        let place = try await Place()
        let seen = try #require(try await place.store.backend.refreshToken(of: place.account))
        let cluster = try #require(place.store.cluster)
        guard
            case .taken(let lease) = try await cluster.takeRefreshLease(
                of: place.account, seen: seen, by: place.store.process, for: .seconds(10))
        else { throw TestFailure("not taken") }
        let held = HeldTurn(
            RefreshTurn(refreshToken: "refresh-adele", lease: lease), in: place.store, every: .milliseconds(50))
        func remaining() async throws -> Duration? {
            let answer = try await cluster.takeRefreshLease(
                of: place.account, seen: seen, by: "another", for: .seconds(20))
            guard case .held(_, let remaining, _) = answer else { return nil }
            return remaining
        }
        // Longer than it was taken for.
        #expect(await eventually { (try? await remaining()).map { $0 > .seconds(10) } ?? false })
        let turn = await held.end()
        #expect(turn.lease.fence != lease.fence)
        await place.store.giveBack(turn)
        #expect(try await remaining() == nil, "it was given back, and is another's now")
    }
}
