import Foundation
import GRDB
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore
@testable import SessionStore

@Suite(.closesStores) struct LoadTests {
    @Test func `200 concurrent sign-ins all get a session of their own`() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        let ids = try await withThrowingTaskGroup(of: SessionID.self) { group in
            for number in 0..<200 { group.addTask { try await store.signIn("user\(number)", at: fixture.clock) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(ids).count == 200)
        for id in ids { #expect(try await store.session(id)?.accounts.count == 1) }
    }

    @Test(.timeLimit(.minutes(5))) func `writes that arrive during a transaction share the next one`() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        let commits = Commits(in: store)
        let (isHeld, isReleased) = (Shared(false), DispatchSemaphore(value: 0))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await store.sqlite.database.write { _ in
                    isHeld.change { $0 = true }
                    isReleased.holdThread("the transaction")
                }
            }
            #expect(await eventually { isHeld.value })
            for number in 0..<200 {
                group.addTask {
                    _ = try await store.consume(try await store.begin("state-\(number)"))
                }
            }
            #expect(await eventually { store.sqlite.database.state.withLock { $0.waiting.count } == 200 })
            isReleased.signal()
            try await group.waitForAll()
        }
        // The transaction that was held, and one for all.
        #expect(commits.count == 2)
    }

    @Test(.needsTime("it writes a hundred thousand sessions"))
    func `one session among 100,000 is found by its index`() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        let id = try await store.signIn("adele", at: fixture.clock)
        try await fixture.outsider().write { db in
            try db.execute(
                sql: """
                    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 100000)
                    INSERT INTO session (id_hash, created_at, last_seen_at)
                        SELECT randomblob(32), created_at, last_seen_at FROM numbers, (SELECT * FROM session WHERE key = 1);
                    INSERT INTO account (session, app, id, username, environment, issuer, subject, signed_in_at)
                        SELECT key, 'ios', 'u.t', 'u@contoso.example', 'e', 'i', 's', 0 FROM session WHERE key > 1;
                    INSERT INTO account_secret (account, claims, refresh_token)
                        SELECT key, randomblob(800), randomblob(1200) FROM account WHERE key > 1;
                    """)
        }
        _ = await store.noticeOutsideChanges(since: ChangeMark(-1))
        #expect(try await store.session(id)?.currentAccount(for: "ios")?.id == "adele.tenant")
        let plans = try await fixture.outsider().read { db in
            try [
                "SELECT \(SessionRow.columns) FROM session WHERE id_hash = x'00'",
                "SELECT * FROM account JOIN account_secret ON account_secret.account = account.key WHERE session = 1",
                "SELECT * FROM access_token JOIN account ON account.key = access_token.account WHERE session = 1",
                "SELECT * FROM previous_account WHERE session = 1",
                "SELECT * FROM sign_in_attempt WHERE state_hash = x'00'",
                "SELECT state_hash FROM sign_in_attempt WHERE session = 1 AND state_hash <> x'00'",
                "SELECT state_hash, session FROM sign_in_attempt WHERE begun_at < 1 LIMIT 20",
                "UPDATE sign_in_attempt SET is_newcomers = 0 WHERE session = 1 AND is_newcomers = 1",
                "SELECT * FROM account WHERE issuer = 'i' AND sid = 's'",
                "DELETE FROM session WHERE key = 1",
            ].flatMap { sql in try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + sql).map { $0["detail"] as String } }
        }
        #expect(plans.filter { $0.hasPrefix("SCAN") } == [])
        #expect(try await store.list(limit: 5).count == 5)
    }
}
