import Foundation
import StoreTesting
import Testing

@testable import PostgresStore
@testable import SessionStore

/// What only a server can do: end connections, refuse writes, be another version's.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct PostgresServerTests {
    private func administrator() throws -> BlockingConnection {
        try BlockingConnection(PostgresServer.shared.get().settings(user: "postgres"))
    }

    private func role(of fixture: StoreFixture) throws -> String {
        try #require(fixture.postgres?.user)
    }

    @Test func `a server that ends its connections signs nobody out, and the next request is served`() async throws {
        let fixture = try StoreFixture(.postgres)
        let store = try fixture.open(cacheBytes: 0)
        let id = try await store.signIn("adele", at: fixture.clock)
        let ended = try administrator().query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1",
            [.text(try role(of: fixture))])
        #expect(ended.count > 0)
        #expect(try await store.session(id)?.accounts.count == 1)
        try administrator().query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1",
            [.text(try role(of: fixture))])
        _ = try await store.signIn("adele", cookie: id, at: fixture.clock)
        await store.close()
    }

    @Test func `a server that is not there is unavailable, and so is one that refuses writes`() async throws {
        let fixture = try StoreFixture(.postgres)
        let store = try fixture.open()
        let id = try await store.signIn("adele", at: fixture.clock)
        let user = try role(of: fixture)
        try administrator().query("ALTER ROLE \(user) SET default_transaction_read_only = on")
        try administrator().query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1", [.text(user)])
        let error = await #expect(throws: StoreError.self) { try await store.requireWritable() }
        #expect(error?.isUnavailable == true)
        #expect(await !store.probeWritable())
        // The connection that was ended is noticed before the attempt to make another one has failed.
        let noticed = ContinuousClock.now + .seconds(5)
        while await store.connections()?.isReachable == true, ContinuousClock.now < noticed {
            _ = await store.probeWritable()
        }
        #expect(await store.connections()?.isReachable == false)
        try administrator().query("ALTER ROLE \(user) RESET default_transaction_read_only")
        // By itself, within two seconds and what a connection takes.
        let end = ContinuousClock.now + .seconds(5)
        while await !store.probeWritable(), ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(50)) }
        #expect(await store.probeWritable())
        // The other worker's connections follow at once.
        var session: Session?
        while session == nil, ContinuousClock.now < end { session = try? await store.session(id) }
        #expect(session?.accounts.count == 1)
        while await store.connections()?.isReachable != true, ContinuousClock.now < end { await Task.yield() }
        let connections = try #require(await store.connections())
        #expect(connections.isReachable && connections.open > 0 && connections.limit == 8)
        #expect(connections.busy == 0 && connections.waiting == 0)
        await store.close()
        #expect(throws: StoreError.self) {
            try BlockingConnection(PostgresSettings("host=/nonexistent dbname=none user=none"))
        }
    }

    @Test func `of many that start at once one migrates`() async throws {
        let fixture = try StoreFixture(.postgres)
        let settings = try #require(fixture.postgres)
        let connection = try BlockingConnection(settings)
        // How two that make the first table meet differs from time to time: in a catalogue's index, at the type, or not.
        for _ in 0..<20 {
            let ran = try await withThrowingTaskGroup(of: [String].self) { group in
                for _ in 0..<6 { group.addTask { try PostgresStore.migrate(settings) } }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            // Each ran once. One that made the second may return before the one that made the first.
            #expect(ran.sorted() == Schema.migrations.map(\.name).sorted())
            #expect(try PostgresStore.pendingMigrations(settings) == [])
            for table in Schema.tables.reversed() { try connection.query("DROP TABLE \(table)") }
        }
    }

    @Test func `tables of a newer version are left alone, unless they still serve this one`() async throws {
        let fixture = try StoreFixture(.postgres)
        let settings = try #require(fixture.postgres)
        _ = try PostgresStore.migrate(settings)
        let connection = try BlockingConnection(settings)
        try connection.query("UPDATE companion_schema SET version = 99, serves = 1")
        let store = try fixture.open()
        try await store.signIn("adele", at: fixture.clock)
        await store.close()
        try connection.query("UPDATE companion_schema SET serves = 99")
        let error = #expect(throws: StoreError.self) { try fixture.open() }
        guard case .newerSchema = error else { throw UnexpectedOutcome(name: "\(error as Any)") }
    }

    @Test func `a key that is in use and not at hand is named`() async throws {
        let fixture = try StoreFixture(.postgres)
        let store = try fixture.open()
        try await store.signIn("adele", at: fixture.clock)
        await store.close()
        let key = try KeyRing.load(orCreateAt: fixture.keyPath).currentKeyID
        let other = try KeyRing(text: Data(repeating: 7, count: 32).base64EncodedString())
        let error = #expect(throws: StoreError.self) { try fixture.open(keyRing: other) }
        #expect(error?.description.contains("\(key)") == true)
    }

    @Test func `a statement that waits too long ends with its connection, and the next one has another`() async throws {
        let fixture = try StoreFixture(.postgres)
        let store = try fixture.open()
        let id = try await store.signIn("adele", at: fixture.clock)
        let session = try #require(try await store.session(id))
        let holder = try BlockingConnection(#require(fixture.postgres))
        try holder.query("BEGIN")
        try holder.query("SELECT key FROM session FOR UPDATE")
        let start = ContinuousClock.now
        let error = await #expect(throws: StoreError.self) {
            try await store.setCurrentAccount(session.key(of: session.accounts[0]))
        }
        #expect(error?.isUnavailable == true)
        #expect(start.duration(to: .now) < .seconds(60))
        #expect(try await store.session(id) != nil, "reads do not wait for it")
        try holder.query("ROLLBACK")
        try await store.setCurrentAccount(session.key(of: session.accounts[0]))
        await store.close()
    }
}
