import Foundation
import GRDB
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore
@testable import SessionStore

/// The values in the sealed columns.
@Suite(.closesStores) struct ResealingTests {
    /// With one nonce twice, AES-GCM gives away both texts and the key to forge (NIST SP 800-38D section 8).
    @Test func `no two sealed values share a nonce, not even of the same text in the same place`() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        let nonces = Shared<[Data]>([])
        func collect() async throws {
            let found = try await fixture.outsider().read { db in
                try SealedColumn.allCases.flatMap { column in
                    try Data.fetchAll(
                        db,
                        sql: """
                            SELECT substr(\(column.name), 10, 12) FROM \(column.table) WHERE \(column.name) IS NOT NULL
                            """)
                }
            }
            #expect(found.allSatisfy { $0.count == 12 })
            nonces.change { $0 += found }
        }
        let id = try await store.signIn("adele", at: fixture.clock)
        let key = try #require(try await store.session(id)?.key)
        try await collect()
        var tokens = NewTokens.sample("adele", at: fixture.clock)
        tokens.idTokenClaims = NewAccount.sample("adele").idTokenClaims
        try await store.storeRefreshed(AccountKey(session: key, app: "ios", id: "adele.tenant"), tokens: tokens)
        try await collect()
        _ = try KeyRing.rotate(fileAt: fixture.keyPath)
        #expect(try await store.reseal() == 3)
        try await collect()
        #expect(nonces.value.count == 9)
        #expect(Set(nonces.value).count == 9)
    }

    @Test func `an interrupted resealing continues at the next start`() async throws {
        let fixture = try StoreFixture()
        let server = try fixture.open()
        for number in 0..<250 { try await server.signIn("user\(number)", at: fixture.clock) }
        _ = try KeyRing.rotate(fileAt: fixture.keyPath)
        _ = server.sealer.reloadIfChanged()
        _ = try await server.resealStep(Resealing(key: server.sealer.ring.currentKeyID))
        #expect(try await server.keyUses().map(\.values) == [200, 550])
        await server.close()

        let next = try fixture.open()
        var progress = UpkeepProgress(ring: next.sealer.ring)
        while progress.resealing != nil { progress = await next.upkeepRound(progress) }
        #expect(try await next.keyUses().map(\.values) == [750, 0])
    }

    @Test func `a damaged value keeps its key, and the others still get the new one`() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        let adele = try await store.signIn("adele", at: fixture.clock)
        try await store.signIn("megan", at: fixture.clock)
        let old = store.sealer.ring.currentKeyID
        try await fixture.outsider().write { db in
            try db.execute(
                sql: """
                    UPDATE account_secret SET refresh_token = CAST(substr(refresh_token, 1, 30) || x'00' AS BLOB)
                    WHERE account = 2
                    """)
        }
        _ = try KeyRing.rotate(fileAt: fixture.keyPath)
        try fixture.setKeyFileBack()
        let (retired, kept) = try await store.retireOlderKeys()
        #expect(retired == [])
        #expect(kept.map(\.id) == [old])
        #expect(kept.map(\.values) == [1])
        #expect(try await store.keyUses().map(\.values) == [5, 1])
        #expect(try await store.session(adele) != nil)
    }
}
