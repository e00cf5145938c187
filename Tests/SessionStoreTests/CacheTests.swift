import Foundation
import Testing

@testable import SessionStore

@Suite struct CacheTests {
    static let lifetimes = Lifetimes(idle: 1_000_000, maxAge: 1_000_000, attempt: 1_000_000)

    func snapshot(_ key: Int64, version: Int = 0, bytes: Int = 0, seen: Int64 = 0) -> Snapshot {
        let account = Account(
            id: "id", app: "ios", username: "v\(version)", name: nil, tenantID: nil, environment: "e", objectID: nil,
            issuer: "i", subject: "s", sid: nil, idTokenClaims: String(repeating: "x", count: bytes),
            needsInteraction: nil, interactionClaims: nil, policy: nil, current: true, signedInAt: Date(milliseconds: 0)
        )
        return Snapshot(
            session: Session(
                key: SessionKey(key), createdAt: Date(milliseconds: 0), lastSeenAt: Date(milliseconds: seen),
                accounts: [account], previousUsernames: [:]),
            idHash: SHA256Hash(of: "id\(key)"), tokens: [])
    }

    @Test func aFillThatBeganBeforeAWriteIsRefused() {
        let cache = SessionCache(maxBytes: 1 << 20, lifetimes: Self.lifetimes)
        let before = cache.ticket()
        cache.end([7])
        #expect(cache.admit(snapshot(7), before, now: 1, isUse: true) != nil)
        #expect(cache.session(SHA256Hash(of: "id7"), now: 1) == nil)
        #expect(cache.admit(snapshot(7), cache.ticket(), now: 1, isUse: true) != nil)
        #expect(cache.session(SHA256Hash(of: "id7"), now: 1) != nil)
    }

    @Test func aWriteToAnotherSessionRefusesNoFill() {
        let cache = SessionCache(maxBytes: 1 << 20, lifetimes: Self.lifetimes)
        let before = cache.ticket()
        cache.end([8])
        _ = cache.admit(snapshot(7), before, now: 1, isUse: true)
        #expect(cache.session(SHA256Hash(of: "id7"), now: 1) != nil)
    }

    @Test func anOutsideChangeEndsEveryEntryAndRefusesFillsUnderWay() {
        let cache = SessionCache(maxBytes: 1 << 20, lifetimes: Self.lifetimes)
        _ = cache.admit(snapshot(7), cache.ticket(), now: 5, isUse: true)
        let before = cache.ticket()
        cache.endAll()
        #expect(cache.session(SHA256Hash(of: "id7"), now: 5) == nil)
        _ = cache.admit(snapshot(8), before, now: 5, isUse: true)
        #expect(cache.size == (0, 0))
        // When they were used is not forgotten.
        #expect(cache.lastUse(7) == 5)
        #expect(cache.lastUse(8) == 5)
    }

    @Test func aSessionThatNobodySignedInToIsNotKeptAndPushesOutNobody() {
        let cache = SessionCache(maxBytes: 1 << 20, lifetimes: Self.lifetimes)
        _ = cache.admit(snapshot(1), cache.ticket(), now: 1, isUse: true)
        let before = cache.size
        func empty(_ key: Int64, previous: [String: String]) -> Snapshot {
            Snapshot(
                session: Session(
                    key: SessionKey(key), createdAt: Date(milliseconds: 0), lastSeenAt: Date(milliseconds: 0),
                    accounts: [], previousUsernames: previous, lastAttemptAt: 0),
                idHash: SHA256Hash(of: "id\(key)"), tokens: [])
        }
        for key in 2..<10_000 {
            #expect(cache.admit(empty(Int64(key), previous: [:]), cache.ticket(), now: 1, isUse: true) != nil)
        }
        #expect(cache.size == before)
        #expect(cache.lastUse(2) == 1, "when it was used is not forgotten")
        _ = cache.admit(empty(2, previous: ["ios": "adele"]), cache.ticket(), now: 1, isUse: true)
        #expect(cache.session(SHA256Hash(of: "id2"), now: 1) != nil, "whoever was signed in is remembered")
    }

