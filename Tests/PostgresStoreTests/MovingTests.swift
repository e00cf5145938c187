import Foundation
import StoreTesting
import Testing

@testable import PostgresStore
@testable import SessionStore

/// Sessions move from a file to PostgreSQL and back.
@Suite(.closesStores, .enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct MovingTests {
    @Test func `a database that was emptied as the message says accepts the next copy`() async throws {
        let (source, target) = (try StoreFixture(.sqlite), try StoreFixture(.postgres))
        let store = try source.open()
        try FileManager.default.copyItem(atPath: source.keyPath, toPath: target.keyPath)
        try await store.signIn("adele", at: source.clock)
        await store.close()
        let out = try source.movable()
        for _ in 1...2 {
            let into = try target.movable()
            #expect(try await out.copyAll(to: into) == 1)
            await into.close()
            let statement = try #require(into.emptying.split(separator: ": ").last)
            try BlockingConnection(#require(target.postgres)).query(String(statement))
        }
        await out.close()
    }

    @Test(arguments: [
        (TestedBackend.sqlite, TestedBackend.postgres), (.postgres, .sqlite), (.postgres, .postgres),
    ]) func `people stay signed in after a move, with everything that was theirs`(
        _ from: TestedBackend, to: TestedBackend
    ) async throws {
        let (source, target) = (try StoreFixture(from), try StoreFixture(to))
        // The same key.
        _ = try KeyRing.load(orCreateAt: source.keyPath)
        try FileManager.default.copyItem(atPath: source.keyPath, toPath: target.keyPath)
        var store = try source.open()
        let adele = try await store.signIn("adele", at: source.clock, sid: "sid1")
        let both = try await store.signIn("megan", app: "macos", cookie: adele, at: source.clock)
        let session = try #require(try await store.session(both))
        try await store.markNeedsInteraction(session.key(of: session.accounts[0]), reason: "mfa", claims: "{}")
        let away = try await store.removeAccount(session.key(of: session.accounts[1]), keepAsPrevious: true)
        let failed = try await store.begin("failed")
        let outcome = try await store.consume(failed, code: "code", cookie: nil)
        guard case .attempt(let ended, let stranger?) = outcome else { throw UnexpectedOutcome(name: outcome.name) }
        try await store.failSignIn(ended)
        let waiting = try await store.begin("waiting", cookie: stranger)
        #expect(
            try await store.removeSessions(
                issuer: "https://issuer.example", sid: "none", subject: nil, tokenID: "jti",
                until: source.clock.now + 300) == [])
        let before = try await store.list()
        await store.close()

        let (out, into) = (try source.movable(), try target.movable())
        #expect(try await out.copyAll(to: into) == 2)
        // A copy that did not end is there too: the next one says what to do.
        let error = await #expect(throws: StoreError.self) { try await out.copyAll(to: into) }
        #expect(error?.description.contains(" contains 2 sessions already, and nothing was copied.") == true)
        #expect(error?.description.hasSuffix(into.emptying) == true)
        await out.close()
        await into.close()

        store = try target.open()
        #expect(try await store.list() == before)
        let moved = try #require(try await store.session(away))
        #expect(moved.key == session.key)
        let account = try #require(moved.accounts.first)
        #expect(account.needsInteraction == "mfa")
        #expect(account.interactionClaims == "{}")
        #expect(account.idTokenClaims == session.accounts[0].idTokenClaims)
        #expect(moved.currentAccount(for: "ios")?.id == "adele.tenant")
        #expect(moved.previousUsername(for: "macos") == "megan@contoso.example")
        #expect(try await store.refreshToken(of: moved.key(of: account)) == "refresh-adele")
        #expect(
            try await store.accessToken(of: moved.key(of: account), scopes: ["user.read"])?.secret == "access-adele")
        #expect(
            try await store.removeSessions(
                issuer: "https://issuer.example", sid: "none", subject: nil, tokenID: "jti",
                until: source.clock.now + 300) == nil)
        // A person who was at the provider comes back to the other place.
        #expect(try await store.consume(waiting, cookie: stranger).session == ended.session)
        #expect(try await store.consume(failed, code: "code", cookie: stranger).name == "failed")
        #expect(try await target.newcomers() == 2)
        #expect(try await target.count("sign_in_attempt") == 4)
        _ = try await store.signIn("lee", at: source.clock)
    }
}
