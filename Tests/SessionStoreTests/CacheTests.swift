import Foundation
import StoreTesting
import Synchronization
import Testing

@testable import SessionStore

@Suite struct CacheTests {
    static let lifetimes = Lifetimes(idle: 1_000_000, maxAge: 1_000_000, attempt: 1_000_000)

    func snapshot(_ key: SessionKey, version: Int = 0, bytes: Int = 0, seen: Int64 = 0) -> Snapshot {
        let account = Account(
            id: "id", app: "ios",
            identity: AccountIdentity(username: "v\(version)", environment: "e", issuer: "i", subject: "s"),
            idTokenClaims: String(repeating: "x", count: bytes), annotation: nil, needsInteraction: nil,
            interactionClaims: nil,
            current: true, signedInAt: Date(milliseconds: 0))
        return Snapshot(
            session: Session(
                key: key, createdAt: Date(milliseconds: 0), lastSeenAt: Date(milliseconds: seen),
                accounts: [account], previousUsernames: [:]),
            idHash: SHA256Hash(of: "id\(key)"), tokens: [])
    }

    @Test func `a fill that began before a write is not kept`() {
        let cache = SessionCache(maxBytes: 1 << 20, lifetimes: Self.lifetimes)
        let before = cache.ticket()
        cache.end([7])
        #expect(cache.admit(snapshot(7), before, now: 1, isUse: true) != nil)
        #expect(cache.session(SHA256Hash(of: "id7"), now: 1).session == nil)
        #expect(cache.admit(snapshot(7), cache.ticket(), now: 1, isUse: true) != nil)
        #expect(cache.session(SHA256Hash(of: "id7"), now: 1).session != nil)
    }

    @Test func `a write to another session does not prevent a fill`() {
        let cache = SessionCache(maxBytes: 1 << 20, lifetimes: Self.lifetimes)
        let before = cache.ticket()
        cache.end([8])
        _ = cache.admit(snapshot(7), before, now: 1, isUse: true)
        #expect(cache.session(SHA256Hash(of: "id7"), now: 1).session != nil)
    }

    @Test func `an outside change ends every entry and prevents fills under way`() {
        let cache = SessionCache(maxBytes: 1 << 20, lifetimes: Self.lifetimes)
        _ = cache.admit(snapshot(7), cache.ticket(), now: 5, isUse: true)
        let before = cache.ticket()
        cache.endAll()
        #expect(cache.session(SHA256Hash(of: "id7"), now: 5).session == nil)
        _ = cache.admit(snapshot(8), before, now: 5, isUse: true)
        #expect(cache.size == (0, 0))
        // When they were used is not forgotten.
        #expect(cache.lastUse(7) == 5)
        #expect(cache.lastUse(8) == 5)
    }

