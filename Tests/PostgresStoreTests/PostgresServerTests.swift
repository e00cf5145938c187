import Foundation
import StoreTesting
import TestSupport
import Testing

@testable import PostgresStore
@testable import SessionStore

/// Behaviour of a database server alone: it ends connections, refuses writes, or has another version's tables.
@Suite(.closesStores, .enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
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
        let isNoticed = await eventually {
            _ = await store.probeWritable()
            return await store.connections()?.isReachable == false
        }
        #expect(isNoticed)
        try administrator().query("ALTER ROLE \(user) RESET default_transaction_read_only")
        // By itself, within two seconds and what a connection takes.
        #expect(await eventually { await store.probeWritable() })
        // The other worker's connections follow.
        #expect(await eventually { (try? await store.session(id))?.accounts.count == 1 })
        #expect(await eventually { await store.connections()?.isReachable == true })
        let connections = try #require(await store.connections())
        #expect(connections.isReachable && connections.open > 0 && connections.limit == 8)
        #expect(connections.busy == 0 && connections.waiting == 0)
        await store.close()
        #expect(throws: StoreError.self) {
            try BlockingConnection(PostgresSettings("host=/nonexistent dbname=none user=none"))
        }
    }

    @Test func `after a shortage of connections, a working one shows that the server is reached`() async throws {
        let fixture = try StoreFixture(.postgres)
        let user = try role(of: fixture)
        try administrator().query("ALTER ROLE \(user) CONNECTION LIMIT 2")
        let ring = try KeyRing.load(orCreateAt: fixture.keyPath)
        let clock = fixture.clock
        // The store has one worker, all of whose connections belong to one lane.
        let store = SessionStore(
            backend: try PostgresStore(#require(fixture.postgres), keyRing: ring),
            configuration: .init(idle: .seconds(3600), maxAge: .seconds(12 * 3600)), keyRing: ring,
            clocks: clock.clocks, backgroundWork: false)
        _ = try await store.servers()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<24 { group.addTask { _ = try? await store.signIn("adele", at: clock) } }
        }
        #expect(await eventually { await store.connections()?.isReachable == true })
        #expect(await store.probeWritable())
    }

    @Test func `a password that was changed is read again from its file`() async throws {
        let fixture = try StoreFixture(.postgres)
        let user = try role(of: fixture)
        func change(to password: String) throws {
            try administrator().query("ALTER ROLE \(user) PASSWORD '\(password)'")
            try administrator().query(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1", [.text(user)])
        }
        try change(to: "first")
        try PostgresServer.shared.get().demandPassword(of: user)
        let file = fixture.folder + "/password"
        try Data("first\n".utf8).write(to: URL(fileURLWithPath: file))
        let ring = try KeyRing.load(orCreateAt: fixture.keyPath)
        let store = try PostgresStore(#require(fixture.postgres).with(passwordFile: file), keyRing: ring)
        try await store.confirmWritable(now: 1)
        try change(to: "second")
        let isRefused = await eventually {
            do throws(StoreError) {
                try await store.confirmWritable(now: 2)
                return false
            } catch {
                return error.isUnavailable && error.description.contains("password authentication failed")
            }
        }
        #expect(isRefused)
        try Data("second\n".utf8).write(to: URL(fileURLWithPath: file))
        #expect(await eventually { await (try? store.confirmWritable(now: 3)) != nil })
    }

    @Test(arguments: [
        ("session_pkey", "»session_pkey« gibt es schon", true), ("session_id_hash_key", #"not "session_pkey""#, false),
    ]) func `a duplicate key is recognised by its constraint, not by the message`(
        _ constraint: String, message: String, isWorthAnotherAttempt: Bool
    ) throws {
        let failure = #expect(throws: PostgresFailure.self) {
            try administrator().query(
                """
                DO $do$ BEGIN
                    RAISE unique_violation USING CONSTRAINT = '\(constraint)', MESSAGE = '\(message)';
                END $do$
                """)
        }
        #expect(failure?.isWorthAnotherAttempt == isWorthAnotherAttempt)
    }

    @Test(arguments: [("XX001", true), ("XX002", true), ("XX000", false), ("22023", false)])
    func `damage that the server meets is told, and what is sound is still stored`(_ state: String, isDamage: Bool)
        async throws
    {
        let fixture = try StoreFixture(.postgres)
        let reports = Shared<[Bool]>([])
        let store = try fixture.open(onConcern: { concern, _ in
            if concern.kind == .database { reports.change { $0.append(concern.keepsFromServing) } }
        })
        let place = try #require(store.backend as? PostgresStore)
        #expect(store.databaseProblem == nil)
        await #expect(throws: StoreError.self) {
            try await place.database.read(
                "DO $do$ BEGIN RAISE EXCEPTION 'invalid page' USING ERRCODE = '\(state)'; END $do$"
            ) { _ in }
        }
        let problem =
            "storage damaged: \(place.name): invalid page (SQLSTATE \(state)): the database's administrator must examine "
            + "its files and the disk, and repair or restore what is damaged"
        #expect(store.databaseProblem == (isDamage ? problem : nil))
        #expect(await store.probeWritable())
        var progress = UpkeepProgress(ring: store.sealer.ring)
        for _ in 0..<2 { progress = await store.upkeepRound(progress) }
        #expect(reports.value == (isDamage ? [false] : []))
    }

    @Test func `one of many servers that start at once migrates the tables`() async throws {
        let fixture = try StoreFixture(.postgres)
        let settings = try #require(fixture.postgres)
        let connection = try BlockingConnection(settings)
        // Two servers that make the first table may collide in a catalogue's index, at the type, or not at all.
        for _ in 0..<20 {
            let ran = try await withThrowingTaskGroup(of: [String].self) { group in
                for _ in 0..<6 { group.addTask { try PostgresStore.migrate(settings) } }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            // Each ran once. One that made the second may return before the one that made the first.
            #expect(ran.sorted() == PostgresSchema.migrations.map(\.name).sorted())
            #expect(try PostgresStore.pendingMigrations(settings) == [])
            for table in PostgresSchema.tables.reversed() { try connection.query("DROP TABLE \(table)") }
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

    @Test func `the time is the database's, whatever the machine's clock says`() async throws {
        let fixture = try StoreFixture(.postgres)
        let (right, ahead) = (Clocks(), Clocks(wall: { Date() + 7200 }))
        let good = try fixture.open(clocks: right)
        let id = try await good.signIn("adele", at: fixture.clock)
        let wrong = try fixture.open(clocks: ahead)
        #expect(abs(wrong.now - good.now) < 2000)
        _ = await wrong.upkeepRound(UpkeepProgress(ring: wrong.sealer.ring))
        #expect(abs(wrong.now - good.now) < 2000)
        #expect((7198_000...7202_000).contains(try #require(wrong.clockAhead).milliseconds))
        #expect(try await wrong.purgeExpired() == 0)
        #expect(try await wrong.session(id)?.accounts.count == 1)
    }

    @Test func `a server of the previous version, which does not report its clock, goes on beside this one`()
        async throws
    {
        let fixture = try StoreFixture(.postgres)
        let store = try fixture.open()
        try BlockingConnection(#require(fixture.postgres)).query(
            """
            INSERT INTO server_process (id, host, version, keys, until) VALUES ('old', 'h', '0', '', \(Transaction.serverTime) + 30000)
            ON CONFLICT (id) DO UPDATE SET host = EXCLUDED.host, version = EXCLUDED.version, keys = EXCLUDED.keys,
                until = EXCLUDED.until
            """)
        _ = await store.upkeepRound(UpkeepProgress(ring: store.sealer.ring))
        let living = try await #require(store.cluster).livingProcesses()
        #expect(living.first { $0.id == "old" }?.clockAhead == nil)
        #expect(living.first { $0.id != "old" }?.clockAhead == 0)
    }

    @Test func `a pause that a server of the previous version began does not get the status of an earlier one`()
        async throws
    {
        let fixture = try StoreFixture(.postgres)
        let store = try fixture.open()
        let id = try await store.signIn("adele", at: fixture.clock)
        let session = try #require(try await store.session(id)).key
        let account = AccountKey(session: session, app: "ios", id: "adele.tenant")
        func statusOfPause() async throws -> Int? {
            guard case .tooEarly(_, let status) = try await store.takeRefreshTurn(of: account) else {
                Issue.record("no pause")
                return nil
            }
            return status
        }
        guard case .mine(let turn) = try await store.takeRefreshTurn(of: account) else {
            Issue.record("no turn")
            return
        }
        await store.giveBack(turn, pause: .seconds(90), status: 503)
        #expect(try await statusOfPause() == 503)
        let connection = try BlockingConnection(try #require(fixture.postgres))
        try connection.query("UPDATE account SET fence = fence + 1, retry_at = retry_at + 1")
        #expect(try await statusOfPause() == nil)
    }

    @Test func `tables that are not migrated yet name the servers that use them`() throws {
        let fixture = try StoreFixture(.postgres)
        let settings = try #require(fixture.postgres)
        _ = try PostgresStore.migrate(settings)
        let connection = try BlockingConnection(settings)
        for statement in [
            "ALTER TABLE server_process DROP COLUMN clock_ahead", "ALTER TABLE posted_answer DROP COLUMN asker",
            "ALTER TABLE session_note DROP COLUMN sealed", "DROP TABLE check_round",
            "DELETE FROM chore WHERE name = 'checks'",
            "ALTER TABLE account DROP COLUMN retry_status, DROP COLUMN retry_status_at",
            "UPDATE companion_schema SET version = 3",
            "INSERT INTO server_process VALUES ('old', 'host', '0', '', \(Transaction.serverTime) + 30000)",
        ] { try connection.query(statement) }
        #expect(PostgresStore.inspect(settings, keyRing: nil).servers.map(\.host) == ["host"])
        #expect(try PostgresStore.migrate(settings).count == 5)
    }

    @Test func `a note is stored sealed, for its session alone, and those of the previous version are read`()
        async throws
    {
        let fixture = try StoreFixture(.postgres)
        let store = try fixture.open()
        let adele = try await store.signIn("adele", at: fixture.clock)
        let session = try #require(try await store.session(adele)?.key)
        let other = try #require(try await store.session(try await store.signIn("megan", at: fixture.clock))?.key)
        store.note(SessionNote(app: "ios", text: "began at Contoso"), of: session)
        await store.settleNotes()
        let connection = try BlockingConnection(try #require(fixture.postgres))
        let row = try #require(try connection.query("SELECT session_note::text, sealed FROM session_note").first)
        #expect(try !row.text(0).contains("Contoso"))
        #expect(try row.blob(1).firstRange(of: Data("Contoso".utf8)) == nil)
        try connection.query(
            "INSERT INTO session_note (id, session, kind, app, body) VALUES (\(Int64.max), \(session), 0, 'ios', 'old')"
        )
        #expect(try await store.notes(of: session).map(\.text) == ["began at Contoso", "old"])
        try connection.query("DELETE FROM session_note WHERE body <> ''")
        try connection.query("UPDATE session_note SET session = \(other)")
        #expect(try await store.notes(of: other).isEmpty)
    }

    @Test func `attempts of the previous version push out no session, and unfinished ones do not count`()
        async throws
    {
        let fixture = try StoreFixture(.postgres)
        var store = try fixture.open()
        let id = try await store.signIn("adele", at: fixture.clock)
        let failed = try await store.begin("failed", cookie: id)
        try await store.failSignIn(try await store.consume(failed, cookie: id))
        let newcomer = try await store.failNewcomer("newcomer")
        await store.close()
        let settings = try #require(fixture.postgres)
        let connection = try BlockingConnection(settings)
        for statement in [
            """
            ALTER TABLE sign_in_attempt ALTER COLUMN position DROP DEFAULT, ALTER COLUMN begun_id_hash DROP DEFAULT,
                ALTER COLUMN app DROP DEFAULT, ALTER COLUMN return_to DROP DEFAULT,
                ALTER COLUMN requested_scopes DROP DEFAULT
            """, "ALTER TABLE posted_answer DROP COLUMN asker", "ALTER TABLE session_note DROP COLUMN sealed",
            "DROP TABLE check_round",
            "DELETE FROM chore WHERE name = 'checks'",
            "ALTER TABLE account DROP COLUMN retry_status, DROP COLUMN retry_status_at",
            "DELETE FROM sign_in_attempt WHERE session IS NULL", "UPDATE companion_schema SET version = 4",
            // As many as that version allows.
            """
            INSERT INTO sign_in_attempt (state_hash, session, position, begun_id_hash, app, return_to, requested_scopes,
                begun_at, sealed, weight)
            SELECT decode(md5(n::text) || md5(key || ' ' || n), 'hex'), key, n, id_hash, 'ios', '/', '', created_at, '\\x01',
                2560
            FROM session, generate_series(1, 600) AS n
            """,
        ] { try connection.query(statement) }
        #expect(
            try PostgresStore.migrate(settings)
                == [
                    "5: attempts that have come back", "6: sealed notes", "7: the last checks of applications",
                    "8: the status that began a pause",
                ])

        store = try fixture.open()
        #expect(try await store.session(id)?.accounts.map(\.id) == ["adele.tenant"])
        #expect(try await store.consume(failed, code: "code", cookie: id).name == "failed")
        let again = try await store.consume(try await store.begin("again", cookie: newcomer), cookie: newcomer)
        // They push nobody out.
        #expect(try await store.session(newcomer)?.key == again.session)
        #expect(try connection.query("SELECT 1 FROM sign_in_attempt WHERE consumed_at IS NOT NULL").count == 4)
        _ = try await store.signIn("megan", cookie: id, at: fixture.clock)
        let copy = try StoreFixture(.sqlite)
        try FileManager.default.copyItem(atPath: fixture.keyPath, toPath: copy.keyPath)
        let (out, into) = (try fixture.movable(), try copy.movable())
        #expect(try await out.copyAll(to: into) == 2)
        await out.close()
        await into.close()
        #expect(try await copy.count("sign_in_attempt") == 5)
        #expect(try await copy.newcomers() == 2)
        fixture.clock.advance(by: .seconds(1921))
        #expect(try await store.purgeExpired() == 1)
        #expect(try await fixture.count("sign_in_attempt") == 0)
    }

    @Test func `the error names a key that is in use and not at hand`() async throws {
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
    }
}
