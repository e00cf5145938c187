import Foundation
import StoreTesting
import Testing

@testable import SessionStore

/// A browser reads what it wrote, at another server too that trusts what it has read before.
@Suite(.closesStores) struct OwnWritesTests {
    /// Two servers that trust what they have read for a minute, and somebody who has just been read at both.
    private static func run(
        _ backend: TestedBackend,
        _ test: (StoreFixture, [SessionStore], SessionID, Session) async throws -> Void
    ) async throws {
        let fixture = try StoreFixture(backend)
        let stores = [try fixture.open(trust: .seconds(60)), try fixture.open(trust: .seconds(60))]
        let id = try await stores[0].signIn("adele", at: fixture.clock)
        var session: Session?
        for store in stores { session = try await store.session(id) }
        try await test(fixture, stores, id, try #require(session))
        for store in stores { await store.close() }
    }

    @Test(arguments: TestedBackend.clustered)
    func `another server shows a browser its own changes, and others what it has in memory`(
        _ backend: TestedBackend
    ) async throws {
        try await Self.run(backend) { _, stores, id, session in
            try await stores[0].markNeedsInteraction(session.key(of: session.accounts[0]), reason: "mfa")
            let known = try await stores[1].session(id)?.accounts.first
            #expect(known?.needsInteraction == nil, "trusted for a minute")
            var own = id
            own.version = try #require(await stores[0].changedVersion(of: session.key))
            #expect(stores[1].cachedSession(own).session == nil)
            let read = try await stores[1].session(own)?.accounts.first
            #expect(read?.needsInteraction == "mfa")
            // Then it has the version, and nothing is read again.
            #expect(stores[1].cachedSession(own).session?.accounts.first?.needsInteraction == "mfa")
        }
    }

    @Test(arguments: TestedBackend.clustered)
    func `a browser that has read a change at one server does not read the older session at another`(
        _ backend: TestedBackend
    ) async throws {
        try await Self.run(backend) { fixture, stores, id, session in
            try await stores[0].markNeedsInteraction(session.key(of: session.accounts[0]), reason: "mfa")
            // A third server has not had the session in memory.
            let third = try fixture.open(trust: .seconds(60))
            #expect(try await third.session(id)?.accounts.first?.needsInteraction == "mfa")
            #expect(third.isNews(session.key, for: id))
            var own = id
            own.version = try #require(await third.changedVersion(of: session.key))
            #expect(!third.isNews(session.key, for: own))
            #expect(try await stores[1].session(id)?.accounts.first?.needsInteraction == nil, "trusted for a minute")
            #expect(try await stores[1].session(own)?.accounts.first?.needsInteraction == "mfa")
            await third.close()
        }
    }

    @Test(arguments: TestedBackend.clustered)
    func `after it reads the session again, a server knows the version without asking the database`(
        _ backend: TestedBackend
    )
        async throws
    {
        try await Self.run(backend) { _, stores, id, session in
            try await stores[0].markNeedsInteraction(session.key(of: session.accounts[0]), reason: "mfa")
            #expect(stores[0].cache.change(of: session.key) == .unread)
            let asked = await stores[0].changedVersion(of: session.key)
            _ = try await stores[0].session(id)
            #expect(asked.map { stores[0].cache.change(of: session.key) == .version($0) } == true)
        }
    }

    @Test(arguments: TestedBackend.clustered)
    func `a session older than the browser's version is not served while the place is away`(_ backend: TestedBackend)
        async throws
    {
        try await Self.run(backend) { _, stores, id, session in
            try await stores[0].markNeedsInteraction(session.key(of: session.accounts[0]), reason: "mfa")
            var own = id
            own.version = try #require(await stores[0].changedVersion(of: session.key))
            await stores[1].backend.close()
            #expect(try await stores[1].session(id) != nil)
            await #expect(throws: StoreError.self) { try await stores[1].session(own) }
        }
    }

    @Test func `no version is needed where nothing may be stale or one server is alone`() async throws {
        for (backend, trust) in [(TestedBackend.sqlite, nil), (.memory, Duration.zero)] {
            let fixture = try StoreFixture(backend)
            let store = try fixture.open(trust: trust)
            let id = try await store.signIn("adele", at: fixture.clock)
            let session = try #require(try await store.session(id))
            try await store.markNeedsInteraction(session.key(of: session.accounts[0]), reason: "mfa")
            #expect(store.staleness == nil)
            #expect(await store.changedVersion(of: session.key) == nil)
            await store.close()
        }
    }

    @Test func `recent changes are bounded, and the latest stay`() {
        var changes = RecentChanges()
        for number in 0..<50_000 { changes.note([SessionKey(Int64(number))]) }
        #expect(!changes.contains(0, within: .seconds(600)))
        #expect(changes.contains(49_999, within: .seconds(600)))
        #expect(!changes.contains(49_999, within: .zero))
    }
}