    @Test func `a session without accounts is not kept, and pushes out no other`() {
        let cache = SessionCache(maxBytes: 1 << 20, lifetimes: Self.lifetimes)
        _ = cache.admit(snapshot(1), cache.ticket(), now: 1, isUse: true)
        let before = cache.size
        func empty(_ key: SessionKey, previous: [String: String]) -> Snapshot {
            Snapshot(
                session: Session(
                    key: key, createdAt: Date(milliseconds: 0), lastSeenAt: Date(milliseconds: 0),
                    accounts: [], previousUsernames: previous, lastAttemptAt: 0),
                idHash: SHA256Hash(of: "id\(key)"), tokens: [])
        }
        for key in 2..<10_000 {
            #expect(
                cache.admit(empty(SessionKey(Int64(key)), previous: [:]), cache.ticket(), now: 1, isUse: true) != nil)
        }
        #expect(cache.size == before)
        #expect(cache.lastUse(2) == 1, "when it was used is not forgotten")
        _ = cache.admit(empty(2, previous: ["ios": "adele"]), cache.ticket(), now: 1, isUse: true)
        #expect(cache.session(SHA256Hash(of: "id2"), now: 1).session != nil, "the one who was signed in is remembered")
    }

    @Test func `the cache's bytes are bounded, and sessions in use stay`() {
        let one = snapshot(1, bytes: 1000).cost
        let cache = SessionCache(maxBytes: one * 10, lifetimes: Self.lifetimes)
        for key in 1...200 {
            _ = cache.admit(snapshot(SessionKey(Int64(key)), bytes: 1000), cache.ticket(), now: 1, isUse: false)
            // Session 1 is used all the time.
            #expect(cache.session(SHA256Hash(of: "id1"), now: Int64(key)).session != nil)
            #expect(cache.size.bytes <= one * 10)
        }
        #expect(cache.size.sessions == 10)
        #expect(cache.session(SHA256Hash(of: "id200"), now: 1).session != nil)
        #expect(cache.session(SHA256Hash(of: "id2"), now: 1).session == nil)
        // One that would fill a quarter of it is served, but not kept.
        _ = cache.admit(snapshot(999, bytes: one * 10), cache.ticket(), now: 1, isUse: true)
        #expect(cache.session(SHA256Hash(of: "id999"), now: 1).session == nil)
    }

    @Test func `a use that is being written is known`() {
        // Nothing is kept in memory but the uses.
        let cache = SessionCache(maxBytes: 0, lifetimes: Lifetimes(idle: 100, maxAge: 1000, attempt: 100))
        _ = cache.admit(snapshot(1), cache.ticket(), now: 90, isUse: true)
        #expect(cache.takeUnwrittenUses() == [1: 90])
        #expect(cache.lastUse(1) == 90)
        // A session that is read meanwhile does not know of the use.
        #expect(cache.admit(snapshot(1), cache.ticket(), now: 150, isUse: false) != nil)
        cache.usesWritten(but: [])
        #expect(cache.admit(snapshot(1), cache.ticket(), now: 150, isUse: false) == nil, "nothing knows of the use")
    }

    @Test func `an entry is a hit while it is trusted, and stale after that`() {
        let steady = Mutex<Int64>(0)
        let cache = SessionCache(
            maxBytes: 1 << 20, lifetimes: Self.lifetimes, trust: 1000, steady: { steady.withLock { $0 } })
        let id = SHA256Hash(of: "id7")
        func look(_ seconds: Int64, now: Int64? = nil) -> String {
            steady.withLock { $0 = seconds }
            return switch cache.session(id, now: now ?? seconds) {
            case .hit: "hit"
            case .stale: "stale"
            case .miss: "miss"
            }
        }
        #expect(look(5000) == "miss")
        _ = cache.admit(snapshot(7), cache.ticket(), now: 5000, isUse: true)
        #expect(look(5000) == "hit" && look(5999) == "hit")
        #expect(look(6000) == "stale")
        #expect(look(6000, now: 4999) == "stale", "also when the clock was set back")
        #expect(cache.lastUse(7) == 5999, "to look is no use when it is not served")
        _ = cache.admit(snapshot(7), cache.ticket(), now: 6000, isUse: true)
        #expect(look(6001) == "hit")
        #expect(look(1_007_002) == "miss", "its time is over")
    }

    @Test func `uses that could not be written are kept for the next time`() {
        let cache = SessionCache(maxBytes: 1 << 20, lifetimes: Self.lifetimes)
        _ = cache.admit(snapshot(1), cache.ticket(), now: 10, isUse: true)
        _ = cache.session(SHA256Hash(of: "id1"), now: 20)
        #expect(cache.takeUnwrittenUses() == [1: 20])
        _ = cache.session(SHA256Hash(of: "id1"), now: 30)
        cache.usesNotWritten()
        #expect(cache.takeUnwrittenUses() == [1: 30])
        cache.usesWritten(but: [])
        #expect(cache.takeUnwrittenUses() == [:])
        _ = cache.session(SHA256Hash(of: "id1"), now: 40)
        #expect(cache.takeUnwrittenUses() == [1: 40])
        #expect(cache.lastUse(1) == 40)
    }
}
