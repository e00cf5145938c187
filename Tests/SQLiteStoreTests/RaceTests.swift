import Foundation
import GRDB
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore
@testable import SessionStore

/// Steps that read and then write, with somebody in between.
@Suite(.closesStores) struct RaceTests {
    /// Runs once, when the next read has ended and what follows from it has not begun.
    private final class AfterRead: Sendable {
        let body = Shared<(@Sendable () -> Void)?>(nil)

        @Sendable func note(_ operation: StoreOperation) {
            guard operation.kind == .read, let body = body.value else { return }
            self.body.change { $0 = nil }
            body()
        }
    }

    @Test func `a session that is used while a purge looks at it stays`() async throws {
        let fixture = try StoreFixture()
        let afterRead = AfterRead()
        let store = try fixture.open(idle: .seconds(120), onOperation: afterRead.note)
        let used = try await store.signIn("adele", at: fixture.clock)
        let idle = try await store.signIn("megan", at: fixture.clock)
        fixture.clock.advance(by: .seconds(241))
        let outsider = try fixture.outsider()
        let now = fixture.clock.now.milliseconds
        afterRead.body.change {
            $0 = {
                // The server beside which the command line purges.
                try? outsider.write { db in
                    try db.execute(
                        sql: "UPDATE session SET last_seen_at = ? WHERE id_hash = ?", arguments: [now, used.hash.blob])
                }
            }
        }
        #expect(try await store.purgeExpired() == 1)
        #expect(try await store.session(used)?.accounts.count == 1)
        #expect(try await store.session(idle) == nil)
    }

    @Test func `a value that is renewed while it is resealed keeps the newer content`() async throws {
        let fixture = try StoreFixture()
        let afterRead = AfterRead()
        let store = try fixture.open(onOperation: afterRead.note)
        let id = try await store.signIn("adele", at: fixture.clock)
        let key = try #require(try await store.session(id)?.key)
        let ring = try KeyRing.rotate(fileAt: fixture.keyPath)
        _ = store.sealer.reloadIfChanged()
        let newer = try store.sealer.seal(
            "refresh-newer", for: .refreshToken(AccountKey(session: key, app: "ios", id: "adele.tenant")))
        let outsider = try fixture.outsider()
        afterRead.body.change {
            $0 = {
                try? outsider.write { db in
                    try db.execute(sql: "UPDATE account_secret SET refresh_token = ?", arguments: [newer])
                }
            }
        }
        var state = Resealing(key: ring.currentKeyID)
        state.cursor = SealedColumn.cursor(try #require(SealedColumn.allCases.firstIndex(of: .refreshToken)))
        #expect(try await store.resealStep(state)?.count == 0)
        #expect(
            try await store.refreshToken(of: AccountKey(session: key, app: "ios", id: "adele.tenant"))
                == "refresh-newer")
        #expect(try await store.reseal() == 2, "claims and access token")
    }

    @Test func `values that got the older key while the rest was resealed are found by another round`() async throws {
        let fixture = try StoreFixture()
        let afterRead = AfterRead()
        let store = try fixture.open(onOperation: afterRead.note)
        let id = try await store.signIn("adele", at: fixture.clock)
        let key = try #require(try await store.session(id)?.key)
        // A writer that sealed before it noticed the rotation commits after the columns were walked.
        let late = try store.sealer.seal(
            "late", for: .idToken(AccountKey(session: key, app: "ios", id: "adele.tenant")))
        let ring = try KeyRing.rotate(fileAt: fixture.keyPath)
        let outsider = try fixture.outsider()
        let reads = Shared(0)
        let write: @Sendable () -> Void = {
            try? outsider.write { db in
                try db.execute(sql: "UPDATE account_secret SET id_token = ?", arguments: [late])
            }
        }
        // Columns 0, 1 and 2 take two reads each: the ID token's column is over with the sixth.
        @Sendable func count() {
            if reads.change({ $0 += 1 }) == 6 { write() } else { afterRead.body.change { $0 = count } }
        }
        afterRead.body.change { $0 = count }
        var progress = UpkeepProgress(ring: store.sealer.ring)
        var rounds = 0
        repeat {
            progress = await store.upkeepRound(progress)
            rounds += 1
        } while progress.resealing != nil && rounds < 50
        #expect(reads.value == 6)
        #expect(try await store.keyUses().map(\.values) == [4, 0])
        #expect(store.sealer.ring.currentKeyID == ring.currentKeyID)
        #expect(try await store.idToken(of: AccountKey(session: key, app: "ios", id: "adele.tenant")) == "late")
    }
}
