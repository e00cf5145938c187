import StoreTesting
import Testing

@testable import PostgresStore
@testable import SessionStore

/// A commit whose answer was lost is looked up: nothing is done twice, and nothing that was stored is reported as failed.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct LostCommitTests {
    private let fixture: StoreFixture
    private let way: LossyWay
    private let store: SessionStore

    init() throws {
        fixture = try StoreFixture(.postgres)
        let server = try PostgresServer.shared.get()
        way = try LossyWay(to: server.port)
        let role = try #require(fixture.postgres?.user)
        let settings = try PostgresSettings("postgresql://\(role)@127.0.0.1:\(way.port)/postgres?sslmode=disable")
        let ring = try KeyRing.load(orCreateAt: fixture.keyPath)
        let clock = fixture.clock
        store = SessionStore(
            backend: try PostgresStore(settings, keyRing: ring),
            configuration: .init(idle: .seconds(3600), maxAge: .seconds(12 * 3600)), keyRing: ring,
            clocks: clock.clocks, backgroundWork: false)
    }

    /// The versions of the sessions' rows, which count their writes.
    private func versions() throws -> [Int64] {
        try BlockingConnection(#require(fixture.postgres)).query("SELECT version FROM session ORDER BY key").rows
            .map { try $0.integer(0) }
    }

    private func close() async {
        await store.close()
        way.close()
    }

    @Test func `a connection that gets no answer is overtaken by another`() async throws {
        way.ignoreNext()
        let attempt = try await store.consume(try await store.begin("one"))
        #expect(way.isOvertaken == true)
        _ = try await store.completeAttempt(attempt)
        await close()
    }

    /// A sign-in that has left, from a session or without one; and the versions that are there when it has come back.
    private func begin(isNewcomer: Bool) async throws -> (begun: BegunSignIn, cookie: SessionID?, after: [Int64]) {
        guard !isNewcomer else { return (try await store.begin("one"), nil, [2]) }
        let cookie = try await store.failNewcomer("before")
        return (try await store.begin("one", cookie: cookie), cookie, try versions().map { $0 + 1 })
    }

    @Test(arguments: [true, false]) func `a commit whose answer was lost counts, and is not repeated`(isNewcomer: Bool)
        async throws
    {
        let (begun, cookie, after) = try await begin(isNewcomer: isNewcomer)
        way.lose(.answer {})
        // Done twice, it would be a callback that came again.
        let attempt = try await store.consume(begun, cookie: cookie)
        #expect(way.count == 1)
        #expect(try versions() == after)
        way.lose(.answer {})
        let id = try await store.completeSignIn(
            attempt, account: .sample("adele"), tokens: .sample("adele", at: fixture.clock))
        #expect(way.count == 2)
        #expect(try await store.session(id)?.accounts.count == 1)
        await close()
    }

    @Test(arguments: [true, false]) func `a commit that never reached the server is repeated`(isNewcomer: Bool)
        async throws
    {
        let (begun, cookie, after) = try await begin(isNewcomer: isNewcomer)
        way.lose(.commit)
        let attempt = try await store.consume(begun, cookie: cookie)
        #expect(way.count == 1)
        #expect(try versions() == after)
        let id = try await store.completeSignIn(
            attempt, account: .sample("adele"), tokens: .sample("adele", at: fixture.clock))
        #expect(try await store.session(id)?.accounts.count == 1)
        await close()
    }

    @Test(arguments: [true, false])
    func `a commit is not repeated when a later write hides whether it succeeded`(isNewcomer: Bool) async throws {
        let (begun, cookie, after) = try await begin(isNewcomer: isNewcomer)
        let settings = try #require(fixture.postgres)
        way.lose(
            .answer {
                _ = try? BlockingConnection(settings)
                    .query("UPDATE session SET version = version + 1, last_write = 1")
            })
        let error = await #expect(throws: StoreError.self) {
            try await store.consume(begun, cookie: cookie)
        }
        #expect(error?.isUnavailable == true)
        #expect(try versions() == after.map { $0 + 1 })
        #expect(try await store.consume(begun, code: "code", cookie: cookie).name == "inProgress")
        await close()
    }
}