    @Test func itsBytesAreBoundedAndWhatIsUsedStays() {
        let one = snapshot(1, bytes: 1000).cost
        let cache = SessionCache(maxBytes: one * 10, lifetimes: Self.lifetimes)
        for key in 1...200 {
            _ = cache.admit(snapshot(Int64(key), bytes: 1000), cache.ticket(), now: 1, isUse: false)
            // Session 1 is used all the time.
            #expect(cache.session(SHA256Hash(of: "id1"), now: Int64(key)) != nil)
            #expect(cache.size.bytes <= one * 10)
        }
        #expect(cache.size.sessions == 10)
        #expect(cache.session(SHA256Hash(of: "id200"), now: 1) != nil)
        #expect(cache.session(SHA256Hash(of: "id2"), now: 1) == nil)
        // One that would fill a quarter of it is served, but not kept.
        _ = cache.admit(snapshot(999, bytes: one * 10), cache.ticket(), now: 1, isUse: true)
        #expect(cache.session(SHA256Hash(of: "id999"), now: 1) == nil)
    }

    @Test func usesThatCouldNotBeWrittenAreKeptForTheNextTime() {
        let cache = SessionCache(maxBytes: 1 << 20, lifetimes: Self.lifetimes)
        _ = cache.admit(snapshot(1), cache.ticket(), now: 10, isUse: true)
        _ = cache.session(SHA256Hash(of: "id1"), now: 20)
        #expect(cache.takeUnwrittenUses() == [1: 20])
        _ = cache.session(SHA256Hash(of: "id1"), now: 30)
        cache.usesNotWritten()
        #expect(cache.takeUnwrittenUses() == [1: 30])
        cache.usesWritten()
        #expect(cache.takeUnwrittenUses() == [:])
        _ = cache.session(SHA256Hash(of: "id1"), now: 40)
        #expect(cache.takeUnwrittenUses() == [1: 40])
        #expect(cache.lastUse(1) == 40)
    }

    /// Readers and a writer of one session at once: after a write was answered, no read may give what was before it.
    @Test(arguments: [16_000_000, 0]) func noReadAfterAnAnsweredWriteIsStale(cacheBytes: Int) async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open(cacheBytes: cacheBytes)
        let id = try await store.signIn("adele", at: fixture.clock)
        let key = try #require(try await store.session(id)?.key)
        let written = Shared(0)
        let stale = try await withThrowingTaskGroup(of: Int.self) { group in
            group.addTask {
                for number in 1...300 {
                    try await store.markNeedsInteraction(
                        key, app: "ios", accountID: "adele.tenant", reason: "\(number)")
                    written.change { $0 = number }
                }
                return 0
            }
            for _ in 0..<8 {
                group.addTask {
                    var stale = 0
                    while written.value < 300 {
                        let least = written.value
                        let reason = try await store.session(id)?.currentAccount(for: "ios")?.needsInteraction
                        if Int(reason ?? "0") ?? 0 < least { stale += 1 }
                        // A hit does not suspend: the writer needs a thread too.
                        await Task.yield()
                    }
                    return stale
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(stale == 0)
        await store.close()
    }

    /// A chain of rotations under fire: an id that was rotated away answers nothing, from the moment of the answer on.
    @Test func noRotatedIDIsServedFromTheCache() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        let first = try await store.signIn("adele", at: fixture.clock)
        let key = try #require(try await store.session(first)?.key)
        let dead = Shared<[SessionID]>([])
        let isDone = Shared(false)
        let revived = try await withThrowingTaskGroup(of: Int.self) { group in
            group.addTask {
                var current = first
                for _ in 0..<150 {
                    let next = try await store.removeAccount(
                        key, app: "macos", accountID: "none", keepAsPrevious: false)
                    dead.change { [current] in $0.append(current) }
                    current = next
                    guard try await store.session(current) != nil else { throw StoreError.noSuchSession }
                }
                isDone.change { $0 = true }
                return 0
            }
            for _ in 0..<4 {
                group.addTask {
                    var revived = 0
                    while !isDone.value {
                        guard let id = dead.value.randomElement() else {
                            await Task.yield()
                            continue
                        }
                        if store.cachedSession(id) != nil { revived += 1 }
                        if try await store.session(id) != nil { revived += 1 }
                    }
                    return revived
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(revived == 0)
        await store.close()
    }
}

/// What concurrent tasks of a test tell each other.
final class Shared<Value: Sendable>: Sendable {
    private let mutex: Locked<Value>
    init(_ value: Value) { mutex = Locked(value) }
    var value: Value { mutex.withLock { $0 } }
    @discardableResult
    func change(_ body: @Sendable (inout Value) -> Void) -> Value {
        mutex.withLock { value in
            body(&value)
            return value
        }
    }
}
