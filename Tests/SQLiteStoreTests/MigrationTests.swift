import Foundation
import GRDB
import StoreTesting
import Testing

@testable import SQLiteStore
@testable import SessionStore

@Suite(.closesStores) struct MigrationTests {
    /// A database of the first version, with one session in it.
    private func firstVersion(_ fixture: StoreFixture) throws {
        let outsider = try fixture.outsider()
        try SQLiteSchema.migrator.migrate(outsider, upTo: "1: sessions, accounts, tokens, attempts")
        try outsider.write { db in
            try db.execute(sql: "INSERT INTO session (id_hash, created_at, last_seen_at) VALUES (x'00', 1, 1)")
        }
        try outsider.close()
    }

    private static let waiting = Array(SQLiteSchema.migrator.migrations.dropFirst())

    @Test func `a rehearsal lists what would run, and leaves the database as it is`() throws {
        let fixture = try StoreFixture()
        try firstVersion(fixture)
        #expect(try SQLiteStore.pendingMigrations(databaseAt: fixture.path) == Self.waiting)
        #expect(try SQLiteStore.rehearseMigration(databaseAt: fixture.path) == Self.waiting)
        #expect(try SQLiteStore.pendingMigrations(databaseAt: fixture.path) == Self.waiting)
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.folder) == ["companion.sqlite"])
    }

    @Test func `a migration runs once and keeps the sessions`() async throws {
        let fixture = try StoreFixture()
        try firstVersion(fixture)
        #expect(try SQLiteStore.migrate(databaseAt: fixture.path) == Self.waiting)
        #expect(try SQLiteStore.migrate(databaseAt: fixture.path) == [])
        let store = try fixture.open()
        #expect(try await store.list().count == 1)
    }

    @Test func `a database of a newer version is left alone`() async throws {
        let fixture = try StoreFixture()
        await (try fixture.open()).close()
        try await fixture.outsider().write { db in
            try db.execute(sql: "INSERT INTO grdb_migrations VALUES ('99: from the future')")
        }
        let path = fixture.path
        let works: [@Sendable () throws -> [String]] = [
            { try SQLiteStore.pendingMigrations(databaseAt: path) }, { try SQLiteStore.migrate(databaseAt: path) },
            { try SQLiteStore.rehearseMigration(databaseAt: path) },
        ]
        for work in works {
            let error = #expect(throws: StoreError.self) { try work() }
            guard case .newerSchema = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
    }

    @Test func `without a database there is nothing to migrate, and none is made`() throws {
        let fixture = try StoreFixture()
        #expect(!SQLiteStore.exists(databaseAt: fixture.path))
        #expect(throws: StoreError.self) { try SQLiteStore.migrate(databaseAt: fixture.path) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.folder) == [])
    }

    /// Sign-ins under way when the server was brought up begin again; nobody is signed out.
    @Test(arguments: [(true, nil), (false, 1), (false, 2)] as [(Bool, Int?)])
    func `attempts of the previous version are gone, and nothing else is`(isWaiting: Bool, ended: Int?) async throws {
        let fixture = try StoreFixture()
        let outsider = try fixture.outsider()
        try SQLiteSchema.migrator.migrate(outsider, upTo: "4: indexes by last use and by beginning")
        let id = SessionID(randomBytes: SessionStore.secureRandomBytes)
        let now = fixture.clock.now.milliseconds
        let sealer = Sealer(try KeyRing.load(orCreateAt: fixture.keyPath), storeName: fixture.path)
        let key = AccountKey(session: SessionKey(1), app: "ios", id: "adele.tenant")
        try await outsider.write { db in
            for (number, hash) in [id.hash.blob, Data(repeating: 1, count: 32)].enumerated() {
                try db.execute(
                    sql: "INSERT INTO session (key, id_hash, created_at, last_seen_at) VALUES (?, ?, ?, ?)",
                    arguments: [number + 1, hash, now, now])
                try db.execute(
                    sql: """
                        INSERT INTO sign_in_attempt (state_hash, session, begun_id_hash, app, return_to, requested_scopes,
                            begun_at, sealed, consumed_at, failed_at, completed_at, weight)
                        VALUES (?, ?, x'00', 'ios', '/', '', ?, ?, ?, ?, ?, ?)
                        """,
                    arguments: [
                        Data(repeating: UInt8(number), count: 32), number + 1, now, isWaiting ? Data([1]) : nil,
                        isWaiting ? nil : now, ended == 1 ? now : nil, ended == 2 ? now : nil, number * 2560,
                    ])
            }
            try db.execute(
                sql: """
                    INSERT INTO account (session, app, id, username, environment, issuer, subject, is_current, signed_in_at)
                    VALUES (1, 'ios', 'adele.tenant', 'adele@contoso.example', 'localhost', 'i', 's', 1, ?)
                    """, arguments: [now])
            try db.execute(
                sql: "INSERT INTO account_secret (account, claims, refresh_token) VALUES (1, ?, ?)",
                arguments: [sealer.seal("{}", for: .claims(key)), sealer.seal("refresh-1", for: .refreshToken(key))])
        }
        try outsider.close()
        #expect(
            try SQLiteStore.rehearseMigration(databaseAt: fixture.path)
                == ["5: attempts that have come back", "6: the last checks of applications"])

        let store = try fixture.open()
        #expect(try await fixture.count("sign_in_attempt") == 0)
        #expect(try await store.session(id)?.accounts.map(\.id) == ["adele.tenant"])
        #expect(try await store.refreshToken(of: key) == "refresh-1")
        #expect(try await store.list().count == 2)
        _ = try await store.signIn("megan", cookie: id, at: fixture.clock)
        #expect(try await fixture.newcomers() == 0)
        // The newcomer's session goes as any that nobody uses.
        fixture.clock.advance(by: .seconds(3721))
        #expect(try await store.purgeExpired() == 2)
        await store.close()
        let found = try await fixture.outsider().read { db in try SQLiteSchema.damage(db) }
        #expect(found == [])
    }

    @Test func `a file of the first version is migrated and loses nothing`() async throws {
        let fixture = try StoreFixture()
        let ring = try KeyRing.load(orCreateAt: fixture.keyPath)
        let sealer = Sealer(ring, storeName: fixture.path)
        let id = SessionID(randomBytes: SessionStore.secureRandomBytes)
        let now = fixture.clock.now.milliseconds
        let key = AccountKey(session: SessionKey(1), app: "ios", id: "adele.tenant")
        let pool = try DatabasePool(path: fixture.path)
        try SQLiteSchema.migrator.migrate(pool, upTo: "1: sessions, accounts, tokens, attempts")
        try await pool.write { db in
            try db.execute(
                sql: "INSERT INTO session (id_hash, created_at, last_seen_at) VALUES (?, ?, ?)",
                arguments: [id.hash.blob, now, now])
            try db.execute(
                sql: """
                    INSERT INTO account (session, app, id, username, environment, issuer, subject, is_current, signed_in_at)
                    VALUES (1, 'ios', 'adele.tenant', 'adele@contoso.example', 'localhost', 'i', 's', 1, ?)
                    """, arguments: [now])
            try db.execute(
                sql: "INSERT INTO account_secret VALUES (1, ?, ?)",
                arguments: [
                    sealer.seal("{}", for: .claims(key)),
                    sealer.seal("refresh-1", for: .refreshToken(key)),
                ])
            let place = SealedPlace.accessToken(key, tenant: "", scopes: "user.read")
            try db.execute(
                sql: """
                    INSERT INTO access_token (account, requested_scopes, granted_scopes, expires_at, token)
                    VALUES (1, 'user.read', 'user.read', ?, ?)
                    """, arguments: [now + 3_600_000, sealer.seal("access-1", for: place)])
        }
        try pool.close()

        let store = try fixture.open()
        let session = try #require(try await store.session(id))
        let account = try #require(session.currentAccount(for: "ios"))
        #expect(account.identity.policy == nil)
        #expect(try await store.refreshToken(of: session.key(of: account)) == "refresh-1")
        #expect(try await store.idToken(of: session.key(of: account)) == nil)
        let token = try await store.accessToken(of: session.key(of: account), scopes: ["user.read"])
        #expect(token?.secret == "access-1")
        #expect(token?.declinedScopes == [])
    }
}
